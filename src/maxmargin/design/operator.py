"""The design matrix of a linear machine: Xw, X'u and XX', with or without a constant.

Rows are dense or CSR, float32 or float64, and never copied; sums are made in float64.
A constant column behind the others is read as if it were stored. Work is cut into parts
that depend on the shape alone and results are added up in their order: every number of
threads gives the same bits.
"""

from __future__ import annotations

from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import LinAlgError, cholesky

from maxmargin._jit import AS_WRITTEN, ASSOCIATIVE, inlined, is_record, njit, overload
from maxmargin._jit.prefetch import prefetch
from maxmargin.errors import InputError
from maxmargin.parallel import one_blas_thread
from maxmargin.rows.records import CsrRows, DenseRows, Rows, rows_of, squared_norms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin._arrays import Vector
    from maxmargin.parallel import Workers

_PARTS = 8  # sums over rows are cut into so many
_WORTH = 1 << 17  # numbers in a request below which a second thread does not pay
_BLOCK = 256  # rows whose products with all others are made at a time


def dot_row(rows: Any, i: int, w: Any, scaling: float) -> float:
    """x_i·w; the last weight is that of the constant, if ``scaling`` is not 0."""
    raise TypeError(f"no product for {type(rows).__name__}: compiled code only")  # noqa: EM102


def add_row(rows: Any, i: int, factor: float, w: Any, scaling: float) -> None:
    """W += factor·x_i."""
    raise TypeError(f"no sum for {type(rows).__name__}: compiled code only")  # noqa: EM102


def fetch_row(rows: Any, i: int) -> None:
    """Hint that x_i will be read soon."""
    raise TypeError(f"no rows in {type(rows).__name__}: compiled code only")  # noqa: EM102


@overload(fetch_row)
def _overload_fetch(rows, i):
    return _fetch_dense if is_record(rows, DenseRows) else _fetch_csr


@overload(dot_row, jit_options={"fastmath": set(ASSOCIATIVE)})
def _overload_dot(rows, i, w, scaling):
    return _dot_dense if is_record(rows, DenseRows) else None


@overload(dot_row, jit_options={"fastmath": set(AS_WRITTEN)})
def _overload_sparse_dot(rows, i, w, scaling):
    return _dot_csr if is_record(rows, CsrRows) else None


@overload(add_row, jit_options={"fastmath": set(ASSOCIATIVE)})
def _overload_add(rows, i, factor, w, scaling):
    return _add_dense if is_record(rows, DenseRows) else _add_csr


def _fetch_dense(rows, i):
    d = rows.data.shape[1]
    for k in range(0, min(d, 64), 8):  # the processor sees by itself how it goes on
        prefetch(rows.data, i * d + k)


def _fetch_csr(rows, i):
    start, stop = rows.indptr[i], rows.indptr[i + 1]
    for e in range(start, min(stop, start + 64), 16):  # a line of the cache, or two
        prefetch(rows.indices, e)
        prefetch(rows.data, e)
        prefetch(rows.data, e + 8)


def _dot_dense(rows, i, w, scaling):
    row = rows.data[i]
    total = 0.0
    for k in range(row.size):
        total += row[k] * w[k]
    if scaling != 0.0:
        total += scaling * w[row.size]
    return total


def _sparse_dot(data, indices, e, stop, w):
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


sparse_dot = inlined(_sparse_dot)


def _dot_csr(rows, i, w, scaling):
    start, stop = np.uint64(rows.indptr[i]), np.uint64(rows.indptr[i + 1])
    total = sparse_dot(rows.data, rows.indices, start, stop, w)
    return total + scaling * w[rows.d] if scaling != 0.0 else total


def _add_dense(rows, i, factor, w, scaling):
    row = rows.data[i]
    for k in range(row.size):
        w[k] += factor * row[k]
    if scaling != 0.0:
        w[row.size] += factor * scaling


