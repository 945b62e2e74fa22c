"""The kernel matrix of a kernel of dot products, never stored."""

from __future__ import annotations

from functools import cached_property
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.errors import NumericalError
from maxmargin.kernels.gram import tiles
from maxmargin.kernels.gram.contract import Unkept
from maxmargin.parallel import Tally, Workers
from maxmargin.rows.compress import both_thinned, sparse_spread, thinned, used_columns
from maxmargin.rows.records import (
    DenseRows,
    Rows,
    Spread,
    rows_of,
    spread_of,
    spread_without_means,
    squared_norms,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from maxmargin._arrays import Index, Vector
    from maxmargin.design.operator import Design
    from maxmargin.kernels.dot_products import DotKernel
    from maxmargin.kernels.gram.contract import Group

SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)
_NO_COEF = np.empty((0, 0))
_FIRST = np.zeros(1, np.intp)  # the one column that sums of one line go to
_FEW_ROWS = 256  # policy: with fewer rows, the columns of a block are taken for rows
_SMALL = 1000  # policy: up to this many points float64 costs next to nothing
_DROWNED = 1e-4  # policy: float32 is used where its largest error is below this part of
# the median squared distance of points
_SAMPLE, _REMOTEST = 64, 4  # policy: points on which that is measured, and those of the
# largest norms
_ROUNDING = 1e-7  # rounding of a float32 value
_TOLERATED = 5e-4  # policy: change of a decision value that float32 may make: half of the
# tolerance that a machine is solved to
_LARGEST_SINGLE = 1e30  # rounding: values above this leave float32 no room for sums


def prepare(
    kernel: DotKernel, spread: Spread, dtype: np.dtype[Any], *arrays: Any
) -> tuple[Any, list[Rows]]:
    """Rows of one or two arrays read through one common affine map, and the record.

    A function of distances does not see translations, but squared distances lose digits
    far from the origin: dense rows are centred, in float32 always and in float64 when
    they are remote (otherwise dense and sparse rows give the same bits). Values far
    from unit size are scaled by a power of two, which changes no digit.
    """
    record = kernel.compiled(spread.scale)
    alike = len({isinstance(X, np.ndarray) for X in arrays}) == 1
    wanted = tiles.sees_distances(record) and (dtype == SINGLE or spread.remote)
    shift = spread.means if alike and wanted else None
    return record, [rows_of(X, shift, spread.scale) for X in arrays]


def _diagonal_of(record: Any, norms: Vector) -> Vector:
    """k(x, x) from squared norms, of a function of x·z."""
    with np.errstate(over="ignore", invalid="ignore"):  # the caller looks for overflow
        diagonal: Vector = record.diagonal(norms)
        return diagonal


def _at_distance_0(record: Any) -> float:
    """k(x, x), of a function of ‖x − z‖²: its formula runs without compilation too."""
    value = np.zeros(1)
    record.of_distances(value)
    return float(value[0])


def _norms(rows: Rows, n: int, dtype: np.dtype[Any], workers: Workers) -> NDArray[Any]:
    out, zero = np.empty(n, dtype), dtype.type(0.0)
    width = rows.shift.size if isinstance(rows, DenseRows) else rows.longest
    grain = max(4 * tiles.GRAIN, int(tiles.THREAD / (1.0 + width)))
    workers.spread(lambda a, b: squared_norms(rows, a, b, zero, out), n, grain)
    return out


