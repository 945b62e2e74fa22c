"""Between checked arrays and weights: the problems of a linear fit, solved."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from maxmargin._callback_bridge import FIT_IS_WRAPPED
from maxmargin._interrupt import Interrupt
from maxmargin.certificate import Certificate
from maxmargin.design import Design
from maxmargin.errors import ConvergenceWarning, Stop
from maxmargin.estimators.fitting import ADVICE, observers_of
from maxmargin.estimators.linear.choice import chosen_solver
from maxmargin.parallel import Workers
from maxmargin.problem import linear_objective, linear_violation
from maxmargin.solvers.base import drive

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from maxmargin.problem import LinearModel, LinearProblem
    from maxmargin.solvers.base import Observer, Outcome

    Vector = NDArray[np.float64]

__all__ = ["LinearTask", "Solved", "certificate_of", "solve_all", "warn_if_early"]

# warn → warn_if_early → _fit → fit → (the decorator with_callbacks →) the caller
CALLER = 5 if FIT_IS_WRAPPED else 4


class LinearTask(NamedTuple):
    """What a fit was given, checked: rows, and a problem for every class or one."""

    rows: Any
    names: Sequence[str]
    make: Callable[[int, Design], LinearProblem]  # the problem of a number
    known: dict[str, Any]  # fitted attributes that need no solution


class Solved(NamedTuple):
    """The end of one problem."""

    model: LinearModel
    stop: Stop
    n_iter: int
    certificate: Certificate


def solve_all(
    estimator: Any,
    task: LinearTask,
    warm: NDArray[np.float64] | None,
    bridges: Sequence[Observer],
) -> list[Solved]:
    """Every problem of a task; several at a time, one thread each, if there are several.

    A single one has all threads.
    """
    count = len(task.names)
    watching = [*observers_of(estimator, count), *bridges]
    regularised = estimator.fit_intercept and estimator.intercept != "free"
    scaling = float(estimator.intercept_scaling) if regularised else 0.0
    with Interrupt() as interrupt, Workers(estimator.n_jobs) as workers:
        design = Design(task.rows, scaling, workers)

        def one(number: int) -> Solved:
            problem: Any = task.make(number, design)
            solver = chosen_solver(estimator, problem)
            outcome = drive(
                solver,
                problem,
                warm=None if warm is None else warm[number],
                observers=[interrupt, *watching],
                name=task.names[number],
            )
            proof = certificate_of(problem, outcome, solver, name=task.names[number])
            model: Any = outcome.model
            return Solved(model, outcome.stop, outcome.n_iter, proof)

        return workers.map(one, range(count))


def certificate_of(
    problem: LinearProblem, outcome: Outcome, solver: Any, *, name: str
) -> Certificate:
    """The certificate of a solver's own answer."""
    model: Any = outcome.model
    both = linear_objective(problem, model)
    support = model.beta != 0.0
    bound = support & ((model.beta == problem.lower) | (model.beta == problem.upper))
    n_support, n_bound = int(np.count_nonzero(support)), int(np.count_nonzero(bound))
    size = float(np.abs(model.beta).sum())
    missed = abs(float(model.beta.sum())) if problem.free else 0.0
    return Certificate(
        primal=both.primal,
        dual=both.dual,
        gap=both.gap,
        relative_gap=both.relative_gap,
        violation=linear_violation(problem, model),
        bias_interval=(float("nan"), float("nan")),
        n_support=n_support,
        n_free=n_support - n_bound,
        n_bound=n_bound,
        n_iter=outcome.n_iter,
        seconds=outcome.seconds,
        stop=outcome.stop.value,
        tol=solver.tol,
        criterion=solver.criterion,
        balance=missed / size if size > 0.0 else missed,
        name=name,
        solver=type(solver).__name__,
    )


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
