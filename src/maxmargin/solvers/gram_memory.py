"""The stored block K_WW of a working set W, and single rows, within ``cache_bytes``.

Slots 0 … q−1 hold the members. Admitting some computes only their rows and columns;
evicting one moves the last slot into its place. The block is a pure function of the
members (a kernel value's bits depend on its two points alone), so it is left behind
when a state is pickled and made again on the next use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin._jit import njit
from maxmargin.kernels.gram.mirror import mirror

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin._arrays import Index
    from maxmargin.kernels.gram.contract import Gram


def capacity(n: int, cache_bytes: int, dtype: np.dtype[Any]) -> int:
    """Members whose block fits in ``cache_bytes``: at least 2, at most n."""
    return max(min(n, 2), min(n, int(np.sqrt(cache_bytes / dtype.itemsize))))


@njit(allocates=False)
def _close_gaps(K, filled, members, q, leaving):
    """The last slot takes the place of every leaving one, from the last to the first.

    ``filled`` is q, or 0 when no values are stored. First the rows move, then within
    each row the columns: a walk down a column would miss the cache at every step.
    """
    last = q
    for n in range(leaving.size - 1, -1, -1):
        last -= 1
        members[leaving[n]] = members[last]
        if filled:
            target, source = K[leaving[n]][:q], K[last][:q]
            for k in range(q):
                target[k] = source[k]
    if filled:
        for i in range(last):
            row = K[i]
            source = q
            for n in range(leaving.size - 1, -1, -1):
                source -= 1
                row[leaving[n]] = row[source]


def _spread(flat: NDArray[Any], filled: int, before: int, after: int) -> None:
    """Rows of a square of ``before`` columns move apart to ``after`` columns.

    Some thousand rows a few times in a fit: not worth a compiled loop.
    """
    for i in range(filled - 1, 0, -1):  # NumPy sees where source and target overlap
        flat[i * after : i * after + filled] = flat[i * before : i * before + filled]


class WorkingMemory:
    """K_WW, which can always be computed again from W.

    Parameters
    ----------
    size : int
        Largest number of members.
    dtype : dtype
        Precision of the stored values.
    """

    def __init__(self, size: int, dtype: np.dtype[Any]) -> None:
        self.size = size
        self.dtype = dtype
        self._flat: NDArray[Any] | None = None
        self._columns = 0  # of the square in the front of _flat
        self._filled = 0
        self._spare: NDArray[np.float64] | None = None

    def __getstate__(self) -> dict[str, Any]:
        empty = {"_flat": None, "_columns": 0, "_filled": 0, "_spare": None}
        return {**self.__dict__, **empty}

    def scratch(self, count: int) -> NDArray[np.float64]:
        """So many numbers to write to, the same memory until K_WW needs more of it."""
        if self._spare is None or self._spare.size < count:
            self._spare = None  # before the next one is there
            self._spare = np.empty(count)
        return self._spare[:count]

    def block(
        self, gram: Gram, members: Index, diagonal: NDArray[np.float64]
    ) -> NDArray[Any]:
        """K_WW for these members (slot order), computing the slots not yet filled.

        ``diagonal`` is that of K plus the ridge, by slot.
        """
        old, q = self._filled, members.size
        K = self._square(q)
        if q > old:
            gram.block(members[old:], members, K[old:q])
            mirror(K, old, q)
            new = np.arange(old, q)
            K[new, new] = diagonal[old:q]
            self._filled = q
        return K

    def evict(self, members: Index, q: int, leaving: Index) -> None:
        """Take the slots ``leaving`` (ascending) out of the first q of ``members``."""
        # After unpickling nothing is stored; members must move in the same way all the
        # same, for their order decides ties.
        K = np.empty((1, 1), self.dtype) if self._flat is None else self._square(0)
        _close_gaps(K, self._filled, members, q, leaving)
        self._filled = max(0, self._filled - leaving.size)

    def _square(self, q: int) -> NDArray[Any]:
        """A square with room for q members, what is stored in its corner.

        It grows by half and stays dense: pages that are not touched cost nothing, but
        half-used ones do, for the system hands them out zeroed and 2 MB at a time.
        """
        if self._flat is None:
            self._flat = np.empty(self.size * self.size, self.dtype)
        if q > self._columns:
            self._spare = None
            wider = min(self.size, max(q, self._columns * 3 // 2))
            _spread(self._flat, self._filled, self._columns, wider)
            self._columns = wider
        return self._flat[: self._columns**2].reshape(self._columns, self._columns)


class RowStore:
    """Whole kernel rows in float64, as many as fit; the oldest gives way.

    Like K_WW a pure function of the data: left behind when pickled.
    """

    def __init__(self, n: int, cache_bytes: int) -> None:
        self.n = n
        self.room = max(1, min(n, cache_bytes // (8 * n)))
        self._table: NDArray[np.float64] | None = None
        self._clear()

    def _clear(self) -> None:
        self._slot = np.full(self.n, -1, np.int64)
        self._owner = np.full(self.room, -1, np.int64)
        self._next = 0

    def __getstate__(self) -> dict[str, Any]:
        return {"n": self.n, "room": self.room}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._table = None
        self._clear()

    def arrays(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """The table, and for every point its row in it (−1: not there)."""
        if self._table is None:
            self._table = np.empty((self.room, self.n))
        return self._table, self._slot

    def fetch(self, gram: Gram, point: int) -> None:
        """Compute the row of a point."""
        table, slot = self.arrays()
        place = self._next
        if self._owner[place] >= 0:
            slot[self._owner[place]] = -1
        one = np.array([point], np.intp)
        gram.block(one, np.arange(self.n, dtype=np.intp), table[place : place + 1])
        slot[point], self._owner[place] = place, point
        self._next = (place + 1) % self.room
