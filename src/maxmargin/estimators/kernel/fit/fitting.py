"""What happens between checked arrays and fitted attributes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from maxmargin._interrupt import Interrupt
from maxmargin.certificate import Run
from maxmargin.estimators.convergence_warnings import CALLER
from maxmargin.estimators.kernel.fit.batch import (
    FEW,
    plain_margins,
    solved_alone,
    solved_together,
)
from maxmargin.estimators.kernel.fit.definiteness import warn_if_indefinite
from maxmargin.estimators.kernel.fit.folds import out_of_fold
from maxmargin.estimators.kernel.fit.gram_sharing import workbench
from maxmargin.estimators.kernel.fit.parts import judged, solve
from maxmargin.estimators.kernel.fit.solver_choice import chosen_solver, merges_copies
from maxmargin.kernels.factory import training_gram
from maxmargin.observers import Locked, Progress, TimeLimit, as_observer
from maxmargin.parallel import Workers
from maxmargin.rows.duplicates import first_alike

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from maxmargin._arrays import Index, Vector
    from maxmargin.estimators.kernel.fit.parts import Part, Solved
    from maxmargin.estimators.kernel.fit.schemes import Duals, Scheme
    from maxmargin.solvers.base import Observer


class Task(NamedTuple):
    """What a fit was given, checked."""

    rows: Any  # X
    kernel: Any  # as the factory understands it
    gamma: float
    parts: list[Part]
    scheme: Scheme | None = None  # of several classes
    folds: Index | None = None  # of every row of X, for probabilities
    known: Mapping[str, Any] = {}  # fitted attributes that need no solution

    @property
    def precomputed(self) -> bool:
        """Whether X is the kernel matrix."""
        return isinstance(self.kernel, str)


class Solution(NamedTuple):
    """All parts of a fit, solved."""

    solved: list[Solved]
    held_out: list[Vector]  # out-of-fold scores of every part, if there are folds
    others: list[Solved]  # the folds
    n_kernel: int  # values computed in all


def solve_all(
    estimator: Any,
    tasks: Sequence[Task],
    warm: Sequence[Vector] | None,
    bridges: Sequence[Observer],
) -> list[Solution]:
    """Solve every part of the tasks, which differ in C alone, ascending.

    A part is solved for one C after the other, each from the answer before; where an
    answer holds for every larger C, it is not sought again.
    """
    first = tasks[0]
    count = len(first.parts)
    observers = [*observers_of(estimator, count * len(tasks)), *bridges]
    cache_bytes = int(estimator.cache_size * (1 << 20))
    again = len(tasks) > 1 or first.folds is not None
    unwatched = not (observers or again or warm is not None)
    if unwatched:
        solved = solved_together(estimator, first)
        if solved is not None:
            return [Solution(solved, [], [], n_kernel=first.rows.shape[0] ** 2)]
    with (
        Interrupt() as interrupt,
        Workers(estimator.n_jobs, interrupt.abandon) as workers,
    ):
        gram = training_gram(first.kernel, first.rows, workers=workers)
        floating = first.rows.dtype.kind == "f"
        warn_if_indefinite(
            estimator.kernel,
            gram,
            coef0=float(estimator.coef0),
            eps=float(np.finfo(first.rows.dtype).eps) if floating else 0.0,
            stacklevel=CALLER + 1,
        )
        watching = [interrupt, *observers]
        bench = workbench(
            gram, first.parts, first.scheme, cache_bytes, workers,
            again=again, first=_copies(estimator, first),
        )  # fmt: skip
        solver = chosen_solver(estimator, bench.share)
        margins = plain_margins(estimator, first) if unwatched else None

        def one(number: int, gram: Any) -> list[_Step]:
            if margins is not None and not interrupt.pressed:
                alone = solved_alone(
                    margins[number], gram, solver, bench.share, counted=not bench.shared
                )
                if alone is not None:
                    return [_Step(alone, np.empty(0), [])]
            parts = [task.parts[number] for task in tasks]
            folds = None if first.folds is None else first.folds[parts[0].rows]
            start = None if warm is None else warm[number]
            found: list[_Step] = []
            for now in _along(parts, gram, solver, start, watching, not bench.shared):
                scores = np.empty(0)
                others: list[Solved] = []
                if folds is not None and found and found[-1].lasts:
                    scores = found[-1].held_out
                elif folds is not None:
                    scores, others = out_of_fold(
                        now, folds, gram, solver, workers, watching
                    )
                found.append(_Step(now, scores, others))
            return found

        columns, n_kernel = bench.run(one)
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
        n_kernel = 0  # of the whole path, told once
    return solutions


def _copies(estimator: Any, task: Task) -> Index | None:
    """For every row the first that it is a copy of, where that saves something."""
    # The few are solved in one call, watched or not to the same bits; and of brief pairs
    # of classes merging takes longer than their kernel values do.
    many = np.mean([part.rows.size for part in task.parts]) > FEW
    formula = isinstance(task.kernel, tuple)  # neither a matrix nor somebody's function
    if not (many and formula and merges_copies(estimator) and task.parts[0].merges):
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
        """Whether every larger C has the same answer, in all folds too."""
        return all(one.holds for one in [self.solved, *self.others])


def _along(
    parts: Sequence[Part],
    gram: Any,
    solver: Any,
    start: Vector | None,
    observers: Sequence[Observer],
    counted: bool,
) -> Iterator[Solved]:
    """One part at every C, each from the answer before."""
    before: Solved | None = None
    for part in parts:
        if before is not None and before.holds:
            problem = part.problem(gram)
            run = Run(before.stop, solver.tol, solver.criterion)
            now = judged(part, problem, before.model, run)
        else:
            now = solve(
                part, gram, solver, warm=start, observers=observers, counted=counted
            )
        yield now
        before = now
        # A solver that cannot go on from an answer begins anew.
        start = now.expansion.coef if solver.restarts else None


def observers_of(estimator: Any, problems: int) -> list[Observer]:
    """Who watches a fit of so many problems: clock, progress bar, the user's own."""
    observers: list[Observer] = []
    if estimator.time_limit is not None:
        observers.append(TimeLimit(float(estimator.time_limit)))
    if estimator.verbose:
        observers.append(Progress(tol=float(estimator.tol), total=problems))
    given = estimator.callbacks
    if given is None:
        given = ()
    elif not isinstance(given, Iterable):
        given = (given,)
    # Pairs run in threads; nobody's callback should have to know.
    return [*observers, *(Locked(as_observer(thing)) for thing in given)]


def fitted_attributes(task: Task, duals: Duals) -> dict[str, Any]:
    """What makes a fitted machine, and is enough to predict."""
    rows, dual_coef = task.rows, duals.dual_coef
    vectors = (
        np.empty((0, 0), dtype=rows.dtype) if task.precomputed else rows[duals.support]
    )
    return {
        "support_": duals.support.astype(np.int32),
        "support_vectors_": vectors,
        "n_support_": duals.n_support,
        "dual_coef_": (
            _full_csr(dual_coef, type(rows)) if sparse.issparse(rows) else dual_coef
        ),
        "intercept_": duals.intercept,
        "shape_fit_": rows.shape,
        "gamma_": task.gamma,
    }


def _full_csr(dense: Vector, kind: Any) -> Any:
    """Every entry stored, zeros too, as scikit-learn lays dual_coef_ out."""
    lines, width = dense.shape
    indices = np.tile(np.arange(width, dtype=np.int32), lines)
    indptr = np.arange(lines + 1, dtype=np.int32) * width
    return kind((dense.ravel(), indices, indptr), shape=dense.shape)
