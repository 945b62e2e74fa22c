r"""exp as a polynomial that vectorises: Numba's own is a scalar library call.

:math:`e^x = 2^n e^r` with :math:`n = \mathrm{round}(x/\ln 2)` and
:math:`|r| \le \tfrac12\ln 2`, ln 2 subtracted in two parts (Cody and Waite, *Software
Manual for the Elementary Functions*, 1980). :math:`e^r` is its Taylor polynomial: of
degree 7 in float32 (remainder 6e-9), 13 in float64 (5e-18). Arguments are clamped to
the range whose result is a normal number, so that exp(−∞) is about 1e-38 or 1e-308:
for a kernel value that is zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir

from maxmargin._jit import intrinsic, overload, types
from maxmargin._jit.simd import fma, vmax, vmin

__all__ = ["exp"]


@intrinsic
def _power_of_two(typingctx, n):
    """2ⁿ for an integer n (int32 → float32, int64 → float64), by its exponent bits."""
    result = types.float32 if n == types.int32 else types.float64

    def codegen(context, builder, sig, args):
        width, bias, mantissa = (32, 127, 23) if n == types.int32 else (64, 1023, 52)
        integer = ir.IntType(width)
        biased = builder.add(args[0], ir.Constant(integer, bias))
        bits = builder.shl(biased, ir.Constant(integer, mantissa))
        return builder.bitcast(bits, context.get_value_type(result))

    return result(n), codegen


def exp(x: Any) -> Any:
    """e^x in x's precision (plain NumPy outside compiled code)."""
    return np.exp(x)


_LOG2_E = 1.4426950408889634


@overload(exp, inline="always")
def _exp(x):
    if x == types.float32:
        return _exp_single
    if x == types.float64:
        return _exp_double
    return None


def _exp_single(x):
    z = vmin(vmax(x, np.float32(-88.0)), np.float32(88.0))
    scaled = np.float32(np.floor(fma(z, np.float32(_LOG2_E), np.float32(0.5))))
    r = fma(scaled, np.float32(-0.693359375), z)
    r = fma(scaled, np.float32(2.12194440e-4), r)
    e = fma(r, np.float32(1 / 5040), np.float32(1 / 720))
    e = fma(e, r, np.float32(1 / 120))
    e = fma(e, r, np.float32(1 / 24))
    e = fma(e, r, np.float32(1 / 6))
    e = fma(e, r, np.float32(0.5))
    e = fma(e, r, np.float32(1.0))
    e = fma(e, r, np.float32(1.0))
    return e * _power_of_two(np.int32(scaled))


def _exp_double(x):
    z = vmin(vmax(x, -709.0), 709.0)
    scaled = np.floor(fma(z, _LOG2_E, 0.5))
    r = fma(scaled, -6.93145751953125e-1, z)
    r = fma(scaled, -1.42860682030941723212e-6, r)
    e = fma(r, 1 / 6227020800, 1 / 479001600)
    e = fma(e, r, 1 / 39916800)
    e = fma(e, r, 1 / 3628800)
    e = fma(e, r, 1 / 362880)
    e = fma(e, r, 1 / 40320)
    e = fma(e, r, 1 / 5040)
    e = fma(e, r, 1 / 720)
    e = fma(e, r, 1 / 120)
    e = fma(e, r, 1 / 24)
    e = fma(e, r, 1 / 6)
    e = fma(e, r, 0.5)
    e = fma(e, r, 1.0)
    e = fma(e, r, 1.0)
    return e * _power_of_two(np.int64(np.int32(scaled)))
