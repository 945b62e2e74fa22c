"""Between checked arrays and weights: the problems of a linear fit, solved."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from maxmargin._callback_bridge import FIT_IS_WRAPPED
from maxmargin._interrupt import Interrupt
from maxmargin.design import Design
from maxmargin.errors import ConvergenceWarning, Stop
from maxmargin.estimators.fitting import ADVICE, observers_of
from maxmargin.estimators.linear.choice import chosen_solver
from maxmargin.estimators.linear.own_certificate import certificate_of
from maxmargin.parallel import Workers
from maxmargin.problem import LinearJointProblem
from maxmargin.solvers.base import drive

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from maxmargin.certificate import Certificate
    from maxmargin.problem import LinearProblem
    from maxmargin.solvers.base import Observer

    Table = NDArray[np.float64]
    Vector = NDArray[np.float64]

__all__ = ["LinearTask", "Solved", "design_of", "solve_all", "warn_if_early"]

# warn → warn_if_early → _fit → fit → (the decorator with_callbacks →) the caller
CALLER = 5 if FIT_IS_WRAPPED else 4


class LinearTask(NamedTuple):
    """What a fit was given, checked: rows, and a problem for every class or one."""

    rows: Any
    names: Sequence[str]
    # the problem of a number
    make: Callable[[int, Design], LinearProblem | LinearJointProblem]
    known: dict[str, Any]  # fitted attributes that need no solution
    lines: int  # of dual variables: one for each problem, or each class of a joint one


class Solved(NamedTuple):
    """The end of one problem."""

    weights: Table  # a line for every class of a joint problem, one otherwise
    bias: Vector
    beta: Table  # likewise, and a number for every row
    stop: Stop
    n_iter: int
    certificate: Certificate


def solve_all(
    estimator: Any,
    task: LinearTask,
    warm: Table | None,
    bridges: Sequence[Observer],
) -> list[Solved]:
    """Every problem of a task; several at a time, one thread each, if there are several.

    A single one has all threads.
    """
    count = len(task.names)
    watching = [*observers_of(estimator, count), *bridges]
    with Interrupt() as interrupt, Workers(estimator.n_jobs) as workers:
        design = design_of(estimator, task, workers)

        def one(number: int) -> Solved:
            problem: Any = task.make(number, design)
            start = None if warm is None else _start(problem, warm, number)
            solver = chosen_solver(estimator, problem)
            if not (estimator.warm_start or getattr(solver, "restarts", True)):
                start = None  # it would have helped; nobody insists
            outcome = drive(
                solver,
                problem,
                warm=start,
                observers=[interrupt, *watching],
                name=task.names[number],
            )
            proof = certificate_of(problem, outcome, solver, name=task.names[number])
            return Solved(
                *_lines(problem, outcome.model), outcome.stop, outcome.n_iter, proof
            )

        return workers.map(one, range(count))


def design_of(estimator: Any, task: LinearTask, workers: Workers) -> Design:
    """The rows, with a column for the intercept unless that is free."""
    regularised = estimator.fit_intercept and estimator.intercept != "free"
    scaling = float(estimator.intercept_scaling) if regularised else 0.0
    return Design(task.rows, scaling, workers)


def _start(problem: Any, warm: Table, number: int) -> Table | Vector:
    """The dual variables of one problem among those of all."""
    joint = isinstance(problem, LinearJointProblem)
    return np.ascontiguousarray(warm.T) if joint else warm[number]


def _lines(problem: Any, model: Any) -> tuple[Table, Vector, Table]:
    """Weights, intercepts and dual variables, a line for every class or one."""
    if isinstance(problem, LinearJointProblem):
        return model.W, model.bias, model.beta.T
    return model.w[None], np.array([model.bias]), model.beta[None]


def warn_if_early(solved: Sequence[Solved], *, stacklevel: int = CALLER) -> None:
    """Say how far from its tolerance a solver stopped; callbacks know why they did."""
    early = [one for one in solved if one.stop in ADVICE]
    if not early:
        return
    worst = max(early, key=lambda one: one.certificate.relative_gap)
    proof = worst.certificate
    where = f" in {len(early)} of {len(solved)} problems" if len(solved) > 1 else ""
    limit = (
        f"Solver terminated early (max_iter={worst.n_iter}). "
        if worst.stop is Stop.MAX_ITER
        else ""
    )
    warnings.warn(
        f"{limit}The solver {worst.stop.value}{where} ({proof.solver}): relative gap "
        f"{proof.relative_gap:.3g}, tol {proof.tol:g}. The model is usable; to improve "
        f"it, {ADVICE[worst.stop]}.",
        ConvergenceWarning,
        stacklevel=stacklevel,
    )
