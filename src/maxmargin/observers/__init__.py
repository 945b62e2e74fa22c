"""Who may watch a run, and end it: records, limits, a progress bar.

Every class here follows :class:`~maxmargin.solvers.base.Observer` and is safe to share
between threads, to copy (``sklearn.base.clone`` copies parameters deeply) and to pickle.

A :class:`~maxmargin.solvers.base.Snapshot` shows the run as it is *now*: its arrays are
the solver's own and go on changing, so whoever keeps something copies it. ``on_step``
is not called for the chunk that ends a run; ``on_stop`` sees that one.
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
