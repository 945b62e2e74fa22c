"""When a proximal centre is done with, and when all are: one rule for two solvers.

:mod:`~maxmargin.solvers.linear.newton.proximal_newton` and
:mod:`~maxmargin.solvers.linear.classes.newton` go from centre to centre: a β around which
the loss is rounded off, the less the larger κ is. A centre need not be exact, only as
exact as the duality gap allows; where a step gains nothing but rounding, the next centre
may help, and if none does, rounding is all there is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from maxmargin.solvers.base import Status

if TYPE_CHECKING:
    from maxmargin.problem import Objective

FIRST, GROWTH, _LAST = 0.3, 3.0, 1e12  # κ, how it grows, and where that ends
_LIMIT = 1000  # steps; 20 to 100 are usual
_EASED = 0.1  # of the gap: a centre need not be more exact
_STILL = 1e-15  # of the objective: a gain that is rounding
_TIRED, _PATIENCE = 2, 8  # steps with no more than that: another centre, the end


class Progress(Protocol):
    """What the rule wants to know of a solver's state."""

    rest: float  # ½‖w − X'β‖²
    both: Objective
    still: int  # steps in a row that gained nothing but rounding
    steps: int


def is_eased(at: Progress, tol: float, kappa: float) -> bool:
    """Whether β should be the next centre; ``kappa`` in units of the first."""
    eased = at.rest <= _EASED * at.both.gap or at.still >= _TIRED
    return eased and at.both.relative_gap > tol and kappa < _LAST


def stands_still(at: Progress, gain: float) -> bool:
    """Whether a gain of the objective is nothing but rounding."""
    return gain <= _STILL * abs(at.both.primal)


def verdict(at: Progress, tol: float, max_iter: int) -> Status:
    """CLOSED, STALLED, at the limit (−1 for 1000 steps), or RUNNING."""
    if at.both.relative_gap <= tol:
        return Status.CLOSED
    if at.still >= _PATIENCE:
        return Status.STALLED
    limit = max_iter if max_iter >= 0 else _LIMIT
    return Status.MAX_ITER if at.steps >= limit else Status.RUNNING
