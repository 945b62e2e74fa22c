r"""The optimality conditions of the coefficients, in one form for every machine.

A coefficient :math:`\beta_i` that may rise costs :math:`F_i^\uparrow` per unit, one that
may fall gains :math:`F_i^\downarrow`. Points that share a sum can only trade with each
other, so the model is optimal when for each sum one number m (the intercept, or the
intercept ± ρ or ε) has :math:`F_i^\uparrow + m \ge 0` and
:math:`F_i^\downarrow + m \le 0` at all its points; what is missing is the violation
:math:`\max F^\downarrow - \min F^\uparrow`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from maxmargin._referee.certification import Certification, labels_of
from maxmargin.errors import Stop

if TYPE_CHECKING:
    from maxmargin._arrays import Flags, Index, Vector
    from maxmargin._referee.certification import Machine

BALANCE = 1e-10  # rounding: it leaves about 1e-15·√iterations in a sum
UNKNOWN = float("nan"), float("nan")


class Ends(NamedTuple):
    """The cheapest rise and the dearest fall among the points of one sum."""

    least: float
    most: float

    @classmethod
    def of(cls, rise: Vector, fall: Vector) -> Ends:
        least = float(rise.min(initial=np.inf))
        return cls(least, float(fall.max(initial=-np.inf)))

    @property
    def violation(self) -> float:
        return max(0.0, self.most - self.least)

    @property
    def interval(self) -> tuple[float, float]:
        """All m that satisfy every point; before the optimum, those in between."""
        lo, hi = sorted((-self.least, -self.most))
        return lo, hi


def prices(F: Vector, may_rise: Flags, may_fall: Flags) -> tuple[Vector, Vector]:
    """F↑ and F↓; infinite where a coefficient cannot move that way."""
    return np.where(may_rise, F, np.inf), np.where(may_fall, F, -np.inf)


def residuals(rise: Vector, fall: Vector, m: Vector | float) -> Vector:
    """How far every point misses its own condition."""
    return np.maximum(0.0, np.maximum(-(rise + m), fall + m))


def stray_of(m: float, interval: tuple[float, float]) -> float:
    """How far m lies outside an interval."""
    return max(0.0, interval[0] - m, m - interval[1])


def paid(C: Vector, slack: Vector) -> float:
    """ΣCξ, where an infinite price of no slack is nothing."""
    some = slack > 0.0
    return float(C[some] @ slack[some])


class Box(NamedTuple):
    """The size of every coefficient, its bound, and whether it is 0 or at the bound."""

    amount: Vector  # what must lie in [0, top]
    top: Vector
    used: Flags
    full: Flags
    excess: float

    @classmethod
    def of(cls, amount: Vector, top: Vector, unit: Vector, slop: float) -> Box:
        """Compare amounts with their bounds.

        An excess is measured in ``unit`` where that is positive and finite; within a
        relative ``slop`` of its bound an amount is at it.
        """
        biggest = max(1.0, float(np.abs(amount).max(initial=0.0)))
        scale = np.where(np.isfinite(unit) & (unit > 0.0), unit, biggest)
        worst = float((np.maximum(amount - top, -amount) / scale).max(initial=0.0))
        full = amount >= top * (1.0 - slop)
        return cls(amount, top, amount > 0.0, full, max(0.0, worst))


class Terms(NamedTuple):
    """The facts of a model that a verdict depends on."""

    machine: Machine
    tol: float
    criterion: str  # the figure that tol bounds
    slop: float  # rounding: relative, within which a coefficient is at its bound
    balance: float  # rounding: relative, by which a sum may be off
    unbounded: bool  # the loss is squared: every point that is used has slack


class Points(NamedTuple):
    """The figures of some rows of X."""

    rows: Index
    slack: Vector
    residual: Vector
    out: Flags | bool = False  # left out


class Level(NamedTuple):
    """ρ, ε or R, and the interval of its optimal values."""

    value: float
    interval: tuple[float, float] = UNKNOWN


_NO_LEVEL = Level(float("nan"))


def verdict(
    terms: Terms,
    box: Box,
    points: Points,
    *,
    primal: float,
    dual: float,
    violation: float,
    balance: float,
    bias_interval: tuple[float, float] = UNKNOWN,
    stray: float = 0.0,
    margin: float = float("nan"),
    level: Level = _NO_LEVEL,
    name: str = "",
) -> Certification:
    """Build the verdict from the figures of one problem."""
    gap, size = primal - dual, max(abs(primal), abs(dual))
    n_support = int(np.count_nonzero(box.amount))
    bound = box.used & box.full
    # With the squared hinge there is no bound: every used point has slack.
    rank = np.where(box.used, np.where(bound | terms.unbounded, 3, 2), 1)
    return Certification(
        primal=primal,
        dual=dual,
        gap=gap,
        relative_gap=np.inf if np.isinf(size) else gap / (size or 1.0),
        violation=violation,
        bias_interval=bias_interval,
        n_support=n_support,
        n_free=n_support - int(bound.sum()),
        n_bound=int(bound.sum()),
        stop=Stop.RECOMPUTED,
        tol=terms.tol,
        criterion=terms.criterion,
        balance=balance,
        name=name,
        machine=terms.machine.name,
        kind=terms.machine,
        slack=points.slack,
        residual=points.residual,
        label=labels_of(terms.machine.task, np.where(points.out, 0, rank)),
        index=points.rows,
        margin=margin,
        level=level.value,
        level_interval=level.interval,
        stray=stray,
        excess=box.excess,
        feasible=bool(box.excess <= terms.slop and balance <= terms.balance),
    )
