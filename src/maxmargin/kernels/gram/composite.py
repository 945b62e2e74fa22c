"""The kernel matrix of sums, products, multiples and powers of kernels.

Values are made in chunks: each leaf (a kernel of rows that is a part) fills a block, the
blocks are combined element by element, and the result is stored or used up. Elementwise
arithmetic is correctly rounded, so a value's bits are fixed by those of the leaves,
whatever the chunk; a leaf that occurs twice is computed once.

Cost: that of the leaves, and about half a nanosecond for each operation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from maxmargin._jit import njit
from maxmargin.errors import NumericalError
from maxmargin.kernels.gram.contract import Family, Unkept
from maxmargin.kernels.gram.dot_products import VectorCross, VectorGram, vector_diagonal
from maxmargin.kernels.gram.row_pairs import PairCross, PairGram, pair_diagonal
from maxmargin.kernels.gram.tiles import weighted
from maxmargin.parallel import Tally, Workers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from maxmargin._arrays import Index, Vector
    from maxmargin.kernels.algebra import Kernel

SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)
_SEGMENT = 256  # columns that are summed at a time: fixed, so that bits are
_ROWS = 512  # policy: rows of a chunk; more than columns, so that leaves need not turn
# their blocks
_VALUES = 1 << 20  # policy: values in all blocks of a chunk: 8 MB
_GRAIN = 128  # policy: rows below which a second thread costs more than it brings
_SMALL = 1000  # policy: up to this many points float64 costs next to nothing
_DROWNED = 1e-4  # policy: float32 is used where its largest error is below this part of
# the median squared distance of points
_LARGEST_SINGLE = 1e30  # rounding: values above this leave float32 no room for sums


class Service(NamedTuple):
    """The classes and the function that serve a family of kernels."""

    gram: Any  # (kernel, X, workers): K over the rows of X
    cross: Any  # (kernel, A, B, workers): the values between the rows of A and B
    diagonal: Any  # (kernel, X): k(x, x) of every row


SERVICES = {
    Family.DOTS: Service(VectorGram, VectorCross, vector_diagonal),
    Family.PAIRS: Service(PairGram, PairCross, pair_diagonal),
}
"""The services of the families that leaves belong to."""


class _Blocks(Protocol):
    """Blocks of values of one leaf."""

    def block(self, rows: Index, cols: Index, out: NDArray[Any]) -> None: ...


class _Combination:
    """A combined kernel, ready to combine the values of its distinct leaves."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self.leaves = list(dict.fromkeys(kernel.leaves))
        self._places = {leaf: place for place, leaf in enumerate(self.leaves)}
        self._once = [kernel.leaves.count(leaf) == 1 for leaf in self.leaves]
        self._values = min(_ROWS * _SEGMENT, _VALUES // len(self.leaves))
        self.operations = kernel.operations

    def of(self, values: Sequence[NDArray[Any]]) -> NDArray[Any]:
        """The kernel's values from those of its leaves, which may be overwritten."""

        def values_of(leaf: Kernel) -> tuple[NDArray[Any], bool]:
            place = self._places[leaf]
            return values[place], self._once[place]

        with np.errstate(over="ignore", invalid="ignore"):  # callers look for overflow
            return self._kernel.combined(values_of)[0]

    def chunk(
        self,
        blocks: Sequence[_Blocks],
        rows: Index,
        cols: Index,
        memory: Sequence[NDArray[Any]],
    ) -> NDArray[Any]:
        """The values of one chunk that fits into ``memory``."""
        values = []
        for one, space in zip(blocks, memory, strict=True):
            part = space[: rows.size * cols.size].reshape(rows.size, cols.size)
            one.block(rows, cols, part)
            values.append(part)
        return self.of(values)

    def shape(self, rows: int, cols: int) -> tuple[int, int]:
        """Rows and columns of a chunk; columns are whole segments."""
        height = max(1, min(rows, _ROWS, self._values // _SEGMENT))
        width = max(1, self._values // (height * _SEGMENT)) * _SEGMENT
        return height, min(width, max(1, cols))

    def memory(self, shape: tuple[int, int], dtype: np.dtype[Any]) -> list[NDArray[Any]]:
        """A block for each leaf."""
        return [np.empty(shape[0] * shape[1], dtype) for _ in self.leaves]


def combined_diagonal(kernel: Kernel, X: Any) -> Vector:
    """k(x, x) of every row."""
    tree = _Combination(kernel)
    return tree.of([SERVICES[leaf.family].diagonal(leaf, X) for leaf in tree.leaves])


# --- values in chunks -------------------------------------------------------------------


@njit
def _add_products(values, coef, sums):
    for first in range(0, values.shape[1], _SEGMENT):
        last = min(first + _SEGMENT, values.shape[1])
        for t in range(values.shape[0]):
            for m in range(coef.shape[0]):
                sums[t, m] += weighted(values[t][first:last], coef[m][first:last])


def _store(
    tree: _Combination,
    blocks: Sequence[_Blocks],
    rows: Index,
    cols: Index,
    out: NDArray[Any],
    workers: Workers,
) -> None:
    """All values into the top left corner of ``out``."""

    def rectangle(top: int, bottom: int, left: int, right: int) -> None:
        height, width = shape = tree.shape(bottom - top, right - left)
        memory = tree.memory(shape, out.dtype)
        for c in range(left, right, width):
            some = cols[c : min(c + width, right)]
            for t in range(top, bottom, height):
                these = rows[t : min(t + height, bottom)]
                values = tree.chunk(blocks, these, some, memory)
                out[t : t + these.size, c : c + some.size] = values

    if rows.size < cols.size:
        workers.spread(lambda a, b: rectangle(0, rows.size, a, b), cols.size, _GRAIN)
    else:
        workers.spread(lambda a, b: rectangle(a, b, 0, cols.size), rows.size, _GRAIN)


def _expand(
    tree: _Combination,
    blocks: Sequence[_Blocks],
    rows: Index,
    cols: Index,
    coef: Vector,
    out: Vector,
    dtype: np.dtype[Any],
    workers: Workers,
) -> None:
    """``out[t, m] += Σ_j K[rows[t], cols[j]]·coef[m, j]``."""

    def slab(a: int, b: int) -> None:
        height, width = shape = tree.shape(b - a, cols.size)
        memory = tree.memory(shape, dtype)
        for c in range(0, cols.size, width):
            some, factors = cols[c : c + width], coef[:, c : c + width]
            for t in range(a, b, height):
                these = rows[t : min(t + height, b)]
                values = tree.chunk(blocks, these, some, memory)
                _add_products(values, factors, out[t : t + these.size])

    workers.spread(slab, rows.size, _GRAIN)


class CompositeGram(Unkept):
    """K over the rows of X, or over some of them (``subset``).

    Parameters
    ----------
    kernel : Combination
        The kernel.
    X : ndarray (C order) or CSR matrix
        The points; kept, not copied.
    workers : Workers
        Threads for large requests: chunks are spread over them, leaves are not.
    """

    def __init__(self, kernel: Kernel, X: Any, workers: Workers) -> None:
        self.n = int(X.shape[0])
        self._workers, self._count = workers, Tally()
        self._tree = _Combination(kernel)
        alone = Workers(1)
        self._grams: list[Any] = [
            SERVICES[leaf.family].gram(leaf, X, alone) for leaf in self._tree.leaves
        ]
        if not np.isfinite(self.diagonal()).all():
            msg = (
                "the combined kernel overflows float64 on this data; scale the features "
                "(StandardScaler) or reduce gamma, degree and exponents"
            )
            raise NumericalError(msg)
        self._single = self._single_is_safe()
        self.precisions = self.precisions_for(self.n)

    def _single_is_safe(self) -> bool:
        """Whether float32 can hold the values, and tells points apart.

        A step divides by K[i, i] + K[j, j] − 2K[i, j]: on a sample of points, float32
        values must not be off by more than a small part of it.
        """
        if any(SINGLE not in gram.precisions_for(self.n) for gram in self._grams):
            return False
        singles = [gram.diagonal().astype(SINGLE) for gram in self._grams]
        if not bool((np.abs(self._tree.of(singles)) < _LARGEST_SINGLE).all()):
            return False
        some = np.linspace(0, self.n - 1, min(self.n, 64)).astype(np.intp)
        exact, short = (np.empty((some.size, some.size), t) for t in (DOUBLE, SINGLE))
        for out in (exact, short):
            _store(self._tree, self._grams, some, some, out, Workers(1))
        diagonal = np.diagonal(exact)
        apart = diagonal[:, None] + diagonal - 2.0 * exact
        apart = apart[apart > 0.0]
        error = float(np.abs(short - exact).max())
        return apart.size == 0 or error < _DROWNED * float(np.median(apart))

    @property
    def cost(self) -> float:
        """Work of one kernel value, in units of about one nanosecond."""
        leaves = sum(float(gram.cost) for gram in self._grams)
        return leaves + 0.5 * self._tree.operations

    @property
    def n_kernel(self) -> int:
        """Kernel values computed so far, one for each pair of points asked for."""
        return self._count.total

    def precisions_for(self, n: int) -> tuple[np.dtype[Any], ...]:
        """Float32 first where it is safe and n points make it worth compiling."""
        return (SINGLE, DOUBLE) if self._single and n > _SMALL else (DOUBLE,)

    def subset(self, index: Index, dtype: np.dtype[Any] | None = None) -> CompositeGram:
        """The kernel matrix of the points ``index``, in one thread."""
        part = self.narrowed(index)
        part._workers = Workers(1)
        first = self.precisions_for(index.size)[0] if dtype is None else dtype
        part.precisions = (DOUBLE,) if first == DOUBLE else (SINGLE, DOUBLE)
        return part

    def narrowed(self, index: Index) -> CompositeGram:
        """The kernel matrix of the points ``index``, with the same threads."""
        part = object.__new__(CompositeGram)
        part.__dict__.update(self.__dict__)
        part.n, part._count = index.size, Tally()
        part._grams = [gram.narrowed(index) for gram in self._grams]
        part.precisions = self.precisions_for(index.size)
        return part

    def diagonal(self) -> Vector:
        """K[i, i] in float64."""
        return self._tree.of([gram.diagonal() for gram in self._grams])

    def block(self, rows: Index, cols: Index, out: NDArray[Any]) -> None:
        """K[rows, cols] into the top left corner of ``out``, in its dtype."""
        _store(self._tree, self._grams, rows, cols, out, self._workers)
        self._count.add(rows.size * cols.size)

    def apply(
        self, rows: Index, cols: Index, coef: Vector, out: Vector, dtype: np.dtype[Any]
    ) -> None:
        """``out[t] += Σ_j K[rows[t], cols[j]]·coef[j]``, values made in ``dtype``."""
        factors, sums = coef.reshape(1, -1), out.reshape(-1, 1)
        dtype = np.dtype(dtype)
        _expand(self._tree, self._grams, rows, cols, factors, sums, dtype, self._workers)
        self._count.add(rows.size * cols.size)


class CompositeCross:
    """The values between the rows of A and those of B, in float64."""

    def __init__(self, kernel: Kernel, A: Any, B: Any, workers: Workers) -> None:
        self._tree, self._workers = _Combination(kernel), workers
        alone = Workers(1)
        self._blocks: list[Any] = [
            SERVICES[leaf.family].cross(leaf, A, B, alone) for leaf in self._tree.leaves
        ]

    def block(self, rows: Index, cols: Index, out: NDArray[Any]) -> None:
        """k(A[rows], B[cols]) into the top left corner of ``out``."""
        _store(self._tree, self._blocks, rows, cols, out, self._workers)

    def expand(self, coef: Vector, out: NDArray[Any]) -> None:
        """``out[t, m] += Σ_j k(A[t], B[j])·coef[m, j]``."""
        rows, cols = (np.arange(one, dtype=np.intp) for one in (len(out), coef.shape[1]))
        tree, blocks = self._tree, self._blocks
        _expand(tree, blocks, rows, cols, coef, out, DOUBLE, self._workers)
