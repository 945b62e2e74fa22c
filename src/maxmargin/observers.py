"""Who may watch a run, and end it: records, limits, a progress bar.

Every class here follows :class:`~maxmargin.solvers.base.Observer` and is safe to share
between threads, to copy (``sklearn.base.clone`` copies parameters deeply) and to pickle.

A :class:`~maxmargin.solvers.base.Snapshot` shows the run as it is *now*: its arrays are
the solver's own and go on changing, so whoever keeps something copies it. ``on_step``
is not called for the chunk that ends a run; ``on_stop`` sees that one.
"""

from __future__ import annotations

import math
import shutil
import sys
import threading
import time
from copy import deepcopy
from dataclasses import dataclass
from datetime import timedelta
from numbers import Integral, Real
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.errors import InputError, Stop
from maxmargin.problem import Objective
from maxmargin.solvers.base import Observer, Status

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Self, TextIO

    from maxmargin.solvers.base import Measures, Snapshot

__all__ = [
    "History",
    "Locked",
    "Patience",
    "Progress",
    "TimeLimit",
    "Watcher",
    "as_observer",
]

METHODS = ("on_start", "on_step", "on_stop")


class Watcher(Observer):
    """An observer whose three methods do nothing: override what is of interest."""


class _Guarded(Watcher):
    """A watcher with a lock, which stays behind when it is copied or pickled."""

    def __init__(self) -> None:
        self._lock = threading.RLock()

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.RLock()


class _Adapted(Watcher):
    """Whatever a user gave as a callback, as a whole observer."""

    def __init__(self, thing: Any) -> None:
        self.thing = thing
        self.plain = not any(hasattr(thing, name) for name in METHODS)

    def _call(self, name: str, *told: Any) -> Any:
        plain = self.plain and name == "on_step"
        method = self.thing if plain else getattr(self.thing, name, None)
        return None if method is None else method(*told)

    def on_start(self, snapshot: Snapshot) -> None:
        self._call("on_start", snapshot)

    def on_step(self, snapshot: Snapshot) -> Stop | None:
        answer = self._call("on_step", snapshot)
        # A function only asks: it does not get to say "converged".
        if isinstance(answer, Stop) and not self.plain:
            return answer
        return Stop.CALLBACK if answer else None

    def on_stop(self, snapshot: Snapshot, stop: Stop | None) -> None:
        self._call("on_stop", snapshot, stop)


def as_observer(thing: Any) -> Observer:
    """Make an observer of what a user gave as a callback.

    Parameters
    ----------
    thing : object
        An object with at least one of the methods ``on_start(snapshot)``,
        ``on_step(snapshot)`` and ``on_stop(snapshot, stop)``; or a function
        ``f(snapshot)``, called after every step. Whatever is true ends the run with
        ``Stop.CALLBACK``, or, from an object's ``on_step``, with the Stop it returned.
    """
    if isinstance(thing, _Adapted):
        return thing
    found = [getattr(thing, name) for name in METHODS if hasattr(thing, name)] or [thing]
    if not isinstance(thing, type) and all(callable(method) for method in found):
        return _Adapted(thing)
    msg = f"callback {thing!r}: give a function f(snapshot), or an object with one of "
    msg += f"the methods {', '.join(METHODS)}"
    if isinstance(thing, type):
        msg += f"; {thing.__name__} is a class: give {thing.__name__}(...)"
    elif hasattr(thing, "on_fit_task_end"):
        msg += "; hand scikit-learn's own callbacks to the method set_callbacks"
    raise InputError(msg)


class Locked(_Guarded, _Adapted):
    """A callback that is never called from two threads at once.

    Several that share one ``lock`` are also never called at the same time as each other.
    """

    def __init__(self, observer: Any, lock: threading.RLock | None = None) -> None:
        _Guarded.__init__(self)
        _Adapted.__init__(self, observer)
        self._lock = lock or self._lock

    def _call(self, name: str, *told: Any) -> Any:
        with self._lock:
            return super()._call(name, *told)


