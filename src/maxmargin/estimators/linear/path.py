"""The C-path of a linear machine: every fit begins where the one before ended."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.estimators.linear.solving import solve_all, warn_if_early

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["fit_along"]


def fit_along(machines: Sequence[Any], X: Any, y: Any, sample_weight: Any) -> None:
    """Fit machines that differ in C alone, C rising, each from the answer before.

    Dual variables at their bound go to the new bound: they are those of rows inside the
    margin, most of which stay there.
    """
    before: Any = None
    for machine in machines:
        began = time.perf_counter()
        task = machine._task(X, y, sample_weight)
        solved = solve_all(machine, task, _start(before, machine), ())
        machine._accept(task, solved, time.perf_counter() - began)
        warn_if_early(solved, stacklevel=4)
        before = machine


def _start(before: Any, machine: Any) -> NDArray[np.float64] | None:
    """Dual variables to begin with; with the penalty l1 they are of no use."""
    if before is None or getattr(machine, "penalty", "l2") == "l1":
        return None
    beta: NDArray[np.float64] = before.dual_coef_.copy()
    if getattr(machine, "multi_class", "ovr") == "crammer_singer":
        own = beta.max(axis=0)  # the others are at most 0
        beta[:, own == own.max()] *= float(machine.C) / float(before.C)
    elif not machine.loss.startswith("squared"):
        peak = np.abs(beta).max(axis=1, keepdims=True)
        full = np.abs(beta) == peak
        beta[full] *= float(machine.C) / float(before.C)
    return beta
