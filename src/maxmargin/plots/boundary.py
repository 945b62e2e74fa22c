r"""The boundary of a machine in the plane, its margins, points and support vectors.

.. math:: f(x) = \sum_i \beta_i k(x_i, x) + b

is drawn as filled contours on a grid, with the boundary f = 0 (solid) and the margins
f = ±1 (dashed). Every support vector has a ring whose area grows with α: area = that of
a point + a constant · α/C. A circle is free, a diamond at its bound, and a cross marks
one that is on the wrong side.

Cost: one call of ``decision_function`` (``predict`` where there are several classes) for
grid_resolution² rows, 40,000 by default.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import is_outlier_detector

from maxmargin.plots.canvas.marks import (
    RINGS,
    boundary_entry,
    draw_points,
    draw_supports,
    margins_entry,
    scale_for,
    support_entries,
)
from maxmargin.plots.canvas.plane import as_table, choose_plane, grid_of, names_of
from maxmargin.plots.canvas.response import check_drawable, decided, like, response
from maxmargin.plots.canvas.style import (
    BLACK,
    CLASSES,
    cycled,
    diverging,
    figure_and_axes,
    tint,
)
from maxmargin.plots.canvas.support import innermost, support_rows, supports_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from maxmargin._arrays import Table
    from maxmargin.plots.canvas.support import Supports

SHADES = 8  # about as many levels of shade on either side of the boundary


@dataclass(kw_only=True, eq=False, repr=False)
class BoundaryDisplay:
    """Picture of a decision function in the plane.

    :meth:`from_estimator` draws a fitted machine; the constructor takes values computed
    elsewhere, such as those of a solver's model in the middle of its run.

    Parameters
    ----------
    xx0, xx1 : ndarray of shape (r, r)
        Coordinates of a grid, as of ``numpy.meshgrid``.
    response : ndarray of shape (r, r)
        Decision values on the grid; with ``regions=True`` numbers of classes.
    regions : bool
        Whether ``response`` holds classes.
    points : ndarray of shape (n, 2) or None
        Points to draw.
    labels : array-like of shape (n,) or None
        Their labels; each has a marker of its own.
    classes : array-like or None
        All labels, in the order of colours; those of ``labels`` by default.
    supports : Supports or None
        Support vectors: place, α/C, whether at bound, whether on the wrong side.
    margins : tuple of float
        Levels of the dashed lines.
    top : float or None
        Decision value of the strongest shade; None for one that suits ``response``.
    axis_labels : tuple of str
        Texts of the two axes.
    title : str
        Text above the picture: the plane.
    names : sequence of str or None
        Names of the labels in the legend.
    wrong : str
        The legend's words for support vectors beyond the boundary.

    Attributes
    ----------
    figure_, ax_ : Figure, Axes
        Where it was drawn.
    surface_ : QuadContourSet
        Filled contours of the decision value; a ``QuadMesh`` for several classes.
    boundary_, margins_ : QuadContourSet or None
        The lines.
    points_ : list of PathCollection
        The points, a collection for each label.
    support_ : dict of PathCollection
        ``"free"``, ``"bound"`` and ``"wrong"``; the wrong ones have a ring too.
    scale_ : float
        Factor of the areas of all markers: less than 1 in a crowd.
    """

    xx0: Table
    xx1: Table
    response: Table
    regions: bool = False
    points: Table | None = None
    labels: Any = None
    classes: Any = None
    supports: Supports | None = None
    margins: tuple[float, ...] = (-1.0, 1.0)
    top: float | None = None
    axis_labels: tuple[str, str] = ("", "")
    title: str = ""
    names: Sequence[str] | None = None
    wrong: str = "wrong side"

    @classmethod
    def from_estimator(
        cls,
        machine: Any,
        X: Any,
        y: Any = None,
        *,
        plane: Sequence[int | str] | None = None,
        rest: str = "mean",
        grid_resolution: int = 200,
        sample_weight: Any = None,
        ax: Axes | None = None,
        **options: Any,
    ) -> Self:
        """Draw a fitted machine.

        Parameters
        ----------
        machine : estimator
            A fitted classifier or detector of outliers of maxmargin or scikit-learn, or
            a pipeline that ends in one. Support vectors are drawn where it has some (in
            a pipeline: if X is that of the fit).
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Points to draw; the picture covers their range.
        y : array-like of shape (n_samples,) or None
            Their labels.
        plane : two feature numbers or names, or None
            The plane that is drawn of more than two features: that of these two, or by
            default that of the first two principal axes of X.
        rest : {'mean', 'median'}, default='mean'
            Value of the other features, if ``plane`` is given.
        grid_resolution : int, default=200
            Points of the grid along either axis.
        sample_weight : array-like or None
            The weights of the fit, if any: the bound of α is C times them.
        ax : matplotlib Axes or None
            Where to draw; None for a figure of its own.
        **options
            For :meth:`plot`.
        """
        core = innermost(machine)
        check_drawable(machine, core)
        table = as_table(X)
        names = names_of(machine, X, table.shape[1])
        chosen = choose_plane(table, plane, rest=rest, names=names)
        at = chosen.onto(table)
        rows = support_rows(machine, table)
        rings = np.empty((0, 2)) if rows is None else chosen.onto(rows)
        xx0, xx1, places = grid_of(np.vstack([at, rings]), grid_resolution)
        values, regions = response(machine, like(X, chosen.rows(places)))
        supports = None
        if rows is not None and len(rings):
            side = decided(machine, like(X, rows), regions)
            supports = supports_of(core, rings, side, sample_weight)
        outliers = is_outlier_detector(machine)
        labels = y
        if y is None and outliers:
            labels = machine.predict(X)
        display = cls(
            xx0=xx0,
            xx1=xx1,
            response=values.reshape(xx0.shape),
            regions=regions,
            points=at,
            labels=None if labels is None else np.asarray(labels),
            classes=np.array([-1, 1]) if outliers else np.asarray(machine.classes_),
            supports=supports,
            # ±1 is the margin of machines with support vectors, and of nothing else
            margins=() if outliers or rows is None else (-1.0, 1.0),
            axis_labels=chosen.labels,
            title=chosen.title,
            names=("outlier", "inlier") if outliers and y is None else None,
            wrong="outside" if outliers else "wrong side",
        )
        return display.plot(ax=ax, **options)

    def plot(
        self, ax: Axes | None = None, *, colorbar: bool | None = None, key: bool = True
    ) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes or None
            Where; None for a figure of its own.
        colorbar : bool or None
            Whether to draw a colour bar of the decision value; None does in a figure of
            its own.
        key : bool
            Whether to explain the markers, beside a figure of its own or within ``ax``.
        """
        own = ax is None
        self.figure_, self.ax_ = figure_and_axes(ax, figsize=(7.6, 4.8))
        self.surface_: Any = None
        self.boundary_: Any = None
        self.margins_: Any = None
        if self.regions:
            self._draw_regions()
        else:
            self._draw_decision()
            if own if colorbar is None else colorbar:
                self._draw_colorbar()
        self._draw_marks()
        self.ax_.set(
            xlabel=self.axis_labels[0],
            ylabel=self.axis_labels[1],
            xlim=(float(self.xx0.min()), float(self.xx0.max())),
            ylim=(float(self.xx1.min()), float(self.xx1.max())),
        )
        if self.title:
            self.ax_.set_title(self.title, fontsize="medium")
        if key:
            self._explain(own)
        return self

    # --- parts of the picture -------------------------------------------------------

    def _draw_decision(self) -> None:
        top = shade_top(self.response, self.margins) if self.top is None else self.top
        step = _round(top / SHADES)
        steps = np.ceil(top / step)
        self.surface_ = self.ax_.contourf(
            self.xx0,
            self.xx1,
            self.response,
            levels=step * np.arange(-steps, steps + 1.0),
            cmap=diverging(),
            extend="both",
            zorder=0,
        )
        low, high = float(self.response.min()), float(self.response.max())
        if low < 0.0 < high:  # else there is no such line, and matplotlib would warn
            self.boundary_ = self._lines([0.0], "-", 2.0)
        shown = [level for level in self.margins if low < level < high]
        if shown:
            self.margins_ = self._lines(shown, "--", 1.2)

    def _draw_colorbar(self) -> None:
        levels = self.surface_.levels
        ticks = levels[len(levels) // 2 % 2 :: 2]  # 0 has a tick, and every other level
        bar = self.figure_.colorbar(self.surface_, ax=self.ax_, pad=0.02, ticks=ticks)
        bar.set_label("decision value f")

    def _draw_regions(self) -> None:
        from matplotlib.colors import ListedColormap

        count = len(self._classes())
        shades = ListedColormap([tint(cycled(CLASSES, k)[0], k) for k in range(count)])
        self.surface_ = self.ax_.pcolormesh(
            self.xx0,
            self.xx1,
            self.response,
            cmap=shades,
            vmin=-0.5,
            vmax=count - 0.5,
            shading="nearest",
            zorder=0,
            rasterized=True,
        )
        for k in range(count):
            # One class against all others: between 0 and 2 there is no region of 1.
            own = (self.response == k).astype(np.float64)
            if 0.0 < own.mean() < 1.0:
                self.boundary_ = self.ax_.contour(
                    self.xx0, self.xx1, own, levels=[0.5], colors=BLACK, linewidths=1.2
                )

    def _draw_marks(self) -> None:
        """Draw the points and the support vectors."""
        self.points_: list[Any] = []
        self.support_: dict[str, Any] = {}
        self.scale_ = scale_for(0 if self.points is None else len(self.points))
        if self.points is not None:
            self.points_ = draw_points(
                self.ax_,
                np.asarray(self.points),
                None if self.labels is None else np.asarray(self.labels),
                self._classes().tolist(),
                names=self.names,
                scale=self.scale_,
            )
        if self.supports is not None:
            self.support_ = draw_supports(self.ax_, self.supports, scale=self.scale_)

    def _lines(self, levels: list[float], style: str, width: float) -> Any:
        return self.ax_.contour(
            self.xx0,
            self.xx1,
            self.response,
            levels=levels,
            colors=BLACK,
            linestyles=style,
            linewidths=width,
            zorder=2,
        )

    def _classes(self) -> NDArray[Any]:
        known = [] if self.classes is None else list(np.asarray(self.classes))
        if self.labels is not None:
            known += [one for one in np.unique(self.labels) if one not in known]
        return np.asarray(known)

    def _explain(self, own: bool) -> None:
        """Draw the legend: beside the colour bar of a figure of its own, or inside."""
        handles = [*self.points_, *support_entries(self.support_, wrong=self.wrong)]
        if self.boundary_ is not None:
            words = ("boundary",) if self.regions else ()
            handles.append(boundary_entry(*words))
        if self.margins_ is not None:
            handles.append(margins_entry())
        options: dict[str, Any] = {"fontsize": "small", "title_fontsize": "small"}
        if self.support_:
            options["title"] = RINGS
        if own:
            self.figure_.legend(handles=handles, loc="outside right upper", **options)
        else:
            self.ax_.legend(handles=handles, framealpha=0.9, **options)


def shade_top(response: Table, margins: tuple[float, ...] = (-1.0, 1.0)) -> float:
    """Return the decision value of the strongest shade: a margin, or a quantile of |f|.

    With the largest |f|, a few far values would leave one shade for all others.
    """
    usual = float(np.quantile(np.abs(response), 0.9))
    return float(max(usual, *np.abs(margins), 1e-300))


def _round(step: float) -> float:
    """Round up to 1, 2, 2.5 or 5 times a power of ten."""
    power = 10.0 ** np.floor(np.log10(step))
    return float(next(f * power for f in (1.0, 2.0, 2.5, 5.0, 10.0) if f * power >= step))
