"""X as an operator: Xw, X'u, X'DXv and XX' of the rows of a linear machine.

Rows are dense or CSR, float32 or float64, and never copied; sums are made in float64.
A constant column behind the others is read as if it were stored: X̃ is X with it. Sums
over rows are cut into parts that depend on counts alone and are added up in their order:
every number of threads gives the same bits. ``some`` are numbers of rows, each of them
once and in ascending order; a vector beside them has an entry for each.
"""

from __future__ import annotations

from functools import cached_property, partial
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import LinAlgError, cholesky

from maxmargin.design import products
from maxmargin.errors import InputError
from maxmargin.parallel import one_blas_thread
from maxmargin.rows.records import Rows, rows_of, squared_norms

if TYPE_CHECKING:
    from maxmargin._arrays import Index, Matrix, Table, Vector
    from maxmargin.parallel import Workers

# Results depend on these two in their last digits: they decide where sums are cut.
_PARTS = 8  # sums over rows are cut into so many parts at most
_WORTH = 1 << 18  # numbers of X from which parts, and a second thread, pay
_PIECE = 1 << 16  # policy: numbers of X that a thread takes at a time
_BLOCK = 256  # policy: rows whose products with all others are made at a time


def _lower(products: Matrix) -> Matrix:
    """Return Cholesky's factor; a singular matrix gets a larger diagonal before."""
    more = 0.0
    with one_blas_thread():
        while True:
            try:
                raised = products + np.diag(np.full(len(products), more))
                return np.ascontiguousarray(cholesky(raised, lower=True))
            except LinAlgError:
                more = 10.0 * more or 1e-15 * float(np.diag(products).max()) or 1.0


class Design:
    """X̃ as an operator: a matrix of rows, and a column of ``scaling`` if that is not 0.

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
        self.stored = int(X.nnz if self.sparse else X.size)  # numbers that Xw reads
        self._making = Lock()
        self._products: Matrix | None = None
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

    @cached_property
    def norms(self) -> Vector:
        """Squared norms of the rows, the constant included."""
        out = np.empty(self.n)
        self._spread(lambda a, b: squared_norms(self.rows, a, b, 0.0, out), self.n)
        return out + self.scaling**2

    def times(self, w: Vector, some: Index | None = None) -> Vector:
        """Return X̃w, of all rows or of ``some``, in one pass over them."""
        least = _WORTH
        if some is not None:
            least = 2 * _WORTH  # policy: small Newton fits begin no second thread
            if some.size == self.n and not self.sparse:
                some = None  # the same bits without a look at the numbers
        out = np.empty(self.n if some is None else some.size)
        loop = partial(products.times, self.rows, some, w, self.scaling, out)
        self._spread(loop, out.size, least=least)
        return out

    def _spread(
        self, loop: Any, rows: int, outputs: int = 1, least: int = _WORTH
    ) -> None:
        """Call ``loop(start, stop)`` on slabs of rows; once, if one thread is enough."""
        each = max(1, self.stored * outputs // max(1, self.n))
        if rows * each < least:
            loop(0, rows)
        else:
            self.workers.spread(loop, rows, max(1, _PIECE // each))

    def back(self, u: Vector, some: Index | None = None) -> Vector:
        """Return X̃'u, of all rows or of ``some``; rows whose u is 0 are not read."""
        if some is not None:
            counts = np.flatnonzero(u != 0.0)
            if counts.size < u.size:
                some, u = some[counts], u[counts]
        return self._summed(products.back, some, u)[0]

    def squares(self, weight: Vector, some: Index) -> Vector:
        """Return the diagonal of X̃'DX̃ over the rows ``some``."""
        return self._summed(products.squares, some, weight)[0]

    def there_and_back(
        self, weight: Vector, v: Vector, some: Index
    ) -> tuple[Vector, float]:
        """Return X̃'DX̃v over the rows ``some`` in one pass over them, and ΣDX̃v."""
        found, totals = self._summed(products.there_and_back, some, weight, v)
        return found, sum(totals)

    def _summed(
        self, loop: Any, some: Index | None, *vectors: Vector
    ) -> tuple[Vector, list[Any]]:
        """Return the sum over the parts that ``loop`` adds up, and its return values."""
        parts = _PARTS if 2 * self.stored >= _WORTH else 1
        if some is not None:
            # Every part has a sum of its own, worth the clearing and the adding up.
            work = self.stored * some.size // max(1, self.n)
            parts = max(1, min(_PARTS, work // (_WORTH + 4 * self.width)))
        sums = np.zeros((parts, self.width))
        part = partial(loop, self.rows, some, *vectors, self.scaling, sums)
        if parts == 1:
            return sums[0], [part(0)]
        found = self.workers.map(part, range(parts))
        return sums.sum(axis=0), found

    # -- weights of several classes: W is laid out as maxmargin.design.row says

    def no_weights(self, n_classes: int) -> Table:
        """Return a W of zeros."""
        shape = n_classes, self.width
        return np.zeros(shape[::-1] if self.sparse else shape)

    def by_class(self, W: Table) -> Table:
        """Return W with a line for every class, or such a table as a W."""
        return W.T if self.sparse else W

    def times_classes(self, W: Table) -> Table:
        """Return X̃W' of all rows and classes, in one pass over the rows."""
        out = np.empty((self.n, len(self.by_class(W))))
        loop = partial(products.times_classes, self.rows, W, self.scaling, out)
        self._spread(loop, self.n, outputs=out.shape[1])
        return out

    def back_classes(self, beta: Table) -> Table:
        """Return W = β'X̃, in one pass over the rows that have a part in it."""
        W = self.no_weights(beta.shape[1])
        products.back_classes(self.rows, beta, self.scaling, W)
        return W

    @property
    def products(self) -> Matrix:
        """XX' + scaling² of all rows, made once, on first use."""
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

    def _all_products(self) -> Matrix:
        n, starts = self.n, range(0, self.n, _BLOCK)
        table = np.empty((n, n))

        def rows(start: int) -> Any:
            return self.X[start : start + _BLOCK].astype(np.float64, copy=False)

        def block(start: int) -> None:
            """Multiply some rows by themselves and all before; mirror the products."""
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