def _add_csr(rows, i, factor, w, scaling):
    for e in range(np.uint64(rows.indptr[i]), np.uint64(rows.indptr[i + 1])):
        w[np.uint64(rows.indices[e])] += factor * rows.data[e]
    if scaling != 0.0:
        w[rows.d] += factor * scaling


def _each_times(
    rows: Any, start: int, stop: int, w: Any, scaling: float, out: Any
) -> None:
    """Out = x̃·w of every row: :func:`dot_row`, with the arrays taken apart once."""


def _each_back(
    rows: Any, start: int, stop: int, u: Any, scaling: float, out: Any
) -> None:
    """Out += Σ u·x̃: likewise :func:`add_row`."""


@overload(_each_times, jit_options={"fastmath": set(ASSOCIATIVE)})
def _overload_times(rows, start, stop, w, scaling, out):
    return _times_dense if is_record(rows, DenseRows) else _times_csr


@overload(_each_back, jit_options={"fastmath": set(ASSOCIATIVE)})
def _overload_back(rows, start, stop, u, scaling, out):
    return _back_dense if is_record(rows, DenseRows) else _back_csr


def _times_dense(rows, start, stop, w, scaling, out):
    data = rows.data
    d = data.shape[1]
    for i in range(start, stop):
        total = 0.0
        for k in range(d):
            total += data[i, k] * w[k]
        out[i] = total + scaling * w[d] if scaling != 0.0 else total


def _times_csr(rows, start, stop, w, scaling, out):
    data, indices, indptr, d = rows.data, rows.indices, rows.indptr, rows.d
    for i in range(start, stop):
        total = 0.0
        for e in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            total += data[e] * w[np.uint64(indices[e])]
        out[i] = total + scaling * w[d] if scaling != 0.0 else total


def _back_dense(rows, start, stop, u, scaling, out):
    data = rows.data
    d = data.shape[1]
    for i in range(start, stop):
        factor = u[i]
        if factor != 0.0:
            for k in range(d):
                out[k] += factor * data[i, k]
            if scaling != 0.0:
                out[d] += factor * scaling


def _back_csr(rows, start, stop, u, scaling, out):
    data, indices, indptr, d = rows.data, rows.indices, rows.indptr, rows.d
    for i in range(start, stop):
        factor = u[i]
        if factor != 0.0:
            for e in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
                out[np.uint64(indices[e])] += factor * data[e]
            if scaling != 0.0:
                out[d] += factor * scaling


def _times(rows, start, stop, w, scaling, out):
    _each_times(rows, start, stop, w, scaling, out)


def _back(rows, start, stop, u, scaling, out):
    _each_back(rows, start, stop, u, scaling, out)


_times = njit(_times)
_back = njit(_back)


def _lower(products: NDArray[np.float64]) -> NDArray[np.float64]:
    """Cholesky's factor; of a singular matrix that of one with a larger diagonal."""
    more = 0.0
    with one_blas_thread():
        while True:
            try:
                raised = products + np.diag(np.full(len(products), more))
                return np.ascontiguousarray(cholesky(raised, lower=True))
            except LinAlgError:
                more = 10.0 * more or 1e-15 * float(np.diag(products).max()) or 1.0


