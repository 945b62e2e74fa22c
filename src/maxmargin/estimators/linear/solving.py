"""Solve all problems of a linear fit: from checked arrays to weights."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

from sklearn.utils import check_random_state

from maxmargin._interrupt import Interrupt
from maxmargin.certificate import Certificate, Run, certificate_of, settled
from maxmargin.design.operator import Design
from maxmargin.estimators.linear.choice import chosen_solver
from maxmargin.estimators.machine import Solution
from maxmargin.parallel import Workers
from maxmargin.rows.compress import without_zeros
from maxmargin.solvers.base import drive

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from maxmargin._arrays import Table, Vector
    from maxmargin.estimators.linear.warm_start import Before
    from maxmargin.estimators.parameters import Settings
    from maxmargin.solvers.base import Observer


class LinearTask(NamedTuple):
    """The checked arguments of a fit: rows, and one problem or one for each class."""

    rows: Any
    names: Sequence[str]
    make: Callable[[int, Design, float], Any]  # the problem of a number, with a C
    C: float
    scaling: float  # value of the constant column, whose weight is the intercept; or 0
    known: dict[str, Any]  # fitted attributes known before the solution
    lines: int  # of dual variables: one for each problem, or each class of a joint one

    @property
    def n_problems(self) -> int:
        """Number of problems."""
        return len(self.names)

    def problem(self, number: int, design: Design) -> Any:
        """Return one of the problems, on the rows of :meth:`design`."""
        return self.make(number, design, self.C)

    def design(self, workers: Workers) -> Design:
        """Return the rows, with a column for the intercept unless that is free.

        Dense rows that are mostly zeros are copied as sparse rows: mnist 1.4 to 2.3 times
        as fast, covtype 1.2 to 1.9, with half as much memory again, or 32·(n + d²)
        numbers, at most.
        """
        return Design(without_zeros(self.rows, workers), self.scaling, workers)


class Solved(NamedTuple):
    """One solved problem."""

    weights: Table  # a line for every class of a joint problem, one otherwise
    bias: Vector
    beta: Table  # likewise, and a number for every row
    restarts: bool  # whether its solver can start from a model
    certificate: Certificate
    pull: Vector | None  # X'β; None for a joint problem


class Seed:
    """The seed of one fit, drawn once, on first use, under a lock.

    Making a generator takes as long as three Newton steps on some thousand rows, and most
    solvers use no random numbers.
    """

    def __init__(self, random_state: Any) -> None:
        self._random_state = random_state
        self._drawing = Lock()
        self._drawn: int | None = None

    def __call__(self) -> int:
        """Return the seed; the same every time."""
        with self._drawing:
            if self._drawn is None:
                random = check_random_state(self._random_state)
                self._drawn = int(random.randint(2**31 - 1))
            return self._drawn


class Kept(NamedTuple):
    """The data that fits of the same rows share."""

    design: Design  # with its threads and the products that it has computed
    seed: Seed


def solve_all(
    task: LinearTask,
    settings: Settings,
    before: Before | None,
    observers: Sequence[Observer],
    kept: Kept | None = None,
) -> Solution:
    """Solve every problem of a task, several at a time with one thread each.

    A single problem has all threads.

    Parameters
    ----------
    task, settings : LinearTask, Settings
        The problems; solver, tolerance and threads.
    before : Before or None
        A model to start from.
    observers : sequence of Observer
        Called during the runs.
    kept : Kept or None
        Design and seed, for fits that share the same rows.
    """
    seed = Seed(settings.random_state) if kept is None else kept.seed
    workers = Workers(settings.n_jobs) if kept is None else kept.design.workers
    with Interrupt() as interrupt, workers:
        workers.on_failure = interrupt.abandon
        design = task.design(workers) if kept is None else kept.design

        def one(number: int) -> Solved:
            problem = task.problem(number, design)
            solver = chosen_solver(settings, problem, seed)
            start = None
            # On a path, a solver that cannot start from a model starts from zero.
            if before is not None and (before.wanted or solver.restarts):
                start = before.start(number, joint=task.lines > task.n_problems)
            return _driven(
                solver, problem, start, [interrupt, *observers], task.names[number]
            )

        if task.n_problems == 1:
            return Solution([one(0)])
        return Solution(workers.map(one, range(task.n_problems)))


def _driven(
    solver: Any, problem: Any, start: Any, observers: Sequence[Any], name: str
) -> Solved:
    """Run a solver on one problem."""
    outcome = drive(solver, problem, warm=start, observers=observers, name=name)
    run = Run(
        outcome.stop, solver.tol_at(outcome.state), solver.criterion, outcome.n_iter,
        seconds=outcome.seconds, name=name, solver=solver.ran(outcome.state),
    )  # fmt: skip
    proof = settled(certificate_of(problem, outcome.model, run))
    weights, bias, beta = problem.lines(outcome.model)
    return Solved(weights, bias, beta, solver.restarts, proof, outcome.model.pull)
