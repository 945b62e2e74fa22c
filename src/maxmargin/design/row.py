"""One row of X: x·w, w += c·x, for one w or for the W of all classes; compiled.

Solvers that visit one row after the other use these; :mod:`maxmargin.design.products`
has the loops over many rows.

Of several classes, W has a line for every class where rows are dense: a product runs
along both. Where rows are sparse it has a line for every feature: the numbers of a row
then touch few lines of memory, whatever the number of classes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin._jit import AS_WRITTEN, ASSOCIATIVE, inlined
from maxmargin._jit.prefetch import prefetch
from maxmargin.rows.records import COMPILED, CsrRows, DenseRows, body


def dot_row(rows: Any, i: int, w: Any, scaling: float) -> Any:
    """Return x_i·w; the last weight is that of the constant, if ``scaling`` is not 0."""
    raise TypeError(COMPILED)


def add_row(rows: Any, i: int, factor: float, w: Any, scaling: float) -> None:
    """Add factor·x_i to w."""
    raise TypeError(COMPILED)


def fetch_row(rows: Any, i: int) -> None:
    """Hint that x_i will be read soon."""
    raise TypeError(COMPILED)


def dot_classes(
    rows: Any, i: int, W: Any, scaling: float, names: Any, at: int, count: int,
    out: Any, to: int, whole: Any,
) -> None:  # fmt: skip
    """Compute out[to + t] = x_i·w of class names[at + t], t < count.

    ``whole`` has room for all classes. Places in long arrays rather than slices of them:
    compiled code counts the owners of a slice, which takes as long as the product.
    """
    raise TypeError(COMPILED)


def add_classes(
    rows: Any, i: int, W: Any, scaling: float, names: Any, at: int, count: int,
    change: Any, by: int,
) -> None:  # fmt: skip
    """Add change[by + t]·x_i to the w of class names[at + t], t < count."""
    raise TypeError(COMPILED)


@inlined
def dense_dot(data, i, w):
    """Σ data[i, k]·w[k] over the columns; callers have the flags ``ASSOCIATIVE``."""
    total = 0.0
    for k in range(data.shape[1]):
        total += data[i, k] * w[k]
    return total


@inlined
def sparse_dot(data, indices, e, stop, w):
    """Σ data[e]·w[indices[e]] from ``e`` to ``stop``, which are unsigned.

    Unsigned, for an index that may be negative is tested before it is used. Four sums,
    for one would wait for each of its additions; callers have the flags ``AS_WRITTEN``.
    """
    one, two, three, four = 0.0, 0.0, 0.0, 0.0
    while e + np.uint64(4) <= stop:
        one += data[e] * w[np.uint64(indices[e])]
        two += data[e + np.uint64(1)] * w[np.uint64(indices[e + np.uint64(1)])]
        three += data[e + np.uint64(2)] * w[np.uint64(indices[e + np.uint64(2)])]
        four += data[e + np.uint64(3)] * w[np.uint64(indices[e + np.uint64(3)])]
        e += np.uint64(4)
    while e < stop:
        one += data[e] * w[np.uint64(indices[e])]
        e += np.uint64(1)
    return (one + two) + (three + four)


@inlined
def fetch_dense(data, i):
    """Hint that row i of an array will be read: its beginning, the processor sees on."""
    d = data.shape[1]
    for k in range(0, min(d, 64), 8):
        prefetch(data, i * d + k)


@inlined
def fetch_csr(data, indices, indptr, i):
    """Hint that row i of a CSR matrix will be read: its first 64 numbers."""
    start, stop = indptr[i], indptr[i + 1]
    for e in range(start, min(stop, start + 64), 16):  # a line of the cache, or two
        prefetch(indices, e)
        prefetch(data, e)
        prefetch(data, e + 8)


@body(fetch_row, DenseRows)
def _fetch_dense(rows, i):
    fetch_dense(rows.data, i)


@body(fetch_row, CsrRows)
def _fetch_csr(rows, i):
    fetch_csr(rows.data, rows.indices, rows.indptr, i)


@body(dot_row, DenseRows, ASSOCIATIVE)
def _dot_dense(rows, i, w, scaling):
    total = dense_dot(rows.data, i, w)
    return total + scaling * w[rows.data.shape[1]] if scaling != 0.0 else total


@body(dot_row, CsrRows, AS_WRITTEN)
def _dot_csr(rows, i, w, scaling):
    start, stop = np.uint64(rows.indptr[i]), np.uint64(rows.indptr[i + 1])
    total = sparse_dot(rows.data, rows.indices, start, stop, w)
    return total + scaling * w[rows.d] if scaling != 0.0 else total


@body(add_row, DenseRows, ASSOCIATIVE)
def _add_dense(rows, i, factor, w, scaling):
    data, d = rows.data, rows.data.shape[1]
    for k in range(d):
        w[k] += factor * data[i, k]
    if scaling != 0.0:
        w[d] += factor * scaling


@body(add_row, CsrRows, ASSOCIATIVE)
def _add_csr(rows, i, factor, w, scaling):
    for e in range(np.uint64(rows.indptr[i]), np.uint64(rows.indptr[i + 1])):
        w[np.uint64(rows.indices[e])] += factor * rows.data[e]
    if scaling != 0.0:
        w[rows.d] += factor * scaling


@body(dot_classes, DenseRows, ASSOCIATIVE)
def _dot_classes_dense(rows, i, W, scaling, names, at, count, out, to, whole):
    data, d = rows.data, rows.data.shape[1]
    # Two sums that do not wait for each other, and share what is read of the row.
    for t in range(0, count, 2):
        last = min(t + 1, count - 1)
        a, b = np.uint64(names[at + t]), np.uint64(names[at + last])
        one, two = 0.0, 0.0
        for k in range(d):
            one += data[i, k] * W[a, k]
            two += data[i, k] * W[b, k]
        if scaling != 0.0:
            one += scaling * W[a, d]
            two += scaling * W[b, d]
        out[to + t], out[to + last] = one, two


@body(dot_classes, CsrRows, ASSOCIATIVE)
def _dot_classes_csr(rows, i, W, scaling, names, at, count, out, to, whole):
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


@body(add_classes, DenseRows, ASSOCIATIVE)
def _add_classes_dense(rows, i, W, scaling, names, at, count, change, by):
    data, d = rows.data, rows.data.shape[1]
    for t in range(count):
        m, factor = np.uint64(names[at + t]), change[by + t]
        for k in range(d):
            W[m, k] += factor * data[i, k]
        if scaling != 0.0:
            W[m, d] += factor * scaling


@body(add_classes, CsrRows, ASSOCIATIVE)
def _add_classes_csr(rows, i, W, scaling, names, at, count, change, by):
    for e in range(np.uint64(rows.indptr[i]), np.uint64(rows.indptr[i + 1])):
        x, j = rows.data[e], np.uint64(rows.indices[e])
        for t in range(count):
            W[j, np.uint64(names[at + t])] += change[by + t] * x
    if scaling != 0.0:
        for t in range(count):
            W[rows.d, names[at + t]] += change[by + t] * scaling
