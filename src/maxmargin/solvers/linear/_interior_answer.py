"""The model of an interior point: β feasible, and at ends of its boxes where possible.

Inside their boxes all β are support vectors. Those that are nearly at an end are put
there if that raises the dual, and Σβ = 0 is made exact for a free intercept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from maxmargin.problem import LinearModel, LinearProblem
from maxmargin.solvers.linear._in_play import Passes

if TYPE_CHECKING:
    from maxmargin._arrays import Vector
    from maxmargin.solvers.linear._in_play import Play

_NEAR = (0.0, 1e-2, 1e-4, 1e-6)  # of the box: where β may be put to its end
_ROUNDING = 1e-12  # |Σβ|/Σ|β| that is no imbalance


def counted(problem: LinearProblem) -> Vector:
    """Which entries of w the penalty counts: 1, but 0 for a free intercept."""
    counts = np.ones(problem.design.width + problem.free)
    if problem.free:
        counts[-1] = 0.0
    return counts


def answer(
    problem: LinearProblem, play: Play, w: Vector, pull: Vector, rest: Vector
) -> LinearModel:
    """The model of the rows in play and of the ``rest``, whose β is given.

    A free intercept is the last entry of w, and Σβ that of X'β, ``pull``.
    """
    design = problem.design
    beta, bias = rest.copy(), 0.0
    beta[play.at[: play.m]] = _placed(problem, play, pull, float(rest.sum()))
    w = w.copy()
    if problem.free:
        w, bias = w[:-1], float(w[-1])
        beta = _scaled(beta)
    if not beta.any():
        return _without(problem, bias)
    outputs = design.times(w)
    if problem.free:
        outputs += bias
    elif design.scaling:
        bias = design.scaling * float(w[-1])
    return LinearModel(w, bias, beta, outputs, design.back(beta))


def _placed(problem: LinearProblem, play: Play, pull: Vector, others: float) -> Vector:
    """β of the rows in play: of some ways to put it to its ends, that of largest dual."""
    at, now, passes = play.at[: play.m], play.beta(), Passes(problem, play)
    lower, upper, p = problem.lower[at], problem.upper[at], problem.p[at]
    found, best = now, -np.inf
    for near in _NEAR:
        put = np.clip(play.ends(near), lower, upper)
        if problem.free:
            put = _balanced(put, others, lower, upper)
        moved = pull + passes.back(at, put - now)
        linear = float(p @ put) + problem.epsilon * float(np.abs(put).sum())
        dual = -0.5 * float((counted(problem) * moved) @ moved) - linear
        if dual > best:
            found, best = put, dual
    return found


def _without(problem: LinearProblem, bias: float) -> LinearModel:
    """The model of β = 0, whose dual is 0, and its primal with an exact intercept."""
    nothing = np.zeros(problem.design.width)
    kinks = -np.concatenate([problem.p - problem.epsilon, problem.p + problem.epsilon])
    nearest = float(kinks[np.abs(kinks - bias).argmin()]) if problem.n else 0.0
    models = [
        LinearModel(nothing, b, np.zeros(problem.n), np.full(problem.n, b), nothing)
        for b in ((bias, nearest) if problem.free else (0.0,))
    ]
    return min(models, key=lambda model: problem.objective(model).primal)


def _balanced(beta: Vector, others: float, lower: Vector, upper: Vector) -> Vector:
    """Σβ = −others, by entries inside their boxes if they have room for it."""
    excess = float(beta.sum()) + others
    ends = lower if excess > 0.0 else upper
    room = np.where((beta > lower) & (beta < upper), np.abs(beta - ends), 0.0)
    total = float(room.sum())
    if total <= abs(excess):
        return beta
    even: Vector = np.clip(beta - (excess / total) * room, lower, upper)
    return even


def _scaled(beta: Vector) -> Vector:
    """Σβ = 0, by less of the heavier sign; rounding is left as it is."""
    rise, fall = float(beta[beta > 0.0].sum()), -float(beta[beta < 0.0].sum())
    if abs(rise - fall) <= _ROUNDING * (rise + fall):
        return beta
    heavy = beta > 0.0 if rise > fall else beta < 0.0
    even: Vector = np.where(heavy, beta * (min(rise, fall) / max(rise, fall)), beta)
    return even
