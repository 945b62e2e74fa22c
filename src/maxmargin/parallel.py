"""Threads: how many, and how work is spread over them.

Compiled loops release the GIL, so plain threads use every core. No result depends on the
number of threads: work is cut into parts whose results do not meet, or are added up in
the order of the parts.
"""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import joblib

from maxmargin.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from concurrent.futures import Future
    from contextlib import AbstractContextManager
    from types import TracebackType

_PIECES = 4  # policy: pieces of work for each thread; a thread that is late takes fewer

Item = TypeVar("Item")
Result = TypeVar("Result")


def effective_jobs(n_jobs: int | None) -> int:
    """Return the number of threads for an ``n_jobs`` parameter.

    None is every core the process may use: its affinity and container limits, at most
    OMP_NUM_THREADS, and what joblib leaves inside one of its workers. Negative
    numbers count back from there: −1 is all, −2 all but one.
    """
    if n_jobs is not None and n_jobs > 0:
        return int(n_jobs)
    if n_jobs == 0:
        msg = "n_jobs=0: give None or -1 for every core, or a positive number of threads"
        raise InputError(msg)
    available: int = min(joblib.cpu_count(), joblib.effective_n_jobs(-1))
    limit = os.environ.get("OMP_NUM_THREADS", "").split(",")[0]
    if limit.isdigit() and int(limit) > 0:
        available = min(available, int(limit))
    return max(1, available if n_jobs is None else available + 1 + n_jobs)


class _OneBlasThread:
    """The limit is one for the process: the first fit sets it, the last one lifts it.

    If every fit restored the limit that it found, the second of two fits that overlap
    would leave the limit of the first behind for good.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._limit: Any = None

    @cached_property
    def _libraries(self) -> Any:
        from threadpoolctl import ThreadpoolController

        return ThreadpoolController()

    def __enter__(self) -> None:
        with self._lock:
            self._inside += 1
            if self._inside == 1:
                self._limit = self._libraries.limit(limits=1, user_api="blas")
                self._limit.__enter__()

    def __exit__(self, *failure: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._limit.__exit__(None, None, None)


_one_blas_thread = _OneBlasThread()


def one_blas_thread() -> AbstractContextManager[None]:
    """Keep the BLAS to the thread that calls it, within this context.

    Threads of the BLAS would compete with ours: they wait for work by spinning on a core.
    And results would depend on their number.
    """
    return _one_blas_thread


class Tally:
    """A count that several threads add to."""

    def __init__(self, total: int = 0) -> None:
        self.total = total
        self._lock = threading.Lock()

    def add(self, some: int) -> None:
        """Add to the count; without a lock, two threads at a time would lose one."""
        with self._lock:
            self.total += some

    def __reduce__(self) -> tuple[type[Tally], tuple[int]]:
        # a lock cannot be pickled
        return Tally, (self.total,)


class _Inside(threading.local):
    """Whether this thread is a worker; a pool that waits for itself would hang."""

    busy = False


_inside = _Inside()


class Workers:
    """A pool of threads for one fit or predict; the only threads meanwhile.

    The BLAS keeps to the thread that calls it: see :func:`one_blas_thread`. Work that a
    worker asks for runs in that worker: nesting is safe.

    Parameters
    ----------
    n_jobs : int or None
        See :func:`effective_jobs`.
    on_failure : callable or None
        Called when a part of the work fails or an exception leaves the block, before
        the wait for other threads: it can tell them that their results are not needed.
    """

    def __init__(
        self, n_jobs: int | None = 1, on_failure: Callable[[], None] | None = None
    ) -> None:
        if n_jobs == 0:
            effective_jobs(n_jobs)  # says what is allowed
        self._n_jobs = n_jobs
        self.on_failure = on_failure
        self._pool: ThreadPoolExecutor | None = None

    @cached_property
    def count(self) -> int:
        """The number of threads; looked up on first use, as that takes a while."""
        return effective_jobs(self._n_jobs)

    def __enter__(self) -> Workers:
        _one_blas_thread.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None and self.on_failure is not None:
            self.on_failure()
        try:
            if self._pool is not None:
                self._pool.shutdown(wait=True, cancel_futures=True)
                self._pool = None
        finally:
            _one_blas_thread.__exit__()

    def __getstate__(self) -> dict[str, object]:
        """Leave the threads out when a State or Gram is pickled; they start anew."""
        return {"_n_jobs": self.count, "_pool": None, "on_failure": None}

    def map(
        self, function: Callable[[Item], Result], items: Iterable[Item]
    ) -> list[Result]:
        """Return ``[function(item) for item in items]``, several at a time."""
        todo = list(items)
        if len(todo) <= 1 or _inside.busy or self.count == 1:
            return [function(item) for item in todo]
        results: dict[int, Result] = {}

        def one(number: int) -> None:
            results[number] = function(todo[number])

        self._share(one, len(todo), tells=True)
        return [results[number] for number in range(len(todo))]

    def spread(self, function: Callable[[int, int], None], n: int, grain: int) -> None:
        """Call ``function(start, stop)`` on slabs of 0 … n of at least ``grain`` each."""
        most = n // max(1, grain)
        if most <= 1 or _inside.busy or self.count == 1:
            function(0, n)
            return
        parts = min(_PIECES * self.count, most)
        edges = [n * part // parts for part in range(parts + 1)]
        self._share(lambda part: function(edges[part], edges[part + 1]), parts)

    def _share(
        self, task: Callable[[int], None], count: int, *, tells: bool = False
    ) -> None:
        """Call ``task(0)`` to ``task(count − 1)``, each in the thread that is free first.

        The calling thread takes part: it waits for tasks that others have begun, but not
        for threads that a busy machine has not woken yet. If it ``tells``, a failure is
        reported to ``on_failure`` at once, as tasks that have begun may take hours.
        """
        numbers = iter(range(count))

        def work() -> None:
            _inside.busy = True
            try:
                for number in numbers:
                    task(number)
            except BaseException:
                for _ in numbers:  # no thread begins another task
                    pass
                if tells and self.on_failure is not None:
                    self.on_failure()
                raise
            finally:
                _inside.busy = False

        helpers: list[Future[None]] = []
        try:
            others = range(min(self.count, count) - 1)
            helpers.extend(self._threads().submit(work) for _ in others)
            work()
        finally:
            for _ in numbers:  # nor if the machine has no room for a thread
                pass
            begun = [helper for helper in helpers if not helper.cancel()]
            wait(begun)  # no thread may still be writing when an error leaves here
        for helper in begun:
            helper.result()

    def _threads(self) -> ThreadPoolExecutor:
        if self._pool is None:
            self._pool = ThreadPoolExecutor(
                self.count - 1, thread_name_prefix="maxmargin"
            )
        return self._pool
