"""The contract of kernel matrices: what a solver may ask of one.

A :class:`Gram` is K over the n points of one problem. It is never stored as a whole
unless it is small (:mod:`maxmargin.kernels.gram.row_cache`): a solver asks for blocks of
values, or for products in which the values are made, used and forgotten. Which one serves
a kernel depends on its :class:`Family`. The implementations are
:class:`~maxmargin.kernels.gram.dot_products.VectorGram` (kernels of dot products),
:class:`~maxmargin.kernels.gram.row_pairs.PairGram` (kernels of pairs of rows),
:class:`~maxmargin.kernels.gram.composite.CompositeGram` (sums and products of those),
:class:`~maxmargin.kernels.gram.table.TableGram` (precomputed) and
:class:`~maxmargin.kernels.gram.table.CallableGram` (a Python function).
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from maxmargin._arrays import Index, Vector


class Family(Enum):
    """The families of kernels, by what their values are made of."""

    DOTS = "dot products of rows"
    PAIRS = "pairs of rows"
    COMBINED = "values of other kernels"
    TABLE = "a given matrix"
    BLOCKS = "a Python function of blocks of rows"


class Group(NamedTuple):
    """Neighbouring vectors, and the outputs that they have coefficients for."""

    start: int  # the first of the vectors
    coef: Vector  # a line for each of these outputs
    places: Index  # their numbers


class Gram(Protocol):
    """The kernel matrix of n points, in two precisions.

    ``precisions`` lists the dtypes in which values can be asked for, cheapest first,
    always ending with float64. A value's bits depend only on the two points and the
    dtype, never on the block, order or thread that made it, and ``K[i, j]`` has the
    bits of ``K[j, i]``.
    """

    n: int
    precisions: tuple[np.dtype[Any], ...]
    design: Any  # this and the next two as in :class:`Unkept`

    @property
    def keeps_all(self) -> bool:
        """Whether there is room for the whole matrix."""

    def whole(self, dtype: np.dtype[Any]) -> NDArray[Any] | None:
        """The matrix itself, not to be changed, where it is kept in this precision."""

    @property
    def cost(self) -> float:
        """Work of one value, in units of about a nanosecond; 0 where it is looked up."""

    def diagonal(self) -> Vector:
        """K[i, i] for every point, in float64."""

    def block(self, rows: Index, cols: Index, out: NDArray[Any]) -> None:
        """Write K[rows, cols] into ``out[:len(rows), :len(cols)]``, in out's dtype."""

    def apply(
        self,
        rows: Index,
        cols: Index,
        coef: Vector,
        out: Vector,
        dtype: np.dtype[Any],
    ) -> None:
        """``out[t] += Σ_j K[rows[t], cols[j]]·coef[j]``; values made in ``dtype``."""

    @property
    def n_kernel(self) -> int:
        """Number of kernel values computed so far."""


class Unkept:
    """The answers of a Gram that keeps no values, and is not XX' of a linear machine.

    Solvers ask every Gram for these three.
    """

    design: Any = None  # the points as rows of a linear machine, where K is XX'
    keeps_all = False  # whether there is room for the whole matrix

    def whole(self, dtype: np.dtype[Any]) -> NDArray[Any] | None:
        """The matrix itself, not to be changed, where it is kept in this precision."""
        return None


class SourceGram(Gram, Protocol):
    """A Gram that can be divided: fits hand parts of it to solvers."""

    def precisions_for(self, n: int) -> tuple[np.dtype[Any], ...]:
        """The precisions in which n of the points are worth asking for."""

    def subset(self, index: Index, dtype: np.dtype[Any] | None = None) -> SourceGram:
        """The matrix of the points ``index``, in one thread, with a count of its own.

        For problems that are themselves spread over threads. It begins in ``dtype``
        (by default ``precisions_for(len(index))[0]``).
        """

    def narrowed(self, index: Index) -> SourceGram:
        """The matrix of the points ``index``, with the same threads and a new count."""
