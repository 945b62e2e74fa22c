"""Kernel values in tiles: made in cache, then stored (``block``) or used up (``apply``).

For 6 rows (dense) or one row (sparse) against a panel of columns, a tile of dot products
is computed in registers, turned into kernel values in place, and either copied out or
multiplied by coefficients. ``apply`` never stores K: products with a kernel matrix that
does not fit in memory run at the speed of the arithmetic.

Cost: (2d + exp) operations a value; X is read once per block of columns.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import maxmargin._jit.exponential  # noqa: F401  gives compiled formulas their exp
from maxmargin._jit import ASSOCIATIVE, is_record, njit, overload
from maxmargin._jit.simd import (
    LINE_ROWS,
    LINES,
    TILE_ROWS,
    dense_tile,
    lines_tile,
    sparse_tile,
    vmax,
)
from maxmargin._jit.user import uncached
from maxmargin.rows.records import CsrRows, DenseRows, clear_lanes, fill_lanes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin._arrays import Index, Vector
    from maxmargin.rows.records import Rows

_NO_SUMS = np.empty((0, 0))
GRAIN = 256  # policy: rows below which a second thread costs more than it brings, and
THREAD = 4e5  # policy: nanoseconds of work below which it does
ADD, STORE, TURN = 0, 1, 2  # the modes of ``product``
_CACHE_BYTES = 1 << 19  # policy: a block of panels of this size stays in the L2 cache
# Policy. With fewer columns, loading the rows again for every block shows (784 features,
# dense: 17 % of the time at 128). From a larger cache sparse rows take panels slowly.
_ENOUGH_COLUMNS, _ENOUGH_BYTES = 384, 3 << 20
_LEAST_COLUMNS = 128
_MOST_BYTES = 1 << 26  # policy: a block of so many columns is no larger; for wider rows
# (hashed text) a block is one panel


def panel_width(rows: Any, dtype: Any) -> int:
    """Columns of one panel, by the kind of the rows that meet it and the precision."""
    single = np.dtype(dtype) == np.float32
    if isinstance(rows, CsrRows):
        return 64 if single else 32
    return 16 if single else 8


def panel_columns(d: int, dtype: Any) -> int:
    """Columns of one block of panels: fixed by the shape, so bits never vary.

    A sum over columns is cut where blocks end, so they are of one size for dense and
    sparse rows: whole panels of both.
    """
    column = np.dtype(dtype).itemsize * max(1, d)
    if _LEAST_COLUMNS * column > _MOST_BYTES:
        return 64 if np.dtype(dtype) == np.float32 else 32
    enough = _ENOUGH_COLUMNS * column <= _ENOUGH_BYTES
    least = _ENOUGH_COLUMNS if enough else _LEAST_COLUMNS
    return int(min(512, max(_CACHE_BYTES // column, least))) // 64 * 64


class Shape(NamedTuple):
    """The division of a request into tiles; every number is fixed by data, precision."""

    d: int
    group: int  # rows of a tile
    width: int  # columns of a panel
    columns: int  # columns of a block of panels, or all of a smaller request
    lanes: int  # numbers that hold the rows of one tile
    apart: int  # numbers between features of a loaded row; 0: rows are packed, sparse


def shape_of(rows: Any, d: int, dtype: Any, count: int) -> Shape:
    """The shape of tiles for these rows, this precision and ``count`` columns."""
    width = panel_width(rows, dtype)
    sparse = isinstance(rows, CsrRows)
    longest, apart = (rows.longest, 0) if sparse else (d, TILE_ROWS)
    columns = min(panel_columns(d, dtype), -(-max(1, count) // 64) * 64)
    return Shape(d, TILE_ROWS, width, columns, TILE_ROWS * longest, apart)


def scratch_size(shape: Shape) -> int:
    """Numbers of working memory: panels (zero on entry and exit), lanes, tile, norms."""
    return shape.columns * (shape.d + shape.group + 1) + shape.lanes


def padded(coef: NDArray[Any], places: NDArray[Any]) -> tuple[Any, Any]:
    """Lay several lines of coefficients out for ``product``, with their places.

    Zeros fill whole tiles of lines and whole vectors of columns; added lines have the
    place −1, which means that they do not count. One line is left as it is.
    """
    lines, columns = coef.shape
    if lines == 1:
        return coef, places
    wide = np.zeros((-(-lines // LINES) * LINES, -(-columns // 4) * 4))
    wide[:lines, :columns] = coef
    more = np.full(wide.shape[0], -1, np.intp)
    more[:lines] = places
    return wide, more


def _tile(rows, index, start, stop, lanes, panel, at, d, stride, out):
    """Dot products of the loaded rows with the panel of column ``at``, into ``out``."""


@overload(_tile)
def _overload_tile(rows, index, start, stop, lanes, panel, at, d, stride, out):
    return _tile_dense if is_record(rows, DenseRows) else _tile_csr


def _tile_dense(rows, index, start, stop, lanes, panel, at, d, stride, out):
    dense_tile(lanes, 0, panel, at * d, d, out, at, stride)


def _tile_csr(rows, index, start, stop, lanes, panel, at, d, stride, out):
    for r in range(stop - start):
        i = index[start + r]
        first = r * rows.longest
        length = rows.indptr[i + 1] - rows.indptr[i]
        sparse_tile(
            lanes, rows.indices, rows.indptr[i] - first, first, first + length,
            panel, at * d, out, r * stride + at,
        )  # fmt: skip


def sees_distances(record: object) -> bool:
    """Whether a kernel's record is a function of ‖x − z‖², rather than of x·z."""
    return hasattr(record, "of_distances")


