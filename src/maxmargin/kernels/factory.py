"""From what a user names to what a solver asks: kernels, Gram matrices, expansions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from maxmargin.errors import InputError
from maxmargin.kernels.gram import VectorGram, vector_expansion
from maxmargin.kernels.table import (
    CallableGram,
    TableGram,
    callable_expansion,
    table_expansion,
)
from maxmargin.kernels.vector import Linear, Polynomial, Rbf, Sigmoid

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from maxmargin.kernels.vector import VectorKernel
    from maxmargin.parallel import Workers

    Kernel = VectorKernel | str | Callable[[Any, Any], Any]

__all__ = ["compile_kernel", "expansion", "training_gram"]


def compile_kernel(name: str, *, degree: int, gamma: float, coef0: float) -> VectorKernel:
    """The compiled kernel of scikit-learn's name and parameters."""
    if name == "linear":
        return Linear()
    if name == "poly":
        return Polynomial(int(degree), float(gamma), float(coef0))
    if name == "rbf":
        return Rbf(float(gamma))
    if name == "sigmoid":
        return Sigmoid(float(gamma), float(coef0))
    msg = f"kernel={name!r}: a compiled kernel is one of linear, poly, rbf, sigmoid"
    raise InputError(msg)


def training_gram(kernel: Kernel, X: Any, *, workers: Workers) -> Any:
    """The Gram of the rows of X; for ``"precomputed"`` X is that matrix itself."""
    if isinstance(kernel, str):
        return TableGram(X)
    if isinstance(kernel, tuple):
        return VectorGram(kernel, X, workers)
    return CallableGram(kernel, X)


def expansion(
    kernel: Kernel, X: Any, vectors: Any, coef: NDArray[np.float64], *, workers: Workers
) -> NDArray[np.float64]:
    """``out[t, m] = Σ_j k(X[t], vectors[j])·coef[m, j]`` in float64.

    For ``"precomputed"``, X holds kernel values against all training points and
    ``vectors`` the columns of the support vectors.
    """
    if isinstance(kernel, str):
        return table_expansion(X, vectors, coef)
    if isinstance(kernel, tuple):
        return vector_expansion(kernel, X, vectors, coef, workers)
    return callable_expansion(kernel, X, vectors, coef)
