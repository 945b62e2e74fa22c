"""The figure of a film, drawn anew for every frame."""

from __future__ import annotations

import io
import textwrap
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from maxmargin.errors import load_extra
from maxmargin.plots.canvas.marks import (
    RINGS,
    boundary_entry,
    entry,
    margins_entry,
    support_entry,
)
from maxmargin.plots.canvas.style import BLACK, CLASSES, MARKERS, VERMILION
from maxmargin.plots.canvas.support import Supports
from maxmargin.solvers.base import Status

if TYPE_CHECKING:
    from maxmargin._arrays import Table, Vector
    from maxmargin.plots.boundary import BoundaryDisplay
    from maxmargin.problem import Problem
    from maxmargin.solvers.base import Measures
    from maxmargin.solvers.step import Step

FEW = 6  # policy: a step of more points has small rings
LINES = 5  # of a caption, at most
WIDTH = 115  # letters of a line, at most
DPI = 90


class Frame(NamedTuple):
    """The parts of a snapshot that a film shows; its arrays are copies."""

    units: int
    n_iter: int
    beta: Vector
    bias: float
    scores: Vector  # f at the training points
    step: Step
    measures: Measures
    status: Status

    def repeats(self, other: Frame) -> bool:
        """Whether nothing has happened since the other frame."""
        return (
            self.n_iter == other.n_iter
            and self.step.words == other.step.words
            and np.array_equal(self.beta, other.beta)
        )


class Stage:
    """One figure, drawn anew for every frame; pyplot does not know it.

    ``display`` holds the parts of the picture that all frames share; ``name`` is the
    solver's.
    """

    def __init__(
        self, name: str, display: BoundaryDisplay, problem: Problem, frames: list[Frame]
    ) -> None:
        module = load_extra("matplotlib.figure", extra="plot", purpose="an animation")
        self.figure = module.Figure(figsize=(8.0, 5.6), dpi=DPI)
        self.ax = self.figure.add_axes((0.09, 0.28, 0.64, 0.64))
        self.caption = self.figure.text(0.02, 0.165, "", fontsize=8.5, va="top")
        self.name, self.display = name, display
        self.rows = np.asarray(display.points)
        self.side = np.where(display.labels == display.classes[1], 1.0, -1.0)
        self.bound = np.maximum(-problem.lower, problem.upper)
        largest = max(float(np.abs(frame.beta).max()) for frame in frames) or 1.0
        self.limit = np.where(np.isinf(self.bound), largest, self.bound)
        self.figure.legend(
            handles=self._entries(), loc="upper left", bbox_to_anchor=(0.745, 0.93),
            fontsize="small", title=RINGS, title_fontsize="small",
        )  # fmt: skip

    def picture(self, frame: Frame, response: Table) -> bytes:
        """Draw one frame, and return it as a PNG."""
        # Ticks and limits stay: to make them anew would take a third of the time.
        for artist in [*self.ax.collections, *self.ax.lines]:
            artist.remove()
        alpha = np.abs(frame.beta)
        some = np.flatnonzero(alpha)
        supports = Supports(
            self.rows[some],
            np.minimum(1.0, alpha[some] / self.limit[some]),
            alpha[some] >= self.bound[some],
            self.side[some] * frame.scores[some] < 0.0,
        )
        now = replace(self.display, response=response, supports=supports)
        now.plot(ax=self.ax, key=False, colorbar=False)
        self._ring(self.rows[list(frame.step.points)])
        self.ax.set_title(_headline(self.name, frame), fontsize="medium", loc="left")
        words = textwrap.wrap(frame.step.words, WIDTH, max_lines=LINES, placeholder=" …")
        self.caption.set_text("\n".join(words))
        with io.BytesIO() as buffer:
            self.figure.savefig(buffer, format="png", dpi=DPI)
            return buffer.getvalue()

    def _ring(self, at: Table) -> None:
        """Draw rings around the points of the step."""
        from matplotlib.patheffects import withStroke

        few = len(at) <= FEW
        width = 2.4 if few else 1.4
        self.ax.scatter(
            *at.T,
            s=420.0 if few else 150.0,
            marker="o",
            facecolors="none",
            edgecolors=VERMILION,
            linewidths=width,
            zorder=6,
            # a dark rim, which grey shows in a crowd
            path_effects=[withStroke(linewidth=2.0 * width, foreground=BLACK)],
        )
        if len(at) == 2:
            self.ax.plot(*at.T, color=VERMILION, linestyle=":", zorder=6)

    def _entries(self) -> list[Any]:
        """Return the lines of the legend."""
        points = [
            entry(
                str(name),
                marker=marker,
                markersize=5,
                markerfacecolor=fill,
                markeredgecolor=edge,
            )
            for name, marker, (fill, edge) in zip(
                self.display.classes, MARKERS, CLASSES, strict=False
            )
        ]
        return [
            *points,
            support_entry("free", "free"),
            support_entry("bound", "at bound"),
            support_entry("wrong", "wrong side"),
            entry(
                "this step's points",
                marker="o",
                markersize=13,
                markerfacecolor="none",
                color=VERMILION,
                markeredgewidth=2.2,
            ),
            boundary_entry(),
            margins_entry(),
        ]


def _headline(name: str, frame: Frame) -> str:
    now = frame.measures
    words = f"{name}, iteration {frame.n_iter:,}: dual {now.dual:.5g}, "
    words += f"gap {now.gap:.3g}"
    if frame.status is Status.RUNNING:
        return words
    ending, _, _ = frame.status.stop.value.partition(":")
    return f"{words}; {ending}"