def transform(self: Any, values: Any, norm: Any, norms: Any) -> None:
    """Dot products of one row with a panel → kernel values, in place.

    ``self`` is the record of a kernel, ``norm`` the row's squared norm, ``norms`` those
    of the panel's columns.
    """
    raise TypeError(f"no transform for {type(self).__name__}: compiled code only")  # noqa: EM102


def _of_distances(self: Any, values: Any) -> None:
    """factor·‖x − z‖² → kernel values, in place."""


@overload(transform)
def _overload_transform(self, values, norm, norms):
    record = self.instance_class
    return _through_distances if sees_distances(record) else record.of_dots


@overload(_of_distances)
def _overload_of_distances(self, values):
    return self.instance_class.of_distances


def _through_distances(self, values, norm, norms):
    work = values.dtype.type
    factor, two, zero = work(self.factor), work(2.0), work(0.0)
    for c in range(values.size):
        # (norm + norms) first: the sum is symmetric in the two rows, bit for bit.
        values[c] = factor * vmax((norm + norms[c]) - two * values[c], zero)
    # In a loop of its own: a shorter chain of operations, 13 % less time in float32. The
    # factor here takes 5 % less than in the formula.
    _of_distances(self, values)


def _weighted(values, factors):
    """Σ values·factors in float64."""
    total = 0.0
    for c in range(values.size):
        total += np.float64(values[c]) * factors[c]
    return total


# The one place where a sum may be reordered: kernel values themselves never are.
weighted = njit(_weighted, allocates=False, fastmath=set(ASSOCIATIVE))


class Side(NamedTuple):
    """Some rows: all that there are, their squared norms, and the numbers of those that
    are meant.
    """

    rows: Rows
    norms: NDArray[Any]
    picked: Index


