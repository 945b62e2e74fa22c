"""Solve all problems of a kernel fit: from checked arrays to solved problems."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from maxmargin._interrupt import Interrupt
from maxmargin.certificate import Run
from maxmargin.estimators.kernel.fit.batch import (
    FEW,
    plain_margins,
    solved_alone,
    solved_together,
)
from maxmargin.estimators.kernel.fit.definiteness import warn_if_indefinite
from maxmargin.estimators.kernel.fit.gram_sharing import shared_grams
from maxmargin.estimators.kernel.fit.parts import judged, solve
from maxmargin.estimators.kernel.fit.solver_choice import (
    chosen_solver,
    goes_through_weights,
    is_production,
)
from maxmargin.estimators.machine import Solution
from maxmargin.kernels.factory import training_gram
from maxmargin.parallel import Workers
from maxmargin.rows.duplicates import first_alike

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from maxmargin._arrays import Index, Vector
    from maxmargin.estimators.kernel.fit.gram_sharing import SharedGrams
    from maxmargin.estimators.kernel.fit.parts import Part, Solved
    from maxmargin.estimators.kernel.fit.schemes import Scheme
    from maxmargin.estimators.parameters import Settings
    from maxmargin.kernels import Kernel
    from maxmargin.solvers.base import Observer


class Task(NamedTuple):
    """The checked arguments of a fit."""

    rows: Any  # X
    kernel: Kernel
    gamma: float
    parts: list[Part]
    named: Any = "rbf"  # the kernel as the user gave it
    scheme: Scheme | None = None  # of several classes
    folds: Index | None = None  # of every row of X, for probabilities
    known: Mapping[str, Any] = {}  # fitted attributes known before the solution

    @property
    def n_problems(self) -> int:
        """Number of problems."""
        return len(self.parts)

    @property
    def demanded(self) -> str:
        """The class of solver that the scheme needs; empty: any."""
        return "" if self.scheme is None else self.scheme.solver

    @property
    def precomputed(self) -> bool:
        """Whether X is the kernel matrix."""
        return self.kernel.precomputed


def solve_all(
    tasks: Sequence[Task],
    settings: Settings,
    warm: Sequence[Vector] | None,
    observers: Sequence[Observer],
) -> list[Solution]:
    """Solve every part of tasks that differ in C alone, C ascending.

    A part is solved for one C after the other, each from the solution before; a solution
    that holds for every larger C is not computed again.

    Parameters
    ----------
    tasks : sequence of Task
        The same rows and parts, a C each.
    settings : Settings
        Solver, tolerance, memory and threads.
    warm : sequence of ndarray or None
        Coefficients of every part to start from.
    observers : sequence of Observer
        Called during the runs.
    """
    first = tasks[0]
    again = len(tasks) > 1 or first.folds is not None
    production = is_production(settings)
    # Fast path: without observers, small classifiers are solved in one compiled call.
    plain = None
    if production and not (observers or again or warm is not None):
        plain = plain_margins(first, settings)
    if plain is not None:
        solved = solved_together(first, plain, settings)
        if solved is not None:
            return [Solution(solved, n_kernel=first.rows.shape[0] ** 2)]
    with (
        Interrupt() as interrupt,
        Workers(settings.n_jobs, interrupt.abandon) as workers,
    ):
        gram = training_gram(first.kernel, first.rows, workers=workers)
        if not first.kernel.is_semidefinite_by_construction:
            eps = _eps(first.rows)
            warn_if_indefinite(first.kernel, gram, named=first.named, eps=eps)
        copies = _copies(first, settings) if production else None
        grams = shared_grams(
            gram, first.parts, first.scheme, settings.cache_bytes, workers,
            again=again, first=copies,
        )  # fmt: skip
        solver = chosen_solver(
            settings,
            grams.share,
            linear=first.kernel.is_linear,
            demanded=first.demanded,
        )
        watching = [interrupt, *observers]
        fit = _Fit(tasks, warm, solver, plain, watching, workers, grams)
        numbers = range(first.n_problems)
        if grams.at_once == 1:
            columns = [fit.column(number) for number in numbers]
        else:
            with Workers(grams.at_once, workers.on_failure) as outside:
                columns = outside.map(fit.column, numbers)
    return _solutions(columns, grams.n_kernel)


def _eps(rows: Any) -> float:
    """Return the relative rounding error of the features; 0 for other objects."""
    return float(np.finfo(rows.dtype).eps) if rows.dtype.kind == "f" else 0.0


def _copies(task: Task, settings: Settings) -> Index | None:
    """Return for every row the first row it copies; None where merging saves nothing."""
    # Few rows are solved in one call, to the same bits with observers or without; for
    # small pairs of classes, merging takes longer than computing their kernel values.
    many = np.mean([part.rows.size for part in task.parts]) > FEW
    # A solver that works on the weights has no kernel values to save.
    able = task.parts[0].merges
    able = able and not goes_through_weights(settings, linear=task.kernel.is_linear)
    if not (many and task.kernel.compiles and able):
        return None
    if task.scheme is not None:
        return first_alike(task.rows, task.scheme.codes)
    (part,) = task.parts
    targets = np.zeros(task.rows.shape[0])
    targets[part.rows] = part.targets()
    return first_alike(task.rows, targets)


class _Step(NamedTuple):
    """One part at one C."""

    solved: Solved
    held_out: Vector
    others: list[Solved]

    @property
    def lasts(self) -> bool:
        """Whether every larger C has the same solution, in all folds too."""
        return all(one.holds for one in [self.solved, *self.others])


class _Fit(NamedTuple):
    """The data that all problems of one fit share."""

    tasks: Sequence[Task]
    warm: Sequence[Vector] | None
    solver: Any
    plain: list[Any] | None  # the parts, if each may be solved in one compiled call
    observers: Sequence[Any]  # the first is Ctrl-C
    workers: Workers
    grams: SharedGrams

    def column(self, number: int) -> list[_Step]:
        """Solve one part at every C, each from the solution before, with its folds."""
        gram, counted = self.grams.take(number), not self.grams.shared
        found: list[_Step] = []
        if self.plain is not None and not self.observers[0].pressed:
            alone = solved_alone(
                self.plain[number], gram, self.solver, self.grams.share, counted=counted
            )
            if alone is not None:
                found = [_Step(alone, np.empty(0), [])]
        start = None if self.warm is None else self.warm[number]
        for task in self.tasks[len(found) :]:
            part, before = task.parts[number], found[-1] if found else None
            if before is not None and before.solved.holds:
                run = Run(before.solved.stop, self.solver.tol, self.solver.criterion)
                now = judged(part, part.problem(gram), before.solved.model, run)
            else:
                now = solve(
                    part, gram, self.solver,
                    warm=start, observers=self.observers, counted=counted,
                )  # fmt: skip
            scores: Vector = np.empty(0)
            others: list[Solved] = []
            if before is not None and before.lasts:
                scores = before.held_out
            elif self.tasks[0].folds is not None:
                scores, others = self._out_of_fold(now, gram)
            found.append(_Step(now, scores, others))
            # A solver that cannot start from a solution starts from zero.
            start = now.expansion.coef if self.solver.restarts else None
        self.grams.give_back(gram)
        return found

    def _out_of_fold(self, now: Solved, gram: Any) -> tuple[Vector, list[Solved]]:
        from maxmargin.estimators.kernel.fit.folds import out_of_fold

        folds: Any = self.tasks[0].folds
        mine = folds[now.part.rows]
        return out_of_fold(now, mine, gram, self.solver, self.workers, self.observers)


def _solutions(columns: list[list[_Step]], n_kernel: int) -> list[Solution]:
    """Return the solution of every task; the first gets the count of kernel values."""
    solutions = []
    for steps in zip(*columns, strict=True):
        others = [fold for step in steps for fold in step.others]
        n_kernel += sum(fold.certificate.n_kernel for fold in others)
        solutions.append(
            Solution(
                solved=[step.solved for step in steps],
                held_out=[step.held_out for step in steps],
                others=others,
                n_kernel=n_kernel,
            )
        )
        n_kernel = 0
    return solutions
