"""The matrix k(X, X) of any parameter ``kernel``, and its precision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from maxmargin.errors import InputError
from maxmargin.kernels import KERNELS
from maxmargin.kernels.gram.contract import Family
from maxmargin.kernels.inputs import checked_rows
from maxmargin.kernels.naming import as_kernel
from maxmargin.kernels.scale import gamma_of

if TYPE_CHECKING:
    from maxmargin._arrays import Matrix

LARGEST_ROWS = 5000  # policy: their eigenvectors take minutes; the work grows with n³


class KernelMatrix(NamedTuple):
    """k(X, X) in float64, the precision in which it was made, and the kernel's name."""

    values: Matrix
    eps: float
    name: str


def kernel_matrix(
    kernel: Any,
    X: Any,
    *,
    degree: int = 3,
    gamma: float | str = "scale",
    coef0: float = 0.0,
) -> KernelMatrix:
    """All values k(x, z) of the rows of X, at most 5000 of them.

    Parameters
    ----------
    kernel : Kernel, str or callable
        A kernel object, a name as in ``SVC(kernel=…)`` ("linear", "poly", "rbf",
        "sigmoid", or "precomputed" where X is the matrix itself), or a function
        k(A, B) of blocks of rows.
    X : array-like or sparse matrix of shape (n, d)
        Rows.
    degree, gamma, coef0
        For names, as in ``SVC``; gamma="scale" is 1/(d·Var X), "auto" is 1/d.
    """
    rows = checked_rows(X, "X")
    n = rows.shape[0]
    if not 1 <= n <= LARGEST_ROWS:
        msg = (
            f"X has {n} rows: a kernel matrix is made here of 1 to {LARGEST_ROWS}, whose "
            "eigenvalues can be waited for; pass fewer, for instance X[::k]"
        )
        raise InputError(msg)
    if isinstance(kernel, str):
        kind = KERNELS.named(kernel)
        if kind.fixed_gamma is None and isinstance(gamma, str):
            if gamma not in ("scale", "auto"):
                msg = f"gamma={gamma!r}: expected 'scale', 'auto' or a number"
                raise InputError(msg)
            gamma = gamma_of(gamma, rows)
        kernel = kind.from_parameters(degree=degree, gamma=gamma, coef0=coef0)
    found = as_kernel(kernel)
    if found.family is Family.TABLE:
        return _given(rows)
    if found.family is Family.BLOCKS:
        return _called(kernel, rows)
    return KernelMatrix(found(rows), _eps(np.float64), repr(found))


def _given(K: Any) -> KernelMatrix:
    if K.shape[0] != K.shape[1]:
        msg = (
            f"a precomputed kernel matrix must be square, and this one has shape "
            f"{K.shape}; give k(X, X), or a kernel with the rows"
        )
        raise InputError(msg)
    values = K.toarray() if sp.issparse(K) else K
    return KernelMatrix(values.astype(np.float64), _eps(values.dtype), "precomputed")


def _called(kernel: Any, rows: Any) -> KernelMatrix:
    from maxmargin.kernels.gram.table import called

    made: list[np.dtype[Any]] = []

    def noting(A: Any, B: Any) -> Any:
        values = kernel(A, B)
        made.append(np.dtype(getattr(values, "dtype", np.float64)))
        return values

    rows = rows.astype(np.float64)
    # Copies: the function may write into what it is given.
    values = called(noting, rows.copy(), rows.copy())
    return KernelMatrix(values, _eps(made[0]), getattr(kernel, "__name__", repr(kernel)))


def _eps(dtype: Any) -> float:
    """Relative rounding error of one value; whole numbers count as float64."""
    dtype = np.dtype(dtype)
    return float(np.finfo(dtype if dtype.kind == "f" else np.float64).eps)
