r"""The tutorial's pictures: data, a straight boundary, a curved one, errors of a grid.

Seed S3 calls them ``plotData``, ``visualizeBoundaryLinear`` and ``visualizeBoundary``.
The straight boundary is the line :math:`w\cdot x + b = 0` with the margin lines
:math:`w\cdot x + b = \pm1`, whose distance is :math:`2/\|w\|` (S3, its third equation);
the curved one is the level line f = 0 on a grid.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.errors import InputError, InputTypeError
from maxmargin.plots.boundary import BoundaryDisplay
from maxmargin.plots.canvas import style
from maxmargin.plots.canvas.marks import draw_points, scale_for
from maxmargin.plots.canvas.plane import grid_of
from maxmargin.plots.canvas.support import Supports
from maxmargin.tutorial._checks import checked_whole, points, signs
from maxmargin.tutorial.model import TutorialModel, svm_predict
from maxmargin.tutorial.selection import Choice

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from maxmargin._arrays import Matrix

FIGURE = (7.0, 4.8)  # inches
AXES = ("$x_1$", "$x_2$")


def plot_data(X: Any, y: Any, ax: Axes | None = None, *, key: bool = True) -> Axes:
    """The points, each class with a colour and a marker of its own.

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

    Returns
    -------
    matplotlib Axes
    """
    rows, labels = _plane(X, y), np.asarray(y).reshape(-1)
    own = ax is None
    _, ax = style.figure_and_axes(ax, figsize=FIGURE)
    classes = np.unique(labels).tolist()
    names = [f"class {one:g}" for one in classes]
    scale = scale_for(rows.shape[0])
    draw_points(ax, rows, labels, classes, names=names, scale=scale)
    ax.set(xlabel=AXES[0], ylabel=AXES[1])
    _frame(ax, rows)
    if key:
        style.legend(ax, outside=own)
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
    """The points, the line w·x + b = 0 and the margin lines w·x + b = ±1.

    Support vectors are ringed, if X are the points of training. A model with w = 0,
    which has no boundary, shows the points alone.

    Parameters
    ----------
    X, y, ax, key :
        As for :func:`plot_data`.
    model : TutorialModel
        With a linear kernel.
    rings : bool
        Whether to ring the support vectors.

    Returns
    -------
    matplotlib Axes
    """
    rows, w = _plane(X, y), _checked(model).w
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
        for level in (0.0, -1.0, 1.0):
            # the point of the line that is nearest to the centre of the picture
            near = centre + (level - model.b - w @ centre) * w / length**2
            ends = near + np.outer((-reach, reach), along)
            ax.plot(ends[:, 0], ends[:, 1], **_line(level))
    if rings:
        _ring(ax, _supports(rows, model))
    if key:
        style.legend(ax, outside=own)
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
    """The points, f in shades of the two classes, and the level lines f = 0 and ±1.

    A :class:`~maxmargin.plots.BoundaryDisplay` of the tutorial's model. Support vectors
    are ringed, the larger the larger α, if X are the points of training. Levels that f
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

    Returns
    -------
    matplotlib Axes
    """
    grid_resolution = checked_whole(
        "grid_resolution", grid_resolution, 2, "it counts grid points"
    )
    rows = _plane(X, y)
    _checked(model)
    xx0, xx1, places = grid_of(rows, grid_resolution)
    values = model.decision(places)
    labels = np.asarray(y).reshape(-1)
    classes = np.unique(labels)
    display = BoundaryDisplay(
        xx0=xx0,
        xx1=xx1,
        response=values.reshape(xx0.shape),
        points=rows,
        labels=labels,
        classes=classes,
        supports=_supports(rows, model) if rings else None,
        axis_labels=AXES,
        names=[f"class {one:g}" for one in classes.tolist()],
    )
    return display.plot(ax=ax, key=key).ax_


def visualize_choice(choice: Choice, ax: Axes | None = None) -> Axes:
    """The table of validation errors, in per cent; the chosen (C, σ) is framed.

    Parameters
    ----------
    choice : Choice
        From :func:`~maxmargin.tutorial.choose`.
    ax : matplotlib Axes or None
        Where to draw; None for a new figure.

    Returns
    -------
    matplotlib Axes
    """
    if not isinstance(choice, Choice):
        msg = f"choice is a {type(choice).__name__}: give what choose returned"
        raise InputTypeError(msg)
    _, ax = style.figure_and_axes(ax, figsize=FIGURE)
    errors = 100.0 * choice.errors
    ax.imshow(errors, cmap="cividis", origin="lower", aspect="auto")
    middle = 0.5 * (float(errors.min()) + float(errors.max()))
    for (i, j), value in np.ndenumerate(errors):
        ink = "white" if value <= middle else "black"
        ax.text(j, i, f"{value:.3g}", ha="center", va="center", color=ink, fontsize=8)
    i, j = choice.Cs.index(choice.C), choice.sigmas.index(choice.sigma)
    frame = [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5), (-0.5, -0.5)]
    corners = np.add(frame, (j, i))
    ax.plot(corners[:, 0], corners[:, 1], color=style.ORANGE, linewidth=3)
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


def _line(level: float) -> dict[str, Any]:
    """How the line of a level looks, and what the legend calls it (both margins once)."""
    if level == 0.0:
        return {
            "color": style.BLACK,
            "linestyle": "-",
            "linewidth": 1.8,
            "label": "boundary, f = 0",
        }
    return {
        "color": style.GREY,
        "linestyle": "--",
        "linewidth": 1.2,
        "label": "margin, f = ±1" if level < 0.0 else "",
    }


def _supports(rows: Matrix, model: TutorialModel) -> Supports | None:
    """The support vectors, if the points of the picture are those of training."""
    if rows.shape != model.X.shape or not np.array_equal(rows, model.X):
        return None  # other points, as a validation part
    some = model.support
    alphas = model.alphas[some]
    right = svm_predict(model, rows[some]) == (model.y[some] > 0.0)
    return Supports(rows[some], alphas / model.C, alphas >= model.C, ~right)


def _ring(ax: Axes, supports: Supports | None) -> None:
    if supports is not None and supports.share.size:
        ax.scatter(
            supports.at[:, 0],
            supports.at[:, 1],
            s=80,
            facecolors="none",
            edgecolors=style.BLACK,
            linewidths=1.0,
            label=f"support vectors ({supports.share.size})",
            zorder=4,
        )


def _frame(ax: Axes, rows: Matrix) -> None:
    """Limits with the same room on every side; lines that reach further are cut."""
    low, high = rows.min(axis=0), rows.max(axis=0)
    room = 0.06 * np.where(high > low, high - low, 1.0)
    ax.set_xlim(low[0] - room[0], high[0] + room[0])
    ax.set_ylim(low[1] - room[1], high[1] + room[1])


def _plane(X: Any, y: Any) -> Matrix:
    """Points in the plane, whose labels are in order."""
    rows = points(X)
    if rows.shape[1] != 2:
        msg = (
            f"X has {rows.shape[1]} features: these pictures are of the plane; choose "
            "two columns, or use maxmargin.plots.BoundaryDisplay"
        )
        raise InputError(msg)
    signs(y, rows.shape[0])
    return rows


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