class VectorGram(Unkept):
    """K over the rows of X, or over some of them (``subset``).

    Parameters
    ----------
    kernel : DotKernel
        The kernel.
    X : ndarray (C order) or CSR matrix
        The points; kept, not copied, unless dense ones are mostly zero: then a copy
        without the zeros is kept.
    workers : Workers
        Threads for large requests.
    """

    def __init__(self, kernel: DotKernel, X: Any, workers: Workers) -> None:
        self.n = int(X.shape[0])
        self._workers = workers
        self._index: Index | None = None
        self._count = Tally()
        self._sides: dict[np.dtype[Any], tuple[Rows, NDArray[Any]]] = {}
        (X,) = used_columns(X)
        centred = tiles.sees_distances(kernel.compiled())
        spread = spread_without_means(X)  # float64 seldom needs them
        X, spread = thinned(X, spread, workers, centred=centred)
        self._given = kernel, spread, X
        self._record = kernel.compiled(spread.scale)
        self._constant = _at_distance_0(self._record) if centred else None
        largest = self._constant
        if largest is None:
            largest = float(np.abs(self.diagonal()).max(initial=0.0))
        if not isfinite(largest):
            msg = (
                f"the {type(kernel).__name__.lower()} kernel overflows float64 on this "
                "data; scale the features (StandardScaler) or reduce gamma and degree"
            )
            raise NumericalError(msg)
        self._single = (
            self.n > _SMALL and largest < _LARGEST_SINGLE and self._single_is_safe()
        )
        self.precisions = self.precisions_for(self.n)

    def _side(self, dtype: np.dtype[Any]) -> tuple[Rows, NDArray[Any]]:
        """Rows and their squared norms as they are read in ``dtype``."""
        if dtype not in self._sides:  # a small fit never asks for float32
            kernel, spread, X = self._given
            if dtype == SINGLE and spread.means.size == 0:
                spread = spread_of(X)
            _, (rows,) = prepare(kernel, spread, dtype, X)
            norms = _norms(rows, X.shape[0], dtype, self._workers)
            self._sides[dtype] = rows, norms
        return self._sides[dtype]

    def precisions_for(self, n: int) -> tuple[np.dtype[Any], ...]:
        """Float32 first where it is safe and n points make it worth compiling."""
        return (SINGLE, DOUBLE) if self._single and n > _SMALL else (DOUBLE,)

    def _single_is_safe(self) -> bool:
        """Whether float32 holds norms and parameters, and tells points apart.

        A step divides by K[i, i] + K[j, j] − 2K[i, j]: where the values are much larger
        (a linear kernel far from the origin), their rounding drowns it. Among points
        that one huge value has moved together, all float32 values are the same.
        """
        norms = self._side(DOUBLE)[1]
        largest = float(norms.max(initial=0.0))
        if max([largest, *map(abs, self._record)]) >= _LARGEST_SINGLE:
            return False
        some = np.linspace(0, self.n - 1, min(self.n, _SAMPLE)).astype(np.intp)
        some = np.union1d(some, np.argpartition(norms, -_REMOTEST)[-_REMOTEST:])
        exact, short = (np.empty((some.size, some.size), t) for t in (DOUBLE, SINGLE))
        for values in (exact, short):
            self.block(some, some, values)
        self._count = Tally()
        diagonal = np.diagonal(exact)
        apart = diagonal[:, None] + diagonal - 2.0 * exact
        apart = apart[apart > 0.0]
        error = float(np.abs(short - exact).max())
        return apart.size == 0 or error < _DROWNED * float(np.median(apart))

    def __getstate__(self) -> dict[str, Any]:
        """Without arrays that are made again from the rows on first use."""
        kept = {**self.__dict__, "_sides": {}}
        kept.pop("design", None)
        return kept

    @property
    def cost(self) -> float:
        """Work of one kernel value, in units of about one nanosecond.

        As measured in float32 in one thread: sparse rows by what they store, whatever d
        is, up to d = 3,000 within a factor of two.
        """
        rows = self._side(DOUBLE)[0]
        if isinstance(rows, DenseRows):
            return 1.0 + float(rows.shift.size) / 50.0
        return 0.8 + float(rows.data.size / max(1, rows.indptr.size - 1)) / 12.0

    @property
    def n_kernel(self) -> int:
        """Kernel values computed so far."""
        return self._count.total

    @cached_property
    def design(self) -> Design | None:
        """The points as rows of a linear machine, where K is XX'; None otherwise."""
        from maxmargin.design.operator import Design

        kernel, spread, X = self._given
        if not kernel.is_linear or spread.scale != 1.0:
            return None
        return Design(X if self._index is None else X[self._index], 0.0, self._workers)

    def subset(self, index: Index, dtype: np.dtype[Any] | None = None) -> VectorGram:
        """The kernel matrix of the points ``index``, with a counter of its own.

        It works in one thread: subsets themselves are spread over threads. ``dtype``
        is the precision in which it begins.
        """
        part = self.narrowed(index)
        part._workers = Workers(1)
        first = self.precisions_for(index.size)[0] if dtype is None else dtype
        part.precisions = (DOUBLE,) if first == DOUBLE else (SINGLE, DOUBLE)
        return part

    def narrowed(self, index: Index) -> VectorGram:
        """The kernel matrix of the points ``index``, with the same threads."""
        part = object.__new__(VectorGram)
        part.__dict__.update(self.__dict__)
        part.__dict__.pop("design", None)  # of all points
        part.n, part._count = index.size, Tally()
        if index.size != self.n or (index != np.arange(self.n)).any():
            part._index = self._global(index)
        part.precisions = self.precisions_for(index.size)
        return part

    def diagonal(self) -> Vector:
        """K[i, i] in float64."""
        if self._constant is not None:
            return np.full(self.n, self._constant)
        norms = self._side(DOUBLE)[1]
        if self._index is not None:
            norms = norms[self._index]
        return _diagonal_of(self._record, norms)

    def block(self, rows: Index, cols: Index, out: NDArray[Any]) -> None:
        """K[rows, cols] into the top left corner of ``out``, in its dtype."""
        # K is symmetric. Few rows would not make up for the panels of many columns; but
        # turned values are written across the lines of memory.
        if rows.size < min(_FEW_ROWS, cols.size):
            self._product(cols, rows, _NO_COEF, out, out.dtype, tiles.TURN)
        else:
            self._product(rows, cols, _NO_COEF, out, out.dtype, tiles.STORE)

    def apply(
        self, rows: Index, cols: Index, coef: Vector, out: Vector, dtype: np.dtype[Any]
    ) -> None:
        """``out[t] += Σ_j K[rows[t], cols[j]]·coef[j]``, values made in ``dtype``."""
        table = out.reshape(-1, 1)
        self._product(rows, cols, coef.reshape(1, -1), table, dtype, tiles.ADD)

    def _product(
        self,
        rows: Index,
        cols: Index,
        coef: Vector,
        out: NDArray[Any],
        dtype: np.dtype[Any],
        mode: int,
    ) -> None:
        side = self._side(dtype)
        left, right = (tiles.Side(*side, self._global(one)) for one in (rows, cols))
        request = tiles.Request(self._record, left, right, coef, mode, out, _FIRST)
        self._workers.spread(request, rows.size, request.grain)
        self._count.add(rows.size * cols.size)

    def _global(self, index: Index) -> Index:
        return index if self._index is None else self._index[index]


