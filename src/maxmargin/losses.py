r"""Losses of a classifier as functions of the margin :math:`m = y f(x)`.

========================  ==============================  =========================
name                      loss                            minimised by
========================  ==============================  =========================
``zero_one``              1 if m ≤ 0, else 0              no method: the goal itself
``hinge``                 max(0, 1 − m)                   SVC
``squared_hinge``         max(0, 1 − m)²                  SVC(loss="squared_hinge")
``logistic``              ln(1 + e⁻ᵐ)                     logistic regression
``perceptron``            max(0, −m)                      the perceptron
``exponential``           e⁻ᵐ                             AdaBoost
========================  ==============================  =========================

Each is one record (:class:`MarginLoss`): value, slope, curvature and conjugate. Solvers
of linear machines, certificates, the referee and the picture of losses all read it, so a
new loss is one record and one call of :func:`register`.

Sources: S1 (the SVM's costs beside the logistic ones), S4 ("Relation to logistic
regression"). Hinge, squared hinge and exponential lie above the 0-1 loss everywhere, the
logistic one after division by ln 2. A margin of exactly 0 counts as an error, for it
names no side.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from maxmargin.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from maxmargin._arrays import Vector

    Curve = Callable[[Vector], Vector]

__all__ = [
    "LOSSES",
    "Box",
    "MarginLoss",
    "exponential",
    "hinge",
    "logistic",
    "perceptron",
    "register",
    "squared_hinge",
    "zero_one",
]


class Box(NamedTuple):
    r"""A loss as the conjugate of a box, which exact solvers of the dual need.

    .. math:: \varphi(m) = \max_{0\le a\le \text{bound}} a(\text{offset} - m)
              - \tfrac12\,\text{ridge}\,a^2
    """

    offset: float
    bound: float
    ridge: float


@dataclass(frozen=True)
class MarginLoss:
    r"""One loss φ of the margin m.

    All functions work on arrays of float64, element by element.

    Parameters
    ----------
    name : str
        Its name in ``loss=``.
    value : callable
        φ(m).
    slope : callable or None
        φ'(m), never positive; at a kink any slope in between. None where φ is not convex.
    curvature : callable or None
        φ''(m); None where there is a kink, so that Newton's method is out.
    conjugate : callable or None
        :math:`\varphi^*(-a) = \sup_m(-am - \varphi(m))` for 0 ≤ a ≤ ``top``.
    top : float
        The largest a of a finite conjugate: the steepest slope.
    box : Box or None
        The loss as the conjugate of a box, if it is one.
    trains : bool
        Whether ``LinearSVC(loss=name)`` accepts it.
    """

    name: str
    value: Curve
    slope: Curve | None = None
    curvature: Curve | None = None
    conjugate: Curve | None = None
    top: float = math.inf
    box: Box | None = None
    trains: bool = True

    def __call__(self, z: ArrayLike) -> Vector:
        """φ of any margins, as an array; infinite beyond float64, NaN where z is."""
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(self.value(np.asarray(z, np.float64)), np.float64)

    def __repr__(self) -> str:
        return f"<loss {self.name}>"

    def __reduce__(self) -> tuple[Callable[[str], MarginLoss], tuple[str]]:
        # By name: problems and states that hold a loss are pickled and shipped.
        return _registered, (self.name,)

    @property
    def __name__(self) -> str:
        return self.name


LOSSES: dict[str, MarginLoss] = {}
"""Every loss by its name."""


def _registered(name: str) -> MarginLoss:
    if name not in LOSSES:
        msg = f"the loss {name!r} is not known: import the module that registers it first"
        raise InputError(msg)
    return LOSSES[name]


def register(loss: MarginLoss) -> MarginLoss:
    """Add a loss; the same name again is refused unless it is the same record."""
    if LOSSES.setdefault(loss.name, loss) is not loss:
        msg = f"loss={loss.name!r}: there is a loss of this name already"
        raise InputError(msg)
    return loss


zero_one = register(
    MarginLoss(
        "zero_one",
        value=lambda m: np.where(np.isnan(m), np.nan, np.where(m <= 0.0, 1.0, 0.0)),
        trains=False,
    )
)
"""1 where m ≤ 0, else 0; NaN stays NaN."""

hinge = register(
    MarginLoss(
        "hinge",
        value=lambda m: np.maximum(0.0, 1.0 - m),
        slope=lambda m: np.where(m < 1.0, -1.0, 0.0),
        conjugate=lambda a: -a,
        top=1.0,
        box=Box(offset=1.0, bound=1.0, ridge=0.0),
    )
)
"""max(0, 1 − m): no cost beyond the margin, then proportional to the distance.

The distance of a violating point to its margin is max(0, 1 − m)/‖w‖: in S1's cost of a
violation the norm divides all of it, not m alone as printed.
"""

squared_hinge = register(
    MarginLoss(
        "squared_hinge",
        value=lambda m: np.square(np.maximum(0.0, 1.0 - m)),
        slope=lambda m: -2.0 * np.maximum(0.0, 1.0 - m),
        curvature=lambda m: np.where(m < 1.0, 2.0, 0.0),
        conjugate=lambda a: 0.25 * a * a - a,
        box=Box(offset=1.0, bound=math.inf, ridge=0.5),
    )
)
"""max(0, 1 − m)²: smooth at the margin, dearer for outliers."""


def _sigmoid(m: Vector) -> Vector:
    """1/(1 + e⁻ᵐ), without overflow."""
    tail = np.exp(-np.abs(m))
    return np.where(m >= 0.0, 1.0, tail) / (1.0 + tail)


def _entropy(a: Vector) -> Vector:
    """a·ln a, 0 at 0."""
    return a * np.log(np.where(a > 0.0, a, 1.0))


logistic = register(
    MarginLoss(
        "logistic",
        value=lambda m: np.logaddexp(0.0, -m),
        slope=lambda m: -_sigmoid(-m),
        curvature=lambda m: _sigmoid(m) * _sigmoid(-m),
        conjugate=lambda a: _entropy(a) + _entropy(1.0 - a),
        top=1.0,
        trains=False,
    )
)
"""ln(1 + e⁻ᵐ), without overflow for m ≪ 0 or loss of digits for m ≫ 0."""

perceptron = register(
    MarginLoss(
        "perceptron",
        value=lambda m: np.maximum(0.0, 0.0 - m),
        slope=lambda m: np.where(m < 0.0, -1.0, 0.0),
        conjugate=lambda a: 0.0 * a,
        top=1.0,
        box=Box(offset=0.0, bound=1.0, ridge=0.0),
        trains=False,
    )
)
"""max(0, −m): the hinge without a margin."""

exponential = register(
    MarginLoss(
        "exponential",
        value=lambda m: np.exp(-m),
        slope=lambda m: -np.exp(-m),
        curvature=lambda m: np.exp(-m),
        conjugate=lambda a: _entropy(a) - a,
        trains=False,
    )
)
"""e⁻ᵐ; infinity where that is beyond float64 (m < −709)."""
