"""Compiled loops over many rows of X: Xw, X'u, X'DXv, X'DX; sums over vectors.

``some`` has the numbers of the rows; None means all rows (another version of the loop is
compiled for it). A vector beside the rows has an entry for each of them. x̃ is x, and
behind it ``scaling`` if that is not 0. A loop asks for the kind of rows once a call and
not once a row: for sparse rows, which are short, that is three times as fast.

Sums over rows are cut into parts: a call adds one part to its own line of ``sums``. Parts
depend on counts alone, and so do the bits of the sum.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin._jit import AS_WRITTEN, ASSOCIATIVE, inlined, njit
from maxmargin.design.row import add_classes, dense_dot, dot_classes, sparse_dot
from maxmargin.rows.records import COMPILED, CsrRows, DenseRows, body

ONE = np.uint64(1)  # plus an int it would be a float
_PIECE = 128  # policy: rows of which the columns are gathered at a time


@njit(fastmath=set(ASSOCIATIVE))
def _dot_in_order(data, indices, start, stop, w):
    total = 0.0
    for e in range(start, stop):
        total += data[e] * w[np.uint64(indices[e])]
    return total


def _times(*_: Any) -> Any:
    """Compute out[k] = x̃·w of row k, start ≤ k < stop."""
    raise TypeError(COMPILED)


@body(_times, DenseRows, ASSOCIATIVE)
def _times_dense(rows, some, w, scaling, out, start, stop):
    data, d = rows.data, rows.data.shape[1]
    for k in range(np.uint64(start), np.uint64(stop)):
        i = k if some is None else np.uint64(some[k])
        total = dense_dot(data, i, w)
        out[k] = total + scaling * w[d] if scaling != 0.0 else total


@body(_times, CsrRows, AS_WRITTEN)
def _times_csr(rows, some, w, scaling, out, start, stop):
    data, indices, indptr, d = rows.data, rows.indices, rows.indptr, rows.d
    for k in range(np.uint64(start), np.uint64(stop)):
        i = k if some is None else np.uint64(some[k])
        first, end = np.uint64(indptr[i]), np.uint64(indptr[i + ONE])
        if some is None:  # read in order: vector gathers pay (see AS_WRITTEN)
            total = _dot_in_order(data, indices, first, end, w)
        else:
            total = sparse_dot(data, indices, first, end, w)
        out[k] = total + scaling * w[d] if scaling != 0.0 else total


def _back(*_: Any) -> Any:
    """Add Σ u_k·x̃ over start ≤ k < stop to out."""
    raise TypeError(COMPILED)


@body(_back, DenseRows, ASSOCIATIVE)
def _back_dense(rows, some, u, scaling, out, start, stop):
    data, d = rows.data, rows.data.shape[1]
    for k in range(np.uint64(start), np.uint64(stop)):
        i = k if some is None else np.uint64(some[k])
        factor = u[k]
        if factor != 0.0:
            for c in range(d):
                out[c] += factor * data[i, c]
            if scaling != 0.0:
                out[d] += factor * scaling


@body(_back, CsrRows, ASSOCIATIVE)
def _back_csr(rows, some, u, scaling, out, start, stop):
    data, indices, indptr, d = rows.data, rows.indices, rows.indptr, rows.d
    for k in range(np.uint64(start), np.uint64(stop)):
        i = k if some is None else np.uint64(some[k])
        factor = u[k]
        if factor != 0.0:
            for e in range(np.uint64(indptr[i]), np.uint64(indptr[i + ONE])):
                out[np.uint64(indices[e])] += factor * data[e]
            if scaling != 0.0:
                out[d] += factor * scaling


def _squares(*_: Any) -> Any:
    """Add Σ weight_k·x̃² to out, column by column."""
    raise TypeError(COMPILED)


@body(_squares, DenseRows, ASSOCIATIVE)
def _squares_dense(rows, some, weight, scaling, out, start, stop):
    data, d = rows.data, rows.data.shape[1]
    for k in range(np.uint64(start), np.uint64(stop)):
        i = np.uint64(some[k])
        row = data[i]
        for c in range(d):
            x = np.float64(row[c])
            out[c] += weight[k] * x * x
        if scaling != 0.0:
            out[d] += weight[k] * scaling * scaling


@body(_squares, CsrRows, ASSOCIATIVE)
def _squares_csr(rows, some, weight, scaling, out, start, stop):
    data, indices, indptr, d = rows.data, rows.indices, rows.indptr, rows.d
    for k in range(np.uint64(start), np.uint64(stop)):
        i = some[k]
        for e in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            x = np.float64(data[e])
            out[np.uint64(indices[e])] += weight[k] * x * x
        if scaling != 0.0:
            out[d] += weight[k] * scaling * scaling


def _there_and_back(*_: Any) -> Any:
    """Add Σ weight_k·x̃·(x̃·v) to out in one pass; return Σ weight_k·x̃·v."""
    raise TypeError(COMPILED)


@body(_there_and_back, DenseRows, ASSOCIATIVE)
def _there_and_back_dense(rows, some, weight, v, scaling, out, start, stop):
    data, d, total = rows.data, rows.data.shape[1], 0.0
    for k in range(np.uint64(start), np.uint64(stop)):
        i = np.uint64(some[k])
        along = scaling * v[d] if scaling != 0.0 else 0.0
        for c in range(d):
            along += data[i, c] * v[c]
        factor = weight[k] * along
        for c in range(d):
            out[c] += factor * data[i, c]
        if scaling != 0.0:
            out[d] += factor * scaling
        total += factor
    return total


@body(_there_and_back, CsrRows, ASSOCIATIVE)
def _there_and_back_csr(rows, some, weight, v, scaling, out, start, stop):
    data, indices, indptr, d = rows.data, rows.indices, rows.indptr, rows.d
    # Side by side, v brings the sums into the cache: half the misses.
    pair, total = np.empty((v.size, 2)), 0.0
    for c in range(v.size):
        pair[c, 0], pair[c, 1] = v[c], 0.0
    for k in range(np.uint64(start), np.uint64(stop)):
        i = some[k]
        first, end = np.uint64(indptr[i]), np.uint64(indptr[i + 1])
        along = scaling * pair[d, 0] if scaling != 0.0 else 0.0
        for e in range(first, end):
            along += data[e] * pair[np.uint64(indices[e]), 0]
        factor = weight[k] * along
        for e in range(first, end):
            pair[np.uint64(indices[e]), 1] += factor * data[e]
        if scaling != 0.0:
            pair[d, 1] += factor * scaling
        total += factor
    for c in range(v.size):
        out[c] += pair[c, 1]
    return total


@inlined
def _edges(n, part, parts):
    """Return where a part begins and ends; they differ by one row at most."""
    return n * part // parts, n * (part + 1) // parts


@njit
def times(rows, some, w, scaling, out, start, stop):
    """Compute out = X̃w of rows start … stop − 1."""
    _times(rows, some, w, scaling, out, start, stop)


@njit
def back(rows, some, u, scaling, sums, part):
    """Add X̃'u of a part; rows whose u is 0 are not read."""
    start, stop = _edges(u.size, part, len(sums))
    _back(rows, some, u, scaling, sums[part], start, stop)