class VectorCross:
    """The values between the rows of A and those of B.

    Parameters
    ----------
    kernel : DotKernel
        The kernel.
    A, B : ndarray (C order) or CSR matrix
        The rows; how they are centred and scaled depends on B alone, and so the bits of
        a row's values do not depend on the rows that it comes with.
    workers : Workers
        Threads for large requests.
    groups : sequence of Group
        The coefficients that the values will be multiplied by, if known. For functions
        of distances and float32 rows the values are made in float32 if their rounding,
        for b 1e-7·(1 + 2·slope·‖b‖²), is then expected to change no sum by more than
        5e-4. In all other cases they are made in float64, as sums always are.
    """

    def __init__(
        self,
        kernel: DotKernel,
        A: Any,
        B: Any,
        workers: Workers,
        groups: Sequence[Group] = (),
    ) -> None:
        self._workers = workers
        A, B = used_columns(A, B)
        spread = spread_of(B)
        centred = tiles.sees_distances(kernel.compiled())
        sparse = sparse_spread(B, spread, centred=centred)
        if sparse is not None:
            spread = sparse
            A, B = both_thinned(A, B, spread.means, workers)
        dtype: np.dtype[Any] = DOUBLE
        if centred and groups and _both_single(A, B):
            record, (right,) = prepare(kernel, spread, SINGLE, B)
            norms, slope = _norms(right, B.shape[0], SINGLE, workers), record.slope()
            each = _ROUNDING * (1.0 + 2.0 * slope * norms.astype(np.float64))
            if slope < _LARGEST_SINGLE and _largest(groups, each) <= _TOLERATED:
                dtype = SINGLE
        self._record, (left, right) = prepare(kernel, spread, dtype, A, B)
        self._left = left, _norms(left, A.shape[0], dtype, workers)
        self._right = right, _norms(right, B.shape[0], dtype, workers)

    def too_far(self) -> Index:
        """Rows of A with squared norms too large for the precision."""
        norms = self._left[1]
        if norms.dtype == DOUBLE:
            return np.empty(0, np.intp)
        return np.flatnonzero(~(norms < _LARGEST_SINGLE))

    def block(self, rows: Index, cols: Index, out: NDArray[Any]) -> None:
        """k(A[rows], B[cols]) into the top left corner of ``out``."""
        left, right = tiles.Side(*self._left, rows), tiles.Side(*self._right, cols)
        request = tiles.Request(
            self._record, left, right, _NO_COEF, tiles.STORE, out, _FIRST
        )
        self._workers.spread(request, rows.size, request.grain)

    def add(self, group: Group, out: NDArray[Any]) -> None:
        """``out[t, places[m]] += Σ_j k(A[t], B[start + j])·coef[m, j]``."""
        rows = np.arange(out.shape[0], dtype=np.intp)
        cols = np.arange(group.start, group.start + group.coef.shape[1], dtype=np.intp)
        left, right = tiles.Side(*self._left, rows), tiles.Side(*self._right, cols)
        coef, places = tiles.padded(group.coef, group.places)
        request = tiles.Request(self._record, left, right, coef, tiles.ADD, out, places)
        self._workers.spread(request, rows.size, request.grain)


