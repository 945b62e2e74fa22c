r"""Losses of a classifier as functions of the margin :math:`z = y f(x)`.

========================  ==============================  =========================
name                      loss                            who minimises it
========================  ==============================  =========================
``zero_one``              1 if z ≤ 0, else 0              nobody: it is what is meant
``hinge``                 max(0, 1 − z)                   SVC
``squared_hinge``         max(0, 1 − z)²                  SVC(loss="squared_hinge")
``logistic``              ln(1 + e⁻ᶻ)                     logistic regression
``perceptron``            max(0, −z)                      the perceptron
``exponential``           e⁻ᶻ                             AdaBoost
========================  ==============================  =========================

Sources: S1 (the SVM's costs beside the logistic ones), S4 ("Relation to logistic
regression"). Hinge, squared hinge and exponential lie above the 0-1 loss everywhere, the
logistic one after division by ln 2. A margin of exactly 0 counts as an error, for it
names no side.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from maxmargin._arrays import Vector

__all__ = [
    "LOSSES",
    "exponential",
    "hinge",
    "logistic",
    "perceptron",
    "squared_hinge",
    "zero_one",
]


def zero_one(z: ArrayLike) -> Vector:
    """1 where z ≤ 0, else 0; NaN stays NaN."""
    z = np.asarray(z, np.float64)
    return _array(np.where(np.isnan(z), np.nan, np.where(z <= 0.0, 1.0, 0.0)))


def hinge(z: ArrayLike) -> Vector:
    """max(0, 1 − z): no cost beyond the margin, then proportional to the distance.

    The distance of a violating point to its margin is max(0, 1 − z)/‖w‖: in S1's cost
    of a violation the norm divides all of it, not z alone as printed.
    """
    return _array(np.maximum(0.0, 1.0 - np.asarray(z, np.float64)))


def squared_hinge(z: ArrayLike) -> Vector:
    """max(0, 1 − z)²: smooth at the margin, dearer for outliers."""
    with np.errstate(over="ignore"):  # infinity is the answer beyond 1e154
        return _array(np.square(hinge(z)))


def logistic(z: ArrayLike) -> Vector:
    """ln(1 + e⁻ᶻ), without overflow for z ≪ 0 or loss of digits for z ≫ 0."""
    with np.errstate(invalid="ignore"):  # NaN stays NaN, as everywhere here
        return _array(np.logaddexp(0.0, -np.asarray(z, np.float64)))


def perceptron(z: ArrayLike) -> Vector:
    """max(0, −z): the hinge without a margin."""
    return _array(np.maximum(0.0, 0.0 - np.asarray(z, np.float64)))


def exponential(z: ArrayLike) -> Vector:
    """e⁻ᶻ; infinity where that is beyond float64 (z < −709)."""
    with np.errstate(over="ignore"):
        return _array(np.exp(-np.asarray(z, np.float64)))


def _array(values: Any) -> Vector:
    """NumPy turns arrays without dimensions into scalars; here they stay arrays."""
    return np.asarray(values, np.float64)


LOSSES: dict[str, Callable[[ArrayLike], Vector]] = {
    "zero_one": zero_one,
    "hinge": hinge,
    "squared_hinge": squared_hinge,
    "logistic": logistic,
    "perceptron": perceptron,
    "exponential": exponential,
}
