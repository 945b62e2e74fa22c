"""S1's picture of Lagrange duality: a region, a line below it, and the gap."""

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
    SKY,
    VERMILION,
    figure_and_pair,
    legend,
)
from maxmargin.theory.duality import DUALITY, DualityExample

if TYPE_CHECKING:
    from maxmargin._arrays import Vector

_NO_GAP = 1e-6  # rounding: a smaller gap is none
_BELOW: dict[str, Any] = {
    "loc": "upper center",
    "bbox_to_anchor": (0.5, -0.14),
    "ncols": 2,
}


@dataclass(kw_only=True, eq=False, repr=False)
class DualityDisplay:
    """The image of the square in the (g, f) plane, and the dual function beside it.

    Left, every w is a point (g(w), f(w)). p* is the lowest point with g ≤ 0. For a given
    α, the lowest line of slope −α that meets the region crosses the axis g = 0 at θ_D(α);
    the α* with the highest crossing gives d*. Right, the dual function θ_D.

    Parameters
    ----------
    example : DualityExample
        The problem that is drawn.
    alpha, theta : ndarray of shape (m,)
        The dual function.

    Attributes
    ----------
    ax_ : ndarray of two matplotlib Axes
        The region, and the dual function.
    figure_ : matplotlib Figure
        Where it was drawn.
    region_ : QuadMesh
        The image of a grid.
    line_, primal_, dual_, touching_ : Line2D
        The supporting line, p*, d*, and where the line touches the region.
    theta_, best_ : Line2D
        θ_D, and its maximum.
    gap_ : Text
        The words about the gap.
    """

    example: DualityExample
    alpha: Vector
    theta: Vector

    @classmethod
    def from_example(cls, number: int = 1, *, ax: Any = None) -> Self:
        """Draw one of :data:`maxmargin.theory.DUALITY`; about a second of work.

        Parameters
        ----------
        number : {1, 2}
            S1's convex example (gap 0), or the one that is not (gap ¼).
        ax : two matplotlib Axes or None
            Where to draw; None for a figure of its own.
        """
        if number not in DUALITY:
            msg = f"number={number!r}: there are examples 1 (gap 0) and 2 (gap ¼)"
            raise InputError(msg)
        example = DUALITY[number]
        alpha = np.linspace(0.0, 2.0 * example.dual.alpha, 81)
        theta = np.array([example.theta(float(one)) for one in alpha])
        return cls(example=example, alpha=alpha, theta=theta).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw, on two axes or a figure of its own."""
        self.figure_, self.ax_ = figure_and_pair(ax, figsize=(11.0, 5.6))
        self._draw_region(self.ax_[0])
        self._draw_dual(self.ax_[1])
        return self

    def _draw_region(self, ax: Any) -> None:
        from matplotlib.colors import ListedColormap

        example = self.example
        primal, dual = example.primal, example.dual
        g, f = example.image(161)
        self.region_ = ax.pcolormesh(
            g, f, np.zeros((g.shape[0] - 1, g.shape[1] - 1)), cmap=ListedColormap([SKY]),
            shading="flat", edgecolors="face", linewidth=0.3, rasterized=True, zorder=1,
        )  # fmt: skip
        ax.axvline(0.0, color=BLACK, linewidth=1.0, zorder=2)
        low, high = float(g.min()), float(g.max())
        room = 0.05 * (high - low)
        ends = np.array([low - room, high + room])
        (self.line_,) = ax.plot(
            ends, dual.value - dual.alpha * ends, color=VERMILION, linewidth=2.0,
            linestyle="--", label=f"f + α*g = d*, slope −α* = −{dual.alpha:.3g}",
            zorder=3,
        )  # fmt: skip
        touching = dual.minimisers
        (self.touching_,) = ax.plot(
            example.g(*touching.T), example.f(*touching.T), marker="o", markersize=7,
            linestyle="none", markerfacecolor="white", markeredgecolor=VERMILION,
            markeredgewidth=1.8, label="where the line touches the region", zorder=4,
        )  # fmt: skip
        at = float(example.g(*primal.w)), primal.value
        words = f"p* = {primal.value:.4g}, least f where g ≤ 0"
        self.primal_ = draw_point(ax, at, "s", 9, ORANGE, zorder=5, label=words)
        words = f"d* = {dual.value:.4g}, crossing of the line"
        at = 0.0, dual.value
        self.dual_ = draw_point(ax, at, "D", 7, BLUE, zorder=6, label=words)
        gap = example.gap
        words = "no gap: p* = d*" if gap <= _NO_GAP else f"gap p* − d* = {gap:.4g}"
        self.gap_ = ax.annotate(
            words, (0.0, 0.5 * (primal.value + dual.value)),
            xytext=(0.02, 0.07), textcoords="axes fraction", fontsize=10,
            arrowprops={"arrowstyle": "->", "color": BLACK}, zorder=7,
        )  # fmt: skip
        ax.set(
            xlim=tuple(ends),
            ylim=(-2.2, float(f.max()) + 0.4),
            xlabel="constraint g(w)   (g ≤ 0 is allowed)",
            ylabel="objective f(w)",
            title=f"Every w of the square as (g, f):\n{example.words}",
        )
        ax.axvspan(ends[0], 0.0, facecolor="0.94", zorder=0)
        legend(ax, **_BELOW)

    def _draw_dual(self, ax: Any) -> None:
        primal, dual = self.example.primal, self.example.dual
        (self.theta_,) = ax.plot(
            self.alpha, self.theta, color=BLUE, linewidth=2.0, label="θ(α) = min f + αg"
        )
        ax.axhline(
            primal.value, color=BLACK, linewidth=1.2, linestyle=":",
            label=f"p* = {primal.value:.4g}",
        )  # fmt: skip
        words = f"d* = {dual.value:.4g} at α* = {dual.alpha:.3g}"
        at = dual.alpha, dual.value
        self.best_ = draw_point(ax, at, "D", 7, BLUE, label=words)
        if self.example.gap > _NO_GAP:
            ax.annotate(
                "", (dual.alpha, primal.value), xytext=(dual.alpha, dual.value),
                arrowprops={"arrowstyle": "<->", "color": GREY, "shrinkB": 0},
            )  # fmt: skip
            ax.text(
                dual.alpha * 1.04, 0.5 * (primal.value + dual.value),
                f"gap {self.example.gap:.4g}", va="center",
            )  # fmt: skip
        ax.set(
            xlabel="multiplier α",
            ylabel="dual function θ(α)",
            title="The dual function never exceeds p*",
        )
        legend(ax, **_BELOW)
