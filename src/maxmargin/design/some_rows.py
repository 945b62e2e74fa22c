"""Products with some of the rows of a design: Xw, X'u, X'DXv and diag X'DX.

The kind of rows is told apart once a call and not once a row: for sparse rows, which are
short, that is three times as fast. Work is cut by counts alone and added up in order: the
same bits for every number of threads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin._jit import AS_WRITTEN, ASSOCIATIVE, is_record, njit, overload
from maxmargin.design.operator import sparse_dot
from maxmargin.rows.records import CsrRows, DenseRows

if TYPE_CHECKING:
    from collections.abc import Callable

    from maxmargin._arrays import Index, Vector
    from maxmargin.design.operator import Design

_PARTS = 8  # sums over rows are cut into so many
_WORTH = 1 << 18  # numbers below which a second thread does not pay
_PIECE = 1 << 16  # numbers that are handed to a thread at a time


def _each_times(rows: Any, some: Any, w: Any, scaling: float, out: Any) -> None:
    """Out = x̃·w of every row."""


def _each_back(rows: Any, some: Any, u: Any, scaling: float, out: Any) -> None:
    """Out += Σ u·x̃."""


def _each_square(rows: Any, some: Any, weight: Any, scaling: float, out: Any) -> None:
    """Out += Σ weight·x̃², column by column."""


def _each_both(
    rows: Any, some: Any, weight: Any, v: Any, scaling: float, out: Any
) -> Any:
    """Out += Σ weight·x̃·(x̃·v) in one pass over the rows; Σ weight·x̃·v."""


def _dense_times(rows, some, w, scaling, out):
    last = w.size - 1
    for k in range(some.size):
        row = rows.data[some[k]]
        total = 0.0
        for c in range(row.size):
            total += row[c] * w[c]
        out[k] = total + scaling * w[last] if scaling != 0.0 else total


def _csr_times(rows, some, w, scaling, out):
    data, indices, indptr = rows.data, rows.indices, rows.indptr
    last = w.size - 1
    for k in range(some.size):
        start, stop = np.uint64(indptr[some[k]]), np.uint64(indptr[some[k] + 1])
        total = sparse_dot(data, indices, start, stop, w)
        out[k] = total + scaling * w[last] if scaling != 0.0 else total


def _dense_back(rows, some, u, scaling, out):
    last = out.size - 1
    for k in range(some.size):
        factor = u[k]
        row = rows.data[some[k]]
        for c in range(row.size):
            out[c] += factor * row[c]
        if scaling != 0.0:
            out[last] += factor * scaling


def _csr_back(rows, some, u, scaling, out):
    data, indices, indptr = rows.data, rows.indices, rows.indptr
    last = out.size - 1
    for k in range(some.size):
        factor = u[k]
        for e in range(np.uint64(indptr[some[k]]), np.uint64(indptr[some[k] + 1])):
            out[np.uint64(indices[e])] += factor * data[e]
        if scaling != 0.0:
            out[last] += factor * scaling


def _dense_square(rows, some, weight, scaling, out):
    last = out.size - 1
    for k in range(some.size):
        row = rows.data[some[k]]
        for c in range(row.size):
            x = np.float64(row[c])
            out[c] += weight[k] * x * x
        if scaling != 0.0:
            out[last] += weight[k] * scaling * scaling


def _csr_square(rows, some, weight, scaling, out):
    data, indices, indptr = rows.data, rows.indices, rows.indptr
    last = out.size - 1
    for k in range(some.size):
        for e in range(np.uint64(indptr[some[k]]), np.uint64(indptr[some[k] + 1])):
            x = np.float64(data[e])
            out[np.uint64(indices[e])] += weight[k] * x * x
        if scaling != 0.0:
            out[last] += weight[k] * scaling * scaling


def _dense_both(rows, some, weight, v, scaling, out):
    last, sum_ = v.size - 1, 0.0
    for k in range(some.size):
        row = rows.data[some[k]]
        total = scaling * v[last] if scaling != 0.0 else 0.0
        for c in range(row.size):
            total += row[c] * v[c]
        factor = weight[k] * total
        for c in range(row.size):
            out[c] += factor * row[c]
        if scaling != 0.0:
            out[last] += factor * scaling
        sum_ += factor
    return sum_


def _csr_both(rows, some, weight, v, scaling, out):
    data, indices, indptr = rows.data, rows.indices, rows.indptr
    last, sum_ = v.size - 1, 0.0
    # Side by side, what is read of v brings along what is added to: half the misses.
    pair = np.empty((v.size, 2))
    for c in range(v.size):
        pair[c, 0], pair[c, 1] = v[c], 0.0
    for k in range(some.size):
        start, stop = np.uint64(indptr[some[k]]), np.uint64(indptr[some[k] + 1])
        total = scaling * pair[last, 0] if scaling != 0.0 else 0.0
        for e in range(start, stop):
            total += data[e] * pair[np.uint64(indices[e]), 0]
        factor = weight[k] * total
        for e in range(start, stop):
            pair[np.uint64(indices[e]), 1] += factor * data[e]
        if scaling != 0.0:
            pair[last, 1] += factor * scaling
        sum_ += factor
    for c in range(v.size):
        out[c] += pair[c, 1]
    return sum_


_FAST: dict[str, Any] = {"jit_options": {"fastmath": set(ASSOCIATIVE)}}


@overload(_each_times, **_FAST)
def _overload_dense_times(rows, some, w, scaling, out):
    return _dense_times if is_record(rows, DenseRows) else None


@overload(_each_times, jit_options={"fastmath": set(AS_WRITTEN)})
def _overload_csr_times(rows, some, w, scaling, out):
    return _csr_times if is_record(rows, CsrRows) else None


@overload(_each_back, **_FAST)
def _overload_back(rows, some, u, scaling, out):
    return _dense_back if is_record(rows, DenseRows) else _csr_back


@overload(_each_square, **_FAST)
def _overload_square(rows, some, weight, scaling, out):
    return _dense_square if is_record(rows, DenseRows) else _csr_square


@overload(_each_both, **_FAST)
def _overload_both(rows, some, weight, v, scaling, out):
    return _dense_both if is_record(rows, DenseRows) else _csr_both


def _times(rows, some, w, scaling, out):
    _each_times(rows, some, w, scaling, out)


def _back(rows, some, u, scaling, out):
    _each_back(rows, some, u, scaling, out)


def _square(rows, some, weight, scaling, out):
    _each_square(rows, some, weight, scaling, out)


def _both(rows, some, weight, v, scaling, out):
    return _each_both(rows, some, weight, v, scaling, out)


_times = njit(_times)
_back = njit(_back)
_square = njit(_square)
_both = njit(_both)


def times(design: Design, some: Index, w: Vector) -> Vector:
    """x̃_i·w for i in ``some``."""
    out = np.empty(some.size)
    each = max(1, design.stored // max(1, design.n))  # numbers a row
    shared = some.size * each >= 2 * _WORTH
    design.workers.spread(
        lambda a, b: _times(design.rows, some[a:b], w, design.scaling, out[a:b]),
        some.size,
        _PIECE // each if shared else some.size,
    )
    return out


def back(design: Design, some: Index, u: Vector) -> Vector:
    """Σ u_k·x̃_i over i = some[k]; rows whose u is 0 are not read."""
    counts = np.flatnonzero(u != 0.0)
    if counts.size < u.size:
        some, u = some[counts], u[counts]
    return _added(
        design, some,
        lambda at, out: _back(design.rows, some[at], u[at], design.scaling, out),
    )[0]  # fmt: skip


def squares(design: Design, some: Index, weight: Vector) -> Vector:
    """The diagonal of X̃'DX̃ over the rows ``some``."""
    return _added(
        design, some,
        lambda at, out: _square(design.rows, some[at], weight[at], design.scaling, out),
    )[0]  # fmt: skip


def there_and_back(
    design: Design, some: Index, weight: Vector, v: Vector
) -> tuple[Vector, float]:
    """X̃'DX̃v over the rows ``some``, and ΣDX̃v."""
    found, totals = _added(
        design, some,
        lambda at, out: _both(design.rows, some[at], weight[at], v, design.scaling, out),
    )  # fmt: skip
    return found, sum(totals)


def _added(
    design: Design, some: Index, task: Callable[[slice, Vector], Any]
) -> tuple[Vector, list[Any]]:
    """The sum of what the parts of ``some`` add up to, and what they return."""
    work = design.stored * some.size // max(1, design.n)
    # Every part has a sum of its own, worth the clearing and the adding up.
    parts = max(1, min(_PARTS, work // (_WORTH + 4 * design.width)))
    edges = [some.size * part // parts for part in range(parts + 1)]
    sums = np.zeros((parts, design.width))
    said = design.workers.map(
        lambda k: task(slice(edges[k], edges[k + 1]), sums[k]), range(parts)
    )
    total: Vector = sums[0] if parts == 1 else sums.sum(axis=0)
    return total, said
