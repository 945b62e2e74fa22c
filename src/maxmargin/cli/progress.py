"""Progress of a fit on stderr: a bar on a terminal, or lines.

Nothing is shown of work that takes less than two seconds.
"""

from __future__ import annotations

import time
from contextlib import closing
from typing import TYPE_CHECKING, Any, ClassVar

import click

from maxmargin.observers import Progress

if TYPE_CHECKING:
    from maxmargin.errors import Stop
    from maxmargin.solvers.base import Snapshot
    from maxmargin.workflow.learning import Watch

PATIENCE = 2.0  # policy: seconds before anything is shown


class _FitProgress(Progress):
    """The fraction of :class:`~maxmargin.observers.Progress`, shown in another way."""

    pause: ClassVar[float]  # policy: seconds from one display to the next

    def __init__(self, title: str, tol: float, total: int) -> None:
        self.title, self._made = title, time.monotonic()
        super().__init__(tol=tol, total=total)

    def _reset(self) -> None:
        super()._reset()
        self._began = self._made  # work before the first problem counts
        self._due = self._began + PATIENCE

    def _key(self, snapshot: Snapshot) -> object:
        # Names are not unique; the state is one object as long as a run lasts.
        return id(snapshot.state)

    def on_stop(self, snapshot: Snapshot, stop: Stop | None) -> None:
        with self._lock:
            super().on_stop(snapshot, stop)
            run = self._runs.pop(id(snapshot.state), None)
            if run is not None:
                self._runs[object()] = run  # the number may come again

    def _draw(self, now: float, *, last: bool = False) -> None:  # noqa: ARG002
        if now < self._due:
            return
        self._due = now + self.pause
        text = f"violation {max(run.violation for run in self._runs.values()):.1e}"
        if self.total > 1:
            over, count = self.counts
            text = f"{over}/{count} problems"
        self._show(text, now - self._began)

    def _show(self, text: str, seconds: float) -> None:
        raise NotImplementedError


class _Bar(_FitProgress):
    """A bar of rich on stderr, gone when it is closed."""

    pause = 0.1
    _bar: Any = None

    def _show(self, text: str, seconds: float) -> None:  # noqa: ARG002
        if self._bar is None:
            from rich import progress
            from rich.console import Console

            self._bar = progress.Progress(
                progress.TextColumn("{task.description}"),
                progress.BarColumn(),
                progress.TaskProgressColumn(),
                progress.TimeElapsedColumn(),
                progress.TextColumn("{task.fields[text]}"),
                console=Console(stderr=True),
                transient=True,
            )
            self._task = self._bar.add_task(self.title, total=1.0, text="")
            self._bar.start()
        self._bar.update(self._task, completed=self.fraction, text=text)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.stop()


class _Lines(_FitProgress):
    """A line every two seconds."""

    pause = 2.0

    def _show(self, text: str, seconds: float) -> None:
        percent = f"{int(100 * self.fraction):3d} %"
        click.echo(f"{self.title}: {percent}, {text}, {seconds:.0f} s", err=True)


def watcher(*, plain: bool) -> Watch:
    """Return a maker of observers that write lines, or else draw a bar."""
    display = _Lines if plain else _Bar
    return lambda title, tol, total: closing(display(title, tol, total))
