"""Kernel values of one-vs-one training that several pairs of classes share.

Every pair of classes needs the values between points of one class: they are computed
once for the whole fit (:class:`ClassTables`) and shared, read-only, by all pairs and
threads. Each pair keeps rows of its own (:mod:`maxmargin.kernels.gram.row_cache`).
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.kernels.gram.row_cache import DEAR, StoredGram

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from maxmargin._arrays import Index
    from maxmargin.parallel import Workers

_COMMON = 2000  # policy: points of a class up to which most pairs need most of its values
_MOMENT = 1 << 20  # policy: nanoseconds of work on all kernel values; a fit with less
# keeps none, and works in one thread
_BRIEF = 1 << 16  # policy: nanoseconds of work on the kernel values of a pair; with less,
# pairs are mostly Python and work in one thread


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


class PairGrams:
    """The Grams of all pairs of classes, which share the tables of the classes.

    A quarter of the memory is for the tables of the classes, the rest for the pairs at
    work: each has an eighth for its rows and an eighth for its working set, at most.
    The number of pairs at work never changes the results of a pair.

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
        self.share = max(1, cache_bytes // 8)
        largest = sum(sizes[:2]) ** 2 * self._dtype.itemsize
        self.at_once = max(
            1, int(0.75 * cache_bytes) // max(1, 2 * min(largest, self.share))
        )
        tables = sum(size * size for size in sizes) * self._dtype.itemsize
        # Where all values take a moment, starting a thread or keeping them takes longer.
        self._keeps = gram.cost > 0.0 and gram.cost * sum(sizes) ** 2 > _MOMENT
        # Brief pairs are mostly Python, where threads would only wait for each other.
        brief = gram.cost * (2.0 * sum(sizes) / len(sizes)) ** 2 <= _BRIEF
        if (not self._keeps or brief) and gram.cost > 0.0:
            self.at_once = 1
        self._largest = min(largest, self.share) // self._dtype.itemsize
        self._lent = threading.local()
        self._tables = (
            ClassTables(gram, members, self._dtype, workers)
            if tables <= cache_bytes // 4 and self._keeps and sizes[0] <= _COMMON
            else None
        )

    @property
    def n_kernel(self) -> int:
        """Kernel values computed for the shared tables."""
        return 0 if self._tables is None else self._tables.n_kernel

    def pair(self, first: int, second: int) -> tuple[Index, Any]:
        """The points of two classes, those of the first in front, and their Gram.

        A thread lends all its pairs the same memory, because fresh memory is slow:
        ``forget`` of the Gram of the pair before must have been called.
        """
        index = np.concatenate([self._members[first], self._members[second]])
        part = self._gram.subset(index, self._dtype)
        room = min(index.size, self.share // (index.size * self._dtype.itemsize))
        if not self._keeps or room < 1 or (room < index.size and part.cost < DEAR):
            return index, part
        own = None
        if room == index.size and self._tables is not None:
            own = self._tables.table(first), self._tables.table(second)
        return index, StoredGram(part, own, self._space(), room)

    def _space(self) -> NDArray[Any]:
        if not hasattr(self._lent, "space"):
            self._lent.space = np.empty(self._largest, self._dtype)
        space: NDArray[Any] = self._lent.space
        return space
