"""Kernels of dot products: functions of x·z, or of ‖x − z‖² = ‖x‖² − 2x·z + ‖z‖².

Each is one block: a *record* (a NamedTuple of numbers, which compiled code reads) with
its formula, and the kernel object, which checks parameters and knows all that is decided
about the kernel. To add one, write such a block and give it an entry in
:data:`maxmargin.kernels.KERNELS`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from maxmargin._elementary import exp
from maxmargin.errors import InputError
from maxmargin.kernels.algebra import Kernel
from maxmargin.kernels.gram.contract import Family
from maxmargin.kernels.parameters import number, positive, whole

if TYPE_CHECKING:
    from maxmargin._arrays import Vector


class DotKernel(Kernel):
    """The base of kernels of dot products.

    The record that :meth:`compiled` returns has one of two forms. Its first method is
    compiled (by Numba), in float32 and float64; it reads the fields of ``self``. Records
    are classes of a module, not of a function: Numba's disk cache finds them by name.

    - A function of x·z has ``of_dots(self, values, norm, norms)``: it turns the dot
      products ``values`` of one row with many others into kernel values, in place.
      ``norm`` is the squared norm of the row, ``norms`` are those of the others. And
      ``diagonal(self, norms)``: k(x, x) from an array of squared norms, in NumPy.
    - A function of ‖x − z‖² has a field ``factor``, and ``of_distances(self, values)``:
      it turns ``values``, factor·‖x − z‖², into kernel values, in place. And
      ``slope(self)``: the largest absolute derivative by ‖x − z‖², which tells where
      float32 is enough.
    """

    family = Family.DOTS

    def compiled(self, scale: float = 1.0) -> Any:
        """Return the record for rows that were multiplied by ``scale``."""
        raise NotImplementedError


# --- linear -----------------------------------------------------------------------------


class LinearRecord(NamedTuple):
    """k(x, z) = gamma·x·z; gamma is 1 but for rescaled rows."""

    gamma: float

    def of_dots(self, values, norm, norms):
        """Gamma·g, in place."""
        gamma = values.dtype.type(self.gamma)
        for c in range(values.size):
            values[c] *= gamma

    def diagonal(self, norms: Vector) -> Vector:
        """Gamma·‖x‖²."""
        return self.gamma * norms


class Linear(DotKernel):
    """k(x, z) = x·z."""

    is_linear = True
    is_semidefinite_by_construction = True
    fixed_gamma = 1.0

    @classmethod
    def from_parameters(cls, *, degree: int, gamma: float, coef0: float) -> Linear:
        """It has no parameters."""
        return cls()

    def compiled(self, scale: float = 1.0) -> LinearRecord:
        """x·z = (scale·x)·(scale·z)/scale²."""
        return LinearRecord(1.0 / scale / scale)


# --- polynomials ------------------------------------------------------------------------


class PolynomialRecord(NamedTuple):
    """k(x, z) = (gamma·x·z + coef0)^degree."""

    degree: int
    gamma: float
    coef0: float

    def of_dots(self, values, norm, norms):
        """(gamma·g + coef0)^degree by squaring, in place."""
        work = values.dtype.type
        gamma, coef0 = work(self.gamma), work(self.coef0)
        for c in range(values.size):
            base = gamma * values[c] + coef0
            power = work(1.0)
            rest = self.degree
            while rest > 0:  # square and multiply
                if rest & 1:
                    power *= base
                base *= base
                rest >>= 1
            values[c] = power

    def diagonal(self, norms: Vector) -> Vector:
        """(gamma·‖x‖² + coef0)^degree."""
        power: Vector = (self.gamma * norms + self.coef0) ** float(self.degree)
        return power


class Polynomial(DotKernel):
    """k(x, z) = (gamma·x·z + coef0)^degree.

    Parameters
    ----------
    degree : int
        At least 1.
    coef0 : float
        Finite; below 0 the kernel is not positive semi-definite in general.
    gamma : float
        Positive.
    """

    degree: int
    coef0: float
    gamma: float

    def __init__(self, degree: int, coef0: float = 1.0, gamma: float = 1.0) -> None:
        self._set(
            degree=whole("Polynomial", "degree", degree),
            coef0=number("Polynomial", "coef0", coef0),
            gamma=positive("Polynomial", "gamma", gamma),
        )

    @classmethod
    def from_parameters(cls, *, degree: int, gamma: float, coef0: float) -> Polynomial:
        """Of degree 0, or with gamma 0, all values are the same."""
        if degree == 0 or gamma == 0.0:
            made: Polynomial = cls._unchecked(degree=degree, coef0=coef0, gamma=gamma)
            return made
        return cls(degree, coef0, gamma)

    @property
    def is_semidefinite_by_construction(self) -> bool:
        """Whether coef0 ≥ 0: then it is a sum of powers of the linear kernel."""
        return self.coef0 >= 0.0

    def magnitude(self, norm2: float) -> float:
        """(|gamma|·norm2 + |coef0|)^degree."""
        base = np.float64(abs(self.gamma) * norm2 + abs(self.coef0))
        return float(base**self.degree)

    def compiled(self, scale: float = 1.0) -> PolynomialRecord:
        """Gamma takes the scale."""
        return PolynomialRecord(self.degree, self.gamma / scale / scale, self.coef0)


# --- Gaussian ---------------------------------------------------------------------------


class RBFRecord(NamedTuple):
    """k(x, z) = exp(factor·‖x − z‖²), factor = −gamma."""

    factor: float

    def of_distances(self, values):
        """e^t, in place."""
        for c in range(values.size):
            values[c] = exp(values[c])

    def slope(self) -> float:
        """Gamma, at distance 0."""
        return -self.factor


class RBF(DotKernel):
    """k(x, z) = exp(−gamma·‖x − z‖²) = exp(−‖x − z‖²/(2·sigma²)), the Gaussian kernel.

    Parameters
    ----------
    sigma, gamma : float
        Exactly one of them, positive; gamma = 1/(2·sigma²). The other can be read.
    """

    is_semidefinite_by_construction = True

    sigma: float
    gamma: float
    _given: str

    def __init__(self, *, sigma: float | None = None, gamma: float | None = None) -> None:
        if (sigma is None) == (gamma is None):
            msg = (
                f"RBF(sigma={sigma!r}, gamma={gamma!r}): give exactly one of sigma and "
                "gamma, which is 1/(2·sigma²)"
            )
            raise InputError(msg)
        if sigma is not None:
            sigma = positive("RBF", "sigma", sigma)
            inverse = 1.0 / sigma
            gamma = 0.5 * inverse * inverse
            if not 0.0 < gamma < math.inf:
                msg = (
                    f"RBF(sigma={sigma!r}): gamma = 1/(2·sigma²) is not representable; "
                    "scale the features instead"
                )
                raise InputError(msg)
            self._set(sigma=sigma, gamma=gamma, _given="sigma")
        else:
            gamma = positive("RBF", "gamma", gamma)
            self._set(sigma=math.sqrt(0.5 / gamma), gamma=gamma, _given="gamma")

    @classmethod
    def from_parameters(cls, *, degree: int, gamma: float, coef0: float) -> RBF:
        """With gamma 0, all values are 1."""
        if gamma == 0.0:
            made: RBF = cls._unchecked(sigma=math.inf, gamma=0.0, _given="gamma")
            return made
        return cls(gamma=gamma)

    def _arguments(self) -> dict[str, Any]:
        return {self._given: getattr(self, self._given)}

    def _key(self) -> tuple[Any, ...]:
        return (self.gamma,)

    def magnitude(self, norm2: float) -> float:
        """Gamma·norm2: a fourth of the largest exponent."""
        return self.gamma * norm2

    def compiled(self, scale: float = 1.0) -> RBFRecord:
        """Gamma takes the scale."""
        return RBFRecord(-self.gamma / scale / scale)


# --- sigmoid ----------------------------------------------------------------------------


class SigmoidRecord(NamedTuple):
    """k(x, z) = tanh(gamma·x·z + coef0)."""

    gamma: float
    coef0: float

    def of_dots(self, values, norm, norms):
        """tanh(t) = 1 − 2/(e^{2t} + 1), in place."""
        work = values.dtype.type
        gamma, coef0 = work(self.gamma), work(self.coef0)
        one, two = work(1.0), work(2.0)
        for c in range(values.size):
            values[c] = one - two / (exp(two * (gamma * values[c] + coef0)) + one)

    def diagonal(self, norms: Vector) -> Vector:
        """tanh(gamma·‖x‖² + coef0)."""
        return np.tanh(self.gamma * norms + self.coef0)


class Sigmoid(DotKernel):
    """k(x, z) = tanh(a·x·z + r); not positive semi-definite in general."""

    a: float
    r: float

    def __init__(self, a: float, r: float) -> None:
        self._set(a=number("Sigmoid", "a", a), r=number("Sigmoid", "r", r))

    @classmethod
    def from_parameters(cls, *, degree: int, gamma: float, coef0: float) -> Sigmoid:
        """tanh(gamma·x·z + coef0)."""
        return cls(a=gamma, r=coef0)

    def magnitude(self, norm2: float) -> float:
        """|a|·norm2 + |r|: the largest argument of tanh."""
        return abs(self.a) * norm2 + abs(self.r)

    def compiled(self, scale: float = 1.0) -> SigmoidRecord:
        """The factor of x·z takes the scale."""
        return SigmoidRecord(self.a / scale / scale, self.r)
