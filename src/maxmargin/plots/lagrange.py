"""Picture of Lagrange multipliers: where a level line touches the constraint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from maxmargin.errors import InputError
from maxmargin.plots.canvas.marks import draw_point
from maxmargin.plots.canvas.style import (
    BLACK,
    BLUE,
    GREY,
    ORANGE,
    VERMILION,
    figure_and_axes,
    legend,
)
from maxmargin.theory.lagrange import LAGRANGE, LagrangeExample

if TYPE_CHECKING:
    from maxmargin.theory.lagrange import Stationary

_REACH = 1.6  # half the width of the picture
_LEVELS = 9


@dataclass(kw_only=True, eq=False, repr=False)
class LagrangeDisplay:
    """Level lines of f, the constraint h = 0, and both gradients at the solution.

    Parameters
    ----------
    example : LagrangeExample
        The problem that is drawn.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    contours_ : QuadContourSet
        Level lines of f; one of them passes through the solution.
    line_, point_ : Line2D
        The constraint and the solution.
    arrows_ : dict from str to Quiver
        Gradients at the solution: ``"f"`` and ``"h"``, side by side so that both can be
        seen; and ``"elsewhere f"``, ``"elsewhere h"`` at another point of the constraint.
    """

    example: LagrangeExample

    @classmethod
    def from_example(cls, name: str = "S1", *, ax: Any = None) -> Self:
        """Draw one of :data:`maxmargin.theory.LAGRANGE`.

        Parameters
        ----------
        name : {'S1', 'S4'}
            S1's min w₁² + w₂² on w₂ = w₁ + 1, or S4's max 1 − x₁² − x₂² on x₁ + x₂ = 1.
        ax : matplotlib Axes or None
            Where to draw; None for a figure of its own.
        """
        if name not in LAGRANGE:
            known = " and ".join(map(repr, LAGRANGE))
            msg = f"name={name!r}: the worked examples are {known}"
            raise InputError(msg)
        return cls(example=LAGRANGE[name]).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw, on ``ax`` or a figure of its own."""
        self.figure_, self.ax_ = figure_and_axes(ax, figsize=(6.0, 6.2))
        example, found = self.example, self.example.solve()
        self._draw_levels(found)
        normal = np.array(example.normal)
        along = np.array([normal[1], -normal[0]]) / np.linalg.norm(normal)
        ends = found.x + np.outer([-4.0 * _REACH, 4.0 * _REACH], along)
        (self.line_,) = self.ax_.plot(
            ends[:, 0], ends[:, 1], color=BLACK, linewidth=2.0, label="constraint h = 0"
        )
        self.arrows_: dict[str, Any] = {}
        self._draw_gradients(found.x, along, "")
        self._draw_gradients(found.x + along, along, "elsewhere ")
        words = f"solution ({found.x[0]:g}, {found.x[1]:g}), f = {found.value:g}"
        self.point_ = draw_point(
            self.ax_, found.x, "*", 18, ORANGE, zorder=5, label=words
        )
        name = example.variable
        centre = 0.5 * found.x
        self.ax_.set(
            xlim=(centre[0] - _REACH, centre[0] + _REACH),
            ylim=(centre[1] - _REACH, centre[1] + _REACH),
            aspect="equal",
            xlabel=f"{name}₁",
            ylabel=f"{name}₂",
            title=(
                f"{example.source}: {example.words}\n"
                f"∇f = −λ∇h, λ = {found.multiplier:g}: parallel there, and only there"
            ),
        )
        legend(self.ax_, loc="lower left" if example.source == "S4" else "lower right")
        return self

    def _draw_levels(self, found: Stationary) -> None:
        """Draw evenly spaced circles, one of them through the solution."""
        centre = 0.5 * found.x
        axis = np.linspace(-_REACH, _REACH, 201)
        first, second = np.meshgrid(centre[0] + axis, centre[1] + axis)
        values = self.example.f(np.stack([first, second], axis=-1))
        # f − f(0) grows with the square of the distance: squares space the circles evenly
        rest = float(self.example.f(np.zeros(2)))
        radii = np.arange(1, _LEVELS + 1) / 3.0
        levels = np.sort(rest + (found.value - rest) * radii**2)
        widths = np.where(np.isclose(levels, found.value), 2.2, 0.9)
        self.contours_ = self.ax_.contour(
            first, second, values, levels=levels, colors=GREY, linewidths=widths,
            linestyles="solid",
        )  # fmt: skip
        # labels on a ray that meets neither the arrows nor the legend
        normal = np.array(self.example.normal)
        ray = np.array([-normal[1], normal[0]]) / np.linalg.norm(normal)
        places = np.outer(radii[1:6] * np.linalg.norm(found.x), ray)
        self.ax_.clabel(
            self.contours_, fmt="f = %.2g", fontsize=8, manual=[*map(tuple, places)]
        )

    def _draw_gradients(self, at: Any, along: Any, where: str) -> None:
        """Draw ∇f and ∇h as arrows of one length, side by side."""
        for sign, name, vector, colour, hatch in (
            (-1.0, "f", self.example.gradient(at), VERMILION, None),
            (1.0, "h", np.array(self.example.normal), BLUE, "////"),
        ):
            start = at + sign * 0.035 * along
            direction = 0.55 * vector / np.linalg.norm(vector)
            self.arrows_[where + name] = self.ax_.quiver(
                *start, *direction, angles="xy", scale_units="xy", scale=1.0,
                width=0.011, facecolor="white" if hatch else colour, edgecolor=colour,
                linewidth=1.2, hatch=hatch, zorder=4,
                label=None if where else f"gradient ∇{name} (direction)",
            )  # fmt: skip
