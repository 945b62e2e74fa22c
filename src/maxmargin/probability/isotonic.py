"""Isotonic regression: the non-decreasing m(f) that minimises Σ w (y − m(f))².

Pool adjacent violators (Ayer and others, "An empirical distribution function for sampling
with incomplete information", 1955): neighbours out of order are merged and take their
weighted mean, O(n) after sorting. Rows of one score are one point with their mean and the
sum of their weights, since a function of the score cannot distinguish them. Between the
points m is linear, beyond them constant (Zadrozny and Elkan, "Transforming classifier
scores into accurate multiclass probability estimates", KDD 2002).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.optimize import isotonic_regression

from maxmargin.probability._checks import checked_sample, checked_scores

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from maxmargin._arrays import Vector


class Isotonic(NamedTuple):
    """A non-decreasing function: linear between points, constant beyond them."""

    scores: Vector  # increasing
    values: Vector  # probabilities, non-decreasing

    def __call__(self, scores: ArrayLike) -> Vector:
        """Return probabilities of the positive class, for scores of any shape."""
        x, y = self
        f = np.clip(checked_scores(scores), x[0], x[-1])
        if x.size == 1:
            return np.full(f.shape, y[0])
        left = np.clip(np.searchsorted(x, f, side="right") - 1, 0, x.size - 2)
        begin, end, low, high = x[left], x[left + 1], y[left], y[left + 1]
        # np.interp can lose the order of values in rounding, and its slopes may overflow.
        # Here only the distance of two scores may; the distance of their halves does not.
        with np.errstate(over="ignore"):
            half = np.where(np.isinf(end - begin), 0.5, 1.0)
        share = (half * f - half * begin) / (half * end - half * begin)
        return np.asarray(np.minimum(low + share * (high - low), high))


def fit_isotonic(
    scores: ArrayLike, positive: ArrayLike, weight: ArrayLike | None = None
) -> Isotonic:
    """Fit the non-decreasing function of the score with the least squared error.

    Parameters
    ----------
    scores : array-like of shape (n,)
        Finite scores of rows, made by a machine that has not seen them.
    positive : array-like of bool, shape (n,)
        Which rows are of the positive class.
    weight : array-like of shape (n,), optional
        How often each row counts; 1 by default.

    Returns
    -------
    Isotonic
        Its points are the ends of the steps; it is constant if all rows have one class or
        one score.

    Examples
    --------
    >>> isotonic = fit_isotonic([1.0, 2.0, 3.0, 4.0], [False, True, False, True])
    >>> isotonic([0.0, 2.0, 2.5, 3.5]).tolist()
    [0.0, 0.5, 0.5, 0.75]
    """
    f, positive, w = checked_sample(scores, positive, weight)
    x, group = np.unique(f, return_inverse=True)
    total = np.bincount(group, weights=w)
    share = np.bincount(group, weights=np.where(positive, w, 0.0)) / total
    # Means of numbers in [0, 1] may leave it by a rounding error.
    y = np.clip(isotonic_regression(share, weights=total).x, 0.0, 1.0)
    y = np.maximum.accumulate(y)
    # The inside of a step is on the line between its ends.
    end = np.ones(x.size, dtype=np.bool_)
    end[1:-1] = (y[1:-1] != y[:-2]) | (y[1:-1] != y[2:])
    return Isotonic(x[end], y[end])
