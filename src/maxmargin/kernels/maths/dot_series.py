r"""Kernels that are power series of the dot product, and the error of cutting one off.

.. math:: k(x, z) = \sum_g e^{-\gamma_g(\|x\|^2 + \|z\|^2)} \sum_j a_{gj}\,(x·z)^j,
          \qquad a_{gj} \ge 0

Linear is x·z. Polynomial is :math:`\sum_j \binom{p}{j} γ^j c^{p-j} (x·z)^j`. The Gaussian
is :math:`e^{-γ\|x\|^2} e^{-γ\|z\|^2} \sum_j (2γ\,x·z)^j/j!` (S1's derivation), of which j
up to some order is kept. Sums add such series, products multiply them, so both are
series again. The remainder of exp bounds the error:

.. math:: |\hat k - k| \le e^{2γ|x·z| - γ(\|x\|^2 + \|z\|^2)}\,P(N + 1,\, 2γ|x·z|),

P the regularised incomplete gamma function, since
:math:`\sum_{j>N} t^j/j! = e^t P(N + 1, t)` (DLMF, section 8.4), and no sign can make the
remainder larger than its value at |t|.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import gammainc

from maxmargin.errors import InputError
from maxmargin.kernels.algebra import Kernel, Power, Product, Scaled, Sum
from maxmargin.kernels.dot_products import RBF, Linear, Polynomial

if TYPE_CHECKING:
    from maxmargin._arrays import Matrix, Vector

LARGEST_DEGREE = 170  # 170! is the last factorial below the largest float64
POSSIBLE = (
    "Linear(), Polynomial(degree, coef0, gamma) with coef0 ≥ 0, RBF (truncated at "
    "`order`), and sums, products, positive multiples and powers of these"
)


def unit_of(kernel: Kernel) -> float:
    """The largest factor of x·z in a kernel.

    Series in ``unit·x·z`` have coefficients near binomials and 1/j!; in x·z alone,
    powers of γ would leave the range of float64.
    """
    factors = [
        leaf.gamma * (2.0 if isinstance(leaf, RBF) else 1.0)
        for leaf in kernel.leaves
        if isinstance(leaf, RBF | Polynomial)
    ]
    others = any(isinstance(leaf, Linear) for leaf in kernel.leaves)
    return max(factors + [1.0] * others, default=1.0)


def series_of(kernel: Kernel, order: int, unit: float) -> dict[float, Vector]:
    """Coefficients of ``(unit·x·z)^j``, j = 0, 1, …, for every damping γ that occurs.

    Parameters
    ----------
    kernel : Kernel
        See :data:`POSSIBLE`; others are refused.
    order : int
        Degree at which each Gaussian is cut off.
    unit : float
        See :func:`unit_of`.
    """
    if isinstance(kernel, Sum):
        total = dict(series_of(kernel.left, order, unit))
        for gamma, more in series_of(kernel.right, order, unit).items():
            total[gamma] = _added(total[gamma], more) if gamma in total else more
        return total
    if isinstance(kernel, Scaled):
        part = series_of(kernel.part, order, unit)
        return {gamma: kernel.factor * series for gamma, series in part.items()}
    if isinstance(kernel, Product):
        left = series_of(kernel.left, order, unit)
        return _multiplied(left, series_of(kernel.right, order, unit), kernel)
    if isinstance(kernel, Power):
        part = series_of(kernel.part, order, unit)
        _check_degree(kernel, kernel.exponent)
        power = part
        for _ in range(kernel.exponent - 1):
            power = _multiplied(power, part, kernel)
        return power
    return _leaf(kernel, order, unit)


def _leaf(kernel: Kernel, order: int, unit: float) -> dict[float, Vector]:
    if isinstance(kernel, Linear):
        return {0.0: np.array([0.0, 1.0 / unit])}
    if isinstance(kernel, Polynomial):
        return {0.0: _binomial(kernel, unit)}
    if isinstance(kernel, RBF):
        _check_degree(kernel, order)
        j = np.arange(order + 1)
        falling = (2.0 * kernel.gamma / unit) ** j
        series = falling / np.array([float(math.factorial(one)) for one in j])
        return {kernel.gamma: _representable(kernel, series)}
    msg = (
        f"{kernel!r} has no feature map that can be written down here; possible are "
        f"{POSSIBLE}. eigenvector_map(kernel, X) represents every positive "
        "semi-definite kernel on given rows"
    )
    raise InputError(msg)


def _binomial(kernel: Polynomial, unit: float) -> Vector:
    if kernel.coef0 < 0.0:
        msg = (
            f"{kernel!r} has no feature map: its series has negative coefficients, and "
            "no real feature has a negative square; coef0 must be at least 0"
        )
        raise InputError(msg)
    p = kernel.degree
    _check_degree(kernel, p)
    series = np.zeros(p + 1)
    first = p if kernel.coef0 == 0.0 else 0
    j = np.arange(first, p + 1)
    ways = np.array([float(math.comb(p, one)) for one in j])
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        series[first:] = ways * (kernel.gamma / unit) ** j * kernel.coef0 ** (p - j)
    _representable(kernel, series[first:])
    return series


def _added(left: Vector, right: Vector) -> Vector:
    total = np.zeros(max(left.size, right.size))
    total[: left.size] += left
    total[: right.size] += right
    return total


def _multiplied(
    left: dict[float, Vector], right: dict[float, Vector], kernel: Kernel
) -> dict[float, Vector]:
    total: dict[float, Vector] = {}
    for one, first in left.items():
        for other, second in right.items():
            _check_degree(kernel, first.size + second.size - 2)
            product = np.convolve(first, second)
            gamma = one + other
            total[gamma] = _added(total[gamma], product) if gamma in total else product
    return total


def _check_degree(kernel: Kernel, degree: int) -> None:
    if degree > LARGEST_DEGREE:
        msg = (
            f"the feature map of {kernel!r} would hold monomials of degree {degree}; "
            f"beyond {LARGEST_DEGREE} their factorials overflow float64: reduce degree, "
            "exponent or order"
        )
        raise InputError(msg)


def _representable(kernel: Kernel, series: Vector) -> Vector:
    """Refuse coefficients that left the range of float64: φ·φ would silently not be K."""
    if not (np.isfinite(series).all() and series.min() >= np.finfo(np.float64).tiny):
        msg = (
            f"the coefficients of {kernel!r} as a power series leave the range of "
            "float64; scale the features and choose gamma and coef0 nearer 1, or reduce "
            "degree or order"
        )
        raise InputError(msg)
    return series


class Bounds(NamedTuple):
    """For every pair of rows: |k| and |k̂| ≤ size, |k̂ − k| ≤ error."""

    size: Matrix
    error: Matrix


def remainder(
    kernel: Kernel, order: int, dots: Matrix, left: Vector, right: Vector
) -> Bounds:
    """Bound the error of cutting off the Gaussians of a kernel at ``order``.

    Parameters
    ----------
    kernel : Kernel
        One that :func:`series_of` accepts.
    order : int
        Degree at which each Gaussian is cut off.
    dots : ndarray of shape (n, m)
        The x·z.
    left, right : ndarray of shape (n,) and (m,)
        Squared norms of the x and of the z.
    """
    if isinstance(kernel, RBF):
        t = 2.0 * kernel.gamma * np.abs(dots)
        apart = kernel.gamma * (left[:, None] + right[None, :])
        size = np.exp(np.minimum(t - apart, 0.0))
        return Bounds(size, size * gammainc(order + 1.0, t))
    if isinstance(kernel, Scaled):
        part = remainder(kernel.part, order, dots, left, right)
        return Bounds(kernel.factor * part.size, kernel.factor * part.error)
    if isinstance(kernel, Sum | Product):
        a = remainder(kernel.left, order, dots, left, right)
        b = remainder(kernel.right, order, dots, left, right)
        if isinstance(kernel, Sum):
            return Bounds(a.size + b.size, a.error + b.error)
        return Bounds(a.size * b.size, a.size * b.error + a.error * b.size)
    if isinstance(kernel, Power):
        part, e = remainder(kernel.part, order, dots, left, right), kernel.exponent
        return Bounds(part.size**e, e * part.size ** (e - 1) * part.error)
    size = np.abs(dots)
    if isinstance(kernel, Polynomial):
        size = (kernel.gamma * size + kernel.coef0) ** kernel.degree
    return Bounds(size, np.zeros_like(size))
