"""Picture of coordinate ascent: a staircase over the level lines of its objective."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from maxmargin.errors import InputError
from maxmargin.plots.canvas.marks import draw_point
from maxmargin.plots.canvas.style import (
    BLUE,
    GREY,
    ORANGE,
    VERMILION,
    figure_and_axes,
    legend,
)
from maxmargin.problem import dual_value, violation

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from maxmargin._arrays import Vector
    from maxmargin.problem import Problem

_TOL = 1e-6
_LONGEST = 1000  # steps of a path, at most


class CoordinateAscentDisplay:
    """Level lines of W(α₁, α₂), and a path along one axis at a time.

    Parameters
    ----------
    problem : Problem
        Of two points, without an intercept.
    path : ndarray of shape (steps + 1, 2)
        β before the first and after every step.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    path_ : ndarray of shape (steps + 1, 2)
        Corners of the staircase.
    values_ : ndarray of shape (steps + 1,)
        W at the corners.
    contours_ : QuadContourSet
        Level lines.
    staircase_, start_, end_ : Line2D
        The path and its ends.
    """

    def __init__(self, *, problem: Problem, path: Vector) -> None:
        self.problem = problem
        self.path_ = path
        self._K = np.empty((2, 2))
        both = np.arange(2, dtype=np.intp)
        problem.gram.block(both, both, self._K)
        self._K += np.diag(problem.ridge)
        self.values_ = self._objective(path)

    @classmethod
    def from_problem(
        cls,
        problem: Problem | None = None,
        *,
        start: ArrayLike | None = None,
        ax: Any = None,
    ) -> Self:
        """Run coordinate ascent on two variables, and draw it.

        Parameters
        ----------
        problem : Problem or None
            Of two points, without an intercept; None for S1's
            :func:`~maxmargin.theory.coordinate_example`.
        start : array-like of shape (2,) or None
            Where to begin; None for 0, or for (2, −2), clipped to the box, where 0 is
            the answer already (as in S1's example).
        ax : matplotlib Axes or None
            Where to draw; None for a figure of its own.
        """
        from maxmargin.solvers.lectures.coordinate_ascent import CoordinateAscent
        from maxmargin.theory.quadratic import coordinate_example

        problem = coordinate_example() if problem is None else problem
        if problem.n != 2:
            msg = (
                f"the problem has {problem.n} variables: the picture is of two; give a "
                "problem of two points, or use ConvergenceDisplay"
            )
            raise InputError(msg)
        begin = np.zeros(2) if start is None else np.asarray(start, np.float64)
        if start is None and violation(problem, begin, problem.p) <= _TOL:
            begin = np.array([2.0, -2.0])
        solver = CoordinateAscent(tol=_TOL, max_iter=_LONGEST)
        path = [solver.start(problem, problem.warm_start(begin)).beta]
        path += [seen.state.beta for seen in solver.steps(problem, warm=begin)]
        return cls(problem=problem, path=np.array(path)).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw, on ``ax`` or a figure of its own."""
        self.figure_, self.ax_ = figure_and_axes(ax, figsize=(6.6, 6.8))
        path = self.path_
        middle, reach = self._window()
        self._draw_levels(middle, reach)
        self._draw_box(middle, reach)
        (self.staircase_,) = self.ax_.plot(
            path[:, 0], path[:, 1], color=BLUE, linewidth=2.0, marker="o", markersize=4,
            label="path: one coordinate a step", zorder=3,
        )  # fmt: skip
        words = f"start ({path[0, 0]:.3g}, {path[0, 1]:.3g})"
        self.start_ = draw_point(
            self.ax_, path[0], "s", 9, VERMILION, zorder=4, label=words
        )
        end = path[-1] + 0.0
        end[np.abs(end) < 1e-6] = 0.0  # "−3e−08" would say less
        words = f"after {len(path) - 1} steps ({end[0]:.3g}, {end[1]:.3g})"
        self.end_ = draw_point(self.ax_, path[-1], "*", 16, ORANGE, zorder=5, label=words)
        self.ax_.set(
            xlim=(middle[0] - reach, middle[0] + reach),
            ylim=(middle[1] - reach, middle[1] + reach),
            aspect="equal",
            xlabel="first coordinate",
            ylabel="second coordinate",
            title="Coordinate ascent: each step is the best along one axis",
        )
        legend(self.ax_, loc="upper center", bbox_to_anchor=(0.5, -0.1), ncols=3)
        return self

    def _objective(self, points: Vector) -> Vector:
        """Return W at points of shape (…, 2)."""
        flat = points.reshape(-1, 2)
        values = [
            dual_value(self.problem, one, self._K @ one + self.problem.p) for one in flat
        ]
        return np.array(values).reshape(points.shape[:-1])

    def _window(self) -> tuple[Vector, float]:
        """Return middle and half width of a square around the path."""
        low, high = self.path_.min(axis=0), self.path_.max(axis=0)
        reach = 0.5 * float((high - low).max())
        return 0.5 * (low + high), 1.35 * reach if reach > 0.0 else 1.0

    def _draw_levels(self, middle: Vector, reach: float) -> None:
        axis = np.linspace(-reach, reach, 121)
        first, second = np.meshgrid(middle[0] + axis, middle[1] + axis)
        values = self._objective(np.stack([first, second], axis=-1))
        top, bottom = float(values.max()), float(values.min())
        # W falls with the square of the distance: squares space the lines evenly
        levels = np.unique(top - (top - bottom) * (np.arange(1, 13) / 12.0) ** 2)
        self.contours_ = self.ax_.contour(
            first, second, values, levels=levels, colors=GREY,
            linewidths=0.9, linestyles="solid",
        )  # fmt: skip
        self.ax_.clabel(self.contours_, levels=levels[1::3], fmt="W = %.2g", fontsize=8)

    def _draw_box(self, middle: Vector, reach: float) -> None:
        """Shade the part of the picture outside the box."""
        look = {"facecolor": "0.9", "edgecolor": GREY, "hatch": "//", "zorder": 0}
        spans: tuple[Any, Any] = (self.ax_.axvspan, self.ax_.axhspan)
        for axis, span in enumerate(spans):
            low, high = middle[axis] - reach, middle[axis] + reach
            lower, upper = self.problem.lower[axis], self.problem.upper[axis]
            for begin, end in ((low, lower), (upper, high)):
                if begin < end:
                    span(begin, end, **look)
