r"""How far a β is from optimal, and the intercept that goes with it.

β may rise where it is below its upper bound, at the price
:math:`F_i^\uparrow = F_i + \varepsilon` (:math:`F_i - \varepsilon` while β < 0), and fall
where it is above its lower bound, gaining :math:`F_i^\downarrow = F_i + \varepsilon`
(:math:`F_i - \varepsilon` unless β > 0). Optimality (KKT) reads: for every sum some
:math:`b` exists with :math:`F_i^\uparrow + b \ge 0` and :math:`F_i^\downarrow + b \le 0`
at its points. Hence the violation :math:`\max F^\downarrow - \min F^\uparrow`, LIBSVM's
stopping quantity, the worst over the sums; without a sum b is 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from maxmargin.errors import InputError
from maxmargin.problem.passes import prices
from maxmargin.problem.template import Model, Problem

if TYPE_CHECKING:
    from maxmargin._arrays import Vector


def scores(problem: Problem, beta: Vector, gradient: Vector) -> tuple[Vector, Vector]:
    """F↑ and F↓ of every point; +inf where β cannot rise, −inf where it cannot fall."""
    rise = fall = gradient
    if problem.epsilon > 0.0:
        rise = gradient + np.where(beta >= 0.0, problem.epsilon, -problem.epsilon)
        fall = gradient + np.where(beta > 0.0, problem.epsilon, -problem.epsilon)
    return (
        np.where(beta < problem.upper, rise, np.inf),
        np.where(beta > problem.lower, fall, -np.inf),
    )


def extremes(problem: Problem, up: Vector, low: Vector) -> list[tuple[float, float]]:
    """(Min of F↑, max of F↓) for every sum; of all points if there is none."""
    if len(problem.sums) < 2:
        return [(float(up.min(initial=np.inf)), float(low.max(initial=-np.inf)))]
    sides = [problem.side == side for side in (0, 1)]
    return [
        (float(up[side].min(initial=np.inf)), float(low[side].max(initial=-np.inf)))
        for side in sides
    ]


def violation(problem: Problem, beta: Vector, gradient: Vector) -> float:
    """Worst violation of the optimality conditions, never negative.

    With a sum: max F↓ − min F↑. Without one b is 0, so the two are measured against 0
    and the worse one counts.
    """
    ends = np.array(_ends(problem, beta, gradient))
    return worst_violation(ends, bool(problem.sums))


def worst_violation(ends: Vector, sums: bool) -> float:
    """The violation, from min of F↑ and max of F↓ of every sum; NaN where one is.

    Python's own ``max(0.0, nan)`` would be 0.
    """
    below, above = ends[:, 0], ends[:, 1]
    return float(np.max([0.0, *(above - below)] if sums else [0.0, *above, *-below]))


def _ends(problem: Problem, beta: Vector, gradient: Vector) -> list[list[float]]:
    """Of every sum: min of F↑, max of F↓, and of the free points sum of F and count."""
    found = np.empty((max(1, len(problem.sums)), 4))
    prices(
        gradient, beta, problem.lower, problem.upper, problem.epsilon, problem.side, found
    )
    ends: list[list[float]] = found.tolist()
    return ends


def imbalance(problem: Problem, beta: Vector) -> float:
    """How far the worst sum misses its value, relative to Σ|β|; 0 when β is 0."""
    if not problem.sums:
        return 0.0
    found = [float(beta.sum())]
    if len(problem.sums) == 2:
        found = [float(beta[problem.side == side].sum()) for side in (0, 1)]
    size = float(np.abs(beta).sum())
    missed = max(abs(one - want) for one, want in zip(found, problem.sums, strict=True))
    return missed / size if size > 0.0 else missed


def model_of(problem: Problem, beta: Vector, gradient: Vector) -> Model:
    r"""The model of β: its intercept, and the interval of all optimal intercepts.

    The multiplier of a sum is the mean of −F (with ±ε) over its free points, those
    strictly inside the box and away from the kink of |β|; with none, the midpoint of its
    interval. Where one end is open (all β at one bound), the finite end is taken.
    Without a sum the intercept is 0.

    For a hard margin that midpoint is S1's :math:`b^* = -\tfrac12[\min_{y=1} w\cdot x +
    \max_{y=-1} w\cdot x]`, which the notes print without the minus sign.
    """
    if not problem.sums:
        return Model(beta, gradient, 0.0, (0.0, 0.0))
    found = []
    for fmin, fmax, total, count in _ends(problem, beta, gradient):
        lo, hi = sorted((-fmin, -fmax))
        # Where β can move both ways at one price, that price is exactly −b.
        b = -total / count if count else _between(lo, hi)
        found.append((b, lo, hi))
    (b, lo, hi), (c, other_lo, other_hi) = found[0], found[-1]
    interval = (0.5 * (lo + other_lo), 0.5 * (hi + other_hi))
    return Model(beta, gradient, 0.5 * (b + c), interval, 0.5 * (b - c))


def _between(lo: float, hi: float) -> float:
    if np.isfinite(lo) and np.isfinite(hi):
        return 0.5 * (lo + hi)
    finite = [end for end in (lo, hi) if np.isfinite(end)]
    if not finite:
        msg = "every point has a zero box: no point can carry weight"
        raise InputError(msg)
    return finite[0]
