"""K + 1: a constant feature beside the kernel's own, for a regularised intercept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from maxmargin.kernels.gram.contract import Unkept

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from maxmargin._arrays import Index, Vector
    from maxmargin.kernels.gram.contract import Gram


class ShiftedGram(Unkept):
    """The kernel matrix of k(x, z) + 1, made from that of k."""

    def __init__(self, gram: Gram) -> None:
        self._gram = gram
        self.n, self.precisions, self.cost = gram.n, gram.precisions, gram.cost

    @property
    def n_kernel(self) -> int:
        """Kernel values computed so far."""
        return self._gram.n_kernel

    def diagonal(self) -> Vector:
        """K[i, i] + 1 in float64."""
        return self._gram.diagonal() + 1.0

    def block(self, rows: Index, cols: Index, out: NDArray[Any]) -> None:
        """K[rows, cols] + 1 into ``out``."""
        self._gram.block(rows, cols, out)
        out[: rows.size, : cols.size] += 1.0

    def apply(
        self, rows: Index, cols: Index, coef: Vector, out: Vector, dtype: np.dtype[Any]
    ) -> None:
        """``out[t] += Σ_j (K[rows[t], cols[j]] + 1)·coef[j]``."""
        self._gram.apply(rows, cols, coef, out, dtype)
        out[: rows.size] += coef.sum()
