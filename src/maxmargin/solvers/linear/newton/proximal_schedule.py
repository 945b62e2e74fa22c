"""When to change the proximal centre, and when to stop: one rule for two solvers.

:mod:`~maxmargin.solvers.linear.newton.proximal_newton` and
:mod:`~maxmargin.solvers.linear.classes.newton` go from centre to centre: a β around which
the loss is rounded off, less for a larger κ. The problem of a centre is solved only as
exactly as the duality gap requires. Where a step gains only rounding, the next centre may
help; if several do not, the run has stalled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from maxmargin.solvers.base import Status

if TYPE_CHECKING:
    from maxmargin.problem import Objective

FIRST, GROWTH, _LAST = 0.3, 3.0, 1e12  # policy: first κ, its growth, its largest
_LIMIT = 1000  # policy: steps at most by default; 20 to 100 are usual
_EASED = 0.1  # policy: share of the gap; ½‖w − X'β‖² below it ends a centre
_STILL = 1e-15  # rounding: share of the objective; a smaller gain counts as none
_TIRED, _PATIENCE = 2, 8  # policy: steps without gain before another centre, STALLED


class Progress(Protocol):
    """The fields of a solver's state that the rule reads."""

    rest: float  # ½‖w − X'β‖²
    both: Objective
    still: int  # steps in a row that gained only rounding
    steps: int


def is_eased(at: Progress, tol: float, kappa: float) -> bool:
    """Whether β should be the next centre; ``kappa`` in units of the first."""
    eased = at.rest <= _EASED * at.both.gap or at.still >= _TIRED
    return eased and at.both.relative_gap > tol and kappa < _LAST


def stands_still(at: Progress, gain: float) -> bool:
    """Whether a gain of the objective is only rounding."""
    return gain <= _STILL * abs(at.both.primal)


def verdict(at: Progress, tol: float, max_iter: int) -> Status:
    """CLOSED, STALLED, at the limit (−1 for 1000 steps), or RUNNING."""
    if at.both.relative_gap <= tol:
        return Status.CLOSED
    if at.still >= _PATIENCE:
        return Status.STALLED
    limit = max_iter if max_iter >= 0 else _LIMIT
    return Status.MAX_ITER if at.steps >= limit else Status.RUNNING
