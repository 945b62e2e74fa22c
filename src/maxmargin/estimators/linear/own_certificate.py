"""The certificate that a linear machine gives itself; the referee has its own figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from maxmargin.certificate import BALANCE, Certificate
from maxmargin.errors import Stop
from maxmargin.problem import (
    LinearJointProblem,
    linear_joint_figures,
    linear_objective,
    linear_violation,
)

if TYPE_CHECKING:
    from maxmargin.problem import (
        LinearJointModel,
        LinearModel,
        LinearProblem,
        Objective,
    )
    from maxmargin.solvers.base import Outcome

_NOTHING = 1e-6  # of what it would cost to be wrong everywhere


class _Figures(NamedTuple):
    """What a model is worth, and how many rows hold it up."""

    both: Objective
    violation: float
    n_support: int
    n_bound: int
    balance: float


def certificate_of(
    problem: LinearProblem | LinearJointProblem,
    outcome: Outcome,
    solver: Any,
    *,
    name: str,
) -> Certificate:
    """The certificate of a solver's own answer."""
    model: Any = outcome.model
    found = (
        _of_all_classes(problem, model)
        if isinstance(problem, LinearJointProblem)
        else _of_one(problem, model)
    )
    return Certificate(
        primal=found.both.primal,
        dual=found.both.dual,
        gap=found.both.gap,
        relative_gap=found.both.relative_gap,
        violation=found.violation,
        bias_interval=(float("nan"), float("nan")),
        n_support=found.n_support,
        n_free=found.n_support - found.n_bound,
        n_bound=found.n_bound,
        n_iter=outcome.n_iter,
        seconds=outcome.seconds,
        stop=_agreed(outcome.stop, found, solver).value,
        tol=solver.tol,
        criterion=solver.criterion,
        balance=found.balance,
        name=name,
        solver=_who(solver, outcome.state),
    )


def _who(solver: Any, state: Any) -> str:
    """Which algorithms ran; a solver that a user made need not be able to tell."""
    told: str = solver.ran(state) if hasattr(solver, "ran") else type(solver).__name__
    return told


def _agreed(stop: Stop, found: _Figures, solver: Any) -> Stop:
    """Why a solver stopped, unless the figures of its answer say otherwise.

    Where tol is near rounding, figures that a solver carries along and those made afresh
    may lie on its two sides. Who ended a run from outside keeps his reason.
    """
    by_gap = solver.criterion == "relative_gap"
    within = (found.both.relative_gap if by_gap else found.violation) <= solver.tol
    if stop.converged and not within:
        return Stop.STALLED
    if stop in (Stop.STALLED, Stop.MAX_ITER) and within and found.balance <= BALANCE:
        return Stop.CLOSED if by_gap else Stop.CONVERGED
    return stop


def _of_one(problem: LinearProblem, model: LinearModel) -> _Figures:
    model = _afresh(problem, model)
    beta = model.beta
    support = beta != 0.0
    bound = support & ((beta == problem.lower) | (beta == problem.upper))
    size = float(np.abs(beta).sum())
    missed = abs(float(beta.sum())) if problem.free else 0.0
    return _Figures(
        linear_objective(problem, model),
        linear_violation(problem, model),
        int(np.count_nonzero(support)),
        int(np.count_nonzero(bound)),
        missed / size if size > 0.0 else missed,
    )


def _afresh(problem: LinearProblem, model: LinearModel) -> LinearModel:
    """With outputs made anew where next to nothing is paid for errors.

    What rounding did to those that a solver carried along may then be all that is paid:
    rows of length 1e6 that can be told apart have P = 1e-10, and C·1e-12 is more.
    """
    if problem.squared or problem.lasso:
        return model
    dear = float((problem.upper - problem.lower) @ np.abs(problem.p))
    if linear_objective(problem, model).primal > _NOTHING * dear:
        return model
    outputs = problem.design.times(model.w)
    return model._replace(outputs=outputs + (model.bias if problem.free else 0.0))


def _of_all_classes(problem: LinearJointProblem, model: LinearJointModel) -> _Figures:
    both, worst = linear_joint_figures(problem, model)
    own = model.beta[np.arange(problem.n), problem.codes]
    size = float(np.abs(model.beta).sum(axis=1).max(initial=0.0))
    missed = float(np.abs(model.beta.sum(axis=1)).max(initial=0.0))
    return _Figures(
        both,
        worst,
        int(np.count_nonzero(model.beta.any(axis=1))),
        int(np.count_nonzero((own == problem.C) & (own > 0.0))),
        missed / size if size > 0.0 else missed,
    )
