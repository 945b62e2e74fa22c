"""Every point twice: the kernel matrix of a problem with two variables a point."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin._arrays import Index, Vector
    from maxmargin.kernels.gram.contract import Gram


class TwinGram:
    """[[K, K], [K, K]]: the points of ``gram``, then the same points again.

    Twins have the same kernel values, so a product for all of them costs no more than
    one for the points.
    """

    def __init__(self, gram: Gram) -> None:
        self._gram = gram
        self.n, self.precisions, self.cost = 2 * gram.n, gram.precisions, gram.cost

    @property
    def n_kernel(self) -> int:
        """Kernel values computed so far."""
        return self._gram.n_kernel

    def diagonal(self) -> Vector:
        """K[i, i] in float64."""
        return np.tile(self._gram.diagonal(), 2)

    def block(self, rows: Index, cols: Index, out: NDArray[Any]) -> None:
        """K[rows, cols] into ``out``."""
        half = self._gram.n
        self._gram.block(rows % half, cols % half, out)

    def apply(
        self, rows: Index, cols: Index, coef: Vector, out: Vector, dtype: np.dtype[Any]
    ) -> None:
        """``out[t] += Σ_j K[rows[t], cols[j]]·coef[j]``; each point is computed once."""
        half = self._gram.n
        targets, place = np.unique(rows % half, return_inverse=True)
        sources, column = np.unique(cols % half, return_inverse=True)
        total = np.zeros(targets.size)
        weight = np.zeros(sources.size)
        np.add.at(weight, column, coef)
        self._gram.apply(targets, sources, weight, total, dtype)
        out[: rows.size] += total[place]