@njit
def squares(rows, some, weight, scaling, sums, part):
    """Add the diagonal of X̃'DX̃ of a part."""
    start, stop = _edges(weight.size, part, len(sums))
    _squares(rows, some, weight, scaling, sums[part], start, stop)


@njit
def there_and_back(rows, some, weight, v, scaling, sums, part):
    """Add X̃'DX̃v of a part in one pass; return ΣDX̃v."""
    start, stop = _edges(weight.size, part, len(sums))
    return _there_and_back(rows, some, weight, v, scaling, sums[part], start, stop)


@njit
def times_classes(rows, W, scaling, out, start, stop):
    """Compute XW' of rows start … stop − 1, all classes of a row at once."""
    K = out.shape[1]
    names, whole, flat = np.arange(K).astype(np.int32), np.empty(K), out.ravel()
    for i in range(start, stop):
        dot_classes(rows, i, W, scaling, names, 0, K, flat, i * K, whole)


@njit
def back_classes(rows, beta, scaling, W):
    """Add β'X to W, in one pass over the rows that have a part in it."""
    K = beta.shape[1]
    names, change = np.empty(K, np.int32), np.empty(K)
    for i in range(beta.shape[0]):
        count = 0
        for m in range(K):
            if beta[i, m] != 0.0:
                names[count], change[count] = m, beta[i, m]
                count += 1
        if count > 0:
            add_classes(rows, i, W, scaling, names, 0, count, change, 0)


