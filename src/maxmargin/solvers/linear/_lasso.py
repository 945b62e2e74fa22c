"""What the solvers for the penalty ‖w‖₁ demand of a problem."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from maxmargin.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin.problem import LinearProblem

__all__ = ["check_lasso"]


def check_lasso(problem: LinearProblem, warm: NDArray[np.float64] | None) -> None:
    """Refuse what is not the penalty l1 with the squared hinge, begun at w = 0."""
    labels = bool((np.abs(problem.p) == 1.0).all())
    boxed = bool((np.isfinite(problem.upper - problem.lower) & (problem.ridge > 0)).any())
    if not (problem.lasso and labels) or boxed or problem.free or problem.epsilon:
        msg = (
            "the penalty l1 goes with the squared hinge, and with an intercept that is "
            "penalised or none: use penalty='l1', loss='squared_hinge', "
            "intercept='regularised'"
        )
        raise InputError(msg)
    if warm is not None and np.any(warm):
        msg = (
            "with the penalty l1 a run cannot go on from dual variables: use "
            "warm_start=False"
        )
        raise InputError(msg)
