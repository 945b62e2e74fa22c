"""Observers of a run: records, limits, a progress bar; limits may stop the run.

Every class here follows :class:`~maxmargin.solvers.base.Observer` and is safe to share
between threads, to copy (``sklearn.base.clone`` copies parameters deeply) and to pickle.

A :class:`~maxmargin.solvers.base.Snapshot` shows the run as it is *now*: its arrays are
the solver's own and will change, so an observer must copy the arrays that it keeps. After
the chunk that ends a run, ``on_stop`` is called instead of ``on_step``.

- :mod:`~maxmargin.observers.watcher`: base classes, and callbacks of users as observers.
- :mod:`~maxmargin.observers.history`: records of the measures of a run.
- :mod:`~maxmargin.observers.limits`: stops after a time, or without improvement.
- :mod:`~maxmargin.observers.progress`: a progress bar.
"""

from __future__ import annotations

from maxmargin.observers.history import History
from maxmargin.observers.limits import Patience, TimeLimit
from maxmargin.observers.progress import Progress
from maxmargin.observers.watcher import Locked, Watcher, as_observer

__all__ = [
    "History",
    "Locked",
    "Patience",
    "Progress",
    "TimeLimit",
    "Watcher",
    "as_observer",
]
