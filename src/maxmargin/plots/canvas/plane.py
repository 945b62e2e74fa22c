r"""The plane in which a machine of many features is drawn.

A point of the picture (s, t) stands for the row :math:`c + s\,u + t\,v`, and a row x is
drawn at :math:`\bigl(u\cdot(x - c),\ v\cdot(x - c)\bigr)`, where u and v are two features
or the two directions in which the rows vary most (K. Pearson, "On lines and planes of
closest fit to systems of points in space", Philosophical Magazine 2, 1901). Rows are
projected onto the plane; the decision value of a row is not that of its projection.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from maxmargin.errors import InputError, InputTypeError

if TYPE_CHECKING:
    from maxmargin._arrays import Table, Vector

LARGEST = 20_000_000  # policy: larger sparse tables are not made dense for a picture
MARGIN = 0.08  # empty border around the points, as a share of their width


class Plane(NamedTuple):
    """Centre and two directions of a plane, and the texts of its axes."""

    centre: Vector
    axes: Table  # of shape (2, n_features), orthonormal
    labels: tuple[str, str]
    title: str

    def onto(self, X: Any) -> Table:
        """Return the places of rows in the picture, of shape (n, 2)."""
        # The centre is projected by itself, so that sparse rows stay sparse.
        flat: Table = np.asarray(X @ self.axes.T) - self.axes @ self.centre
        return flat

    def rows(self, at: Table) -> Table:
        """Return the rows that places in the picture stand for."""
        rows: Table = self.centre + at @ self.axes
        return rows


def as_table(X: Any) -> Any:
    """Return X as numbers: CSR stays, frames and lists become an array."""
    if sparse.issparse(X):
        return X.tocsr()
    try:
        table = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        msg = "X is not a table of numbers: only machines of vectors can be drawn"
        raise InputTypeError(msg) from error
    if table.ndim != 2:
        msg = f"X has {table.ndim} dimensions: give a table, one row a point"
        raise InputError(msg)
    return table


def names_of(machine: Any, X: Any, n_features: int) -> list[str] | None:
    """Return the names of the columns, if the machine or X has any."""
    names = getattr(machine, "feature_names_in_", None)
    if names is None:
        names = getattr(X, "columns", None)
    if names is None or len(names) != n_features:
        return None
    return [str(name) for name in names]


def choose_plane(
    X: Any,
    plane: Sequence[int | str] | None,
    *,
    rest: str = "mean",
    names: list[str] | None = None,
) -> Plane:
    """Return the plane of two features, or of the two principal axes of X.

    ``plane`` names two features, and ``rest`` says where the others are held: at their
    ``"mean"`` or ``"median"``. None takes both features if there are two, or else the
    principal axes. ``names`` are those of all features.
    """
    n, width = X.shape
    if width < 2:
        msg = f"X has {width} feature: a boundary is drawn in the plane of two"
        raise InputError(msg)
    if n < 1:
        msg = "X has no rows: give the points whose surroundings are to be drawn"
        raise InputError(msg)
    if rest not in ("mean", "median"):
        msg = f"rest={rest!r}: the other features are held at their 'mean' or 'median'"
        raise InputError(msg)
    if plane is None and width > 2:
        return _principal(_dense(X))
    i, j = (0, 1) if plane is None else _features(plane, width, names)
    if rest == "mean":
        centre = np.array(X.mean(axis=0), dtype=np.float64).ravel()
    else:
        centre = np.median(_dense(X), axis=0)
    axes = np.zeros((2, width))
    axes[0, i] = axes[1, j] = 1.0
    centre[[i, j]] = 0.0  # the two features keep their own scales, to the last digit
    first, second = (
        (f"feature {i}", f"feature {j}") if names is None else (names[i], names[j])
    )
    title = ""
    if width > 2:
        both = f"features {i} and {j}" if names is None else f"{first} and {second}"
        title = f"plane of {both}, others at their {rest}"
    return Plane(centre, axes, (first, second), title)


def grid_of(at: Table, grid_resolution: int) -> tuple[Table, Table, Table]:
    """Return a grid around places of the picture, with so many points along either axis.

    The first two tables are those of ``numpy.meshgrid``; the third holds the same points,
    one a row.
    """
    if not isinstance(grid_resolution, Integral) or grid_resolution < 2:
        msg = f"grid_resolution={grid_resolution!r}: give an integer of at least 2"
        raise InputError(msg)
    low, high = at.min(axis=0), at.max(axis=0)
    width = np.where(high > low, high - low, 1.0)
    low, high = low - MARGIN * width, high + MARGIN * width
    sides = [np.linspace(low[k], high[k], int(grid_resolution)) for k in range(2)]
    xx0, xx1 = np.meshgrid(*sides)
    return xx0, xx1, np.column_stack([xx0.ravel(), xx1.ravel()])


def _principal(X: Table) -> Plane:
    centre = X.mean(axis=0)
    _, sizes, directions = np.linalg.svd(X - centre, full_matrices=False)
    axes = np.zeros((2, X.shape[1]))
    axes[: min(2, len(directions))] = directions[:2]
    if len(directions) < 2:  # one row has no directions of its own: any other will do
        axes[1, int(np.argmin(np.abs(axes[0])))] = 1.0
        axes[1] -= (axes[1] @ axes[0]) * axes[0]
        axes[1] /= np.linalg.norm(axes[1])
    # The sign of an axis means nothing: the largest entry is made positive.
    axes *= np.sign(axes[[0, 1], np.abs(axes).argmax(axis=1)])[:, None]
    parts = np.append(sizes**2, 0.0)  # one row has one singular value
    first, second = 100.0 * parts[:2] / (float(parts.sum()) or 1.0)
    labels = f"principal axis 1 ({first:.0f} %)", f"principal axis 2 ({second:.0f} %)"
    title = f"first two principal axes, {first + second:.0f} % of the variance"
    return Plane(centre, axes, labels, title)


def _features(
    plane: Sequence[int | str], width: int, names: list[str] | None
) -> tuple[int, int]:
    """Return the numbers of two different columns."""
    given = list(plane) if isinstance(plane, Sequence | np.ndarray) else [plane]
    if isinstance(plane, str) or len(given) != 2:
        msg = f"plane={plane!r}: give two features, such as plane=(0, 1)"
        raise InputError(msg)
    found = []
    for one in given:
        if isinstance(one, str) and names is not None and one in names:
            found.append(names.index(one))
        elif isinstance(one, Integral) and -width <= one < width:
            found.append(int(one) % width)
        else:
            known = "" if names is None else f" or one of {', '.join(names[:20])}"
            msg = f"plane={plane!r}: a feature is a number from 0 to {width - 1}{known}"
            raise InputError(msg)
    if found[0] == found[1]:
        msg = f"plane={plane!r}: the two features must differ"
        raise InputError(msg)
    return found[0], found[1]


def _dense(X: Any) -> Table:
    n, width = X.shape
    if sparse.issparse(X) and n * width > LARGEST:
        msg = (
            f"principal axes and medians need X as a dense table, and {n:,} × {width:,} "
            f"is more than {LARGEST:,} entries: give plane=(i, j) with rest='mean', or "
            "fewer rows"
        )
        raise InputError(msg)
    return np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
