"""Colours, markers and line styles of all pictures; figures and legends.

The colours are those of M. Okabe and K. Ito, "Color universal design", 2008, which people
with any common colour vision can tell apart. Whatever has a colour of its own also has a
marker or a line style of its own, so that a picture printed in grey says the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.errors import InputError, load_extra

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from numpy.typing import NDArray

BLACK = "#000000"
ORANGE = "#E69F00"
SKY = "#56B4E9"
GREEN = "#009E73"
BLUE = "#0072B2"
VERMILION = "#D55E00"
PINK = "#CC79A7"
GREY = "#666666"  # not of the palette: for lines and texts that are not data

# The order in which lines take them. The palette's yellow is left out: it vanishes on
# white.
COLOURS = (BLUE, VERMILION, GREEN, PINK, ORANGE, SKY, BLACK)
# The order in which classes take them, with the edges of their markers. Dark fills with a
# light edge and light fills with a dark edge alternate, which grey shows too.
CLASSES = (
    (BLUE, "white"),
    (ORANGE, BLACK),
    (GREEN, "white"),
    (PINK, BLACK),
    (BLACK, "white"),
    (SKY, BLACK),
    (VERMILION, "white"),
)
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
DASHES: tuple[Any, ...] = (
    "-",
    (0, (6, 2)),
    (0, (1.2, 1.5)),
    (0, (6, 2, 1.2, 2)),
    (0, (10, 3)),
    (0, (3, 1.5, 1.2, 1.5, 1.2, 1.5)),
    (0, (4, 1, 4, 4)),
)


def cycled(values: tuple[Any, ...], k: int) -> Any:
    """Return the k-th of a tuple, which begins anew at its end."""
    return values[k % len(values)]


def figure_and_axes(
    ax: Axes | None = None, *, figsize: tuple[float, float] = (6.4, 4.8)
) -> tuple[Figure | SubFigure, Axes]:
    """Return the given axes with their figure, or new ones of this size in inches.

    Nothing is shown, and other figures of the caller stay as they are.
    """
    pyplot = load_extra("matplotlib.pyplot", extra="plot", purpose="drawing")
    if ax is not None:
        return ax.figure, ax
    figure, ax = pyplot.subplots(figsize=figsize, layout="constrained")
    return figure, ax


def figure_and_pair(
    ax: Any, *, figsize: tuple[float, float]
) -> tuple[Figure | SubFigure, NDArray[Any]]:
    """Return the two given axes with their figure, or new ones side by side."""
    pyplot = load_extra("matplotlib.pyplot", extra="plot", purpose="drawing")
    if ax is None:
        _, ax = pyplot.subplots(1, 2, figsize=figsize, layout="constrained")
    axes = np.asarray(ax, dtype=object).ravel()
    if axes.size != 2:
        msg = (
            f"ax holds {axes.size} axes: the picture needs two, side by side, as "
            "plt.subplots(1, 2) makes them"
        )
        raise InputError(msg)
    return axes[0].figure, axes


def diverging() -> Any:
    """Return a colour map from blue through white to orange, for decision values.

    Both ends are mixed with white, so that points of the same colours and black lines
    stand out from the surface behind them.
    """
    from matplotlib.colors import LinearSegmentedColormap

    stops = [_paler(BLUE, 0.35), (1.0, 1.0, 1.0), _paler(ORANGE, 0.35)]
    return LinearSegmentedColormap.from_list("maxmargin", stops)


def tint(colour: str, k: int) -> Any:
    """Return a pale colour for the region of the k-th class.

    Neighbours differ in lightness, so that grey tells them apart.
    """
    return _paler(colour, (0.6, 0.85, 0.75)[k % 3])


def _paler(colour: str, share: float) -> tuple[float, ...]:
    """Return a colour mixed with this share of white."""
    from matplotlib.colors import to_rgb

    return tuple(share + (1.0 - share) * part for part in to_rgb(colour))


def legend(ax: Axes, *, outside: bool = False, **options: Any) -> Any:
    """Draw the legend of the labelled artists, inside the axes or to their right.

    ``options`` are those of ``Axes.legend``. Without any artist there is no legend.
    """
    handles, labels = ax.get_legend_handles_labels()
    if not handles and "handles" not in options:
        return None
    if outside:
        options = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0), **options}
    options = {"fontsize": "small", "framealpha": 0.9, **options}
    if "handles" not in options:
        options |= {"handles": handles, "labels": labels}
    return ax.legend(**options)
