"""One row and the weights of several classes: W x_i, and W += Δβ_i x_i'.

For dense rows W has a line for every class, so that a product runs along both. For sparse
rows it is the transpose, a line for every feature: what is stored of a row then touches
few lines of memory, whatever the number of classes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin._jit import ASSOCIATIVE, is_record, njit, overload
from maxmargin.rows.records import DenseRows

if TYPE_CHECKING:
    from maxmargin._arrays import Table
    from maxmargin.design.operator import Design

_WORTH = 1 << 17  # numbers read below which a second thread does not pay


def outputs_of(
    rows: Any, i: int, W: Any, scaling: float, names: Any, at: int, count: int,
    out: Any, to: int, whole: Any,
) -> None:  # fmt: skip
    """out[to + t] = x_i·w of class names[at + t], t < count.

    ``whole`` has room for all classes. Places in long arrays rather than slices of them:
    compiled code counts who holds a slice, which takes as long as the product.
    """
    raise TypeError(f"no product for {type(rows).__name__}: compiled code only")  # noqa: EM102


def move(
    rows: Any, i: int, W: Any, scaling: float, names: Any, at: int, count: int,
    change: Any, by: int,
) -> None:  # fmt: skip
    """The w of class names[at + t] += change[by + t]·x_i, t < count."""
    raise TypeError(f"no sum for {type(rows).__name__}: compiled code only")  # noqa: EM102


@overload(outputs_of, jit_options={"fastmath": set(ASSOCIATIVE)})
def _overload_outputs(rows, i, W, scaling, names, at, count, out, to, whole):
    return _outputs_dense if is_record(rows, DenseRows) else _outputs_csr


@overload(move, jit_options={"fastmath": set(ASSOCIATIVE)})
def _overload_move(rows, i, W, scaling, names, at, count, change, by):
    return _move_dense if is_record(rows, DenseRows) else _move_csr


def _outputs_dense(rows, i, W, scaling, names, at, count, out, to, whole):
    row = rows.data[i]
    # Two sums that do not wait for each other, and share what is read of the row.
    for t in range(0, count, 2):
        last = min(t + 1, count - 1)
        a, b = W[np.uint64(names[at + t])], W[np.uint64(names[at + last])]
        one, two = 0.0, 0.0
        for k in range(row.size):
            one += row[k] * a[k]
            two += row[k] * b[k]
        if scaling != 0.0:
            one += scaling * a[row.size]
            two += scaling * b[row.size]
        out[to + t], out[to + last] = one, two


def _outputs_csr(rows, i, W, scaling, names, at, count, out, to, whole):
    start, stop = np.uint64(rows.indptr[i]), np.uint64(rows.indptr[i + 1])
    if 2 * count > whole.size:  # whole lines at once rather than most of them one by one
        for m in range(whole.size):
            whole[m] = scaling * W[rows.d, m] if scaling != 0.0 else 0.0
        for e in range(start, stop):
            x, line = rows.data[e], W[np.uint64(rows.indices[e])]
            for m in range(whole.size):
                whole[m] += x * line[m]
        for t in range(count):
            out[to + t] = whole[names[at + t]]
        return
    for t in range(0, count, 2):
        last = min(t + 1, count - 1)
        a, b = np.uint64(names[at + t]), np.uint64(names[at + last])
        one, two = 0.0, 0.0
        for e in range(start, stop):
            x, j = rows.data[e], np.uint64(rows.indices[e])
            one += x * W[j, a]
            two += x * W[j, b]
        if scaling != 0.0:
            one += scaling * W[rows.d, a]
            two += scaling * W[rows.d, b]
        out[to + t], out[to + last] = one, two


def _move_dense(rows, i, W, scaling, names, at, count, change, by):
    row = rows.data[i]
    for t in range(count):
        line, factor = W[np.uint64(names[at + t])], change[by + t]
        for k in range(row.size):
            line[k] += factor * row[k]
        if scaling != 0.0:
            line[row.size] += factor * scaling


def _move_csr(rows, i, W, scaling, names, at, count, change, by):
    for e in range(np.uint64(rows.indptr[i]), np.uint64(rows.indptr[i + 1])):
        x, j = rows.data[e], np.uint64(rows.indices[e])
        for t in range(count):
            W[j, np.uint64(names[at + t])] += change[by + t] * x
    if scaling != 0.0:
        for t in range(count):
            W[rows.d, names[at + t]] += change[by + t] * scaling


def _times(rows, start, stop, W, scaling, names, out):
    K = names.size
    whole, flat = np.empty(K), out.ravel()
    for i in range(start, stop):
        outputs_of(rows, i, W, scaling, names, 0, K, flat, i * K, whole)


def _back(rows, beta, scaling, W):
    K = beta.shape[1]
    names, change = np.empty(K, np.int32), np.empty(K)
    for i in range(beta.shape[0]):
        count = 0
        for m in range(K):
            if beta[i, m] != 0.0:
                names[count], change[count] = m, beta[i, m]
                count += 1
        if count > 0:
            move(rows, i, W, scaling, names, 0, count, change, 0)


_times, _back = njit(_times), njit(_back)


def blank(design: Design, n_classes: int) -> Table:
    """Weights that are all 0, laid out for the rows."""
    shape = n_classes, design.width
    return np.zeros(shape[::-1] if design.sparse else shape)


def by_class(design: Design, W: Table) -> Table:
    """The same weights with a line for every class."""
    return W.T if design.sparse else W


def times(design: Design, W: Table, n_classes: int) -> Table:
    """XW' for all rows and classes, in one pass over the rows."""
    out = np.empty((design.n, n_classes))
    names = np.arange(n_classes, dtype=np.int32)
    grain = max(1, _WORTH * design.n // max(1, design.stored * n_classes))
    design.workers.spread(
        lambda a, b: _times(design.rows, a, b, W, design.scaling, names, out),
        design.n,
        grain,
    )
    return out


def weights_of(design: Design, beta: Table) -> Table:
    """W = β'X, in one pass over the rows that have a part in it."""
    W = blank(design, beta.shape[1])
    _back(design.rows, beta, design.scaling, W)
    return W
