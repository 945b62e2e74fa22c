"""Gradients of the working-set solver: brought up to date, begun anew, looked at again.

Each is a sum over columns of K, done in slices: ``fresh`` is the gradient under
construction of the points ``targets``, and ``cursor`` of the ``pending`` columns have
gone into it. In the phase FOLD a column is multiplied by what its β has changed since the
gradient in scope was true, otherwise by β itself. Points whose new gradient is known
already, those that moved together on K_WW or were in focus until now, are ``told`` with
it and cost no kernel value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from maxmargin.solvers.smo.shrinking import scope_of
from maxmargin.solvers.smo.state import Phase

if TYPE_CHECKING:
    from maxmargin._arrays import Index, Vector
    from maxmargin.problem import Problem
    from maxmargin.solvers.smo.state import State

NOBODY = np.empty(0, np.intp), np.empty(0)  # is told a gradient
_SHARP = 0.1  # of tol, that W's own gradients may be wrong by
_PANELS = 256  # columns of a kernel product below which tiles are not filled well


def bring_up(problem: Problem, state: State, told: Index, gradient: Vector) -> None:
    """Begin to bring what β has changed to the gradients in scope.

    ``gradient`` is the new one of the points ``told``, all of them in scope.
    """
    scope = scope_of(problem, state)
    unknown = np.ones(scope.points.size, bool)
    unknown[scope.place[told]] = False
    state.told, state.told_gradient = told.copy(), gradient.copy()
    state.targets = scope.points[unknown]
    state.pending = np.flatnonzero(state.beta != scope.applied)
    state.fresh[: state.targets.size] = scope.gradient[unknown]
    state.idle = state.pending.size == 0
    state.phase, state.cursor = Phase.FOLD, 0


def sharp(state: State, tol: float) -> bool:
    """Whether W's own gradients, sums of all its steps, are as good as computed ones.

    Each step rounds them, relative to their distance from the centre; the errors of many
    add up like their square root. Of all points nobody would keep better ones.
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
    state.told, state.told_gradient = NOBODY
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
    scope.gradient[scope.place[state.told]] = state.told_gradient
    scope.applied[:] = state.beta
    state.phase = Phase.SELECT
