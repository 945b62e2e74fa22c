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
from maxmargin.estimators.margins import Margin
from maxmargin.estimators.parts import Expansion, Solved
from maxmargin.kernels.gram import VectorGram
from maxmargin.problem import Model, Objective
from maxmargin.solvers._together import Group, solve_together
from maxmargin.solvers.through_weights import ThroughWeights
from maxmargin.solvers.working_set import WorkingSetSmo

if TYPE_CHECKING:
    from collections.abc import Sequence

    from maxmargin.estimators.parts import Part
    from maxmargin.solvers._together import Answer

__all__ = ["FEW", "solved_together"]

FEW = 512  # rows; the solver takes as many into one working set


def solved_together(gram: Any, parts: Sequence[Part], solver: Any) -> list[Solved] | None:
    """All parts, solved; None where they are not of the kind that can be.

    Parameters
    ----------
    gram : Gram
        Of all rows of the fit.
    parts : sequence of Part
        Its problems.
    solver : Solver
        Who would solve them one by one.
    """
    if not _can_be_solved(gram, solver):
        return None
    margins = [one for one in parts if isinstance(one, Margin) and _is_soft(one)]
    if len(margins) < len(parts):
        return None
    began = time.perf_counter()
    everyone = np.arange(gram.n, dtype=np.intp)
    K = np.empty((gram.n, gram.n))
    gram.block(everyone, everyone, K)
    groups = [Group(one.rows, one.y, one.C * one.weight) for one in margins]
    answers = solve_together(K, gram.diagonal(), groups, solver.tol)
    if answers is None:
        return None
    seconds = (time.perf_counter() - began) / len(parts)
    return [
        _solved(part, answer, solver.tol, seconds)
        for part, answer in zip(margins, answers, strict=True)
    ]


def _can_be_solved(gram: Any, solver: Any) -> bool:
    """Few points whose kernel values are cheap, and SMO with nothing asked of it."""
    return (
        type(gram) is VectorGram
        and gram.n <= FEW
        and type(solver) in (WorkingSetSmo, ThroughWeights)  # SMO both, for so few
        and solver.max_iter < 0
        and solver.cache_bytes >= 8 * gram.n**2
    )


def _is_soft(margin: Margin) -> bool:
    """The hinge at a price, with an intercept, and a weight on every row."""
    return (
        margin.fit_intercept
        and not margin.squared
        and margin.C < np.inf
        and bool((margin.weight > 0.0).all())
    )


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