def _both_single(A: Any, B: Any) -> bool:
    """Whether both are float32, and of one kind, so that they can be centred alike."""
    alike = isinstance(A, np.ndarray) == isinstance(B, np.ndarray)
    return bool(alike and A.dtype == SINGLE and B.dtype == SINGLE)


def outputs_of(groups: Sequence[Group]) -> int:
    """The number of sums that some groups add to."""
    return 1 + max(int(group.places.max()) for group in groups)


def _largest(groups: Sequence[Group], each: Vector) -> float:
    """The largest expected change of a sum whose terms change by so much each."""
    squares = np.zeros(outputs_of(groups))
    for group in groups:
        mine = each[group.start : group.start + group.coef.shape[1]]
        squares[group.places] += ((group.coef * mine) ** 2).sum(axis=1)
    return float(np.sqrt(squares.max()))


def vector_expansion(
    kernel: DotKernel, X: Any, vectors: Any, groups: Sequence[Group], workers: Workers
) -> Vector:
    """The sums of :func:`maxmargin.kernels.factory.grouped_expansion`."""
    out = np.zeros((X.shape[0], outputs_of(groups)))
    cross = VectorCross(kernel, X, vectors, workers, groups)
    for group in groups:
        cross.add(group, out)
    far = cross.too_far()
    if far.size:  # again in float64, but not all: a row's bits are its own affair
        again, exact = np.zeros((far.size, out.shape[1])), X[far]
        cross = VectorCross(kernel, exact, vectors, workers)
        for group in groups:
            cross.add(group, again)
        out[far] = again
    return out


def vector_diagonal(kernel: DotKernel, X: Any) -> Vector:
    """k(x, x) of every row, in float64."""
    record, (rows,) = prepare(kernel, spread_of(X), DOUBLE, X)
    if tiles.sees_distances(record):
        return np.full(X.shape[0], _at_distance_0(record))
    return _diagonal_of(record, _norms(rows, X.shape[0], DOUBLE, Workers(1)))
