"""Kernel matrices that come from outside: precomputed, or a Python function k(A, B)."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import scipy.sparse as sp

from maxmargin._jit import njit
from maxmargin.errors import InputError
from maxmargin.kernels.gram.contract import Unkept

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from maxmargin._arrays import Index, Vector

_VALUES = 1 << 20  # policy: kernel values asked of a Python function at a time: 8 MB


@njit
def _table_block(K, rows, cols, out):
    for t in range(rows.size):
        row = K[rows[t]]
        for c in range(cols.size):
            out[t, c] = row[cols[c]]


@njit
def _table_apply(K, rows, cols, coef, out):
    for t in range(rows.size):
        row = K[rows[t]]
        total = 0.0
        for c in range(cols.size):
            total += np.float64(row[cols[c]]) * coef[c]
        out[t] += total


class TableGram(Unkept):
    """A precomputed, symmetric kernel matrix, as it is: no copy, no float32."""

    precisions = (np.dtype(np.float64),)
    cost = 0.0  # nothing to compute, so nothing worth keeping

    def __init__(self, K: NDArray[np.floating[Any]], index: Index | None = None) -> None:
        self._K = K.view()
        self._K.flags.writeable = False
        self._index = index
        self.n = K.shape[0] if index is None else index.size
        self.n_kernel = 0  # nothing is computed

    def precisions_for(self, n: int) -> tuple[np.dtype[Any], ...]:
        """Float64 always: values are taken as they are."""
        return self.precisions

    def subset(self, index: Index, dtype: np.dtype[Any] | None = None) -> TableGram:
        """The matrix of the points ``index``."""
        return TableGram(self._K, self._global(index))

    def narrowed(self, index: Index) -> TableGram:
        """The matrix of the points ``index``."""
        return self.subset(index)

    def diagonal(self) -> Vector:
        """K[i, i]."""
        diagonal = np.asarray(np.diagonal(self._K), dtype=np.float64)
        return diagonal.copy() if self._index is None else diagonal[self._index]

    def block(self, rows: Index, cols: Index, out: NDArray[Any]) -> None:
        """K[rows, cols] into ``out``."""
        _table_block(self._K, self._global(rows), self._global(cols), out)

    def apply(
        self, rows: Index, cols: Index, coef: Vector, out: Vector, dtype: Any = None
    ) -> None:
        """``out[t] += Σ_j K[rows[t], cols[j]]·coef[j]``."""
        _table_apply(self._K, self._global(rows), self._global(cols), coef, out)

    def _global(self, index: Index) -> Index:
        return index if self._index is None else self._index[index]


class CallableGram(Unkept):
    """The matrix of a Python function ``k(A, B)`` → (len(A), len(B)) array.

    Problems of one fit may be spread over threads. The function need not be ready for
    that: its calls wait for each other.
    """

    precisions = (np.dtype(np.float64),)
    cost = 20.0

    def __init__(
        self,
        kernel: Callable[[Any, Any], Any],
        X: Any,
        index: Index | None = None,
        turn: threading.RLock | None = None,
    ) -> None:
        self._kernel, self._X, self._index = kernel, X, index
        self._turn = threading.RLock() if turn is None else turn
        self.n = X.shape[0] if index is None else index.size
        self.n_kernel = 0

    def precisions_for(self, n: int) -> tuple[np.dtype[Any], ...]:
        """Float64 always: values are taken as they are."""
        return self.precisions

    def subset(self, index: Index, dtype: np.dtype[Any] | None = None) -> CallableGram:
        """The matrix of the points ``index``."""
        return CallableGram(self._kernel, self._X, self._global(index), self._turn)

    def __getstate__(self) -> dict[str, Any]:
        """The lock stays behind when pickled."""
        return {name: one for name, one in self.__dict__.items() if name != "_turn"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """A copy has a lock of its own."""
        self.__dict__.update(state)
        self._turn = threading.RLock()

    def narrowed(self, index: Index) -> CallableGram:
        """The matrix of the points ``index``."""
        return self.subset(index)

    def diagonal(self) -> Vector:
        """K[i, i], from square blocks on the diagonal."""
        out = np.empty(self.n)
        everyone = np.arange(self.n, dtype=np.intp)
        for start in range(0, self.n, 64):
            some = everyone[start : start + 64]
            out[some] = np.diagonal(self._values(some, some))
        return out

    def block(self, rows: Index, cols: Index, out: NDArray[Any]) -> None:
        """K[rows, cols] into ``out``."""
        step = max(1, _VALUES // max(1, cols.size))
        for start in range(0, rows.size, step):
            some = rows[start : start + step]
            out[start : start + some.size, : cols.size] = self._values(some, cols)

    def apply(
        self, rows: Index, cols: Index, coef: Vector, out: Vector, dtype: Any = None
    ) -> None:
        """``out[t] += Σ_j K[rows[t], cols[j]]·coef[j]``."""
        step = max(1, _VALUES // max(1, cols.size))
        for start in range(0, rows.size, step):
            some = rows[start : start + step]
            out[start : start + some.size] += self._values(some, cols) @ coef

    def _values(self, rows: Index, cols: Index) -> Vector:
        left, right = self._X[self._global(rows)], self._X[self._global(cols)]
        self.n_kernel += rows.size * cols.size
        with self._turn:
            return called(self._kernel, left, right)

    def _global(self, index: Index) -> Index:
        return index if self._index is None else self._index[index]


def called(kernel: Callable[[Any, Any], Any], left: Any, right: Any) -> Vector:
    """k(left, right) in float64, its shape and finiteness checked."""
    found = kernel(left, right)
    if sp.issparse(found):
        found = found.toarray()
    values = np.asarray(found)
    if values.dtype.kind not in "fiubO":
        msg = f"the kernel function returned {values.dtype} values; k(A, B) must be real"
        raise InputError(msg)
    values = values.astype(np.float64, copy=False)
    expected = (left.shape[0], right.shape[0])
    if values.shape != expected:
        msg = (
            f"the kernel function returned an array of shape {values.shape}; k(A, B) "
            f"must return one value for each pair of rows, here {expected}"
        )
        raise InputError(msg)
    if not np.isfinite(values).all():
        msg = "the kernel function returned NaN or infinity; k(A, B) must be finite"
        raise InputError(msg)
    return values


class TableCross:
    """Rows of kernel values against all training points, of which some columns count."""

    def __init__(self, kernel: Any, K: Any, columns: Index, workers: Any) -> None:
        self._K, self._columns = K, columns

    def block(self, rows: Index, cols: Index, out: NDArray[Any]) -> NoReturn:
        """Refused: nothing says which rows the columns belong to."""
        _refuse("k(A, B)")

    def expand(self, coef: Vector, out: NDArray[Any]) -> None:
        """``out[t, m] += Σ_j K[t, columns[j]]·coef[m, j]``."""
        out += np.asarray(self._K[:, self._columns], dtype=np.float64) @ coef.T


class CallableCross:
    """The values of a Python function between the rows of A and those of B."""

    def __init__(
        self, kernel: Callable[[Any, Any], Any], A: Any, B: Any, workers: Any
    ) -> None:
        self._kernel, self._A, self._B = kernel, A, B

    def block(self, rows: Index, cols: Index, out: NDArray[Any]) -> None:
        """k(A[rows], B[cols]) into ``out``."""
        out[:] = called(self._kernel, self._A[rows], self._B[cols])

    def expand(self, coef: Vector, out: NDArray[Any]) -> None:
        """``out[t, m] += Σ_j k(A[t], B[j])·coef[m, j]``."""
        count = self._B.shape[0]
        if count == 0:
            return
        step = max(1, _VALUES // count)
        for start in range(0, self._A.shape[0], step):
            some = self._A[start : start + step].copy()  # the function must not change A
            out[start : start + step] += called(self._kernel, some, self._B) @ coef.T


def refused_diagonal(kernel: Any, X: Any) -> NoReturn:
    """Refused: K[i, i] is known of training points only."""
    _refuse("k(x, x) of new rows")


def _refuse(what: str) -> NoReturn:
    msg = (
        f"{what} is not known for a precomputed kernel, which has values but no formula; "
        "use a kernel that computes them"
    )
    raise InputError(msg)
