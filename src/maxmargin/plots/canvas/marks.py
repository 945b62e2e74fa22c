"""Points and support vectors of a picture, and what its legend says of them.

A class has a marker and a colour of its own. Around a support vector there is a ring of
area ``scale · (POINT + SPAN · α/C)``: a circle where α is free, a diamond at its bound.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.errors import InputError
from maxmargin.plots.canvas.style import BLACK, CLASSES, GREY, MARKERS, cycled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from numpy.typing import NDArray

    from maxmargin._arrays import Table
    from maxmargin.plots.canvas.support import Supports

POINT = 24.0  # area of a point's marker, in points²
SPAN = 130.0  # area that α = C adds to a support vector's ring
CROSS = 50.0  # area of the cross on the wrong side
CROWD = 150  # points from which on markers shrink
KINDS = {"free": "o", "bound": "D", "wrong": "x"}


def scale_for(count: int) -> float:
    """By what to multiply areas, so that a crowd of points stays apart."""
    return float(np.clip((CROWD / max(1, count)) ** 0.3, 0.5, 1.0))


def draw_points(
    ax: Axes,
    at: Table,
    labels: NDArray[Any] | None,
    classes: Sequence[Any],
    *,
    names: Sequence[str] | None = None,
    scale: float = 1.0,
) -> list[PathCollection]:
    """A collection for every class; one where there are no labels."""
    if labels is None:
        return [_scatter(ax, at, scale, marker="o", look=(GREY, "white"), label="point")]
    if labels.shape != (len(at),):
        msg = f"y has shape {labels.shape}: give one label for each of {len(at)} rows"
        raise InputError(msg)
    return [
        _scatter(
            ax,
            at[labels == one],
            scale,
            marker=cycled(MARKERS, k),
            look=cycled(CLASSES, k),
            label=_word(one) if names is None else names[k],
        )
        for k, one in enumerate(classes)
    ]


def draw_supports(
    ax: Axes, supports: Supports, *, scale: float = 1.0
) -> dict[str, PathCollection]:
    """Rings of the free ones and of those at their bound, crosses on the wrong ones."""
    at, share, bound, wrong = supports
    sizes = scale * (POINT + SPAN * share)
    return {
        "free": _rings(ax, "free", at[~bound], sizes[~bound]),
        "bound": _rings(ax, "bound", at[bound], sizes[bound]),
        # larger than the point, which shows its class behind the cross
        "wrong": ax.scatter(
            at[wrong, 0],
            at[wrong, 1],
            s=scale * CROSS,
            marker=KINDS["wrong"],
            color=BLACK,
            linewidths=1.0,
            zorder=5,
        ),
    }


def support_entries(drawn: dict[str, PathCollection], *, wrong: str) -> list[Any]:
    """Lines of a legend for the kinds that occur."""
    words = {"free": "free", "bound": "at bound", "wrong": wrong}
    entries = []
    for kind, marks in drawn.items():
        count = len(np.asarray(marks.get_offsets()))
        if count:
            size = 5 if kind == "wrong" else 9
            label = f"support, {words[kind]} ({count})"
            entries.append(
                entry(label, marker=KINDS[kind], markersize=size, markerfacecolor="none")
            )
    return entries


def entry(label: str, **look: Any) -> Any:
    """One line of a legend."""
    from matplotlib.lines import Line2D

    return Line2D([], [], label=label, **{"color": BLACK, "linestyle": "none", **look})


def _rings(ax: Axes, kind: str, at: Table, sizes: NDArray[np.float64]) -> PathCollection:
    return ax.scatter(
        at[:, 0],
        at[:, 1],
        s=sizes,
        marker=KINDS[kind],
        facecolors="none",
        edgecolors=BLACK,
        linewidths=0.9,
        zorder=4,
    )


def _scatter(
    ax: Axes, at: Table, scale: float, *, marker: str, look: tuple[str, str], label: str
) -> PathCollection:
    return ax.scatter(
        at[:, 0],
        at[:, 1],
        s=scale * POINT,
        marker=marker,
        c=look[0],
        edgecolors=look[1],
        linewidths=0.6,
        zorder=3,
        label=label,
    )


def _word(label: Any) -> str:
    return f"{label:g}" if isinstance(label, float) else str(label)
