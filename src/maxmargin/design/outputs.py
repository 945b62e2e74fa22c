"""Predictions: XW' + b, and whether all of it is finite, in one pass over X.

A search for NaN and inf in X would take as long as the product. Instead every output
goes into a sum, which is finite only if all outputs are: products leave nothing out.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from maxmargin._jit import ASSOCIATIVE, njit
from maxmargin.design.row import dense_dot
from maxmargin.parallel import Workers
from maxmargin.rows.records import read_only

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin._arrays import Vector

# Policy: from so many dense numbers, or multiplications of sparse numbers, threads pay,
# which are begun anew each time.
_LARGE, _LARGE_SPARSE = 1 << 19, 1 << 21
_BLOCK = 1 << 18  # policy: dense numbers that are multiplied by several lines at a time
_FEW = 64  # policy: rows of a block at least: each block reads all of W


def linear_outputs(
    rows: Any, coef: Vector, intercept: Vector, n_jobs: int | None
) -> tuple[Vector, bool]:
    """Return the outputs of every row, and whether they can be believed.

    Parameters
    ----------
    rows : ndarray of shape (n, d), C order, or CSR matrix
        Any numbers, NaN and inf included.
    coef : ndarray of shape (lines, d)
        W.
    intercept : ndarray of shape (lines,)
        b.
    n_jobs : int or None
        Threads, if there is work for them. The bits do not depend on it.

    Returns
    -------
    outputs : ndarray of shape (n, lines)
        XW' + b.
    finite : bool
        False if there may be NaN or inf in X, b, the outputs or the weights read (sparse
        rows read the weights of their own columns).
    """
    if sparse.issparse(rows):
        return _of_sparse(rows, coef, intercept, n_jobs)
    if len(coef) == 1:
        return _of_one_line(rows, coef[0], float(intercept[0]), n_jobs)
    return _of_several_lines(rows, coef, intercept)


def _of_one_line(
    rows: NDArray[Any], w: Vector, b: float, n_jobs: int | None
) -> tuple[Vector, bool]:
    """Our own loop: a BLAS may leave out products with 0, a NaN among them.

    A :class:`~maxmargin.design.operator.Design` would take longer to set up than the
    product of some thousand rows takes.
    """
    n = len(rows)
    out = np.empty(n)
    rows, w = read_only(rows), read_only(np.ascontiguousarray(w))
    if rows.size < _LARGE:
        return out[:, None], math.isfinite(_one_line(rows, 0, n, w, b, out))
    finite: list[bool] = []

    def some(start: int, stop: int) -> None:
        finite.append(math.isfinite(_one_line(rows, start, stop, w, b, out)))

    with Workers(n_jobs) as workers:
        workers.spread(some, n, max(1, n * _LARGE // rows.size))
    return out[:, None], all(finite)


def _of_several_lines(
    rows: NDArray[Any], coef: Vector, intercept: Vector
) -> tuple[Vector, bool]:
    """The BLAS's product, by blocks, with a line of ones more where a weight is 0."""
    n, width = rows.shape
    lines = len(coef)
    columns = coef.T if coef.all() else np.column_stack([coef.T, np.ones(width)])
    step = max(_FEW, _BLOCK // width)
    out = np.empty((n, lines))
    block = np.empty((min(n, step), columns.shape[1]))
    total = 0.0
    with np.errstate(over="ignore", invalid="ignore"):  # the caller is told
        for start in range(0, n, step):
            some = rows[start : start + step]
            products = np.matmul(some, columns, out=block[: len(some)])
            products[:, :lines] += intercept
            out[start : start + step] = products[:, :lines]
            total += float(products.sum())
    return out, math.isfinite(total)


def _of_sparse(
    rows: Any, coef: Vector, intercept: Vector, n_jobs: int | None
) -> tuple[Vector, bool]:
    """SciPy's product, which leaves nothing out and releases the GIL, by slabs."""
    n = rows.shape[0]
    rows, columns = _weights_in_use(rows, coef)
    finite: list[bool] = []

    def product(some: Any) -> Vector:
        with np.errstate(over="ignore", invalid="ignore"):  # the caller is told
            part: Vector = some @ columns
            part += intercept
            finite.append(math.isfinite(float(part.sum())))
        return part

    work = rows.nnz * len(coef)
    if work < _LARGE_SPARSE:
        return product(rows), all(finite)
    out = np.empty((n, len(coef)))

    def slab(start: int, stop: int) -> None:
        out[start:stop] = product(_slab(rows, start, stop))

    with Workers(n_jobs) as workers:
        workers.spread(slab, n, max(1, n * _LARGE_SPARSE // (2 * work)))
    return out, all(finite)


def _weights_in_use(rows: Any, coef: Vector) -> tuple[Any, NDArray[np.float64]]:
    """W' with the weights of a feature side by side: of all features, or of few rows'.

    Fitted machines keep W so. Otherwise a copy of all W at every call would take some
    hundred times as long as the product, for one message and 20 topics of 130,000 words.
    """
    stored = int(rows.indptr[-1])
    if coef.T.flags.c_contiguous or stored >= coef.shape[1]:
        return rows, np.ascontiguousarray(coef.T)
    columns = np.ascontiguousarray(coef[:, rows.indices[:stored]].T)
    places = np.arange(stored, dtype=rows.indptr.dtype)  # which can count them
    return _csr(rows.data[:stored], places, rows.indptr, stored), columns


def _slab(rows: Any, start: int, stop: int) -> Any:
    """Return some of the rows without a copy of their numbers."""
    begin, end = int(rows.indptr[start]), int(rows.indptr[stop])
    pointers = rows.indptr[start : stop + 1] - rows.indptr[start]
    return _csr(rows.data[begin:end], rows.indices[begin:end], pointers, rows.shape[1])


def _csr(data: Any, indices: Any, indptr: Any, width: int) -> Any:
    """Return a matrix of these arrays; SciPy's constructor would read all indices."""
    made = sparse.csr_array((len(indptr) - 1, width), dtype=data.dtype)
    made.data, made.indices, made.indptr = data, indices, indptr
    return made


@njit(allocates=False, fastmath=set(ASSOCIATIVE))
def _one_line(rows, start, stop, w, b, out):
    everything = 0.0
    for i in range(np.uint64(start), np.uint64(stop)):
        total = dense_dot(rows, i, w) + b
        out[i] = total
        everything += total
    return everything
