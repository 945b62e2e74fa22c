"""The certificate of a linear machine, and what it makes of a solver's own verdict."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from maxmargin.certificate import BALANCE, Certificate, Run
from maxmargin.certificate import certificate_of as certificate_of_run
from maxmargin.errors import Stop

if TYPE_CHECKING:
    from maxmargin.problem import AnyProblem
    from maxmargin.solvers.base import Outcome


def certificate_of(
    problem: AnyProblem, outcome: Outcome, solver: Any, *, name: str
) -> Certificate:
    """The certificate of a solver's own answer."""
    run = Run(
        outcome.stop,
        solver.tol_at(outcome.state),
        solver.criterion,
        outcome.n_iter,
        seconds=outcome.seconds,
        name=name,
        solver=solver.ran(outcome.state),
    )
    found = certificate_of_run(problem, outcome.model, run)
    return replace(found, stop=_agreed(found))


def _agreed(found: Certificate) -> Stop:
    """Why a solver stopped, unless the figures of its answer say otherwise.

    Where tol is near rounding, figures that a solver carries along and those made afresh
    may lie on its two sides. A run that was ended from outside keeps its reason.
    """
    by_gap = found.criterion == "relative_gap"
    within = (found.relative_gap if by_gap else found.violation) <= found.tol
    if found.stop.converged and not within:
        return Stop.STALLED
    early = found.stop in (Stop.STALLED, Stop.MAX_ITER)
    if early and within and found.balance <= BALANCE:
        return Stop.CLOSED if by_gap else Stop.CONVERGED
    return found.stop
