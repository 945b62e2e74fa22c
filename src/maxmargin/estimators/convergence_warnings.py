"""What a user should know of a fit that ended early or oddly, and what to do about it."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin._callback_bridge import FIT_IS_WRAPPED
from maxmargin.errors import (
    ConvergenceWarning,
    InputError,
    Stop,
    VanishingMarginWarning,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from maxmargin.estimators.kernel.fit.fitting import Solution
    from maxmargin.estimators.kernel.fit.parts import Solved

# warn → warn_about → _fit → fit → (the decorator with_callbacks →) the caller
CALLER = 5 if FIT_IS_WRAPPED else 4

ADVICE = {
    Stop.MAX_ITER: "raise max_iter, scale the features, or go on from here with "
    "warm_start=True",
    Stop.TIME_LIMIT: "raise time_limit, or go on from here with warm_start=True",
    Stop.INTERRUPTED: "go on from here with warm_start=True",
    Stop.STALLED: "scale the features, lower C, or raise tol",
}
SLOW_ADVICE = dict.fromkeys(ADVICE, "raise max_iter or tol, or use solver='smo'")


def warn_about(estimator: Any, solution: Solution, *, stacklevel: int = CALLER) -> None:
    """Say what the user should know of a solution."""
    for one in solution.solved:
        if one.stop.converged and one.complaint:
            warnings.warn(one.complaint, VanishingMarginWarning, stacklevel=stacklevel)
            break  # one pair of classes is enough
    _warn_if_early(estimator, solution.solved, solution.others, stacklevel + 1)


def _warn_if_early(
    estimator: Any,
    problems: Sequence[Solved],
    folds_of: Sequence[Solved],
    stacklevel: int,
) -> None:
    """Say how far from its tolerance the solver stopped; callbacks know why they did."""
    fast = getattr(estimator, "solver", "auto") in ("auto", "smo")
    advice = ADVICE if fast else SLOW_ADVICE
    solved = [*problems, *folds_of]
    early = [one for one in solved if one.stop in ADVICE]
    if not early:
        return
    worst = max(early, key=lambda one: one.certificate.violation)
    hopeless = worst.separating and np.isinf(worst.certificate.primal)
    if worst.stop in (Stop.MAX_ITER, Stop.STALLED) and hopeless:
        msg = (
            f"C=inf: no plane separating {worst.part.name} was found in {worst.n_iter:,} "
            "iterations: the classes overlap, or are too close for features of such "
            "different sizes; use a finite C, or scale the features"
        )
        raise InputError(msg)
    limit = (
        f"Solver terminated early (max_iter={worst.n_iter}).  Consider "
        "pre-processing your data with StandardScaler or MinMaxScaler. "
        if worst.stop is Stop.MAX_ITER
        else ""
    )
    tube = (
        " C=inf allows no error outside the tube, and there may be no function within "
        "it: use a finite C, or a larger epsilon."
        if worst.hard
        else ""
    )
    folds = (
        " Where folds were stopped, probabilities rest on the scores of rows that the "
        "machine has seen, and are too sure."
        if any(not one.stop.converged for one in folds_of)
        else ""
    )
    where = f" in {len(early)} of {len(solved)} problems" if len(solved) > 1 else ""
    warnings.warn(
        f"{limit}The solver {worst.stop.value}{where}: violation "
        f"{worst.certificate.violation:.3g}, relative gap "
        f"{worst.certificate.relative_gap:.3g}, tol {worst.certificate.tol:g}. The model "
        f"is usable; to improve it, {advice[worst.stop]}.{tube}{folds}",
        ConvergenceWarning,
        stacklevel=stacklevel,
    )
