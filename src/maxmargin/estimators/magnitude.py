"""Checks of kernel matrices, and of features whose kernel values would overflow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from maxmargin.errors import InputError
from maxmargin.validation import sum_of_squares

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

# Policy: kernel values above this are refused, so that sums of them fit float64.
LARGEST_VALUE = 1e300


def check_precomputed(K: NDArray[Any]) -> None:
    """Refuse a kernel matrix that is not square or not symmetric.

    Symmetric means |K − Kᵀ| ≤ 10⁻⁶ (float32: 10⁻⁴) of the largest |K|, which products
    computed in another order always meet.
    """
    if K.shape[0] != K.shape[1]:
        msg = (
            "Precomputed matrix must be a square matrix."
            f" Input is a {K.shape[0]}x{K.shape[1]} matrix. Give k(X, X) of the training "
            "rows"
        )
        raise InputError(msg)
    step = max(1, (1 << 22) // max(1, K.shape[0]))  # blocks of at most 32 MB
    peak = worst = 0.0
    where = (0, 0)
    for start in range(0, K.shape[0], step):
        block = K[start : start + step]
        peak = max(peak, float(block.max()), -float(block.min()))
        difference = np.abs(block - K[:, start : start + step].T)
        position = int(difference.argmax())
        if difference.flat[position] > worst:
            worst = float(difference.flat[position])
            row, column = divmod(position, K.shape[1])
            where = (start + row, column)
    if peak > LARGEST_VALUE:
        _too_large(peak)
    allowed = (1e-4 if K.dtype == np.float32 else 1e-6) * peak
    if worst > allowed:
        i, j = where
        msg = (
            f"Precomputed matrix is asymmetric: K[{i}, {j}]={K[i, j]:.6g} but "
            f"K[{j}, {i}]={K[j, i]:.6g}; a kernel has k(x, z) = k(z, x); give "
            "(K + K.T) / 2 if the difference is noise"
        )
        raise InputError(msg)


def check_magnitude(X: Any, value_of: Callable[[float], float]) -> None:
    """Refuse features so large that their kernel values are not representable.

    ``value_of`` maps a bound on the squared norm of a row to one on |k(x, z)|.
    """
    values = X.data if sparse.issparse(X) else X
    if values.size == 0:
        return
    with np.errstate(over="ignore"):
        # The squared norm of the whole X bounds that of a row; this quick pass is enough
        # for most data.
        if _representable(sum_of_squares(values), value_of):
            return
        peak = max(float(values.max()), -float(values.min()))
        if not _representable(float(np.float64(peak) ** 2 * X.shape[1]), value_of):
            _too_large(peak)


def _representable(squared_norm: float, value_of: Callable[[float], float]) -> bool:
    return squared_norm < LARGEST_VALUE and value_of(squared_norm) < LARGEST_VALUE


def _too_large(peak: float) -> None:
    msg = (
        "The dual coefficients or intercepts are not finite for such input: with "
        f"values as large as {peak:.3g} the kernel overflows. The input data may "
        "contain large values and need to be preprocessed; use StandardScaler or "
        "MinMaxScaler"
    )
    raise InputError(msg)
