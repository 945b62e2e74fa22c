"""What the solvers of hinge and tube with a matrix of columns × columns cannot solve."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from maxmargin.errors import InputError

if TYPE_CHECKING:
    from maxmargin.problem import LinearProblem


def check_kinked(problem: LinearProblem, name: str, widest: int) -> None:
    """Refuse what is no hinge or tube with ½‖w‖², a box and few columns."""
    width = problem.design.width
    if problem.lasso:
        msg = (
            f"{name} minimises ½‖w‖² and a loss, and the penalty given is ‖w‖₁: use "
            "penalty='l2', or solver='lasso-newton'"
        )
        raise InputError(msg)
    if problem.squared:
        msg = (
            f"{name} is for losses with a kink, and the one given is a square: use "
            "loss='hinge' (LinearSVR: 'epsilon_insensitive'), or solver='newton'"
        )
        raise InputError(msg)
    if not np.isfinite(problem.upper - problem.lower).all():
        msg = f"{name} needs a box for every row: give a finite C"
        raise InputError(msg)
    if width > widest:
        msg = (
            f"{name} factors a matrix of columns × columns: {width} columns are given, "
            f"{widest} are possible; use solver='auto'"
        )
        raise InputError(msg)
