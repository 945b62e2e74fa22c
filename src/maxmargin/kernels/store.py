"""Kernel rows that are computed once and kept, where there is memory for them.

A problem small enough to keep its whole matrix asks for every row at most once
(:class:`StoredGram`). In one-vs-one training the values between points of one class are
wanted by every pair that class takes part in: they are computed once for the whole fit
(:class:`ClassTables`) and shared, read-only, by all pairs and threads. Whether something
is stored depends on sizes alone, so results do not depend on threads.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin._jit import njit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from maxmargin.parallel import Workers

    Index = NDArray[np.intp]
    Vector = NDArray[np.float64]

__all__ = ["ClassTables", "PairGrams", "StoredGram", "binary_gram"]

_DEAR = 3.0  # cost of a kernel value above which keeping it beats computing it again


def _gather(table, rows, cols, out):
    for t in range(rows.size):
        source, target = table[rows[t]], out[t]
        for c in range(cols.size):
            target[c] = source[cols[c]]


def _add_rows(table, cols, coef, rows, out):
    ordered = rows.size == table.shape[1]
    for t in range(rows.size):
        ordered = ordered and rows[t] == t
    if ordered:
        for c in range(cols.size):
            source, factor = table[cols[c]], coef[c]
            for t in range(out.size):
                out[t] += factor * np.float64(source[t])
    else:
        for c in range(cols.size):
            source, factor = table[cols[c]], coef[c]
            for t in range(rows.size):
                out[t] += factor * np.float64(source[rows[t]])


_gather = njit(_gather)
_add_rows = njit(_add_rows, fastmath={"contract"})


class ClassTables:
    """K between the points of every class, in one precision, computed once.

    Parameters
    ----------
    gram : Gram
        Of all points of the fit.
    members : sequence of ndarray
        The points of each class, ascending.
    dtype : dtype
        Precision of the tables.
    workers : Workers
        Classes are spread over them.
    """

    def __init__(
        self, gram: Any, members: Sequence[Index], dtype: np.dtype[Any], workers: Workers
    ) -> None:
        self._tables: list[NDArray[Any]] = [
            np.empty((one.size, one.size), dtype) for one in members
        ]
        parts = [gram.subset(one) for one in members]

        def fill(k: int) -> None:
            everyone = np.arange(members[k].size, dtype=np.intp)
            parts[k].block(everyone, everyone, self._tables[k])

        workers.map(fill, range(len(members)))
        self.n_kernel = sum(part.n_kernel for part in parts)

    def table(self, k: int) -> NDArray[Any]:
        """K of class k."""
        return self._tables[k]


class StoredGram:
    """A Gram that keeps every row it has computed, in one precision.

    Several threads may ask it at once: a row is computed by one of them, under a lock,
    and counts as present only when all its values are.

    Parameters
    ----------
    gram : Gram
        Where the values come from. They are kept in the precision in which it begins;
        it answers itself in the other.
    own : tuple of two ndarrays, optional
        Tables of the two classes that make up the points: first those of one class,
        then those of the other. What they hold is not computed again.
    """

    def __init__(
        self,
        gram: Any,
        own: tuple[NDArray[Any], NDArray[Any]] | None = None,
    ) -> None:
        self.n, self.precisions, self.cost = gram.n, gram.precisions, gram.cost
        self._gram, self._dtype, self._own = gram, gram.precisions[0], own
        self._table: NDArray[Any] | None = None
        self._have = np.zeros(self.n, bool)
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        """Values are left behind when pickled: they can be computed again."""
        kept = {**self.__dict__, "_table": None, "_have": np.zeros(self.n, bool)}
        del kept["_lock"]
        return kept

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Threads that share the copy share a lock of its own."""
        self.__dict__.update(state)
        self._lock = threading.Lock()

    @property
    def n_kernel(self) -> int:
        """Kernel values computed so far."""
        return int(self._gram.n_kernel)

    def diagonal(self) -> Vector:
        """K[i, i] in float64."""
        diagonal: Vector = self._gram.diagonal()
        return diagonal

    def precisions_for(self, n: int) -> tuple[np.dtype[Any], ...]:
        """The precisions of the Gram behind this one."""
        precisions: tuple[np.dtype[Any], ...] = self._gram.precisions_for(n)
        return precisions

    def subset(self, index: Index, dtype: np.dtype[Any] | None = None) -> Any:
        """The matrix of the points ``index``, of which nothing is kept here."""
        return self._gram.subset(index, dtype)

    def narrowed(self, index: Index) -> Any:
        """The matrix of the points ``index``, of which nothing is kept here."""
        return self._gram.narrowed(index)

    def block(self, rows: Index, cols: Index, out: NDArray[Any]) -> None:
        """K[rows, cols] into ``out``."""
        if out.dtype != self._dtype:
            self._gram.block(rows, cols, out)
            return
        _gather(self._rows(rows), rows, cols, out)

    def apply(
        self, rows: Index, cols: Index, coef: Vector, out: Vector, dtype: np.dtype[Any]
    ) -> None:
        """``out[t] += Σ_j K[rows[t], cols[j]]·coef[j]``; K[j, :] is row j by symmetry."""
        if dtype != self._dtype:
            self._gram.apply(rows, cols, coef, out, dtype)
            return
        _add_rows(self._rows(cols), cols, coef, rows, out)

    def _rows(self, wanted: Index) -> NDArray[Any]:
        """The table, with the wanted rows in it."""
        table = self._table
        if table is not None and self._have[wanted].all():
            return table
        with self._lock:
            if self._table is None:
                self._table = np.empty((self.n, self.n), self._dtype)
            missing = wanted[~self._have[wanted]]
            if missing.size:
                if self._own is None:
                    everyone = np.arange(self.n, dtype=np.intp)
                    self._compute(missing, everyone, 0)
                else:
                    self._compute_beside(missing, self._own)
                self._have[missing] = True  # now, not before: others read without lock
            return self._table

    def _compute(self, rows: Index, cols: Index, at: int) -> None:
        assert self._table is not None
        values = np.empty((rows.size, cols.size), self._dtype)
        self._gram.block(rows, cols, values)
        self._table[rows, at : at + cols.size] = values

    def _compute_beside(
        self, missing: Index, own: tuple[NDArray[Any], NDArray[Any]]
    ) -> None:
        """Values within a class are copied, those between the classes computed."""
        assert self._table is not None
        border = own[0].shape[0]
        first, second = missing[missing < border], missing[missing >= border]
        self._table[first, :border] = own[0][first]
        self._table[second, border:] = own[1][second - border]
        if first.size:
            self._compute(first, np.arange(border, self.n, dtype=np.intp), border)
        if second.size:
            self._compute(second, np.arange(border, dtype=np.intp), 0)


