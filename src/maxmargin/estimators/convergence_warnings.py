"""Warnings of a fit that ended early, or whose solution has a defect, with advice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.errors import (
    ConvergenceWarning,
    InputError,
    Stop,
    VanishingMarginWarning,
    warn,
)
from maxmargin.estimators.kernel.fit.solver_choice import is_production

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from maxmargin.certificate import Certificate
    from maxmargin.estimators.machine import Solution
    from maxmargin.estimators.parameters import Settings

ADVICE = {
    Stop.MAX_ITER: "raise max_iter, scale the features, or go on from here with "
    "warm_start=True",
    Stop.TIME_LIMIT: "raise time_limit, or go on from here with warm_start=True",
    Stop.INTERRUPTED: "go on from here with warm_start=True",
    Stop.STALLED: "scale the features, lower C, or raise tol",
}
SLOW_ADVICE = dict.fromkeys(ADVICE, "raise max_iter or tol, or use solver='smo'")
AFRESH = "raise max_iter or tol, scale the features, or use solver='auto'"
STOCHASTIC_ADVICE = {
    Stop.MAX_ITER: "raise max_iter, lam or tol, scale the features, or go on from here "
    "with warm_start=True",
    Stop.TIME_LIMIT: "raise time_limit, or go on from here with warm_start=True",
    Stop.INTERRUPTED: "go on from here with warm_start=True",
}


def warn_of_kernel_fit(solution: Solution, settings: Settings) -> None:
    """Warn of a kernel machine that ended early, or whose solution has a defect."""
    solved: Sequence[Any] = [*solution.solved, *solution.others]
    for one in solution.solved:
        if one.complaint and one.stop.converged:
            warn(one.complaint, VanishingMarginWarning)
            break  # one pair of classes is enough
    early = [one for one in solved if one.stop in ADVICE]
    if not early:
        return
    worst = max(early, key=lambda one: one.certificate.violation)
    proof = worst.certificate
    hopeless = worst.separating and np.isinf(proof.primal)
    if worst.stop in (Stop.MAX_ITER, Stop.STALLED) and hopeless:
        msg = (
            f"C=inf: no plane separating {worst.part.name} was found in {proof.n_iter:,} "
            "iterations: the classes overlap, or are too close for features of such "
            "different sizes; use a finite C, or scale the features"
        )
        raise InputError(msg)
    more = ""
    if worst.hard:
        more += (
            " C=inf allows no error outside the tube, and there may be no function "
            "within it: use a finite C, or a larger epsilon."
        )
    if any(not one.stop.converged for one in solution.others):
        more += (
            " Where folds were stopped, probabilities rest on the scores of rows that "
            "the machine has seen, and are too sure."
        )
    limit = (
        f"Solver terminated early (max_iter={proof.n_iter}).  Consider pre-processing "
        "your data with StandardScaler or MinMaxScaler. "
    )
    figures = (
        f"{_where(early, solved)}: violation {proof.violation:.3g}, relative gap "
        f"{proof.relative_gap:.3g}, tol {proof.tol:g}"
    )
    advice = (ADVICE if is_production(settings) else SLOW_ADVICE)[worst.stop]
    _warn_early(proof, limit, figures, advice, more)


def warn_of_linear_fit(solution: Solution) -> None:
    """Warn of a linear machine that ended early."""
    early = [one for one in solution.solved if one.certificate.stop in ADVICE]
    if not early:
        return
    worst = max(early, key=lambda one: one.certificate.relative_gap)
    proof = worst.certificate
    limit = f"Solver terminated early (max_iter={proof.n_iter}). "
    figures = (
        f"{_where(early, solution.solved)} ({proof.solver}): relative gap "
        f"{proof.relative_gap:.3g}, tol {proof.tol:g}"
    )
    advice = ADVICE[proof.stop] if worst.restarts else AFRESH
    _warn_early(proof, limit, figures, advice)


def warn_of_walks(
    solution: Solution, epochs: int, advice: Mapping[Stop, str] = STOCHASTIC_ADVICE
) -> None:
    """Warn of a stochastic machine that ended early, after so many epochs."""
    certificates = [one.certificate for one in solution.solved]
    early = [one for one in certificates if one.stop in advice]
    if not early:
        return
    gap = max(one.relative_gap for one in certificates)
    figures = f": relative gap {gap:.3g}, tol {early[0].tol:g}, {epochs:,} epochs"
    _warn_early(early[0], "", figures, advice[early[0].stop])


def _where(early: Sequence[Any], solved: Sequence[Any]) -> str:
    return f" in {len(early)} of {len(solved)} problems" if len(solved) > 1 else ""


def _warn_early(
    proof: Certificate, limit: str, figures: str, advice: str, more: str = ""
) -> None:
    """Warn with the distance from the tolerance at which a solver stopped."""
    said = limit if proof.stop is Stop.MAX_ITER else ""
    warn(
        f"{said}The solver {proof.stop}{figures}. The model is usable; to improve it, "
        f"{advice}.{more}",
        ConvergenceWarning,
    )
