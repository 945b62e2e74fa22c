"""A progress bar on stderr, by the logarithm of the duality gap."""

from __future__ import annotations

import math
import shutil
import sys
import time
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from maxmargin.errors import InputError, Stop
from maxmargin.observers.watcher import Guarded, number

if TYPE_CHECKING:
    from typing import TextIO

    from maxmargin.solvers.base import Measures, Snapshot


@dataclass
class _Run:
    """One binary problem: its measures at the start and now."""

    first: tuple[float, float] = (math.inf, math.inf)  # gap and violation at the start
    gap: float = math.nan
    violation: float = math.nan
    due: float = 0.0
    n_iter: int = 0
    fraction: float = 0.0
    stop: Stop | None = None


class Progress(Guarded):
    r"""A progress bar on stderr, one line for all binary problems.

    The bar shows :math:`\log(g_0/g)/\log(g_0/t)` with g the duality gap, :math:`g_0` the
    first one, and t the gap whose relative value is ``tol``: a violation of tol leaves
    at most tol times the sum of all boxes, which is the gap at :math:`\beta=0`, so this
    is an estimate, not a bound, and a run that reaches it early stays at 99 %.
    Where there is no finite gap (a hard margin not yet separating) the violation takes
    its place. The bar never goes back; convergence alone fills it.

    Parameters
    ----------
    stream : text stream or None
        None is ``sys.stderr`` at the time of drawing. On a terminal one line is redrawn
        at most ten times a second, elsewhere a line is written at most once a second, and
        a last line at the end.
    tol, total : float, int
        The solver's tolerance, and the number of binary problems; both may be set later.
    """

    def __init__(
        self, stream: TextIO | None = None, *, tol: float = 1e-3, total: int = 1
    ) -> None:
        super().__init__()
        self.stream = stream
        self.tol = number(tol)
        if not self.tol > 0.0:
            msg = f"tol={tol!r}: the tolerance must be positive"
            raise InputError(msg)
        self.total = total
        self._reset()

    def _reset(self) -> None:
        self._runs: dict[object, _Run] = {}
        self._began = time.monotonic()
        # Off a terminal, a fit of less than a second writes one line.
        self._due = self._began + (0.0 if self._terminal() else 1.0)
        self._shown = 0.0
        self._width = 0  # characters on the terminal's unfinished line

    @property
    def fraction(self) -> float:
        """The filled part of the bar, in [0, 1]."""
        with self._lock:
            parts = [run.fraction for run in self._runs.values()]
            done = sum(parts) / max(1, self.total, len(parts))
            self._shown = max(self._shown, done)
            return self._shown

    @property
    def counts(self) -> tuple[int, int]:
        """Number of solved problems, and of all problems known so far."""
        over = sum(run.stop is not None for run in self._runs.values())
        return over, max(self.total, len(self._runs))

    def on_start(self, snapshot: Snapshot) -> None:
        """Start a bar, or add a problem to it."""
        with self._lock:
            key = self._key(snapshot)
            if self._finished() or not self._runs or key in self._runs:
                self.close()
                self._reset()
            run = self._runs[key] = _Run()
            self._look(run, snapshot)
            self._draw(time.monotonic())

    def on_step(self, snapshot: Snapshot) -> None:
        """Redraw the bar, at most ten times a second for each problem."""
        now = time.monotonic()
        with self._lock:
            run = self._runs.get(self._key(snapshot))
            if run is not None and now >= run.due:
                run.due = now + 0.1
                self._look(run, snapshot)
                self._draw(now)

    def on_stop(self, snapshot: Snapshot, stop: Stop | None) -> None:
        """Count a problem as solved; the last one ends the line."""
        with self._lock:
            run = self._runs.get(self._key(snapshot))
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

    def _key(self, snapshot: Snapshot) -> object:
        """Return the key of a problem among those of a fit."""
        return snapshot.name

    def _finished(self) -> bool:
        over, count = self.counts
        return bool(self._runs) and over >= count

    def _look(self, run: _Run, snapshot: Snapshot) -> None:
        measures, run.n_iter = snapshot.measures, snapshot.n_iter
        run.gap, run.violation = measures.relative_gap, measures.violation
        if not math.isfinite(run.first[1]):  # some solvers measure it only later
            run.first = (measures.gap, run.violation)
        share = _share_done(run.first, measures, self.tol)
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
        over, count = self.counts
        if count > 1:
            parts.insert(1, f"{over}/{count} problems")
        if last:
            parts += [stop.value for stop in stops if not stop.converged][:1]
        return "  ".join(parts)


def _share_done(first: tuple[float, float], measures: Measures, tol: float) -> float:
    """Return the finished part of a run, from its first gap and violation."""
    start, now, scale = first[0], measures.gap, max(map(abs, measures[:2]))
    if not (math.isfinite(start) and math.isfinite(now)):
        start, now, scale = first[1], measures.violation, 1.0
    return _log_fraction(start, now, tol * scale)


def _log_fraction(first: float, now: float, target: float) -> float:
    """Return log(first/now)/log(first/target) in [0, 1]; 0 if it is not finite."""
    if now <= target:
        return 1.0
    known = target < first < math.inf and now < math.inf
    return max(0.0, math.log(first / now) / math.log(first / target)) if known else 0.0


def _marks(stream: TextIO) -> tuple[str, str]:
    """Return block characters, or ASCII where the stream's encoding lacks them."""
    try:
        "█░".encode(getattr(stream, "encoding", None) or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return "#", "."
    return "█", "░"