class Design:
    """A matrix of rows, and behind them a column of ``scaling`` if that is not 0.

    Parameters
    ----------
    X : ndarray of shape (n, d), C order, or CSR matrix
        The rows; kept, not copied.
    scaling : float
        The value of the constant column; 0: there is none.
    workers : Workers
        Threads for large requests.
    """

    def __init__(self, X: Any, scaling: float, workers: Workers) -> None:
        if scaling < 0.0:
            msg = f"the constant column has the value {scaling!r}: give 0 or more"
            raise InputError(msg)
        self.X, self.scaling, self.workers = X, float(scaling), workers
        self.sparse = bool(sp.issparse(X))
        self.n = int(X.shape[0])
        self.width = int(X.shape[1]) + (scaling > 0.0)
        self._making = Lock()
        self._products: NDArray[np.float64] | None = None
        self._turned: Design | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {"X": self.X, "scaling": self.scaling, "workers": self.workers}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    @cached_property
    def rows(self) -> Rows:
        """The rows as compiled code reads them."""
        return rows_of(self.X)

    @cached_property
    def transposed(self) -> Design:
        """A copy of the columns as rows, the constant behind the others."""
        with np.errstate(over="ignore"):  # then it is not the same number
            kept = float(np.float64(self.scaling).astype(self.X.dtype))
        dtype = self.X.dtype if kept == self.scaling else np.float64
        if self.sparse:
            parts = [self.X.T]
            if self.scaling:
                parts.append(sp.csr_matrix(np.full((1, self.n), self.scaling)))
            columns: Any = sp.vstack(parts, format="csr", dtype=dtype)
        else:
            columns = np.empty((self.width, self.n), dtype)
            columns[: self.X.shape[1]] = self.X.T
            columns[self.X.shape[1] :] = self.scaling
        return Design(columns, 0.0, self.workers)

    @property
    def columns(self) -> Rows:
        """The columns as compiled code reads rows."""
        return self.transposed.rows

    @property
    def stored(self) -> int:
        """How many numbers one product with w reads."""
        return int(self.X.nnz if self.sparse else self.X.size)

    @cached_property
    def norms(self) -> Vector:
        """Squared norms of the rows, the constant included."""
        out = np.empty(self.n)
        self.workers.spread(
            lambda a, b: squared_norms(self.rows, a, b, 0.0, out), self.n, self._grain
        )
        return out + self.scaling**2

    @property
    def _grain(self) -> int:
        """Rows that are worth a thread."""
        return max(1, _WORTH * self.n // max(1, self.stored))

    def times(self, w: Vector) -> Vector:
        """X̃w, in one pass over the rows."""
        out = np.empty(self.n)
        self.workers.spread(
            lambda a, b: _times(self.rows, a, b, w, self.scaling, out),
            self.n,
            self._grain,
        )
        return out

    def back(self, u: Vector) -> Vector:
        """X̃'u, in one pass over the rows whose u is not 0."""
        edges = [self.n * part // _PARTS for part in range(_PARTS + 1)]
        if self.stored < _WORTH:
            edges = [0, self.n]
        sums = np.zeros((len(edges) - 1, self.width))

        def part(k: int) -> None:
            _back(self.rows, edges[k], edges[k + 1], u, self.scaling, sums[k])

        self.workers.map(part, range(len(edges) - 1))
        total: Vector = sums.sum(axis=0)
        return total

    @property
    def products(self) -> NDArray[np.float64]:
        """XX' + scaling² of all rows, made once, whoever asks first."""
        with self._making:
            if self._products is None:
                self._products = self._all_products()
            return self._products

    @property
    def turned(self) -> Design:
        """The rows of L, where LL' is :attr:`products`: n columns; made once.

        They are the same rows in other coordinates, those of their own span: a w there is
        X'L⁻ᵀw here, of the same length and with the same outputs.
        """
        products = self.products
        with self._making:
            if self._turned is None:
                self._turned = Design(_lower(products), 0.0, self.workers)
            return self._turned

    def _all_products(self) -> NDArray[np.float64]:
        n, starts = self.n, range(0, self.n, _BLOCK)
        table = np.empty((n, n))

        def rows(start: int) -> Any:
            return self.X[start : start + _BLOCK].astype(np.float64, copy=False)

        def block(start: int) -> None:
            """Some rows with themselves and those before, and what is across."""
            mine = rows(start)
            stop = start + mine.shape[0]
            for other in range(0, stop, _BLOCK):
                part = mine @ rows(other).T
                dense = part.toarray() if self.sparse else part
                dense += self.scaling**2
                if other == start:  # whose two halves need not have the same bits
                    dense = np.tril(dense) + np.tril(dense, -1).T
                across = other + dense.shape[1]
                table[start:stop, other:across] = dense
                table[other:across, start:stop] = dense.T

        with one_blas_thread():
            self.workers.map(block, reversed(starts))  # the longest first
        return table
