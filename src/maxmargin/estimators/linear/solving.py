"""Between checked arrays and weights: the problems of a linear fit, solved."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import check_random_state

from maxmargin._interrupt import Interrupt
from maxmargin.design import Design
from maxmargin.errors import ConvergenceWarning, InputError, Stop
from maxmargin.estimators.advice import ADVICE, CALLER
from maxmargin.estimators.fitting import observers_of
from maxmargin.estimators.linear.choice import chosen_solver
from maxmargin.estimators.linear.own_certificate import certificate_of
from maxmargin.kernels.thinning import without_zeros
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

__all__ = ["Before", "LinearTask", "Solved", "design_of", "solve_all", "warn_if_early"]

_FULL = 1.0 - 1e-12  # of a bound, which is a product and may be rounded
AFRESH = "raise max_iter or tol, scale the features, or use solver='auto'"


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
    restarts: bool  # whether its solver goes on from a model
    certificate: Certificate


class Before(NamedTuple):
    """A model to begin with."""

    beta: Table
    weights: Table  # that of the constant column, if there is one, behind the others
    growth: float = 1.0  # of C since then

    @classmethod
    def of(cls, machine: Any, task: LinearTask) -> Before:
        """What a fitted machine knows, if that can help with a task."""
        beta, shape = machine.dual_coef_, (task.lines, task.rows.shape[0])
        if beta.shape != shape:
            msg = (
                f"warm_start=True: the model before has dual variables of shape "
                f"{beta.shape}, these data need {shape}; fit the same rows and "
                "classes, or use warm_start=False"
            )
            raise InputError(msg)
        known = machine.coef_
        weights = np.atleast_2d(known.toarray() if issparse(known) else known)
        if _scaling(machine):
            # One number, 0.0, for all classes where the fit before had no intercept.
            bias = np.broadcast_to(machine.intercept_, len(weights))
            weights = np.column_stack([weights, bias / _scaling(machine)])
        return cls(beta, weights)


def solve_all(
    estimator: Any,
    task: LinearTask,
    before: Before | None,
    bridges: Sequence[Observer],
    kept: Design | None = None,
) -> list[Solved]:
    """Every problem of a task; several at a time, one thread each, if there are several.

    A single one has all threads. ``kept`` is the design of the same rows, if there is
    one already, with its threads and all that it has computed.
    """
    count = len(task.names)
    watching = [*observers_of(estimator, count), *bridges]
    # One for all classes, whichever thread comes first.
    seed = int(check_random_state(estimator.random_state).randint(2**31 - 1))
    workers = Workers(estimator.n_jobs) if kept is None else kept.workers
    with Interrupt() as interrupt, workers:
        workers.on_failure = interrupt.abandon
        design = design_of(estimator, task, workers) if kept is None else kept

        def one(number: int) -> Solved:
            problem: Any = task.make(number, design)
            start = None if before is None else _start(problem, before, number)
            solver = chosen_solver(estimator, problem, seed)
            restarts = getattr(solver, "restarts", True)
            if not (estimator.warm_start or restarts):
                start = None  # it would have helped; nobody insists
            outcome = drive(
                solver,
                problem,
                warm=start,
                observers=[interrupt, *watching],
                name=task.names[number],
            )
            proof = certificate_of(problem, outcome, solver, name=task.names[number])
            lines = _lines(problem, outcome.model)
            return Solved(*lines, Stop(proof.stop), outcome.n_iter, restarts, proof)

        return workers.map(one, range(count))


def design_of(estimator: Any, task: LinearTask, workers: Workers) -> Design:
    """The rows, with a column for the intercept unless that is free.

    Dense rows that are mostly zeros are read as sparse ones, of which there is a copy:
    mnist 1.4 to 2.3 times as fast, covtype 1.2 to 1.9, with half as much memory again, or
    32·(n + d²) numbers, at most.
    """
    return Design(without_zeros(task.rows, workers), _scaling(estimator), workers)


def _scaling(estimator: Any) -> float:
    """The value of the constant column; 0 without one."""
    regularised = estimator.fit_intercept and estimator.intercept != "free"
    return float(estimator.intercept_scaling) if regularised else 0.0


def _start(problem: Any, before: Before, number: int) -> Table | Vector:
    """What a solver of one problem begins with: β, or w where the penalty is ‖w‖₁.

    Dual variables that were at their bound go to the new one: they are those of rows
    inside the margin, most of which stay there.
    """
    if isinstance(problem, LinearJointProblem):
        beta = np.ascontiguousarray(before.beta.T)
        own = beta[np.arange(problem.n), problem.codes]
        beta[_were_full(own, problem.C, before)] *= before.growth
        return beta
    if problem.lasso:
        return np.asarray(before.weights[number], np.float64)
    beta = np.array(before.beta[number], np.float64)
    bound = np.where(beta > 0.0, problem.upper, -problem.lower)
    beta[_were_full(np.abs(beta), bound, before)] *= before.growth
    return beta


def _were_full(size: Vector, bound: Vector, before: Before) -> NDArray[np.bool_]:
    """Which dual variables of that size were at the bound that has grown to this one."""
    full: NDArray[np.bool_] = before.growth * size >= _FULL * bound
    return full & (size > 0.0) & (before.growth != 1.0)


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
        f"it, {ADVICE[worst.stop] if worst.restarts else AFRESH}.",
        ConvergenceWarning,
        stacklevel=stacklevel,
    )
