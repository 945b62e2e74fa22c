"""A warning of kernels that are not positive semi-definite.

A kernel matrix that is not positive semi-definite makes the quadratic programme
non-convex: a solver still stops, at a point that may only be a local optimum.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.errors import IndefiniteKernelWarning, InputError, warn

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin._arrays import Index
    from maxmargin.kernels import Kernel
    from maxmargin.kernels.gram.contract import Gram


def warn_if_indefinite(kernel: Kernel, gram: Gram, *, named: Any, eps: float) -> None:
    """Warn when (a sample of) the kernel matrix has a negative eigenvalue.

    For kernels that are not semi-definite by construction. A precomputed matrix of at
    most 2000 rows is judged as a whole; a larger one by 1000 rows spread evenly over it.
    Of functions, sigmoid, and poly with coef0 < 0 at most 200 rows are evaluated.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    gram : Gram
        Its kernel matrix.
    named : str, Kernel or callable
        The kernel as the user gave it, for the text of the warning.
    eps : float
        Precision in which the values were made.
    """
    if kernel.precomputed:
        rows = _spread(gram.n, gram.n if gram.n <= 2000 else 1000)
    else:
        rows = _spread(gram.n, 200)
    K = np.empty((rows.size, rows.size), dtype=np.float64)
    gram.block(rows, rows, K)
    if not kernel.precomputed:
        _refuse_asymmetric(named, K)
    lowest = _negative_eigenvalue(K, eps)
    if lowest is not None:
        name = getattr(named, "__name__", str(named))
        part = "" if rows.size == gram.n else f" (on a sample of {rows.size} rows)"
        warn(
            f"kernel {name} is not positive semi-definite: smallest eigenvalue "
            f"{lowest:.3g} of its matrix{part}. The solver may stop at a local optimum, "
            "and margin and certificate lose their meaning; use a kernel that is a dot "
            "product of features (linear, poly with coef0 ≥ 0, rbf)",
            IndefiniteKernelWarning,
        )


def _refuse_asymmetric(kernel: Any, K: NDArray[np.float64]) -> None:
    """Refuse a function with k(x, z) ≠ k(z, x); matrices are checked on input."""
    difference = np.abs(K - K.T)
    if float(difference.max(initial=0.0)) > 1e-6 * float(np.abs(K).max(initial=0.0)):
        i, j = np.unravel_index(int(difference.argmax()), K.shape)
        name = getattr(kernel, "__name__", "k")
        msg = (
            f"kernel {name} is asymmetric: {name}(x, z)={K[i, j]:.6g} and "
            f"{name}(z, x)={K[j, i]:.6g} for two rows; a kernel has k(x, z) = k(z, x)"
        )
        raise InputError(msg)


def _spread(n: int, count: int) -> Index:
    """Return at most ``count`` rows, evenly spread, always the same."""
    count = min(n, count)
    return np.arange(count, dtype=np.intp) * n // max(1, count)


def _negative_eigenvalue(K: NDArray[np.float64], eps: float) -> float | None:
    """Return the smallest eigenvalue if rounding cannot explain it, else None.

    K + δI has a Cholesky factor exactly when no eigenvalue is below −δ; the factor costs
    a tenth of the eigenvalues, which are computed only for the warning.
    """
    if not np.isfinite(K).all() or not K.any():
        return None  # overflow is reported by the solver; zeros are semi-definite
    # eigvalsh and cholesky read one triangle: make both say the same
    K = 0.5 * (K + K.T)
    trace = float(np.abs(K.diagonal()).sum())
    delta = max(1e-8, 4.0 * eps) * (trace if trace > 0.0 else float(np.abs(K).max()))
    try:
        np.linalg.cholesky(K + delta * np.eye(K.shape[0]))
    except np.linalg.LinAlgError:
        lowest = float(np.linalg.eigvalsh(K)[0])
        # Cholesky may also fail by rounding alone, just above −δ.
        return lowest if lowest < -delta else None
    return None
