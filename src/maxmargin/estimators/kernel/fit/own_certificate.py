"""The certificate that a machine gives itself; the referee has its own figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from maxmargin.certificate import Certificate
from maxmargin.problem import imbalance, objective, violation

if TYPE_CHECKING:
    from maxmargin.problem import Model, Problem


def certificate_of(
    problem: Problem,
    model: Model,
    *,
    counts: tuple[int, int] | None = None,
    tol: float,
    criterion: str = "violation",
    stop: str,
    n_iter: int,
    n_kernel: int,
    seconds: float,
    name: str = "",
    solver: str = "",
) -> Certificate:
    """Certificate of a solver's own answer, from its β and its gradient F.

    ``counts`` are the support vectors, all and at a bound, where they are not those of β.
    """
    both = objective(problem, model)
    if counts is None:
        bound = (model.beta == problem.lower) | (model.beta == problem.upper)
        support = model.beta != 0.0
        counts = int(np.count_nonzero(support)), int(np.count_nonzero(support & bound))
    return Certificate(
        primal=both.primal,
        dual=both.dual,
        gap=both.gap,
        relative_gap=both.relative_gap,
        violation=violation(problem, model.beta, model.gradient),
        bias_interval=model.interval,
        n_support=counts[0],
        n_free=counts[0] - counts[1],
        n_bound=counts[1],
        n_iter=n_iter,
        n_kernel=n_kernel,
        seconds=seconds,
        stop=stop,
        tol=tol,
        criterion=criterion,
        balance=imbalance(problem, model.beta),
        name=name,
        solver=solver,
    )
