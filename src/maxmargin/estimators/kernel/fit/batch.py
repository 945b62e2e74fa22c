"""Fast path: without observers, small classifiers are solved in one compiled call.

A fit of a few hundred rows spends most of its time in Python calls: the solver's phases,
observers and figures of every pair of classes. Without observers, folds and other C, all
pairs are solved together (:mod:`maxmargin.solvers.smo.batch`), by the same steps and to
the same bits. With more rows, each pair has its own compiled call, where all are small
enough for float64. Problems not solved so within 50 ms are left to the general solver.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.certificate import Certificate, Run
from maxmargin.errors import Stop
from maxmargin.estimators.kernel.fit.parts import Expansion, Solved, judged
from maxmargin.kernels.factory import training_gram
from maxmargin.kernels.gram.contract import Family
from maxmargin.kernels.gram.copies import CopiedGram, sums_by_place
from maxmargin.parallel import Workers
from maxmargin.problem import Model, Objective
from maxmargin.solvers.distinct import shared_out
from maxmargin.solvers.smo.batch import Group, solve_together
from maxmargin.solvers.smo.selection import admits_all

if TYPE_CHECKING:
    from maxmargin._arrays import Index, Vector
    from maxmargin.estimators.kernel.fit.solving import Task
    from maxmargin.estimators.parameters import Settings
    from maxmargin.solvers.smo.batch import Answer

DOUBLE = np.dtype(np.float64)
FEW = 512  # policy: up to so many rows, all problems share one matrix and one call


def solved_together(
    task: Task, margins: list[Any], settings: Settings
) -> list[Solved] | None:
    """Solve all parts of a task in one call; return None if there are too many rows.

    Parameters
    ----------
    task : Task
        Rows and kernel.
    margins : list of Margin
        Its parts, by :func:`plain_margins`.
    settings : Settings
        Tolerance and memory.
    """
    n = task.rows.shape[0]
    if n > FEW or 8 * n**2 > settings.cache_bytes:
        return None
    began = time.perf_counter()
    gram = training_gram(task.kernel, task.rows, workers=Workers(1))
    K = _matrix(gram, np.arange(gram.n, dtype=np.intp))
    groups = [Group(one.rows, one.y, one.C * one.weight) for one in margins]
    tol = float(settings.tol)
    answers = solve_together(K, gram.diagonal(), groups, tol)
    if answers is None:
        return None
    seconds = (time.perf_counter() - began) / len(margins)
    return [
        _solved(part, answer, tol, seconds)
        for part, answer in zip(margins, answers, strict=True)
    ]


def solved_alone(
    part: Any, gram: Any, solver: Any, room: int, *, counted: bool
) -> Solved | None:
    """Solve one part in one call; return None if it is not small, or not solved so.

    Parameters
    ----------
    part : Margin
        One of :func:`plain_margins`.
    gram : Gram
        Of its rows.
    solver : Solver
        The solver otherwise used, with its tolerance.
    room : int
        Bytes for its kernel values.
    counted : bool
        Whether the values that the Gram computes meanwhile are this part's.
    """
    merged = isinstance(gram, CopiedGram)
    own = gram.distinct if merged else gram
    began, q = time.perf_counter(), own.n
    small = own.precisions[0] == DOUBLE and 8 * q**2 <= room
    if not (small and admits_all(q, own.cost)):
        return None
    before = own.n_kernel
    everyone = np.arange(q, dtype=np.intp)
    y, C = part.y, part.C * part.weight
    if merged:
        y, C = np.empty(q), sums_by_place(gram.place, C, q)
        y[gram.place] = part.y
    group = Group(everyone, y, C)
    answers = solve_together(_matrix(own, everyone), own.diagonal(), [group], solver.tol)
    if answers is None:
        return None
    n_kernel = own.n_kernel - before if counted else 0
    seconds = time.perf_counter() - began
    if not merged:
        return _solved(part, answers[0], solver.tol, seconds, n_kernel)
    problem = part.problem(gram)
    model = shared_out(problem, answers[0].beta, answers[0].gradient)
    run = Run(
        Stop.CONVERGED,
        solver.tol,
        solver.criterion,
        answers[0].n_iter,
        n_kernel,
        seconds,
    )
    return judged(part, problem, model, run)


def _matrix(gram: Any, everyone: Index) -> Vector:
    """Return the whole matrix, the stored one if there is one.

    The solver writes the diagonal into it, with the values that a stored one has already.
    """
    K: Vector | None = gram.whole(DOUBLE)
    if K is None:
        K = np.empty((gram.n, gram.n))
        gram.block(everyone, everyone, K)
    return K


def plain_margins(task: Task, settings: Settings) -> list[Any] | None:
    """Return the parts of a task if all can be solved by the fast path, else None.

    A kernel of dot products that needs no warning, the hinge, and SMO with no limit.
    """
    plain = (
        task.kernel.family is Family.DOTS
        and task.kernel.is_semidefinite_by_construction
        and settings.max_iter < 0
    )
    return task.parts if plain and all(one.batched for one in task.parts) else None


def _solved(
    part: Any, found: Answer, tol: float, seconds: float, n_kernel: int = 0
) -> Solved:
    """Return one part with its certificate, from the figures of the compiled call."""
    both = Objective(0.5 * found.norm2 + found.cost, -0.5 * found.norm2 - found.linear)
    interval = (-found.fmax, -found.fmin)
    if found.fmax < found.fmin:  # more than optimal: every intercept between them is
        interval = (-found.fmin, -found.fmax)
    return Solved(
        part=part,
        model=Model(found.beta, found.gradient, found.bias, interval),
        expansion=Expansion(found.beta, found.bias),
        scores=found.gradient + (part.y + found.bias),
        stop=Stop.CONVERGED,
        n_iter=found.n_iter,
        margin=2.0 / found.norm2**0.5 if found.norm2 > 0.0 else float("inf"),
        certificate=Certificate(
            primal=both.primal,
            dual=both.dual,
            gap=both.gap,
            relative_gap=both.relative_gap,
            violation=max(0.0, found.fmax - found.fmin),
            bias_interval=interval,
            n_support=found.n_support,
            n_free=found.n_support - found.n_bound,
            n_bound=found.n_bound,
            n_iter=found.n_iter,
            n_kernel=n_kernel,
            seconds=seconds,
            stop=Stop.CONVERGED,
            tol=tol,
            balance=found.balance / found.size if found.size > 0.0 else found.balance,
            name=part.name,
        ),
        lasting=found.n_bound == 0,
        hard=False,
        separating=False,
        complaint="",
    )
