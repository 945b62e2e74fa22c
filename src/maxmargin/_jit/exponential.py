r"""exp as a polynomial that vectorises: Numba's own is a scalar library call.

:math:`e^x = 2^n e^r` with :math:`n = \mathrm{round}(x/\ln 2)` and
:math:`|r| \le \tfrac12\ln 2`, ln 2 subtracted in two parts (Cody and Waite, *Software
Manual for the Elementary Functions*, 1980). :math:`e^r = 1 + r + r^2 q(r)`, where q makes
the largest relative error least: of degree 4 in float32 (3e-9), 9 in float64 (4e-18).
Arguments are clamped to the range whose result is a normal number, so that exp(−∞) is
about 1e-38 or 1e-308: for a kernel value that is zero.

Adding 1.5·2^23 (2^52) rounds to an integer, which then stands in the last bits and is
shifted into the exponent: integers and floats are never converted.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir

from maxmargin._elementary import exp
from maxmargin._jit import intrinsic, overload, types
from maxmargin._jit.simd import fma, vmax, vmin


@intrinsic
def _times_power_of_two(typingctx, e, rounded):
    """Return e·2ⁿ, a normal number, for the n in the last bits of ``rounded``."""

    def codegen(context, builder, sig, args):
        width, mantissa = (32, 23) if e == types.float32 else (64, 52)
        integer = ir.IntType(width)
        bits, n = (builder.bitcast(one, integer) for one in args)
        n = builder.shl(n, ir.Constant(integer, mantissa))
        return builder.bitcast(builder.add(bits, n), context.get_value_type(e))

    return e(e, e), codegen


_LOG2_E = 1.4426950408889634


# LLVM inlines it, for only then loops are vectorised. Numba's own inlining would type the
# whole polynomial again in every caller: 0.2 s of compile time each.
@overload(exp, jit_options={"forceinline": True})
def _exp(x):
    if x == types.float32:
        return _exp_single
    if x == types.float64:
        return _exp_double
    return None


def _exp_single(x):
    z = vmin(vmax(x, np.float32(-87.0)), np.float32(88.0))
    rounded = fma(z, np.float32(_LOG2_E), np.float32(12582912.0))
    n = rounded - np.float32(12582912.0)
    r = fma(n, np.float32(-0.693359375), z)
    r = fma(n, np.float32(2.12194440e-4), r)
    e = fma(r, np.float32(0.001381453789370276), np.float32(0.008368745320047456))
    e = fma(e, r, np.float32(0.041668390831315884))
    e = fma(e, r, np.float32(0.16666520396770756))
    e = fma(e, r, np.float32(0.4999999343189114))
    e = fma(e, r, np.float32(1.0))
    e = fma(e, r, np.float32(1.0))
    return _times_power_of_two(e, rounded)


def _exp_double(x):
    z = vmin(vmax(x, -708.0), 709.0)
    rounded = fma(z, _LOG2_E, 6755399441055744.0)
    n = rounded - 6755399441055744.0
    r = fma(n, -6.93145751953125e-1, z)
    r = fma(n, -1.42860682030941723212e-6, r)
    # Even and odd powers are summed apart: one chain would wait for itself (1.5 times).
    s = r * r
    even = fma(s, 2.7630295890100206e-07, 2.480149297451893e-05)
    even = fma(even, s, 0.00138888889437392)
    even = fma(even, s, 0.041666666666529815)
    even = fma(even, s, 0.5000000000000011)
    odd = fma(s, 2.499918294638132e-08, 2.7557589245138276e-06)
    odd = fma(odd, s, 0.00019841269503353758)
    odd = fma(odd, s, 0.008333333333495896)
    odd = fma(odd, s, 0.1666666666666641)
    e = fma(fma(odd, r, even), s, r) + 1.0
    return _times_power_of_two(e, rounded)
