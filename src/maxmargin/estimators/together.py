"""A small classifier in one compiled call, where nobody watches.

A fit of a few hundred rows is mostly made of calls: of the solver's phases, observers and
figures of every pair of classes. Where it has no observer, no folds and no other C, all
its pairs are solved together (:mod:`maxmargin.solvers._together`), by the same steps and
to the same bits. What cannot be solved so within 50 ms is left to the general way.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.certificate import Certificate
from maxmargin.errors import Stop
from maxmargin.estimators.definiteness import is_semidefinite
from maxmargin.estimators.margins import Margin
from maxmargin.estimators.parts import Expansion, Solved
from maxmargin.kernels.factory import training_gram
from maxmargin.kernels.vector import VectorKernel
from maxmargin.parallel import Workers
from maxmargin.problem import Model, Objective
from maxmargin.solvers._together import Group, solve_together

if TYPE_CHECKING:
    from maxmargin.estimators.fitting import Task
    from maxmargin.solvers._together import Answer

__all__ = ["FEW", "solved_together"]

FEW = 512  # rows; the solver takes as many into one working set


def solved_together(estimator: Any, task: Task) -> list[Solved] | None:
    """All parts of a task, solved; None where they are not of the kind that can be.

    Parameters
    ----------
    estimator : SVC or another machine
        Whose fit it is.
    task : Task
        Its rows, kernel and problems.
    """
    if not _can_be_solved(estimator, task):
        return None
    margins = [one for one in task.parts if isinstance(one, Margin) and _is_soft(one)]
    if len(margins) < len(task.parts):
        return None
    began = time.perf_counter()
    gram = training_gram(task.kernel, task.rows, workers=Workers(1))
    everyone = np.arange(gram.n, dtype=np.intp)
    K = np.empty((gram.n, gram.n))
    gram.block(everyone, everyone, K)
    groups = [Group(one.rows, one.y, one.C * one.weight) for one in margins]
    tol = float(estimator.tol)
    answers = solve_together(K, gram.diagonal(), groups, tol)
    if answers is None:
        return None
    seconds = (time.perf_counter() - began) / len(margins)
    return [
        _solved(part, answer, tol, seconds)
        for part, answer in zip(margins, answers, strict=True)
    ]


def _can_be_solved(estimator: Any, task: Task) -> bool:
    """Few rows, a vector kernel that needs no warning, SMO with nothing asked of it."""
    n = task.rows.shape[0]
    name = getattr(estimator, "solver", "")  # SVC alone has a choice
    return (
        n <= FEW
        and isinstance(task.kernel, VectorKernel)
        and is_semidefinite(estimator.kernel, float(estimator.coef0))
        and isinstance(name, str)
        and name in ("auto", "smo")
        and estimator.max_iter < 0
        and estimator.cache_size * (1 << 20) >= 8 * n**2
    )


def _is_soft(margin: Margin) -> bool:
    """The hinge at a price, with an intercept."""
    return margin.fit_intercept and not margin.squared and margin.C < np.inf


def _solved(part: Margin, found: Answer, tol: float, seconds: float) -> Solved:
    """One part with its certificate, from the figures that were found with it."""
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
            seconds=seconds,
            stop=Stop.CONVERGED.value,
            tol=tol,
            balance=found.balance / found.size if found.size > 0.0 else found.balance,
            name=part.name,
        ),
        lasting=found.n_bound == 0,
        hard=False,
        separating=False,
        complaint="",
    )
