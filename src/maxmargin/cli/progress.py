"""Progress of a fit on stderr: a bar on a terminal, lines, or nothing.

Nothing is shown of work that takes less than two seconds.
"""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from maxmargin.observers.progress import Tracker

if TYPE_CHECKING:
    from collections.abc import Iterator

    from maxmargin.errors import Stop
    from maxmargin.solvers.base import Snapshot
    from maxmargin.workflow.learning import Watch

PATIENCE = 2.0  # policy: seconds before anything is shown
REFRESH = 0.1  # policy: seconds between two looks at a run
LINES = 2.0  # policy: seconds between two lines


class FitProgress(Tracker):
    """Tells a display how much of a fit is done, over all its problems.

    Parameters
    ----------
    display : display
        Its ``show(fraction, text, seconds)`` is called, two seconds after the start at
        first; by one thread at a time.
    tol : float
        The machine's tolerance.
    total : int
        Binary problems that are to be solved, as far as is known.
    """

    def __init__(self, display: Any, *, tol: float, total: int) -> None:
        super().__init__(tol, total)
        self.display = display
        self._due = self._began + PATIENCE

    def on_start(self, snapshot: Snapshot) -> None:
        """One more problem."""
        with self._lock:
            # Names are not unique; the state is one object as long as a run lasts.
            self._open(id(snapshot.state), snapshot)

    def on_step(self, snapshot: Snapshot) -> None:
        """Look, at most ten times a second."""
        now = time.monotonic()
        with self._lock:
            run = self._runs.get(id(snapshot.state))
            if run is None or now < self._due:
                return
            self._due = now + REFRESH
            self._look(run, snapshot)
            done, total = self.counts
            text = f"violation {run.violation:.1e}"
            if self.total > 1:
                text = f"{done}/{total} problems"
            self.display.show(self.fraction, text, now - self._began)

    def on_stop(self, snapshot: Snapshot, stop: Stop | None) -> None:
        """One problem less, converged or not."""
        with self._lock:
            run = self._runs.pop(id(snapshot.state), None)
            if run is not None:
                run.stop, run.fraction = stop, 1.0
                self._runs[object()] = run  # an id may come again


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


def watcher(mode: str) -> Watch | None:
    """What makes the observer of a fit; None where nothing is to be shown.

    Parameters
    ----------
    mode : {"auto", "plain", "none"}
        auto is a bar where stderr is a terminal.
    """
    if mode == "none" or (mode == "auto" and not sys.stderr.isatty()):
        return None
    return partial(_watched, _Lines if mode == "plain" else _Bar)


@contextmanager
def _watched(
    display_of: Any, title: str, tol: float, total: int
) -> Iterator[FitProgress]:
    display = display_of(title)
    try:
        yield FitProgress(display, tol=tol, total=total)
    finally:
        display.close()
