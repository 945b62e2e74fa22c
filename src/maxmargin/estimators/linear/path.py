"""The C-path of a linear machine: every fit begins where the one before ended."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from maxmargin.estimators.linear.solving import (
    Before,
    design_of,
    solve_all,
    warn_if_early,
)
from maxmargin.parallel import Workers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from maxmargin.design import Design

__all__ = ["fit_along"]


def fit_along(machines: Sequence[Any], X: Any, y: Any, sample_weight: Any) -> None:
    """Fit machines that differ in C alone, C rising, each from the answer before.

    The rows are prepared once: what a design computes of them serves every C.
    """
    before: Any = None
    design: Design | None = None
    for machine in machines:
        began = time.perf_counter()
        task = machine._checked_task(X, y, sample_weight)
        if design is None:
            with Workers(machine.n_jobs) as workers:
                design = design_of(machine, task, workers)
        start = None
        if before is not None:
            growth = float(machine.C) / float(before.C)
            start = Before.of(before, task)._replace(growth=growth)
        solved = solve_all(machine, task, start, (), design)
        machine._accept(task, solved, time.perf_counter() - began)
        warn_if_early(solved, stacklevel=4)
        before = machine
