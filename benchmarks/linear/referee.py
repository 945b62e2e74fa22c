r"""Primal and dual of a linear machine in plain NumPy, for every library the same.

.. math:: P(w) = \tfrac12\|w\|^2 + C\sum_i \ell(f_i),\qquad
          D(\beta) = t^\top\beta - \varepsilon\|\beta\|_1 - \tfrac12\|X^\top\beta\|^2
          - \tfrac1{4C}\|\beta\|^2

with the column of ones counted in w and X, t the labels ±1 or the targets, ε = 0 in
classification, and the last term for squared losses only; for the others
:math:`0\le t_i\beta_i\le C` or :math:`|\beta_i|\le C` instead. Nothing of the library's
own solvers or certificates is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from benchmarks.linear.datasets import Problem

__all__ = ["dual", "gap", "primal", "slope"]


def _wanted(problem: Problem) -> np.ndarray:
    """The targets, or ±1 of every one-against-the-rest problem: a row each."""
    if problem.kind == "SVR":
        return np.asarray(problem.y, dtype=np.float64)[None, :]
    classes = np.unique(problem.y)
    positive = classes[1:] if classes.size == 2 else classes
    return np.where(problem.y == positive[:, None], 1.0, -1.0)


def _missing(problem: Problem, coef: Any, intercept: Any) -> np.ndarray:
    """How far every row is on the wrong side, with the sign of the change it wants."""
    wanted = _wanted(problem)
    outputs = np.asarray(problem.X @ coef.T).T + np.reshape(intercept, (-1, 1))
    if problem.kind == "SVC":
        return wanted * np.maximum(1.0 - wanted * outputs, 0.0)
    off = wanted - outputs
    return np.sign(off) * np.maximum(np.abs(off) - problem.epsilon, 0.0)


def primal(problem: Problem, coef: Any, intercept: Any) -> np.ndarray:
    """P of every problem."""
    missing = np.abs(_missing(problem, coef, intercept))
    loss = (missing**2 if problem.squared else missing).sum(axis=1)
    norm = (coef**2).sum(axis=1) + np.asarray(intercept) ** 2
    return 0.5 * norm + problem.C * loss


def slope(problem: Problem, coef: Any, intercept: Any) -> np.ndarray:
    """The β of a squared loss that belongs to w: minus the slope of every row's loss."""
    return 2.0 * problem.C * _missing(problem, coef, intercept)


def dual(problem: Problem, beta: np.ndarray) -> np.ndarray:
    """D of every problem, at β or the nearest feasible point."""
    wanted = _wanted(problem)
    top = np.inf if problem.squared else problem.C
    if problem.kind == "SVC":
        beta = wanted * np.clip(wanted * beta, 0.0, top)
    else:
        beta = np.clip(beta, -top, top)
    pull = np.asarray(problem.X.T @ beta.T)
    norm = (pull**2).sum(axis=0) + beta.sum(axis=1) ** 2
    value = (wanted * beta).sum(axis=1) - 0.5 * norm
    if problem.kind == "SVR":
        value -= problem.epsilon * np.abs(beta).sum(axis=1)
    if problem.squared:
        value -= (beta**2).sum(axis=1) / (4.0 * problem.C)
    return np.asarray(value)


def gap(values: Any, bounds: Any) -> float:
    """(P − D)/max(|P|, |D|), of the worst problem."""
    p, d = np.asarray(values), np.asarray(bounds)
    largest = np.maximum(np.maximum(np.abs(p), np.abs(d)), np.finfo(np.float64).tiny)
    return float(((p - d) / largest).max())