def binary_gram(gram: Any, cache_bytes: int) -> tuple[Any, int]:
    """The Gram of a single problem, and the memory left for its working set.

    Rows are kept when they are dear and all of them fit in half of the memory.
    """
    need = gram.n * gram.n * gram.precisions[0].itemsize
    if gram.cost >= _DEAR and need <= cache_bytes // 2:
        return StoredGram(gram), cache_bytes - need
    return gram, cache_bytes


class PairGrams:
    """The Grams of all pairs of classes, sharing what they have in common.

    A quarter of the memory is for the tables of the classes, the rest for the pairs at
    work: each has an eighth for its rows and an eighth for its working set, at most.
    How many are at work never changes what a pair computes.

    Parameters
    ----------
    gram : Gram
        Of all points of the fit.
    members : sequence of ndarray
        The points of each class, ascending.
    cache_bytes : int
        Memory for kernel values in all.
    workers : Workers
        Threads.
    """

    def __init__(
        self, gram: Any, members: Sequence[Index], cache_bytes: int, workers: Workers
    ) -> None:
        sizes = sorted((one.size for one in members), reverse=True)
        self._gram, self._members = gram, members
        self._dtype = gram.precisions_for(sum(sizes[:2]))[0]
        self.share = cache_bytes // 8
        largest = sum(sizes[:2]) ** 2 * self._dtype.itemsize
        self.at_once = max(
            1, int(0.75 * cache_bytes) // max(1, 2 * min(largest, self.share))
        )
        tables = sum(size * size for size in sizes) * self._dtype.itemsize
        self._tables = (
            ClassTables(gram, members, self._dtype, workers)
            if tables <= cache_bytes // 4 and gram.cost > 0.0
            else None
        )

    @property
    def n_kernel(self) -> int:
        """Kernel values computed for the shared tables."""
        return 0 if self._tables is None else self._tables.n_kernel

    def pair(self, first: int, second: int) -> tuple[Index, Any]:
        """The points of two classes, those of the first in front, and their Gram."""
        index = np.concatenate([self._members[first], self._members[second]])
        part = self._gram.subset(index, self._dtype)
        if part.cost == 0.0 or index.size**2 * self._dtype.itemsize > self.share:
            return index, part
        tables = self._tables
        own = None if tables is None else (tables.table(first), tables.table(second))
        return index, StoredGram(part, own)
