"""XW' + b, and whether all of it is finite, in one pass over X.

To look for NaN and inf in X would take as long as the product. Instead every output goes
into a sum, which is finite only if all of them are: products leave nothing out.
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

_LARGE = 1 << 19  # dense numbers from which threads, begun anew each time, pay
_LARGE_SPARSE = 1 << 21  # likewise multiplications of sparse numbers
_BLOCK = 1 << 18  # dense numbers that are multiplied by several lines at a time
_FEW = 64  # rows of a block at least: each of them reads all of W


def linear_outputs(
    rows: Any, coef: Vector, intercept: Vector, n_jobs: int | None
) -> tuple[Vector, bool]:
    """The outputs of every row, of shape (n, lines), and whether they can be believed.

    Parameters
    ----------
    rows : ndarray of shape (n, d), C order, or CSR matrix
        Whose numbers may be anything.
    coef : ndarray of shape (lines, d)
        W.
    intercept : ndarray of shape (lines,)
        b.
    n_jobs : int or None
        Threads, where there is work for them. The bits do not depend on it.

    Returns
    -------
    outputs : ndarray of shape (n, lines)
        XW' + b.
    finite : bool
        False if there may be NaN or inf in X, b or the outputs, or in what was read of W
        (of which sparse rows read the columns that they have).
    """
    if sparse.issparse(rows):
        return _of_sparse(rows, coef, intercept, n_jobs)
    if len(coef) == 1:
        return _of_one_line(rows, coef[0], float(intercept[0]), n_jobs)
    return _of_several_lines(rows, coef, intercept)


def _of_one_line(
    rows: NDArray[Any], w: Vector, b: float, n_jobs: int | None
) -> tuple[Vector, bool]:
    """Our own loop: a BLAS may leave out what is times 0, a NaN among it.

    :class:`~maxmargin.design.operator.Design` has the same one for fits; what it knows
    besides takes longer to set up than the product of some thousand rows.
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
    """SciPy's product, which leaves nothing out and lets go of the GIL, by slabs."""
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
    """W' with the weights of a feature side by side: all, or what a few rows have.

    Machines that are fitted keep W so; others would have all of it turned at every call:
    for one message and 20 topics of 130,000 words some hundred times as long as the
    product.
    """
    stored = int(rows.indptr[-1])
    if coef.T.flags.c_contiguous or stored >= coef.shape[1]:
        return rows, np.ascontiguousarray(coef.T)
    columns = np.ascontiguousarray(coef[:, rows.indices[:stored]].T)
    places = np.arange(stored, dtype=rows.indptr.dtype)  # which can count them
    return _csr(rows.data[:stored], places, rows.indptr, stored), columns


def _slab(rows: Any, start: int, stop: int) -> Any:
    """Some rows, of which no number is copied."""
    begin, end = int(rows.indptr[start]), int(rows.indptr[stop])
    pointers = rows.indptr[start : stop + 1] - rows.indptr[start]
    return _csr(rows.data[begin:end], rows.indices[begin:end], pointers, rows.shape[1])


def _csr(data: Any, indices: Any, indptr: Any, width: int) -> Any:
    """A matrix of these arrays; SciPy's constructor would read all indices once more."""
    made = sparse.csr_array((len(indptr) - 1, width), dtype=data.dtype)
    made.data, made.indices, made.indptr = data, indices, indptr
    return made


def _one_line(rows, start, stop, w, b, out):
    everything = 0.0
    for i in range(np.uint64(start), np.uint64(stop)):
        total = dense_dot(rows, i, w) + b
        out[i] = total
        everything += total
    return everything


_one_line = njit(_one_line, allocates=False, fastmath=set(ASSOCIATIVE))
