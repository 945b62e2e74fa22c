"""Records of the measures of a run."""

from __future__ import annotations

from copy import deepcopy
from operator import attrgetter
from typing import TYPE_CHECKING

import numpy as np

from maxmargin.errors import InputError, Stop
from maxmargin.observers.watcher import Guarded
from maxmargin.solvers.base import Status

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from maxmargin.solvers.base import Snapshot

_READ: dict[str, Callable[[Snapshot], float]] = {
    **{key: attrgetter(f"measures.{key}") for key in ("primal", "dual", "gap")},
    "violation": attrgetter("measures.violation"),
    **{key: attrgetter(key) for key in ("n_iter", "n_kernel", "seconds")},
    "relative_gap": attrgetter("measures.relative_gap"),
    "n_support": lambda snapshot: int(np.count_nonzero(snapshot.model.beta)),
}


class History(Guarded):
    """Measures of a run, at its start, after every chunk of work and at its end.

    A chunk is one unit of the solver at first, then twice as many, up to about 50 ms; to
    measure every unit, read the snapshots of ``solver.steps(problem)``.

    Parameters
    ----------
    keys : sequence of str
        The measures to record: ``primal``, ``dual``, ``gap``, ``violation``, ``n_iter``,
        ``n_kernel``, ``seconds`` (these by default), ``relative_gap``, and
        ``n_support``, which builds a whole model at every step. ``n_kernel`` counts the
        kernel values that the run has computed, without those for measuring; in
        one-vs-rest all problems share one matrix, and in threads one count.
    """

    def __init__(self, keys: Sequence[str] = tuple(_READ)[:7]) -> None:
        super().__init__()
        self.keys = (keys,) if isinstance(keys, str) else tuple(keys)
        unknown = [key for key in self.keys if key not in _READ]
        if unknown:
            msg = f"keys={unknown}: History can record {', '.join(_READ)}"
            raise InputError(msg)
        self._lists: dict[str, dict[str, list[float]]] = {}

    def __getitem__(self, key: str) -> list[float] | dict[str, list[float]]:
        """Return the list of one measure, or, for several problems, a dict of lists."""
        if key not in self.keys:
            msg = f"{key!r} was not recorded; this History has {', '.join(self.keys)}"
            raise KeyError(msg)
        lists = {name: columns[key] for name, columns in self.to_dict().items()}
        return lists if len(lists) > 1 else next(iter(lists.values()), [])

    def to_dict(self) -> dict[str, dict[str, list[float]]]:
        """Return a copy of everything: ``{name of the binary problem: {key: list}}``."""
        with self._lock:
            return deepcopy(self._lists)

    def on_start(self, snapshot: Snapshot) -> None:
        """Delete an earlier run of the same problem, and record the start of this one."""
        with self._lock:
            self._lists[snapshot.name] = {key: [] for key in self.keys}
        self.on_step(snapshot)

    def on_step(self, snapshot: Snapshot) -> None:
        """Record all keys."""
        row = [(key, _READ[key](snapshot)) for key in self.keys]
        with self._lock:
            for key, value in row:
                self._lists[snapshot.name][key].append(value)

    def on_stop(self, snapshot: Snapshot, stop: Stop | None) -> None:
        """Record the last chunk, unless ``on_step`` has done so or the run failed."""
        if stop is not None and snapshot.status is not Status.RUNNING:
            self.on_step(snapshot)
