"""Kernel values of pairs of rows, compiled: sums over features, and users' functions.

A kernel with terms is k(x, z) = closing(Σ_k term(x_k, z_k)), its terms added in the order
of the features. Columns are interleaved (k-major), so that one instruction serves several
of them and a value's bits depend on the two rows alone. Rows with few stored values are
merged instead, in the same order: terms of two zeros are zero, so the bits are the same.

A user's function sees two rows written out in float64 (``function_product``).

Cost: d terms a value (merged: those stored); X is read once per block of columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from maxmargin._jit import njit, overload
from maxmargin._jit.user import uncached
from maxmargin.kernels.gram.tiles import STORE, TURN, weighted
from maxmargin.rows.records import clear_lanes, fill_lanes

if TYPE_CHECKING:
    from maxmargin._arrays import Index
    from maxmargin.rows.records import Rows

WIDTH = 32  # columns of a panel: enough independent sums to hide the latency of adding
_CACHE_BYTES = 1 << 18  # policy: a block of columns of this size stays in the L2 cache
_LEAST_COLUMNS = 32  # policy: with fewer, writing the rows out for each block would show
_MOST_BYTES = 1 << 25  # policy: but no block is larger than this, if it is not one panel


class Layout(NamedTuple):
    """The layout of columns; every number is fixed by d and the kind of kernel."""

    d: int
    width: int  # columns that are interleaved; 1 where rows are written out one by one
    columns: int  # of a block


def layout_of(d: int, width: int) -> Layout:
    """The layout for rows of d features."""
    row = 8 * max(1, d)
    fitting = max(_CACHE_BYTES // row, min(_LEAST_COLUMNS, _MOST_BYTES // row))
    return Layout(d, width, width * max(1, min(512, fitting) // width))


class Side(NamedTuple):
    """Some rows: all that there are, and the numbers of those that are meant."""

    rows: Rows
    picked: Index


def term(self: Any, x: Any, z: Any) -> Any:
    """The part of one feature in the sum; ``self`` is the record of a kernel."""


def closing(self: Any, total: Any) -> Any:
    """The kernel value of a sum of terms."""


@overload(term)
def _term(self, x, z):
    return self.instance_class.term


@overload(closing)
def _closing(self, total):
    return self.instance_class.closing


@njit
def _deliver(values, mode, row, first, coef, table, sums):
    """Store the values of one row and block (by ``mode``, see tiles), or use them up."""
    if mode == STORE:
        target = table[row][first : first + values.size]
        for c in range(values.size):
            target[c] = values[c]
    elif mode == TURN:
        for c in range(values.size):
            table[first + c, row] = values[c]
    else:
        for m in range(coef.shape[0]):
            factors = coef[m][first : first + values.size]
            sums[row, m] += weighted(values, factors)


@uncached  # a part of its callers: compiled_for decides whether those are cached
def _panel(kernel, x, panel, out):
    """Values of one row against one panel of WIDTH columns."""
    for c in range(WIDTH):
        out[c] = 0.0
    d = x.size
    whole = d - d % 4
    for k in range(0, whole, 4):  # four features a pass: fewer trips to memory
        a, b, e, f = x[k], x[k + 1], x[k + 2], x[k + 3]
        lines = panel[k * WIDTH : (k + 4) * WIDTH]
        for c in range(WIDTH):
            total = out[c] + term(kernel, a, lines[c])
            total += term(kernel, b, lines[WIDTH + c])
            total += term(kernel, e, lines[2 * WIDTH + c])
            out[c] = total + term(kernel, f, lines[3 * WIDTH + c])
    for k in range(whole, d):
        a = x[k]
        line = panel[k * WIDTH : (k + 1) * WIDTH]
        for c in range(WIDTH):
            out[c] += term(kernel, a, line[c])
    for c in range(WIDTH):
        out[c] = closing(kernel, out[c])


@njit
def panel_product(kernel, left, right, coef, layout, space, mode, offset, table, sums):
    """All requests of a kernel with terms; the modes are those of ``tiles.product``.

    ``space`` holds columns·d + d + columns numbers, zero on entry and exit where rows
    are sparse.
    """
    rows, index, others, cols = left.rows, left.picked, right.rows, right.picked
    d, width, columns = layout.d, layout.width, layout.columns
    panels, rest = space[: columns * d], space[columns * d :]
    x, values = rest[:d], rest[d : d + columns]
    zero, one = d - d, width // width  # constants would be types of their own
    for first in range(0, cols.size, columns):
        last = min(first + columns, cols.size)
        for c in range(first, last, width):
            fill_lanes(
                others, cols, c, min(c + width, last), width, panels, (c - first) * d
            )
        for t in range(index.size):
            fill_lanes(rows, index, t, t + 1, one, x, zero)
            for at in range(0, last - first, width):
                panel = panels[at * d : (at + width) * d]
                _panel(kernel, x, panel, values[at : at + width])
            _deliver(values[: last - first], mode, offset + t, first, coef, table, sums)
            clear_lanes(rows, index, t, t + 1, one, x, zero)
        for c in range(first, last, width):
            clear_lanes(
                others, cols, c, min(c + width, last), width, panels, (c - first) * d
            )


@uncached
def _merged(kernel, rows, i, others, j):
    """The value of two sparse rows: terms of the features that either of them stores."""
    total, zero = 0.0, 0.0
    a, a_end = rows.indptr[i], rows.indptr[i + 1]
    b, b_end = others.indptr[j], others.indptr[j + 1]
    while a < a_end and b < b_end:
        left, right = rows.indices[a], others.indices[b]
        if left == right:
            x, z = np.float64(rows.data[a]), np.float64(others.data[b])
            total += term(kernel, x, z)
            a += 1
            b += 1
        elif left < right:
            total += term(kernel, np.float64(rows.data[a]), zero)
            a += 1
        else:
            total += term(kernel, zero, np.float64(others.data[b]))
            b += 1
    for e in range(a, a_end):
        total += term(kernel, np.float64(rows.data[e]), zero)
    for e in range(b, b_end):
        total += term(kernel, zero, np.float64(others.data[e]))
    return closing(kernel, total)


@njit
def merge_product(kernel, left, right, coef, layout, space, mode, offset, table, sums):
    """The same requests, of sparse rows that store few of many features."""
    rows, index, others, cols = left.rows, left.picked, right.rows, right.picked
    columns = layout.columns
    for first in range(0, cols.size, columns):
        last = min(first + columns, cols.size)
        values = space[: last - first]
        for t in range(index.size):
            for c in range(last - first):
                values[c] = _merged(kernel, rows, index[t], others, cols[first + c])
            _deliver(values, mode, offset + t, first, coef, table, sums)


@njit
def panel_diagonal(kernel, rows, index, layout, space, out):
    """``out[t] = k(x, x)`` for the rows ``index``, of a kernel with terms."""
    x, zero, one = space[: layout.d], layout.d - layout.d, layout.width
    for t in range(index.size):
        fill_lanes(rows, index, t, t + 1, one, x, zero)
        total = 0.0
        for k in range(x.size):
            total += term(kernel, x[k], x[k])
        out[t] = closing(kernel, total)
        clear_lanes(rows, index, t, t + 1, one, x, zero)


def function_product(
    pair, left, right, coef, symmetric, layout, space, seen, mode, offset, table, sums
):
    """The same requests, of a compiled function ``pair(x, z)``; compiled for each anew.

    ``seen`` is the memory of ``space``, read-only: the function gets to see this. Where
    both sides are the same points (``symmetric``), the earlier one is x, so that
    K[i, j] has the bits of K[j, i] though the function may round differently.
    """
    rows, index, others, cols = left.rows, left.picked, right.rows, right.picked
    d, columns = layout.d, layout.columns
    at = columns * d  # of the row, behind the columns
    x, values = seen[at : at + d], space[at + d : at + d + columns]
    one = layout.width
    for first in range(0, cols.size, columns):
        last = min(first + columns, cols.size)
        for c in range(first, last):
            fill_lanes(others, cols, c, c + 1, one, space, (c - first) * d)
        for t in range(index.size):
            fill_lanes(rows, index, t, t + 1, one, space, at)
            for c in range(last - first):
                z = seen[c * d : (c + 1) * d]
                if symmetric and cols[first + c] < index[t]:
                    values[c] = pair(z, x)
                else:
                    values[c] = pair(x, z)
            _deliver(values[: last - first], mode, offset + t, first, coef, table, sums)
            clear_lanes(rows, index, t, t + 1, one, space, at)
        for c in range(first, last):
            clear_lanes(others, cols, c, c + 1, one, space, (c - first) * d)


def function_diagonal(pair, rows, index, layout, space, seen, out):
    """``out[t] = pair(x, x)`` for the rows ``index``; compiled for each function anew."""
    x, zero, one = seen[: layout.d], layout.d - layout.d, layout.width
    for t in range(index.size):
        fill_lanes(rows, index, t, t + 1, one, space, zero)
        out[t] = pair(x, x)
        clear_lanes(rows, index, t, t + 1, one, space, zero)
