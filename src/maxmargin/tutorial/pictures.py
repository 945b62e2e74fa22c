r"""The tutorial's pictures: data, a straight boundary, a curved one, errors of a grid.

Seed S3 calls them ``plotData``, ``visualizeBoundaryLinear`` and ``visualizeBoundary``.
The straight boundary is the line :math:`w\cdot x + b = 0`, and the margin lines
:math:`w\cdot x + b = \pm1` are :math:`2/\|w\|` apart (S3, its third equation); the curved
boundary is the level line f = 0 on a grid.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.errors import InputError, InputTypeError
from maxmargin.plots import BoundaryDisplay
from maxmargin.plots.canvas import (
    BLACK,
    GREY,
    ORANGE,
    Supports,
    draw_points,
    figure_and_axes,
    grid_of,
    legend,
    scale_for,
)
from maxmargin.tutorial._checks import checked_whole, points, signs
from maxmargin.tutorial.model import TutorialModel, svm_predict
from maxmargin.tutorial.selection import Choice

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from maxmargin._arrays import Matrix

FIGURE = (7.0, 4.8)  # inches
AXES = ("$x_1$", "$x_2$")
# The level lines of f, with their texts in the legend: both margins have one.
LINES = {0.0: "boundary, f = 0", -1.0: "margin, f = ±1", 1.0: ""}
SOLID: dict[str, Any] = {"color": BLACK, "linestyle": "-", "linewidth": 1.8}
DASHED: dict[str, Any] = {"color": GREY, "linestyle": "--", "linewidth": 1.2}


def plot_data(X: Any, y: Any, ax: Axes | None = None, *, key: bool = True) -> Axes:
    """Draw the points, each class with a colour and a marker of its own.

    Parameters
    ----------
    X : array-like of shape (n, 2)
        Points in the plane.
    y : array-like of shape (n,)
        Labels 0 and 1 (or −1 and 1).
    ax : matplotlib Axes or None
        Where to draw; None for a new figure.
    key : bool
        Whether to add a legend, beside a new figure or within ``ax``.
    """
    rows, labels, classes, names = _plane(X, y)
    own = ax is None
    _, ax = figure_and_axes(ax, figsize=FIGURE)
    draw_points(ax, rows, labels, classes, names=names, scale=scale_for(len(rows)))
    low, high = rows.min(axis=0), rows.max(axis=0)
    room = 0.06 * np.where(high > low, high - low, 1.0)
    xlim, ylim = zip(low - room, high + room, strict=True)
    ax.set(xlabel=AXES[0], ylabel=AXES[1], xlim=xlim, ylim=ylim)
    if key:
        legend(ax, outside=own)
    return ax


def visualize_boundary_linear(
    X: Any,
    y: Any,
    model: TutorialModel,
    ax: Axes | None = None,
    *,
    rings: bool = True,
    key: bool = True,
) -> Axes:
    """Draw the points, the line w·x + b = 0 and the margin lines w·x + b = ±1.

    Support vectors have rings, if X are the points of training. A model with w = 0 has no
    boundary, and the points alone are drawn.

    Parameters
    ----------
    X, y, ax, key :
        As for :func:`plot_data`.
    model : TutorialModel
        With a linear kernel.
    rings : bool
        Whether to ring the support vectors.
    """
    rows, w = _plane(X, y)[0], _checked(model).w
    if w is None:
        msg = (
            f"the model has the kernel {model.kernel}, whose boundary is no line in the "
            "plane; use visualize_boundary"
        )
        raise InputError(msg)
    own = ax is None
    ax = plot_data(X, y, ax, key=False)
    length = float(np.linalg.norm(w))
    if length > 0.0:
        low, high = np.array([ax.get_xlim(), ax.get_ylim()]).T
        centre, reach = 0.5 * (low + high), float(np.linalg.norm(high - low))
        along = np.array([-w[1], w[0]]) / length
        for level, words in LINES.items():
            # the point of the line that is nearest to the centre of the picture
            near = centre + (level - model.b - w @ centre) * w / length**2
            ends = near + np.outer((-reach, reach), along)
            ax.plot(*ends.T, label=words, **(DASHED if level else SOLID))
    supports = _supports(rows, model) if rings else None
    if supports is not None and len(supports.at):
        ax.scatter(
            supports.at[:, 0],
            supports.at[:, 1],
            s=80,
            facecolors="none",
            edgecolors=BLACK,
            linewidths=1.0,
            label=f"support vectors ({len(supports.at)})",
            zorder=4,
        )
    if key:
        legend(ax, outside=own)
    return ax


def visualize_boundary(
    X: Any,
    y: Any,
    model: TutorialModel,
    ax: Axes | None = None,
    *,
    grid_resolution: int = 200,
    rings: bool = True,
    key: bool = True,
) -> Axes:
    """Draw the points, f in shades of the two classes, and the lines f = 0 and ±1.

    This is a :class:`~maxmargin.plots.BoundaryDisplay` of the tutorial's model. Support
    vectors have rings that grow with α, if X are the points of training. Levels that f
    does not reach in the picture are absent.

    Parameters
    ----------
    X, y, ax, key :
        As for :func:`plot_data`.
    model : TutorialModel
        With any kernel.
    grid_resolution : int
        Grid points along each axis.
    rings : bool
        Whether to ring the support vectors.
    """
    grid_resolution = checked_whole(
        "grid_resolution", grid_resolution, 2, "it counts grid points"
    )
    rows, labels, classes, names = _plane(X, y)
    _checked(model)
    xx0, xx1, places = grid_of(rows, grid_resolution)
    values = model.decision(places)
    display = BoundaryDisplay(
        xx0=xx0,
        xx1=xx1,
        response=values.reshape(xx0.shape),
        points=rows,
        labels=labels,
        classes=classes,
        supports=_supports(rows, model) if rings else None,
        axis_labels=AXES,
        names=names,
    )
    return display.plot(ax=ax, key=key).ax_


def visualize_choice(choice: Choice, ax: Axes | None = None) -> Axes:
    """Draw the table of validation errors, in per cent, with a frame at the choice.

    Parameters
    ----------
    choice : Choice
        From :func:`~maxmargin.tutorial.choose`.
    ax : matplotlib Axes or None
        Where to draw; None for a new figure.
    """
    if not isinstance(choice, Choice):
        msg = f"choice is a {type(choice).__name__}: give what choose returned"
        raise InputTypeError(msg)
    _, ax = figure_and_axes(ax, figsize=FIGURE)
    errors = 100.0 * choice.errors
    ax.imshow(errors, cmap="cividis", origin="lower", aspect="auto")
    middle = 0.5 * (float(errors.min()) + float(errors.max()))
    for (i, j), value in np.ndenumerate(errors):
        ink = "white" if value <= middle else "black"
        ax.text(j, i, f"{value:.3g}", ha="center", va="center", color=ink, fontsize=8)
    i, j = choice.Cs.index(choice.C), choice.sigmas.index(choice.sigma)
    frame = [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5), (-0.5, -0.5)]
    corners = np.add(frame, (j, i))
    ax.plot(corners[:, 0], corners[:, 1], color=ORANGE, linewidth=3)
    ax.set_xticks(range(len(choice.sigmas)), [f"{one:g}" for one in choice.sigmas])
    ax.set_yticks(range(len(choice.Cs)), [f"{one:g}" for one in choice.Cs])
    ax.set(
        xlabel="σ",
        ylabel="C",
        title=(
            f"Validation error in per cent; lowest {100.0 * choice.error:.3g} at "
            f"C = {choice.C:g}, σ = {choice.sigma:g}"
        ),
    )
    return ax


def _supports(rows: Matrix, model: TutorialModel) -> Supports | None:
    """Return the support vectors, if the points of the picture are those of training."""
    if not np.array_equal(rows, model.X):
        return None  # other points, as a validation part
    some = model.support
    alphas = model.alphas[some]
    right = svm_predict(model, rows[some]) == (model.y[some] > 0.0)
    return Supports(rows[some], alphas / model.C, alphas >= model.C, ~right)


def _plane(X: Any, y: Any) -> tuple[Matrix, NDArray[Any], list[Any], list[str]]:
    """Return points in the plane, their labels, the classes and their names."""
    rows = points(X)
    if rows.shape[1] != 2:
        msg = (
            f"X has {rows.shape[1]} features: these pictures are of the plane; choose "
            "two columns, or use maxmargin.plots.BoundaryDisplay"
        )
        raise InputError(msg)
    signs(y, rows.shape[0])
    labels = np.asarray(y).reshape(-1)
    classes = np.unique(labels).tolist()
    return rows, labels, classes, [f"class {one:g}" for one in classes]


def _checked(model: Any) -> TutorialModel:
    if not isinstance(model, TutorialModel):
        msg = (
            f"model is a {type(model).__name__}: give what svm_train returned (machines "
            "such as SVC are drawn by maxmargin.plots.BoundaryDisplay)"
        )
        raise InputTypeError(msg)
    if model.X.shape[1] != 2:
        msg = (
            f"the model has {model.X.shape[1]} features: these pictures are of the plane"
        )
        raise InputError(msg)
    return model
