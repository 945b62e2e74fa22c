"""Kernel objects: the kernels a user names.

How they are compared, printed, evaluated and combined is in
:mod:`maxmargin.kernels.algebra`.
"""

from __future__ import annotations

import math
from typing import Any, NoReturn

from maxmargin.errors import InputError
from maxmargin.kernels.algebra import Kernel
from maxmargin.kernels.parameters import number, positive, whole


class Linear(Kernel):
    """k(x, z) = x·z."""

    def compiled(self) -> Any:
        """The form that the factory understands."""
        from maxmargin.kernels import dot_products as vector

        return vector.Linear()

    is_semidefinite_by_construction = True


class Polynomial(Kernel):
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

    def compiled(self) -> Any:
        """The form that the factory understands."""
        from maxmargin.kernels import dot_products as vector

        return vector.Polynomial(self.degree, self.gamma, self.coef0)

    @property
    def is_semidefinite_by_construction(self) -> bool:
        """Whether coef0 ≥ 0: then it is a sum of powers of the linear kernel."""
        return self.coef0 >= 0.0


class RBF(Kernel):
    """k(x, z) = exp(−gamma·‖x − z‖²) = exp(−‖x − z‖²/(2·sigma²)), the Gaussian kernel.

    Parameters
    ----------
    sigma, gamma : float
        Exactly one of them, positive; gamma = 1/(2·sigma²). The other can be read.
    """

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

    def _arguments(self) -> dict[str, Any]:
        return {self._given: getattr(self, self._given)}

    def _key(self) -> tuple[Any, ...]:
        return (self.gamma,)

    def compiled(self) -> Any:
        """The form that the factory understands."""
        from maxmargin.kernels import dot_products as vector

        return vector.Rbf(self.gamma)

    is_semidefinite_by_construction = True


class Sigmoid(Kernel):
    """k(x, z) = tanh(a·x·z + r); not positive semi-definite in general."""

    a: float
    r: float

    def __init__(self, a: float, r: float) -> None:
        self._set(a=number("Sigmoid", "a", a), r=number("Sigmoid", "r", r))

    def compiled(self) -> Any:
        """The form that the factory understands."""
        from maxmargin.kernels import dot_products as vector

        return vector.Sigmoid(self.a, self.r)

    is_semidefinite_by_construction = False


class Laplacian(Kernel):
    """k(x, z) = exp(−gamma·‖x − z‖₁), gamma positive."""

    gamma: float

    def __init__(self, gamma: float) -> None:
        self._set(gamma=positive("Laplacian", "gamma", gamma))

    def compiled(self) -> Any:
        """The form that the factory understands."""
        from maxmargin.kernels import row_pairs as pairwise

        return pairwise.Laplacian(self.gamma)

    is_semidefinite_by_construction = True


class ChiSquared(Kernel):
    """k(x, z) = exp(−gamma·Σ (x_k − z_k)²/(x_k + z_k)) with 0/0 = 0; for rows ≥ 0."""

    gamma: float

    def __init__(self, gamma: float) -> None:
        self._set(gamma=positive("ChiSquared", "gamma", gamma))

    def compiled(self) -> Any:
        """The form that the factory understands."""
        from maxmargin.kernels import row_pairs as pairwise

        return pairwise.ChiSquared(self.gamma)

    is_semidefinite_by_construction = True


class Precomputed(Kernel):
    """X is the kernel matrix itself; there is nothing to evaluate or to combine."""

    combines = False

    def compiled(self) -> str:
        """The form that the factory understands."""
        return "precomputed"

    def __call__(self, A: Any, B: Any = None) -> NoReturn:
        """Refused: the values are what a machine is given as X."""
        msg = "Precomputed() has no formula: give k(X, X) itself as the X of a machine"
        raise InputError(msg)

    def diagonal(self, X: Any) -> NoReturn:
        """Refused, as values are."""
        self(X)

    is_semidefinite_by_construction = False
