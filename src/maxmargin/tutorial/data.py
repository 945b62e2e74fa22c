"""The tutorial's three examples: a quasi-linear problem, a non-linear but well-defined
one, and a slightly non-linear one with outliers and a validation part.

They are read from the files ``ex6data1.mat`` to ``ex6data3.mat``; without these, data of
the same shape and with the same lesson are made.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from maxmargin.errors import InputError
from maxmargin.tutorial._checks import checked_seed, signs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin._arrays import Matrix

    Labels = NDArray[np.int64]

ENVIRONMENT = "MAXMARGIN_DATA"


class Example(NamedTuple):
    """Points in the plane with their labels, and their source.

    Only example 3 has ``X_val`` and ``y_val``; elsewhere they are None.
    """

    X: Matrix
    y: Labels
    X_val: Matrix | None
    y_val: Labels | None
    source: str


def load_example(number: int, folder: str | os.PathLike[str] | None = None) -> Example:
    """Return example 1, 2 or 3 of the tutorial, from its file or made in place.

    Parameters
    ----------
    number : {1, 2, 3}
        Quasi-linear with an outlier; non-linear but clean; slightly non-linear with
        outliers, and a validation part.
    folder : path or None
        The folder of ``ex6data1.mat`` …; a missing file is an error. None looks in the
        folder named by the environment variable ``MAXMARGIN_DATA`` and in ``teaching``
        below it, and makes the data (:func:`made_example`) if there is no file either;
        ``source`` of the answer says where the data are from.

    Returns
    -------
    Example
        X, y (0 and 1), X_val, y_val, source.
    """
    _check_number(number)
    name = f"ex6data{int(number)}.mat"
    if folder is not None:
        path = Path(folder) / name
        if not path.is_file():
            msg = (
                f"there is no {name} in {folder}: give the folder that holds it, or "
                "folder=None for data made in place"
            )
            raise InputError(msg)
        return _read(path)
    if known := os.environ.get(ENVIRONMENT):
        for path in (Path(known) / name, Path(known) / "teaching" / name):
            if path.is_file():
                return _read(path)
    return made_example(number)


def _check_number(number: int) -> None:
    if number not in (1, 2, 3):
        msg = f"number={number!r}: the tutorial has examples 1, 2 and 3"
        raise InputError(msg)


def _read(path: Path) -> Example:
    from scipy.io import loadmat

    try:
        parts = loadmat(path)
    except (ValueError, NotImplementedError, OSError) as error:
        msg = f"{path} cannot be read as a MATLAB file ({error}); get the file anew"
        raise InputError(msg) from error
    X, y = _part(path, parts, "X", "y")
    if "Xval" not in parts:
        return Example(X, y, None, None, str(path))
    X_val, y_val = _part(path, parts, "Xval", "yval")
    return Example(X, y, X_val, y_val, str(path))


def _part(
    path: Path, parts: dict[str, Any], rows: str, labels: str
) -> tuple[Matrix, Labels]:
    missing = [key for key in (rows, labels) if key not in parts]
    if missing:
        there = ", ".join(key for key in parts if not key.startswith("__")) or "nothing"
        msg = f"{path} has no {' and no '.join(missing)}, but {there}; get the file anew"
        raise InputError(msg)
    X = np.ascontiguousarray(parts[rows], dtype=np.float64)
    y = signs(np.ravel(parts[labels]), X.shape[0], name=f"{labels} of {path}")
    return X, (y > 0.0).astype(np.int64)


def made_example(number: int, seed: int = 0) -> Example:
    """Make data of the same kind as example 1, 2 or 3.

    Parameters
    ----------
    number : {1, 2, 3}
        1: 51 points; a line separates all but the last one, and only a large C makes it
        separate that one too. 2: 400 points of two interleaved curved clusters, which no
        line separates. 3: 211 points, and 200 for validation, along a winding boundary,
        one in twenty on the wrong side of it.
    seed : int
        Seed of the random numbers.
    """
    _check_number(number)
    make = {1: _quasi_linear, 2: _interleaved, 3: _with_outliers}[number]
    return make(np.random.default_rng(checked_seed(seed)), f"made in place, seed {seed}")


def _quasi_linear(random: np.random.Generator, source: str) -> Example:
    """Make two clouds on either side of x₂ = 4.6 − 0.8·x₁, and one point beyond it."""
    along = random.uniform(0.6, 3.6, 50)
    positive = np.arange(50) < 20
    # At least 0.35 from the line, so that C alone decides about the last point.
    across = np.where(positive, 1.0, -1.0) * (0.35 + random.gamma(2.0, 0.25, 50))
    X = np.column_stack([along, 4.6 - 0.8 * along]) + across[:, None] * [0.62, 0.78]
    X = np.vstack([X, [0.1, 4.1]])
    y = np.append(positive, True).astype(np.int64)
    return Example(X, y, None, None, source)


def _interleaved(random: np.random.Generator, source: str) -> Example:
    """Make two half circles in [0, 1] × [0, 1] that reach into each other."""
    n = 200
    angle = random.uniform(0.0, np.pi, (2, n))
    radius = 0.28 + random.normal(0.0, 0.02, (2, n))
    upper = [0.36 + radius[0] * np.cos(angle[0]), 0.45 + radius[0] * np.sin(angle[0])]
    lower = [0.64 - radius[1] * np.cos(angle[1]), 0.55 - radius[1] * np.sin(angle[1])]
    X = np.hstack([upper, lower]).T
    y = np.repeat([0, 1], n)
    order = random.permutation(2 * n)
    return Example(np.ascontiguousarray(X[order]), y[order], None, None, source)


def _with_outliers(random: np.random.Generator, source: str) -> Example:
    """Make points about x₁ = −0.12 + 0.35·x₂ + 0.14·sin 9x₂, one label in 20 changed."""
    n, n_val = 211, 200
    X = random.uniform([-0.6, -0.65], [0.3, 0.57], (n + n_val, 2))
    left = X[:, 0] < -0.12 + 0.35 * X[:, 1] + 0.14 * np.sin(9.0 * X[:, 1])
    wrong = random.random(n + n_val) < 0.05
    y = (left ^ wrong).astype(np.int64)
    return Example(X[:n].copy(), y[:n], X[n:].copy(), y[n:], source)
