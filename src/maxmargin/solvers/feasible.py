"""A feasible β to start from, and the default limit of iterations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from maxmargin.errors import InputError

if TYPE_CHECKING:
    from maxmargin._arrays import Vector
    from maxmargin.problem import Problem, WarmStart

_ROUNDING = 1e-12  # rounding: |Σβ|/Σ|β| that a solver's own steps may leave


def default_limit(n: int) -> int:
    """Iterations after which a solver gives up, as in LIBSVM: 10⁷, or 100·n if larger."""
    return max(10_000_000, 100 * n)


def feasible(problem: Problem, warm: WarmStart | Vector | None) -> Vector:
    """Repair a given β so that it is in the box and has the right sums.

    For Σβ = 0 it begins at 0, and of a ``warm`` whose sum is more than rounding the
    heavier side is scaled down. Where a sum is not 0, β lies on one side of 0: what is
    too much is scaled down, what is missing is filled up, points with weight first.
    """
    warm = problem.warm_start(warm)
    if warm is None and problem.sums in ((), (0.0,)):
        return np.zeros(problem.n)
    given = np.zeros(problem.n) if warm is None else np.asarray(warm.beta, np.float64)
    if given.shape != (problem.n,):
        msg = f"warm has shape {given.shape}; this problem needs ({problem.n},)"
        raise InputError(msg)
    if not np.isfinite(given).all():
        msg = "warm has values that are not finite: give a β to start from, or None"
        raise InputError(msg)
    beta: Vector = np.clip(given, problem.lower, problem.upper)
    if not problem.sums:
        return beta
    if len(problem.sums) == 2:
        positive = problem.side == 0
        beta[positive] = _filled(beta[positive], problem.upper[positive], problem.sums[0])
        beta[~positive] = -_filled(
            -beta[~positive], -problem.lower[~positive], -problem.sums[1]
        )
        return beta
    if problem.sums[0] != 0.0:
        return _filled(beta, problem.upper, problem.sums[0])
    return _balanced(beta)


def _balanced(beta: Vector) -> Vector:
    """Scale the heavier sign down until Σβ = 0, which keeps every β inside its box."""
    rising, falling = float(beta[beta > 0].sum()), -float(beta[beta < 0].sum())
    if abs(rising - falling) <= _ROUNDING * (rising + falling):
        return beta
    if rising == 0.0 or falling == 0.0:
        return np.zeros_like(beta)
    if rising > falling:
        return np.where(beta > 0, beta * (falling / rising), beta)
    return np.where(beta < 0, beta * (rising / falling), beta)


def _filled(beta: Vector, top: Vector, total: float) -> Vector:
    """0 ≤ β ≤ top scaled down or filled up until Σβ = total."""
    have = float(beta.sum())
    if abs(have - total) <= _ROUNDING * total:
        return beta
    if have > total:
        return beta * (total / have)
    capacity = float(top.sum())
    if capacity < total * (1.0 - _ROUNDING):
        msg = f"the boxes hold {capacity:g} in all, and must add up to {total:g}"
        raise InputError(msg)
    order = np.argsort(beta == 0.0, kind="stable")
    room = (top - beta)[order]
    # not cumsum(room) − room, which loses small boxes beside a huge one
    before = np.concatenate([[0.0], np.cumsum(room)[:-1]])
    taken = np.clip(total - have - before, 0.0, room)
    filled = beta.copy()
    filled[order] = np.where(taken == room, top[order], beta[order] + taken)
    return filled