def _product(  # noqa: PLR0912  one compiled body for all requests
    kernel, left, right, coef, shape, space, mode, offset, table, sums, places, found
):
    """All requests in one body, so that their machinery is compiled once.

    With K[t, c] the value of row t of the left side and row c of the right, by ``mode``:
    ADD, ``sums[offset + t, places[m]] += Σ_c K[t, c]·coef[m, c]``;
    STORE, ``table[offset + t, c] = K[t, c]``;
    TURN, ``table[c, offset + t] = K[t, c]``, for blocks with fewer rows than columns:
    filling a panel costs as much as some dozen rows make use of it.

    Several lines of coefficients must be laid out by ``padded``.
    """
    rows, row_norms, index = left.rows, left.norms, left.picked
    others, other_norms, cols = right.rows, right.norms, right.picked
    d, group, width, columns = shape.d, shape.group, shape.width, shape.columns
    panels, rest = space[: columns * d], space[columns * d :]
    tile, rest = rest[: group * columns], rest[group * columns :]
    norms, lanes = rest[:columns], rest[columns:]
    zero = d - d  # a constant 0 would be a type of its own, and compile everything twice
    for first in range(0, cols.size, columns):
        last = min(first + columns, cols.size)
        for c in range(first, last, width):
            fill_lanes(
                others, cols, c, min(c + width, last), width, panels, (c - first) * d
            )
        for c in range(last - first):
            norms[c] = other_norms[cols[first + c]]
        for t in range(0, index.size, group):
            end = min(t + group, index.size)
            fill_lanes(rows, index, t, end, shape.apart, lanes, zero)
            for at in range(0, last - first, width):
                _tile(rows, index, t, end, lanes, panels, at, d, columns, tile)
            for r in range(end - t):
                values = tile[r * columns : r * columns + last - first]
                transform(kernel, values, row_norms[index[t + r]], norms)
                if mode == STORE:
                    target = table[offset + t + r][first:last]
                    for c in range(target.size):
                        target[c] = values[c]
                elif mode == TURN:
                    for c in range(values.size):
                        table[first + c, offset + t + r] = values[c]
                elif coef.shape[0] == 1:
                    factors = coef[0][first:last]
                    sums[offset + t + r, places[0]] += weighted(values, factors)
            if mode == ADD and coef.shape[0] > 1:
                step = coef.shape[1]
                for r in range(0, end - t, LINE_ROWS):
                    for m in range(0, coef.shape[0], LINES):
                        lines_tile(
                            tile, r * columns, columns, coef, m * step + first, step,
                            last - first, found,
                        )  # fmt: skip
                        for k in range(min(found.size, (end - t - r) * LINES)):
                            place = places[m + k % LINES]
                            if place >= 0:
                                sums[offset + t + r + k // LINES, place] += found[k]
        for c in range(first, last, width):
            clear_lanes(
                others, cols, c, min(c + width, last), width, panels, (c - first) * d
            )


product = njit(_product, allocates=False)


def compiled_for(record: object, loop: Any) -> Any:
    """A compiled loop, as it serves the record of a kernel.

    The disk cache does not notice when the formula of a kernel is edited, because that is
    in another file than the loop. So loops with formulas from outside of maxmargin are
    compiled anew in every process.
    """
    ours = type(record).__module__.startswith("maxmargin.")
    return loop if ours else _uncached(loop)


@cache
def _uncached(loop: Any) -> Any:
    return uncached(loop.py_func)


class Request:
    """All values of some rows, or their products: calls do it for slabs of the rows.

    ``grain`` is the least number of rows of a slab that is worth a thread.

    Parameters
    ----------
    record : NamedTuple
        That of the kernel.
    left, right : Side
        Rows and columns.
    coef : ndarray
        Coefficients, laid out by ``padded``; empty unless they are used.
    mode : int
        ADD, STORE or TURN: see ``product``.
    out : ndarray
        For sums or values.
    places : ndarray of int
        The columns of ``out`` for sums.
    """

    def __init__(
        self,
        record: Any,
        left: Side,
        right: Side,
        coef: Vector,
        mode: int,
        out: NDArray[Any],
        places: Index,
    ) -> None:
        rows, others = left.rows, right.rows
        d = others.shift.size if isinstance(others, DenseRows) else others.d
        self._dtype = left.norms.dtype
        self._shape = shape_of(rows, d, self._dtype, right.picked.size)
        self._size = scratch_size(self._shape)
        cost = d / 50.0 if isinstance(rows, DenseRows) else rows.longest / 12.0
        values = (1.0 + cost) * max(1, right.picked.size)  # nanoseconds for one row
        self.grain = max(GRAIN, int(THREAD / values))
        self._product = compiled_for(record, product)
        self._record, self._left, self._right = record, left, right
        self._coef, self._mode, self._places = coef, mode, places
        # Of one type each, whatever the mode: the loop is compiled once.
        self._sums = out if mode == ADD else _NO_SUMS
        self._table = np.empty((0, 0), self._dtype) if mode == ADD else out

    def __call__(self, start: int, stop: int) -> None:
        """The rows from ``start`` to ``stop``, in one thread.

        Its working memory is allocated here because every allocation in compiled code
        costs compile time.
        """
        space, found = np.zeros(self._size, self._dtype), np.empty(LINES * LINE_ROWS)
        left = self._left._replace(picked=self._left.picked[start:stop])
        self._product(
            self._record, left, self._right, self._coef, self._shape, space, self._mode,
            start, self._table, self._sums, self._places, found,
        )  # fmt: skip
