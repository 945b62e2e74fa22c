"""Points and support vectors of a picture, and their entries in its legend.

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
    from matplotlib.lines import Line2D
    from numpy.typing import NDArray

    from maxmargin._arrays import Flags, Table
    from maxmargin.plots.canvas.support import Supports

POINT = 24.0  # area of a point's marker, in points²
SPAN = 130.0  # area that α = C adds to a support vector's ring
CROSS = 50.0  # area of the cross on the wrong side
CROWD = 150  # policy: more points than this have smaller markers
KINDS = {"free": "o", "bound": "D", "wrong": "x"}
RINGS = "ring area grows with α"  # title of a legend that explains support vectors


def scale_for(count: int) -> float:
    """Return the factor of all areas that keeps a crowd of points apart."""
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
    """Draw a collection for every class; one where there are no labels."""
    look: dict[str, Any] = {"s": scale * POINT, "linewidths": 0.6, "zorder": 3}
    if labels is None:
        look |= {"marker": "o", "c": GREY, "edgecolors": "white", "label": "point"}
        return [ax.scatter(*at.T, **look)]
    if labels.shape != (len(at),):
        msg = f"y has shape {labels.shape}: give one label for each of {len(at)} rows"
        raise InputError(msg)
    drawn = []
    for k, one in enumerate(classes):
        fill, edge = cycled(CLASSES, k)
        look |= {"marker": cycled(MARKERS, k), "c": fill, "edgecolors": edge}
        word = f"{one:g}" if isinstance(one, float) else str(one)
        label = word if names is None else names[k]
        drawn.append(ax.scatter(*at[labels == one].T, **look, label=label))
    return drawn


def draw_supports(
    ax: Axes, supports: Supports, *, scale: float = 1.0
) -> dict[str, PathCollection]:
    """Draw a ring around every support vector, and crosses on those on the wrong side."""
    at, share, bound, wrong = supports
    sizes = scale * (POINT + SPAN * share)
    ring = {"facecolors": "none", "edgecolors": BLACK, "linewidths": 0.9, "zorder": 4}
    # larger than the point, which shows its class behind the cross
    cross = {"color": BLACK, "linewidths": 1.0, "zorder": 5}
    kinds: dict[str, tuple[Flags, Any, dict[str, Any]]] = {
        "free": (~bound, sizes[~bound], ring),
        "bound": (bound, sizes[bound], ring),
        "wrong": (wrong, scale * CROSS, cross),
    }
    return {
        kind: ax.scatter(at[some, 0], at[some, 1], size, marker=KINDS[kind], **look)
        for kind, (some, size, look) in kinds.items()
    }


def support_entries(drawn: dict[str, PathCollection], *, wrong: str) -> list[Any]:
    """Return the legend's lines for the kinds of support vectors that occur."""
    words = {"free": "free", "bound": "at bound", "wrong": wrong}
    entries = []
    for kind, marks in drawn.items():
        count = len(np.asarray(marks.get_offsets()))
        if count:
            entries.append(support_entry(kind, f"{words[kind]} ({count})"))
    return entries


def support_entry(kind: str, words: str) -> Any:
    """Return the legend's line for one kind of support vectors."""
    size = 5 if kind == "wrong" else 9
    return entry(
        f"support, {words}", marker=KINDS[kind], markersize=size, markerfacecolor="none"
    )


def boundary_entry(words: str = "boundary f = 0") -> Any:
    """Return the legend's line for the boundary."""
    return entry(words, linestyle="-", lw=2.0)


def margins_entry() -> Any:
    """Return the legend's line for the two margins."""
    return entry("margins f = ±1", linestyle="--", lw=1.2)


def entry(label: str, **look: Any) -> Any:
    """Return one line of a legend."""
    from matplotlib.lines import Line2D

    return Line2D([], [], label=label, **{"color": BLACK, "linestyle": "none", **look})


def draw_point(
    ax: Axes, at: Any, marker: str, size: float, colour: str, **look: Any
) -> Line2D:
    """Draw one large point with a black rim: a start, or an optimum."""
    look |= {"linestyle": "none", "markeredgecolor": BLACK}
    (drawn,) = ax.plot(*at, marker=marker, markersize=size, color=colour, **look)
    return drawn
