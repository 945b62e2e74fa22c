"""The C-path of a linear machine: every fit begins where the ones before point to."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from maxmargin.estimators.linear.solving import (
    Kept,
    Seed,
    design_of,
    solve_all,
    warn_if_early,
)
from maxmargin.estimators.linear.warm_start import Before
from maxmargin.parallel import Workers, one_blas_thread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from maxmargin.estimators.linear.solving import LinearTask


def fit_along(machines: Sequence[Any], X: Any, y: Any, sample_weight: Any) -> None:
    """Fit machines that differ in C alone, C rising, each from the answers before.

    Rows and labels are checked once and prepared once: what a design computes of them
    serves every C.
    """
    began = time.perf_counter()
    first = machines[0]
    task: LinearTask = first._checked_task(X, y, sample_weight)
    with Workers(first.n_jobs) as workers:
        kept = Kept(design_of(first, task, workers), Seed(first.random_state))
    last: tuple[float, Before] | None = None
    earlier: tuple[float, Before] | None = None
    with one_blas_thread():  # asked for once: every fit asks again
        for machine in machines:
            price, start = float(machine.C), None
            if last is not None:
                start = last[1].along(last[0], earlier, price)
            solved = solve_all(machine, task, start, (), kept)
            _name_features(machine, first)
            machine._accept(_own(task), solved, time.perf_counter() - began)
            warn_if_early(solved, stacklevel=4)
            pulls = [one.pull for one in solved]
            earlier, last = last, (price, Before.of(machine, task, pulls))
            began = time.perf_counter()


def _name_features(machine: Any, checked: Any) -> None:
    """What the check of X told the machine that made it."""
    for name in ("n_features_in_", "feature_names_in_"):
        if machine is not checked and hasattr(checked, name):
            setattr(machine, name, getattr(checked, name))


def _own(task: LinearTask) -> LinearTask:
    """With attributes that no other machine shares: they may be altered."""
    return task._replace(known={name: one.copy() for name, one in task.known.items()})
