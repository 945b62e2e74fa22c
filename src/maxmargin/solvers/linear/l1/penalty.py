"""Checks and first weights of the solvers for the penalty ‖w‖₁."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from maxmargin.errors import InputError

if TYPE_CHECKING:
    from maxmargin._arrays import Vector
    from maxmargin.problem import LinearProblem, WarmStart


def first_weights(problem: LinearProblem, warm: WarmStart | None) -> Vector:
    """The weights given, or 0; refuse all but the squared hinge with ‖w‖₁."""
    wrong = _mistake(problem)
    if wrong:
        msg = f"this solver is for the penalty l1 with the squared hinge, and {wrong}"
        raise InputError(msg)
    width = problem.design.width
    w = None if warm is None else warm.w
    if w is None:
        return np.zeros(width)
    if w.shape != (width,):
        msg = (
            f"with the penalty l1 a run goes on from weights, one for each of {width} "
            f"columns (that of the intercept is the last); those given have shape "
            f"{w.shape}"
        )
        raise InputError(msg)
    return np.array(w, np.float64)


def _mistake(problem: LinearProblem) -> str:
    """The property of the problem that does not fit, and the remedy."""
    if not problem.lasso:
        return "the penalty given is ½‖w‖²: use penalty='l1', or solver='auto'"
    if not problem.boxed:
        return "the loss given is not a square: use loss='squared_hinge'"
    if problem.epsilon or not (np.abs(problem.p) == 1.0).all():
        return "the problem given is a regression: use solver='auto'"
    if problem.free:
        return "the intercept given costs nothing: use intercept='regularised'"
    priced = problem.lower < problem.upper
    if not (problem.ridge[priced] > 0.0).all():
        return "the loss given is the hinge: use loss='squared_hinge'"
    return ""
