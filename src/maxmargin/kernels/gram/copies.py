"""The kernel matrix of points with copies, from that of the distinct points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.kernels.gram.contract import Unkept

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin._arrays import Index, Vector
    from maxmargin.kernels.gram.contract import Gram


def distinct_points(first: Index, points: Index) -> tuple[Index, Index]:
    """Find the distinct ones of some points, and their places for all of them.

    Parameters
    ----------
    first : ndarray of int
        For every point there is, the first that equals it.
    points : ndarray of int
        Some of the points.

    Returns
    -------
    kept : ndarray of int
        Places in ``points``.
    place : ndarray of shape (len(points),)
        ``points[kept[place]]`` equal ``points``.
    """
    _, kept, place = np.unique(first[points], return_index=True, return_inverse=True)
    return kept, place


def sums_by_place(place: Index, values: Vector, size: int) -> Vector:
    """Add up the values of all copies of each of ``size`` points."""
    sums: Any = np.bincount(place, weights=values, minlength=size)
    total: Vector = sums
    return total


class CopiedGram(Unkept):
    """The kernel matrix of points that are copies of others: K[place, place].

    :class:`~maxmargin.solvers.distinct.Distinct`, which merges copies, reads
    ``distinct``; for all other solvers this is the matrix of all points.

    Parameters
    ----------
    gram : Gram
        Of the distinct points.
    place : ndarray of shape (n,)
        For every point its number among the distinct points.
    """

    def __init__(self, gram: Gram, place: Index) -> None:
        self.distinct, self.place = gram, place
        self.n, self.precisions, self.cost = place.size, gram.precisions, gram.cost

    @property
    def n_kernel(self) -> int:
        """Kernel values computed so far."""
        return self.distinct.n_kernel

    def diagonal(self) -> Vector:
        """K[i, i] in float64."""
        diagonal: Vector = self.distinct.diagonal()[self.place]
        return diagonal

    def block(self, rows: Index, cols: Index, out: NDArray[Any]) -> None:
        """K[rows, cols] into ``out``."""
        self.distinct.block(self.place[rows], self.place[cols], out)

    def apply(
        self, rows: Index, cols: Index, coef: Vector, out: Vector, dtype: np.dtype[Any]
    ) -> None:
        """``out[t] += Σ_j K[rows[t], cols[j]]·coef[j]``; each point is computed once."""
        targets, row = np.unique(self.place[rows], return_inverse=True)
        sources, column = np.unique(self.place[cols], return_inverse=True)
        sums = np.zeros(targets.size)
        merged = sums_by_place(column, coef, sources.size)
        self.distinct.apply(targets, sources, merged, sums, dtype)
        out[: rows.size] += sums[row]

    def narrowed(self, index: Index) -> CopiedGram:
        """The matrix of the points ``index``, with the same threads and a new count."""
        kept, place = distinct_points(self.place, index)
        gram: Any = self.distinct
        return CopiedGram(gram.narrowed(self.place[index[kept]]), place)
