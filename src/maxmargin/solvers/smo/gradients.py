"""Gradients of the working-set solver: updated, computed anew, verified.

Each is a sum over columns of K, done in slices: ``fresh`` is the gradient under
construction of the points ``targets``, and ``cursor`` of the ``pending`` columns have
gone into it. In the phase FOLD a column is multiplied by what its β has changed since the
gradient in scope was exact, otherwise by β itself. Points with a known new gradient (the
members of W, or those in scope until now) are ``given`` and cost no kernel value.

Verification: a gradient accumulated from float32 kernel values is wrong by some drift. It
matters for two claims: that the violation is at most tol, which a few points near the
extremes decide, and that primal and dual are what the certificate says, for which the
support vectors count (points beyond the margin without weight add nothing to either).
Only these are computed again in float64.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from maxmargin.problem import dual_value, extremes, scores
from maxmargin.solvers.smo.shrinking import scope_of
from maxmargin.solvers.smo.state import Phase

if TYPE_CHECKING:
    from maxmargin._arrays import Index, Vector
    from maxmargin.problem import Problem
    from maxmargin.solvers.smo.state import State

NO_POINTS = np.empty(0, np.intp), np.empty(0)  # no gradient is given
_SHARP = 0.1  # policy: share of tol the error allowed in W's own gradients
_PANELS = 256  # policy: columns of a kernel product; fewer fill tiles badly
_WITNESSES = 16  # policy: support vectors that are verified in any case
_VAGUE = 1e-6  # policy: relative error of the objective that is not accepted


def bring_up(problem: Problem, state: State, given: Index, gradient: Vector) -> None:
    """Begin to add the changes of β to the gradients in scope.

    ``gradient`` is the new one of the points ``given``, all of them in scope.
    """
    scope = scope_of(problem, state)
    unknown = np.ones(scope.points.size, bool)
    unknown[scope.place[given]] = False
    state.given, state.given_gradient = given.copy(), gradient.copy()
    state.targets = scope.points[unknown]
    state.pending = np.flatnonzero(state.beta != scope.applied)
    state.fresh[: state.targets.size] = scope.gradient[unknown]
    state.idle = state.pending.size == 0
    state.phase, state.cursor = Phase.FOLD, 0


def sharp(state: State, tol: float) -> bool:
    """Whether W's own gradients, sums of all its steps, are as good as computed ones.

    Each step rounds them, relative to their distance from the centre; the errors of many
    add up like their square root. Where W is all points, computed ones are needed.
    """
    if state.complete:
        return False
    away = np.abs(state.local[: state.size] - state.centre).max(initial=0.0)
    steps = state.iterations - state.began
    ulp = float(np.finfo(state.dtype).eps) / 2.0
    return bool(ulp * away * np.sqrt(steps) <= _SHARP * tol)


def begin_anew(problem: Problem, state: State) -> None:
    """Begin the gradients of all points from nothing."""
    state.focus = None
    state.given, state.given_gradient = NO_POINTS
    state.targets = np.arange(problem.n, dtype=np.intp)
    state.pending = np.flatnonzero(state.beta)
    state.fresh[:] = problem.p
    state.phase, state.cursor = Phase.REFRESH, 0


def look_again(problem: Problem, state: State, targets: Index) -> None:
    """Begin the gradients of these points anew, in float64, as far as not yet done."""
    targets = targets[~state.known[targets]]
    state.targets, state.pending = targets, np.flatnonzero(state.beta)
    state.fresh[: targets.size] = (
        problem.p[targets] + problem.ridge[targets] * state.beta[targets]
    )
    state.phase, state.cursor = Phase.VERIFY, 0


def add_columns(problem: Problem, state: State, operations: int) -> None:
    """Add about as many of the pending columns as these operations allow."""
    cost = max(1, state.targets.size) * max(1.0, problem.gram.cost)
    wide = max(_PANELS, int(operations / cost) // _PANELS * _PANELS)
    some = state.pending[state.cursor : state.cursor + wide]
    factor, dtype = state.beta[some], np.dtype(np.float64)
    if state.phase == Phase.FOLD:
        # Only steps are small enough for float32; a whole gradient is not.
        applied = state.applied if state.focus is None else state.focus.applied
        factor, dtype = factor - applied[some], state.dtype
    problem.gram.apply(state.targets, some, factor, state.fresh, dtype)
    state.cursor += some.size


def settle(problem: Problem, state: State) -> None:
    """All columns are in: ``fresh`` becomes the gradient in scope."""
    scope = scope_of(problem, state)
    change = state.beta
    if state.phase == Phase.FOLD:
        change = state.beta - scope.applied
    points = state.targets
    scope.gradient[scope.place[points]] = (
        state.fresh[: points.size] + problem.ridge[points] * change[points]
    )
    scope.gradient[scope.place[state.given]] = state.given_gradient
    scope.applied[:] = state.beta
    state.phase = Phase.SELECT


def first_slack(tol: float, F: Vector) -> float:
    """A distance well over the rounding error that F usually has."""
    return tol + 1e-5 * (1.0 + float(np.abs(F).max(initial=0.0)))


def deciding_points(problem: Problem, beta: Vector, F: Vector, slack: float) -> Index:
    """Points whose price of rising or falling is within ``slack`` of violating.

    With a sum it is compared with the extremes of the other kind, without one with 0.
    Some support vectors are always among them: where no point is near, a wrong F would
    go unnoticed.
    """
    up, low = scores(problem, beta, F)
    if problem.sums:
        ends = np.array(extremes(problem, up, low))[problem.side]
        near = (up < ends[:, 1] + slack) | (low > ends[:, 0] - slack)
    else:
        near = (up < slack) | (low > -slack)
    support = np.flatnonzero(beta)
    near[support[:: max(1, support.size // _WITNESSES)]] = True
    return np.flatnonzero(near)


def objective_is_vague(problem: Problem, beta: Vector, F: Vector, drift: float) -> bool:
    """Whether errors of size ``drift`` in F would show in the objective.

    Rounding errors are independent, so their sum with β grows with ‖β‖₂; 4 is caution.
    """
    dual = abs(dual_value(problem, beta, F))
    return 4.0 * drift * float(np.linalg.norm(beta)) > _VAGUE * dual