def _relative_gap(measures: Measures) -> float:
    return Objective(measures.primal, measures.dual).relative_gap


_MEASURES = ("primal", "dual", "gap", "violation")
_READ: dict[str, Callable[[Snapshot], float]] = {
    **{key: attrgetter(f"measures.{key}") for key in _MEASURES},
    **{key: attrgetter(key) for key in ("n_iter", "n_kernel", "seconds")},
    "relative_gap": lambda snapshot: _relative_gap(snapshot.measures),
    "n_support": lambda snapshot: int(np.count_nonzero(snapshot.model.beta)),
}


class History(_Guarded):
    """Figures of a run, at its start, after every step and at its end.

    Parameters
    ----------
    keys : sequence of str
        What to record: ``primal``, ``dual``, ``gap``, ``violation``, ``n_iter``,
        ``n_kernel``, ``seconds`` (these by default), ``relative_gap``, and
        ``n_support``, which builds a whole model at every step.
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
        """Return the list of one figure, or, for several problems, a dict of them."""
        if key not in self.keys:
            msg = f"{key!r} was not recorded; this History has {', '.join(self.keys)}"
            raise KeyError(msg)
        lists = {name: columns[key] for name, columns in self.to_dict().items()}
        return lists if len(lists) > 1 else next(iter(lists.values()), [])

    def to_dict(self) -> dict[str, dict[str, list[float]]]:
        """Copy of everything, as ``{name of the binary problem: {key: list}}``."""
        with self._lock:
            return deepcopy(self._lists)

    def on_start(self, snapshot: Snapshot) -> None:
        """Forget an earlier run of the same problem, and record where this one begins."""
        with self._lock:
            self._lists[snapshot.name] = {key: [] for key in self.keys}
        self.on_step(snapshot)

    def on_step(self, snapshot: Snapshot) -> None:
        """Record."""
        row = [(key, _READ[key](snapshot)) for key in self.keys]
        with self._lock:
            for key, value in row:
                self._lists[snapshot.name][key].append(value)

    def on_stop(self, snapshot: Snapshot, stop: Stop | None) -> None:
        """Record the last chunk, unless ``on_step`` has already or the run failed."""
        if stop is not None and snapshot.status is not Status.RUNNING:
            self.on_step(snapshot)


def _number(value: object) -> float:
    return float(value) if isinstance(value, Real) else math.nan


class TimeLimit(Watcher):
    """Ends a run ``seconds`` after construction, or after :meth:`start`.

    One limit shared by all binary problems of a machine bounds their sum.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = _number(seconds)
        if not self.seconds > 0.0:
            msg = f"time_limit={seconds!r}: give a positive number of seconds"
            raise InputError(msg)
        self.start()

    def start(self) -> Self:
        """Start the clock anew."""
        self._began = time.monotonic()
        return self

    def on_step(self, snapshot: Snapshot) -> Stop | None:  # noqa: ARG002
        """Look at the clock."""
        late = time.monotonic() - self._began >= self.seconds
        return Stop.TIME_LIMIT if late else None

    def __getstate__(self) -> dict[str, Any]:
        # Another machine's clock has another zero: the time already used travels.
        return self.__dict__ | {"_began": self._began - time.monotonic()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._began += time.monotonic()


class Patience(_Guarded):
    """Ends a run whose dual has not risen by ``rel`` times its value in ``checks`` steps.

    A solver's figures are those of its last check, and a run begins with very short
    steps; steps (of about 50 ms) are therefore counted from the first change on.
    """

    def __init__(self, checks: int, rel: float) -> None:
        super().__init__()
        self.checks, self.rel = checks, _number(rel)
        whole = isinstance(checks, Integral) and checks >= 1
        if not (whole and 0.0 <= self.rel < math.inf):
            msg = f"checks={checks!r}, rel={rel!r}: give an integer ≥ 1 and a number ≥ 0"
            raise InputError(msg)
        self._runs: dict[str, tuple[float, int | None]] = {}

    def on_start(self, snapshot: Snapshot) -> None:
        """Note the first value; None waits for its first change."""
        with self._lock:
            self._runs[snapshot.name] = (snapshot.measures.dual, None)

    def on_step(self, snapshot: Snapshot) -> Stop | None:
        """Count the steps since the last improvement."""
        dual = snapshot.measures.dual
        with self._lock:
            best, waited = self._runs[snapshot.name]
            least = best + self.rel * abs(best) if math.isfinite(best) else -math.inf
            if dual > least:
                best, waited = dual, 0
            elif waited is not None:
                waited += 1
            elif dual != best:
                waited = 1
            self._runs[snapshot.name] = (best, waited)
        return Stop.CALLBACK if waited is not None and waited >= self.checks else None


@dataclass
class _Run:
    """What a progress bar knows of one binary problem."""

    first: tuple[float, float] = (math.inf, math.inf)  # gap and violation at the start
    gap: float = math.nan
    violation: float = math.nan
    due: float = 0.0
    n_iter: int = 0
    fraction: float = 0.0
    stop: Stop | None = None


class Progress(_Guarded):
    r"""A progress bar on stderr, one line for all binary problems.

    The bar shows :math:`\log(g_0/g)/\log(g_0/t)` with g the duality gap, :math:`g_0` the
    first one, and t the gap whose relative value is ``tol``: a violation of tol leaves
    at most tol times the sum of all boxes, which is the gap at :math:`\beta=0`, so this
    is a fair guess, not a promise, and a run that passes it early waits at 99 %.
    Where there is no finite gap (a hard margin not yet separating) the violation takes
    its place. The bar never goes back; convergence alone fills it.

    Parameters
    ----------
    stream : text stream or None
        None is ``sys.stderr`` as it is when the bar is drawn. On a terminal one line is
        redrawn at most ten times a second, elsewhere a line is written at most once a
        second; in the end there is a last line.
    tol, total : float, int
        The solver's tolerance, and the number of binary problems; both may be set later.
    """

    def __init__(
        self, stream: TextIO | None = None, *, tol: float = 1e-3, total: int = 1
    ) -> None:
        super().__init__()
        self.stream = stream
        self.tol = _number(tol)
        if not self.tol > 0.0:
            msg = f"tol={tol!r}: the tolerance must be positive"
            raise InputError(msg)
        self.total = total
        self._reset()

    def _reset(self) -> None:
        self._runs: dict[str, _Run] = {}
        self._began = time.monotonic()
        # Off a terminal, a fit of less than a second writes one line.
        self._due = self._began + (0.0 if self._terminal() else 1.0)
        self._shown = 0.0
        self._width = 0  # of what stands on the terminal's unfinished line

    @property
    def fraction(self) -> float:
        """How full the bar is, in [0, 1]."""
        with self._lock:
            parts = [run.fraction for run in self._runs.values()]
            done = sum(parts) / max(1, self.total, len(parts))
            self._shown = max(self._shown, done)
            return self._shown

    def on_start(self, snapshot: Snapshot) -> None:
        """Begin a bar, or a further problem of it."""
        with self._lock:
            if self._finished() or not self._runs or snapshot.name in self._runs:
                self.close()
                self._reset()
            run = self._runs[snapshot.name] = _Run()
            self._look(run, snapshot)
            self._draw(time.monotonic())

    def on_step(self, snapshot: Snapshot) -> None:
        """Move the bar, at most ten times a second for each problem."""
        now = time.monotonic()
        with self._lock:
            run = self._runs.get(snapshot.name)
            if run is not None and now >= run.due:
                run.due = now + 0.1
                self._look(run, snapshot)
                self._draw(now)

    def on_stop(self, snapshot: Snapshot, stop: Stop | None) -> None:
        """Count a problem as done; the last one ends the line."""
        with self._lock:
            run = self._runs.get(snapshot.name)
            if stop is None:  # the run failed: make way for the traceback
                self.close()
                self._runs.clear()
            elif run is not None:
                self._look(run, snapshot)
                run.stop = stop
                run.fraction = 1.0 if stop.converged else run.fraction
                self._draw(time.monotonic(), last=self._finished())

    def close(self) -> None:
        """End a line that was left unfinished, as after an exception."""
        with self._lock:
            if self._width and (stream := self._target()) is not None:
                self._width = 0
                stream.write("\n")
                stream.flush()

    def _target(self) -> TextIO | None:
        return sys.stderr if self.stream is None else self.stream

    def _terminal(self) -> bool:
        return bool(getattr(self._target(), "isatty", bool)())

    def _finished(self) -> bool:
        over = sum(run.stop is not None for run in self._runs.values())
        return bool(self._runs) and over >= max(self.total, len(self._runs))

    def _look(self, run: _Run, snapshot: Snapshot) -> None:
        measures, run.n_iter = snapshot.measures, snapshot.n_iter
        run.gap, run.violation = _relative_gap(measures), measures.violation
        if not math.isfinite(run.first[1]):  # some solvers only know it later
            run.first = (measures.gap, run.violation)
        first, now, scale = run.first[0], measures.gap, max(map(abs, measures[:2]))
        if not (math.isfinite(first) and math.isfinite(now)):
            first, now, scale = run.first[1], run.violation, 1.0
        share = _log_fraction(first, now, self.tol * scale)
        run.fraction = max(run.fraction, min(0.99, share))

    def _draw(self, now: float, *, last: bool = False) -> None:
        stream = self._target()
        if stream is None or (now < self._due and not last):
            return
        if self._terminal():
            room = shutil.get_terminal_size().columns - 1
            spare = room - len(self._line(0, stream, last=last))
            line = self._line(min(24, max(6, spare)), stream, last=last)
            line = line[: None if last else room]
            stream.write("\r" + line.ljust(self._width) + ("\n" if last else ""))
            self._width = 0 if last else len(line)
            self._due = now + 0.1
        else:
            stream.write(self._line(24, stream, last=last) + "\n")
            self._due = now + 1.0
        stream.flush()

    def _line(self, width: int, stream: TextIO, *, last: bool) -> str:
        runs, done = list(self._runs.values()), self.fraction
        full, empty = _marks(stream)
        filled = int(done * width)
        seconds = time.monotonic() - self._began
        clock = f"{seconds:.1f} s" if seconds < 60 else str(timedelta(0, int(seconds)))
        parts = [
            f"[{full * filled}{empty * (width - filled)}] {int(100 * done):3d}%",
            f"{sum(run.n_iter for run in runs):,} iterations",
            f"relative gap {max(run.gap for run in runs):.1e}",
            f"violation {max(run.violation for run in runs):.1e}",
            clock,
        ]
        stops = [run.stop for run in runs if run.stop is not None]
        count = max(self.total, len(runs))
        if count > 1:
            parts.insert(1, f"{len(stops)}/{count} problems")
        if last:
            parts += [stop.value for stop in stops if not stop.converged][:1]
        return "  ".join(parts)


def _log_fraction(first: float, now: float, target: float) -> float:
    """log(first/now)/log(first/target) in [0, 1]; 0 where nothing is known."""
    if now <= target:
        return 1.0
    known = target < first < math.inf and now < math.inf
    return max(0.0, math.log(first / now) / math.log(first / target)) if known else 0.0


def _marks(stream: TextIO) -> tuple[str, str]:
    """Block characters, or ASCII where the stream's encoding lacks them."""
    try:
        "█░".encode(getattr(stream, "encoding", None) or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return "#", "."
    return "█", "░"
