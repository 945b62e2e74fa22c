"""The ground of all pictures: colours, planes, points and support vectors.

- :mod:`~maxmargin.plots.canvas.style`: colours, markers, line styles; figures, legends.
- :mod:`~maxmargin.plots.canvas.plane`: the plane through the data, and a grid in it.
- :mod:`~maxmargin.plots.canvas.response`: the decisions of a machine on that grid.
- :mod:`~maxmargin.plots.canvas.support`: how large α is, and where its point lies.
- :mod:`~maxmargin.plots.canvas.marks`: points, rings around support vectors, legends.

The names below are for other packages that draw, such as :mod:`maxmargin.tutorial`.
"""

from maxmargin.plots.canvas.marks import draw_points, scale_for
from maxmargin.plots.canvas.plane import grid_of
from maxmargin.plots.canvas.style import BLACK, GREY, ORANGE, figure_and_axes, legend
from maxmargin.plots.canvas.support import Supports

__all__ = [
    "BLACK",
    "GREY",
    "ORANGE",
    "Supports",
    "draw_points",
    "figure_and_axes",
    "grid_of",
    "legend",
    "scale_for",
]
