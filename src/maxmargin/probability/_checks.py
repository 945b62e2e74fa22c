"""Checks of scores, labels and weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from maxmargin.errors import InputError, InputTypeError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

MOST = 1e15  # rounding: largest weight, for float64 counts no further


class Sample(NamedTuple):
    """Scores with their labels and weights, without rows of weight 0."""

    scores: NDArray[np.float64]
    positive: NDArray[np.bool_]
    weight: NDArray[np.float64]


def checked_sample(
    scores: ArrayLike, positive: ArrayLike, weight: ArrayLike | None
) -> Sample:
    """Return finite scores, booleans, and finite weights that are not negative."""
    f = np.asarray(scores, dtype=np.float64)
    truth = np.asarray(positive)
    if truth.dtype != np.bool_:
        # Not converted: labels −1 and +1 are both true as booleans.
        msg = (
            f"positive has the type {truth.dtype}; it must be boolean, True where the "
            "row is of the positive class: give y == positive_class"
        )
        raise InputTypeError(msg)
    w = np.ones(f.shape) if weight is None else np.asarray(weight, dtype=np.float64)
    if f.ndim != 1 or f.shape != truth.shape or f.shape != w.shape:
        msg = (
            f"scores, positive and weight have the shapes {f.shape}, {truth.shape} and "
            f"{w.shape}; they must be one-dimensional, with one number a row"
        )
        raise InputError(msg)
    _all_of("score", f, np.isfinite(f), "finite: check what made the scores")
    _all_of("weight", w, (w >= 0.0) & (w <= MOST), f"a count from 0 to {MOST:g}")
    kept = w > 0.0
    if not kept.any():
        msg = (
            f"none of the {f.size} rows has a positive weight; a row counts as often as "
            "its weight says, so give at least one row a weight above 0"
        )
        raise InputError(msg)
    return Sample(f[kept], truth[kept], w[kept])


def checked_scores(scores: ArrayLike) -> NDArray[np.float64]:
    """Return scores; infinite ones are allowed, NaN is not."""
    f = np.asarray(scores, dtype=np.float64)
    _all_of("score", f, ~np.isnan(f), "a number: check what made the scores")
    return f


def checked_table(
    name: str, table: ArrayLike, low: float, high: float
) -> NDArray[np.float64]:
    """Return a float64 table with entries from ``low`` to ``high``."""
    values = np.asarray(table, dtype=np.float64)
    if values.ndim != 2:
        msg = (
            f"{name} has {values.ndim} dimension(s); it must have 2, rows by columns: "
            "give one row as table[None, :]"
        )
        raise InputError(msg)
    inside = (values >= low) & (values <= high)
    _all_of(f"entry of {name}", values, inside, f"from {low:g} to {high:g}")
    return values


def _all_of(
    name: str, values: NDArray[np.float64], good: NDArray[np.bool_], rule: str
) -> None:
    if not good.all():
        where = np.unravel_index(int(np.argmin(good)), good.shape)
        place = ", ".join(map(str, where))
        msg = f"{name} [{place}] is {float(values[where])!r}; it must be {rule}"
        raise InputError(msg)
