"""Kernel values in tiles: made in cache, then stored (``block``) or used up (``apply``).

For 6 rows (dense) or one row (sparse) against a panel of columns, a tile of dot products
is computed in registers, turned into kernel values in place, and either copied out or
multiplied by coefficients. ``apply`` never stores K, which is what makes products with
a kernel matrix that does not fit in memory run at the speed of the arithmetic.

Cost: (2d + exp) operations a value; X is read once per block of columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from maxmargin._jit import ASSOCIATIVE, is_record, njit, overload
from maxmargin._jit.simd import TILE_ROWS, dense_tile, sparse_tile
from maxmargin.kernels.vector import transform
from maxmargin.rows import CsrRows, DenseRows, clear_lanes, fill_lanes

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "ADD",
    "STORE",
    "TURN",
    "Shape",
    "panel_columns",
    "panel_width",
    "product",
    "scratch",
    "shape_of",
    "weighted",
]

ADD, STORE, TURN = 0, 1, 2  # what becomes of the values
_CACHE_BYTES = 1 << 18  # a block of panels of this size stays in the L2 cache
_LEAST_COLUMNS = 128  # below this, loading the rows again for every block would show


def panel_width(rows: Any, dtype: Any) -> int:
    """Columns of one panel, by the kind of the rows that meet it and the precision."""
    single = np.dtype(dtype) == np.float32
    if isinstance(rows, CsrRows):
        return 64 if single else 32
    return 16 if single else 8


def panel_columns(width: int, d: int, dtype: Any) -> int:
    """Columns of one block of panels: fixed by the shape, so bits never vary."""
    fitting = _CACHE_BYTES // (np.dtype(dtype).itemsize * max(1, d))
    return width * int(max(1, min(512, max(fitting, _LEAST_COLUMNS)) // width))


class Shape(NamedTuple):
    """How one request is cut into tiles; every number is fixed by data and precision."""

    d: int
    group: int  # rows of a tile
    width: int  # columns of a panel
    columns: int  # columns of a block of panels
    lanes: int  # numbers that hold the rows of one tile


def shape_of(rows: Any, d: int, dtype: Any) -> Shape:
    """The shape of tiles for these rows and this precision."""
    width = panel_width(rows, dtype)
    longest = rows.longest if isinstance(rows, CsrRows) else d
    return Shape(d, TILE_ROWS, width, panel_columns(width, d, dtype), TILE_ROWS * longest)


def scratch(shape: Shape, dtype: Any) -> NDArray[Any]:
    """Working memory of one thread: panels (zero on entry and exit), lanes, tile, norms.

    Allocated here because every allocation in compiled code costs compile time.
    """
    size = shape.columns * (shape.d + shape.group + 1) + shape.lanes
    return np.zeros(size, dtype)


def _load(rows, index, start, stop, group, lanes, at):
    """Bring the rows of one tile into working precision."""


def _tile(rows, index, start, stop, lanes, panel, at, d, stride, out):
    """Dot products of the loaded rows with the panel of column ``at``, into ``out``."""


@overload(_load)
def _overload_load(rows, index, start, stop, group, lanes, at):
    return _load_dense if is_record(rows, DenseRows) else _load_csr


@overload(_tile)
def _overload_tile(rows, index, start, stop, lanes, panel, at, d, stride, out):
    return _tile_dense if is_record(rows, DenseRows) else _tile_csr


def _load_dense(rows, index, start, stop, group, lanes, at):
    fill_lanes(rows, index, start, stop, group, lanes, at)


def _tile_dense(rows, index, start, stop, lanes, panel, at, d, stride, out):
    dense_tile(lanes, 0, panel, at * d, d, out, at, stride)


def _load_csr(rows, index, start, stop, group, lanes, at):
    work = lanes.dtype.type
    for r in range(stop - start):
        i = index[start + r]
        first = rows.indptr[i]
        for e in range(rows.indptr[i + 1] - first):
            x = np.float64(rows.data[first + e]) * rows.scale
            lanes[at + r * rows.longest + e] = work(x)


def _tile_csr(rows, index, start, stop, lanes, panel, at, d, stride, out):
    for r in range(stop - start):
        i = index[start + r]
        first = r * rows.longest
        length = rows.indptr[i + 1] - rows.indptr[i]
        sparse_tile(
            lanes, rows.indices, rows.indptr[i] - first, first, first + length,
            panel, at * d, out, r * stride + at,
        )  # fmt: skip


def _weighted(values, factors):
    """Σ values·factors in float64."""
    total = 0.0
    for c in range(values.size):
        total += np.float64(values[c]) * factors[c]
    return total


# The one place where a sum may be reordered: kernel values themselves never are.
weighted = njit(_weighted, fastmath=set(ASSOCIATIVE))


def _product(  # noqa: PLR0912  one compiled body for all requests
    kernel, rows, row_norms, index, others, other_norms, cols, coef, shape, space,
    mode, offset, table, sums,
):  # fmt: skip
    """All requests in one body, so that their machinery is compiled once.

    With K[t, c] = k(rows[index[t]], others[cols[c]]), by ``mode``:
    ADD, ``sums[offset + t, m] += Σ_c K[t, c]·coef[m, c]``;
    STORE, ``table[offset + t, c] = K[t, c]``;
    TURN, ``table[c, offset + t] = K[t, c]``, for blocks with fewer rows than columns:
    filling a panel costs as much as some dozen rows make use of it.
    """
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
            _load(rows, index, t, end, group, lanes, zero)
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
                else:
                    for m in range(coef.shape[0]):
                        factors = coef[m][first:last]
                        sums[offset + t + r, m] += weighted(values, factors)
        for c in range(first, last, width):
            clear_lanes(
                others, cols, c, min(c + width, last), width, panels, (c - first) * d
            )


product = njit(_product)
