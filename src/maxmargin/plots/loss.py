"""Losses against the margin, as S1 and S4 draw them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from maxmargin.errors import InputError
from maxmargin.losses import LOSSES
from maxmargin.plots.canvas.style import (
    COLOURS,
    DASHES,
    GREY,
    MARKERS,
    cycled,
    figure_and_axes,
    legend,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import ArrayLike

    from maxmargin._arrays import Vector

_LABELS = {
    "zero_one": "0-1: is it wrong?",
    "hinge": "hinge: max(0, 1 − z)",
    "squared_hinge": "squared hinge: max(0, 1 − z)²",
    "logistic": "logistic: ln(1 + exp(−z))",
    "perceptron": "perceptron: max(0, −z)",
    "exponential": "exponential: exp(−z)",
}


class LossDisplay:
    """What every loss charges for a margin z = y·f(x).

    Parameters
    ----------
    z : ndarray of shape (n,)
        Margins, ascending.
    values : mapping from str to ndarray of shape (n,)
        The losses there, by name.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    lines_ : dict from str to Line2D
        The curves.

    Examples
    --------
    >>> from maxmargin.plots import LossDisplay
    >>> display = LossDisplay.from_losses(["hinge", "logistic"])  # doctest: +SKIP
    """

    ax_: Any
    figure_: Any
    lines_: dict[str, Any]

    def __init__(self, *, z: Vector, values: Mapping[str, Vector]) -> None:
        self.z = z
        self.values = dict(values)

    @classmethod
    def from_losses(
        cls,
        names: Iterable[str] | None = None,
        *,
        z: ArrayLike | None = None,
        ax: Any = None,
    ) -> Self:
        """Compute and draw.

        Parameters
        ----------
        names : iterable of str or None
            Which of :data:`maxmargin.losses.LOSSES`; None for all of them.
        z : array-like or None
            Margins; None for 601 of them from −3 to 3.
        ax : matplotlib Axes or None
            Where to draw; None for a figure of its own.
        """
        if isinstance(names, str):
            names = [names]
        chosen = list(LOSSES if names is None else names)
        unknown = [name for name in chosen if name not in LOSSES]
        if unknown or not chosen:
            given = ", ".join(map(repr, unknown)) or "an empty list"
            msg = f"names: {given} given; the losses are {', '.join(LOSSES)}"
            raise InputError(msg)
        at = np.linspace(-3.0, 3.0, 601) if z is None else np.sort(np.ravel(z))
        at = np.asarray(at, np.float64)
        if at.size < 2 or not np.isfinite(at).all():
            msg = f"z has {at.size} values; give at least two finite margins"
            raise InputError(msg)
        return cls(z=at, values={name: LOSSES[name](at) for name in chosen}).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw, on ``ax`` or a figure of its own."""
        self.figure_, self.ax_ = figure_and_axes(ax, figsize=(7.2, 4.8))
        self.lines_ = {}
        for at in (0.0, 1.0):
            self.ax_.axvline(at, color=GREY, linewidth=0.7, zorder=0)
        for name, values in self.values.items():
            k = list(LOSSES).index(name) - 1  # 0-1, which all others stand for, is black
            (self.lines_[name],) = self.ax_.plot(
                self.z,
                values,
                color=cycled(COLOURS, k),
                linestyle=cycled(DASHES, k + 1),
                linewidth=2.6 if name == "zero_one" else 2.0,
                marker="" if name == "zero_one" else cycled(MARKERS, k),
                markevery=(k * self.z.size // 60, max(1, self.z.size // 10)),
                label=_LABELS.get(name, name),
            )
        self.ax_.set(
            xlabel="margin z = y·f(x)",
            ylabel="loss",
            title="What a margin costs",
            xlim=(self.z[0], self.z[-1]),
            ylim=(-0.1, 4.0),
        )
        for at, words in (
            (-0.06, "wrong side"),
            (0.5, "inside\nmargin"),
            (1.06, "beyond the margin"),
        ):
            if self.z[0] <= at <= self.z[-1]:
                side = "center" if at == 0.5 else ("right" if at < 0 else "left")
                self.ax_.text(at, 3.9, words, ha=side, va="top", color=GREY, fontsize=9)
        legend(self.ax_, loc="upper right", bbox_to_anchor=(1.0, 0.88))
        return self