# -- X'DX --------------------------------------------------------------------------------


def _gather(*_: Any) -> Any:
    """Compute out = root·x_i."""
    raise TypeError(COMPILED)


@body(_gather, DenseRows)
def _gather_dense(rows, i, root, out):
    for c in range(rows.data.shape[1]):
        out[c] = root * rows.data[i, c]


@body(_gather, CsrRows)
def _gather_csr(rows, i, root, out):
    out[:] = 0.0
    for e in range(rows.indptr[i], rows.indptr[i + 1]):
        out[rows.indices[e]] += root * rows.data[e]


@njit
def gather(rows, some, weight, constant, out):
    """Write the rows ``some``, times the roots of their weights, into ``out``."""
    for k in range(some.size):
        root, line = np.sqrt(weight[k]), out[k]
        _gather(rows, some[k], root, line)
        if constant != 0.0:
            line[-1] = constant * root


@njit
def outer(rows, some, weight, constant, out, part, parts):
    """Add Σ weight·x·x' of a part of CSR rows, its lower triangle.

    Return whether numbers fell above it: pairs of columns do that a row has in the wrong
    order.
    """
    data, indices, indptr = rows.data, rows.indices, rows.indptr
    last, above = out.shape[0] - 1, False
    start, stop = _edges(some.size, part, parts)
    for k in range(start, stop):
        # Unsigned: an index that may be negative is tested before it is used.
        begin, end = np.uint64(indptr[some[k]]), np.uint64(indptr[some[k] + 1])
        for e in range(begin, end):
            if e > begin and indices[e] < indices[e - np.uint64(1)]:
                above = True
            j, x = np.uint64(indices[e]), weight[k] * data[e]
            for g in range(begin, e + np.uint64(1)):
                out[j, np.uint64(indices[g])] += x * data[g]
        if constant != 0.0:
            x = weight[k] * constant
            for g in range(begin, end):
                out[last, np.uint64(indices[g])] += x * data[g]
            out[last, last] += x * constant
    return above


@njit(fastmath=set(ASSOCIATIVE))
def narrow(rows, some, weight, constant, out, part, parts):
    """Add Σ weight·x·x' of a part of dense rows with few columns, its lower triangle."""
    data, size, d = rows.data, out.shape[0], rows.data.shape[1]
    columns, weighted = np.empty((size, _PIECE)), np.empty(_PIECE)
    columns[size - 1] = constant  # behind the others, if it is not 0
    begin, end = _edges(some.size, part, parts)
    for start in range(begin, end, _PIECE):
        count = min(_PIECE, end - start)
        for k in range(count):
            i = np.uint64(some[start + k])
            for c in range(d):
                columns[c, k] = data[i, c]
        for a in range(size):
            for k in range(count):
                weighted[k] = weight[start + k] * columns[a, k]
            for b in range(a + 1):
                total = 0.0
                for k in range(count):
                    total += weighted[k] * columns[b, k]
                out[a, b] += total


# -- parts of vectors --------------------------------------------------------------------


@njit(fastmath=set(ASSOCIATIVE))
def dot(a, b):
    """a·b by the calling thread: a BLAS would wake others for long vectors."""
    total = 0.0
    for k in range(a.size):
        total += a[k] * b[k]
    return total


@njit(fastmath=set(ASSOCIATIVE))
def forward(s, r, d, image, gradient, length):
    """Take S += length·d, r −= length·image; return s·r, s·gradient and r·r."""
    model, fall, rest = 0.0, 0.0, 0.0
    for k in range(s.size):
        s[k] += length * d[k]
        r[k] -= length * image[k]
        model += s[k] * r[k]
        fall += s[k] * gradient[k]
        rest += r[k] * r[k]
    return model, fall, rest


@njit
def turn(d, z, factor):
    """Compute d = z + factor·d in place."""
    for k in range(d.size):
        d[k] = z[k] + factor * d[k]
