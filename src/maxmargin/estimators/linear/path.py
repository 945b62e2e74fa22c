"""The C-path of a linear machine: every fit begins where the one before ended."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.estimators.linear.solving import Before, solve_all, warn_if_early

if TYPE_CHECKING:
    from collections.abc import Sequence

    from maxmargin.estimators.linear.solving import LinearTask

__all__ = ["fit_along"]


def fit_along(machines: Sequence[Any], X: Any, y: Any, sample_weight: Any) -> None:
    """Fit machines that differ in C alone, C rising, each from the answer before.

    Dual variables at their bound go to the new bound: they are those of rows inside the
    margin, most of which stay there.
    """
    before: Any = None
    for machine in machines:
        began = time.perf_counter()
        task = machine._checked_task(X, y, sample_weight)
        start = None if before is None else _start(before, machine, task)
        solved = solve_all(machine, task, start, ())
        machine._accept(task, solved, time.perf_counter() - began)
        warn_if_early(solved, stacklevel=4)
        before = machine


def _start(before: Any, machine: Any, task: LinearTask) -> Before:
    """The model before, its dual variables as they would be at the new price."""
    known = Before.of(before, task)
    beta = known.beta.copy()
    if getattr(machine, "multi_class", "ovr") == "crammer_singer":
        own = beta.max(axis=0)  # the others are at most 0
        beta[:, own == own.max()] *= float(machine.C) / float(before.C)
    elif not machine.loss.startswith("squared"):
        peak = np.abs(beta).max(axis=1, keepdims=True)
        full = np.abs(beta) == peak
        beta[full] *= float(machine.C) / float(before.C)
    return known._replace(beta=beta)
