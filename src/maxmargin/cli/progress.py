"""Progress of a fit on stderr: a bar on a terminal, lines, or nothing.

Nothing is shown of work that takes less than two seconds.
"""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from maxmargin.observers.progress import share_done
from maxmargin.observers.watcher import Guarded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from maxmargin.errors import Stop
    from maxmargin.solvers.base import Snapshot

PATIENCE = 2.0  # seconds in which nobody asks
LOOKS = 0.1  # seconds between two looks at a run
LINES = 2.0  # seconds between two lines


class FitProgress(Guarded):
    r"""How much of a fit is done: :math:`\log(g_0/g)/\log(g_0/t)` over all its problems.

    g is the duality gap, :math:`g_0` the first one, t the gap whose relative value is
    ``tol``; where there is none, the violation takes its place. It never goes back.

    Parameters
    ----------
    display : display
        Whose ``show(fraction, text, seconds)`` is called, two seconds after the start at
        first; by one thread at a time.
    tol : float
        The machine's tolerance.
    total : int
        Binary problems that are to be solved, as far as is known.
    """

    def __init__(self, display: Any, *, tol: float, total: int) -> None:
        super().__init__()
        self.display = display
        self.tol = tol
        self.total = total
        self._began = time.monotonic()
        self._due = self._began + PATIENCE
        self._done = 0
        self._shown = 0.0
        # By the state, which is one object as long as a run lasts: names are not unique.
        self._first: dict[int, tuple[float, float]] = {}
        self._parts: dict[int, float] = {}

    def on_start(self, snapshot: Snapshot) -> None:
        """One more problem."""
        measures = snapshot.measures
        with self._lock:
            self._first[id(snapshot.state)] = (measures.gap, measures.violation)
            self._parts[id(snapshot.state)] = 0.0

    def on_step(self, snapshot: Snapshot) -> None:
        """Look, at most ten times a second."""
        now = time.monotonic()
        with self._lock:
            if now >= self._due:
                self._due = now + LOOKS
                self._look(snapshot, now)

    def _look(self, snapshot: Snapshot, now: float) -> None:
        key, measures = id(snapshot.state), snapshot.measures
        if key not in self._first:  # it was over before this thread got the lock
            return
        share = share_done(self._first[key], measures, self.tol)
        self._parts[key] = max(self._parts[key], min(0.99, share))
        running = len(self._parts)
        done = self._done + sum(self._parts.values())
        self._shown = max(self._shown, done / max(self.total, self._done + running, 1))
        text = f"violation {measures.violation:.1e}"
        if self.total > 1:
            text = f"{self._done}/{max(self.total, self._done + running)} problems"
        self.display.show(self._shown, text, now - self._began)

    def on_stop(self, snapshot: Snapshot, stop: Stop | None) -> None:  # noqa: ARG002
        """One problem less."""
        with self._lock:
            self._first.pop(id(snapshot.state), None)
            self._parts.pop(id(snapshot.state), None)
            self._done += 1


class _Bar:
    """A bar of rich on stderr, gone when it is done."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._bar: Any = None

    def show(self, fraction: float, text: str, seconds: float) -> None:  # noqa: ARG002
        if self._bar is None:
            from rich.console import Console
            from rich.progress import (
                BarColumn,
                Progress,
                TaskProgressColumn,
                TextColumn,
                TimeElapsedColumn,
            )

            self._bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                TaskProgressColumn(),
                TimeElapsedColumn(),
                TextColumn("{task.fields[text]}"),
                console=Console(stderr=True),
                transient=True,
            )
            self._task = self._bar.add_task(self._title, total=1.0, text="")
            self._bar.start()
        self._bar.update(self._task, completed=fraction, text=text)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.stop()


class _Lines:
    """A line every two seconds."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._due = 0.0

    def show(self, fraction: float, text: str, seconds: float) -> None:
        if seconds >= self._due:
            self._due = seconds + LINES
            percent = f"{int(100 * fraction):3d} %"
            click.echo(f"{self._title}: {percent}, {text}, {seconds:.0f} s", err=True)

    def close(self) -> None:
        """Lines end by themselves."""


@contextmanager
def shown_progress(
    machine: Any, mode: str, *, title: str, problems: int
) -> Iterator[None]:
    """Let a machine's fits tell how far they are.

    Parameters
    ----------
    machine : estimator
        Its ``callbacks`` are set for the while, and are None again afterwards: they are
        no part of a model.
    mode : {"auto", "plain", "none"}
        auto is a bar where stderr is a terminal.
    title : str
        What is being done.
    problems : int
        Binary problems in one fit.
    """
    if mode == "none" or (mode == "auto" and not sys.stderr.isatty()):
        yield
        return
    display: Any = _Lines(title) if mode == "plain" else _Bar(title)
    watching = FitProgress(display, tol=float(machine.tol), total=problems)
    machine.set_params(callbacks=[watching])
    try:
        yield
    finally:
        machine.set_params(callbacks=None)
        display.close()
