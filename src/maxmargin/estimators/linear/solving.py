"""Between checked arrays and weights: the problems of a linear fit, solved."""

from __future__ import annotations

import warnings
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from maxmargin._interrupt import Interrupt
from maxmargin.design.operator import Design
from maxmargin.errors import ConvergenceWarning, Stop
from maxmargin.estimators.convergence_warnings import ADVICE, CALLER
from maxmargin.estimators.kernel.fit.fitting import observers_of
from maxmargin.estimators.linear.choice import chosen_solver
from maxmargin.estimators.linear.own_certificate import certificate_of
from maxmargin.estimators.linear.warm_start import scaling_of
from maxmargin.parallel import Workers
from maxmargin.problem import LinearJointProblem
from maxmargin.rows.compress import without_zeros
from maxmargin.solvers.base import drive

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from maxmargin._arrays import Table, Vector
    from maxmargin.certificate import Certificate
    from maxmargin.estimators.linear.warm_start import Before
    from maxmargin.problem import LinearProblem
    from maxmargin.solvers.base import Observer

AFRESH = "raise max_iter or tol, scale the features, or use solver='auto'"


class LinearTask(NamedTuple):
    """What a fit was given, checked: rows, and a problem for every class or one."""

    rows: Any
    names: Sequence[str]
    # the problem of a number, with a C
    make: Callable[[int, Design, float], LinearProblem | LinearJointProblem]
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
    pull: Vector | None  # X'β; of a joint problem nobody asks


class Seed:
    """Of the solvers of one fit: one for all classes, whichever thread comes first.

    Drawn when it is asked for. To make the generator of an int takes as long as three
    Newton steps on some thousand rows, and most solvers leave nothing to chance.
    """

    def __init__(self, random_state: Any) -> None:
        self._random_state = random_state
        self._drawing = Lock()
        self._drawn: int | None = None

    def __call__(self) -> int:
        """The number; the same every time."""
        with self._drawing:
            if self._drawn is None:
                random = check_random_state(self._random_state)
                self._drawn = int(random.randint(2**31 - 1))
            return self._drawn


class Kept(NamedTuple):
    """What fits of the same rows share."""

    design: Design  # with its threads, and all that it has computed
    seed: Seed


def solve_all(
    estimator: Any,
    task: LinearTask,
    before: Before | None,
    bridges: Sequence[Observer],
    kept: Kept | None = None,
) -> list[Solved]:
    """Every problem of a task; several at a time, one thread each, if there are several.

    A single one has all threads. ``kept`` is what fits of the same rows share.
    """
    count = len(task.names)
    watching = [*observers_of(estimator, count), *bridges]
    seed = Seed(estimator.random_state) if kept is None else kept.seed
    workers = Workers(estimator.n_jobs) if kept is None else kept.design.workers
    with Interrupt() as interrupt, workers:
        workers.on_failure = interrupt.abandon
        design = design_of(estimator, task, workers) if kept is None else kept.design

        def one(number: int) -> Solved:
            problem: Any = task.make(number, design, float(estimator.C))
            solver = chosen_solver(estimator, problem, seed)
            restarts = solver.restarts
            start = None
            # Where it cannot go on it would have helped; nobody insists.
            if before is not None and (estimator.warm_start or restarts):
                joint = isinstance(problem, LinearJointProblem)
                start = before.start_joint() if joint else before.start(number)
            outcome = drive(
                solver,
                problem,
                warm=start,
                observers=[interrupt, *watching],
                name=task.names[number],
            )
            proof = certificate_of(problem, outcome, solver, name=task.names[number])
            lines = _lines(problem, outcome.model)
            pull = outcome.model.pull
            return Solved(*lines, proof.stop, outcome.n_iter, restarts, proof, pull)

        return workers.map(one, range(count))


def design_of(estimator: Any, task: LinearTask, workers: Workers) -> Design:
    """The rows, with a column for the intercept unless that is free.

    Dense rows that are mostly zeros are read as sparse ones, of which there is a copy:
    mnist 1.4 to 2.3 times as fast, covtype 1.2 to 1.9, with half as much memory again, or
    32·(n + d²) numbers, at most.
    """
    return Design(without_zeros(task.rows, workers), scaling_of(estimator), workers)


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
