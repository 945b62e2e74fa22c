"""What all pictures share: colours, markers, line styles, and where to draw.

The colours are those of M. Okabe and K. Ito, "Color universal design", 2008, which people
with any common colour vision can tell apart. Nothing is told by colour alone: whatever
has a colour of its own has a marker or a line style of its own too, so that a picture
printed in grey says the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from maxmargin.errors import load_extra

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

BLACK = "#000000"
ORANGE = "#E69F00"
SKY = "#56B4E9"
GREEN = "#009E73"
YELLOW = "#F0E442"
BLUE = "#0072B2"
VERMILION = "#D55E00"
PINK = "#CC79A7"
GREY = "#666666"  # not of the palette: for what is not data

# The order in which lines take them. Yellow is left out: it vanishes on white.
COLOURS = (BLUE, VERMILION, GREEN, PINK, ORANGE, SKY, BLACK)
# The order in which classes take them, with the edges of their markers: dark ones with a
# light edge and light ones with a dark edge by turns, which grey shows too.
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
    """The k-th of a tuple that begins anew at its end."""
    return values[k % len(values)]


def figure_and_axes(
    ax: Axes | None = None, *, figsize: tuple[float, float] = (6.4, 4.8)
) -> tuple[Figure | SubFigure, Axes]:
    """The given axes with their figure, or new ones.

    Nothing is shown and no other figure of the caller is touched.

    Parameters
    ----------
    ax : matplotlib Axes or None
        Where to draw; None for a figure of its own.
    figsize : tuple of float
        Width and height in inches of a new figure.
    """
    pyplot = load_extra("matplotlib.pyplot", extra="plot", purpose="drawing")
    if ax is not None:
        return ax.figure, ax
    figure, ax = pyplot.subplots(figsize=figsize, layout="constrained")
    return figure, ax


def diverging(low: str = BLUE, high: str = ORANGE) -> Any:
    """Colour map from ``low`` through white to ``high``.

    Both ends are mixed with white, so that points of the same colours and black lines
    stand out from the surface behind them.
    """
    colors = load_extra("matplotlib.colors", extra="plot", purpose="drawing")
    ends = [_paler(colors.to_rgb(one), 0.35) for one in (low, high)]
    stops = [ends[0], (1.0, 1.0, 1.0), ends[1]]
    return colors.LinearSegmentedColormap.from_list("maxmargin", stops)


def tint(colour: str, k: int) -> Any:
    """A colour for the ground on which the k-th class wins: pale, by turns more so.

    Neighbours differ in lightness, so that grey tells them apart.
    """
    colors = load_extra("matplotlib.colors", extra="plot", purpose="drawing")
    return _paler(colors.to_rgb(colour), (0.6, 0.85, 0.75)[k % 3])


def _paler(rgb: tuple[float, float, float], share: float) -> tuple[float, ...]:
    """A colour mixed with this share of white."""
    return tuple(share + (1.0 - share) * part for part in rgb)


def legend(ax: Axes, *, outside: bool = False, **options: Any) -> Any:
    """A legend on a ground that hides what lies below it, if there is anything to say.

    Parameters
    ----------
    ax : matplotlib Axes
        Whose labelled artists are listed.
    outside : bool
        To the right of the axes rather than over the data.
    **options
        For ``Axes.legend``.
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
