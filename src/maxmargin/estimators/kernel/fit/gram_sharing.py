"""Kernel values shared by a fit's problems, and how many problems run at a time.

Values needed by several problems are computed once, as far as memory goes. Sizes alone
decide what is kept, and what a problem computes does not depend on the number of running
problems: results are the same for every number of threads.
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from maxmargin.estimators.kernel.fit.schemes import OneVsOne
from maxmargin.kernels.gram.class_tables import PairGrams
from maxmargin.kernels.gram.copies import CopiedGram, distinct_points
from maxmargin.kernels.gram.row_cache import StoredGram, binary_gram

if TYPE_CHECKING:
    from collections.abc import Sequence

    from maxmargin._arrays import Index
    from maxmargin.estimators.kernel.fit.parts import Part
    from maxmargin.estimators.kernel.fit.schemes import Scheme
    from maxmargin.parallel import Workers


class SharedGrams(Protocol):
    """The kernel matrices of all parts of one fit.

    ``share`` is the memory of each part for its working set, in bytes; ``shared``
    whether all parts use one matrix, whose counter then belongs to none of them;
    ``at_once`` the number of parts solved at a time.
    """

    share: int
    shared: bool
    at_once: int

    def take(self, number: int) -> Any:
        """Return the Gram of a part."""

    def give_back(self, gram: Any) -> None:
        """Release the Gram of a solved part."""

    @property
    def n_kernel(self) -> int:
        """Kernel values computed for all parts that were given back."""


def shared_grams(
    gram: Any,
    parts: Sequence[Part],
    scheme: Scheme | None,
    cache_bytes: int,
    workers: Workers,
    *,
    again: bool = False,
    first: Index | None = None,
) -> SharedGrams:
    """Return the kernel matrices of the parts, shared as far as memory goes.

    Parameters
    ----------
    gram : Gram
        Of all rows of X.
    parts : sequence of Part
        The problems.
    scheme : Scheme or None
        The scheme of the classes, if there are classes.
    cache_bytes : int
        Memory for kernel values.
    workers : Workers
        Threads.
    again : bool
        Whether every part is solved several times, by folds or for several C.
    first : ndarray of int or None
        For every row of X the first row it copies; None: not searched, or few copies.
        Copies share the kernel values of one row.
    """
    if len(parts) == 1:
        return _Single(gram, parts[0], cache_bytes, again, first)
    if isinstance(scheme, OneVsOne):
        return _Pairs(gram, scheme, cache_bytes, workers, first)
    return _Rests(gram, parts, cache_bytes, workers, first)


def _of_rows(gram: Any, part: Part, first: Index | None) -> tuple[Any, Index | None]:
    """Return the Gram of a part's distinct rows, and the place of every row in it."""
    if first is not None:
        kept, place = distinct_points(first, part.rows)
        return gram.narrowed(part.rows[kept]), place
    return gram if part.rows.size == gram.n else gram.narrowed(part.rows), None


def _of_all(gram: Any, place: Index | None) -> Any:
    """Return the Gram of all rows from that of the distinct rows."""
    return gram if place is None else CopiedGram(gram, place)


class _Single:
    """One problem, with all threads and all memory."""

    shared = False
    at_once = 1

    def __init__(
        self, gram: Any, part: Part, cache_bytes: int, again: bool, first: Index | None
    ) -> None:
        own, place = _of_rows(gram, part, first)
        kept, self.share = binary_gram(own, cache_bytes, again=again)
        self._gram = _of_all(kept, place)
        self._before = self._gram.n_kernel

    def take(self, number: int) -> Any:  # noqa: ARG002
        """Return the one Gram."""
        return self._gram

    def give_back(self, gram: Any) -> None:
        """Nothing to be done."""

    @property
    def n_kernel(self) -> int:
        """Kernel values computed."""
        return int(self._gram.n_kernel - self._before)


class _Pairs:
    """Every two classes are a problem: several at a time, one thread each."""

    shared = False

    def __init__(
        self,
        gram: Any,
        scheme: OneVsOne,
        cache_bytes: int,
        workers: Workers,
        first: Index | None,
    ) -> None:
        members, self._places = scheme.members, None
        if first is not None:
            found = [distinct_points(first, one) for one in members]
            members = [one[kept] for one, (kept, _) in zip(members, found, strict=True)]
            self._places = [place for _, place in found]
        self._sizes = [one.size for one in members]
        self._grams = PairGrams(gram, members, cache_bytes, workers)
        self._pairs, self._counts = scheme.pairs, Lock()
        self._own = 0
        most = self._grams.at_once
        self.at_once = 1 if most == 1 else min(workers.count, most)
        self.share = self._grams.share

    def take(self, number: int) -> Any:
        """Return the Gram of a pair of classes."""
        i, j = self._pairs[number]
        _, gram = self._grams.pair(i, j)
        return _of_all(gram, self._place(i, j))

    def give_back(self, gram: Any) -> None:
        """Release the values that only this pair uses."""
        own = gram.distinct if isinstance(gram, CopiedGram) else gram
        if isinstance(own, StoredGram):
            own.forget()
        with self._counts:
            self._own += int(own.n_kernel)

    @property
    def n_kernel(self) -> int:
        """Kernel values computed, shared ones included."""
        return int(self._grams.n_kernel + self._own)

    def _place(self, i: int, j: int) -> Index | None:
        """Return the place of every row among the pair's distinct points."""
        if self._places is None:
            return None
        return np.concatenate([self._places[i], self._places[j] + self._sizes[i]])


class _Rests:
    """Every class against the rest: all problems have the same rows.

    When the whole matrix fits in half of the memory, it is stored for all problems, and
    several run at a time; otherwise they run one by one, with all threads.
    """

    shared = True

    def __init__(
        self,
        gram: Any,
        parts: Sequence[Part],
        cache_bytes: int,
        workers: Workers,
        first: Index | None,
    ) -> None:
        own, place = _of_rows(gram, parts[0], first)
        need = own.n**2 * own.precisions[0].itemsize
        stored = own.cost > 0.0 and need <= cache_bytes // 2
        self.at_once = min(4, workers.count) if stored else 1
        self.share = max(1, cache_bytes // 8) if stored else cache_bytes
        self._gram = _of_all(StoredGram(own) if stored else own, place)
        self._before = self._gram.n_kernel

    def take(self, number: int) -> Any:  # noqa: ARG002
        """Return the Gram of all problems."""
        return self._gram

    def give_back(self, gram: Any) -> None:
        """Nothing to be done: the other problems use it."""

    @property
    def n_kernel(self) -> int:
        """Kernel values computed."""
        return int(self._gram.n_kernel - self._before)
