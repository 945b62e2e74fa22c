r"""Both sides of the duality.

The dual value of a feasible β, the one that is maximised, is minus the template's
objective. The primal of its model, with :math:`w = \sum\beta_i\varphi(x_i)` and the
multiplier :math:`b_i` of the sum of point i, is

.. math:: \tfrac12\|w\|^2 + \sum_i \max_{l_i\le\beta\le u_i}\bigl[
          -(F_i - r_i\beta_i + b_i)\beta - \varepsilon|\beta| - \tfrac12 r_i\beta^2\bigr]
          + \sum_{sums} b\,t

the conjugate of every point's box: :math:`C\xi` for the hinge, :math:`C\xi^2` for its
square, :math:`C\max(0, |z - f| - \varepsilon)` for regression; one formula serves every
machine. Primal − dual bounds the distance of either to the optimum.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from maxmargin.problem.passes import worth

if TYPE_CHECKING:
    from maxmargin._arrays import Vector
    from maxmargin.problem.template import Model, Problem


class Objective(NamedTuple):
    """Both sides of the duality, the dual as the value that is maximised."""

    primal: float
    dual: float

    @property
    def gap(self) -> float:
        """Primal − dual: an upper bound on the distance of either to the optimum."""
        return self.primal - self.dual

    @property
    def relative_gap(self) -> float:
        """The gap over max(|primal|, |dual|); 0 when both are 0."""
        scale = max(abs(self.primal), abs(self.dual))
        if not math.isfinite(scale):
            return float("inf")
        return self.gap / scale if scale > 0.0 else 0.0


def dual_value(problem: Problem, beta: Vector, gradient: Vector) -> float:
    """The dual of β, from its gradient."""
    smooth = 0.5 * float(beta @ (gradient + problem.p))
    # 0 − x, not −x: nothing is 0, rather than −0
    return 0.0 - smooth - problem.epsilon * float(np.abs(beta).sum())


def objective(problem: Problem, model: Model) -> Objective:
    """Primal and dual value of a model.

    For a hard margin the primal is that of w rescaled until every point is feasible; it
    is infinite when none is. A hard tube cannot be rescaled: there the primal is infinite
    while any point is outside, be it by rounding.
    """
    multipliers = (model.bias + model.split, model.bias - model.split)
    found = np.empty(6)
    worth(
        model.gradient, model.beta, problem.p, problem.lower, problem.upper,
        problem.ridge, problem.epsilon, problem.side, multipliers, found,
    )  # fmt: skip
    norm2, weighted, linear, size, cost, margin = found.tolist()
    dual = -0.5 * (norm2 + weighted) - linear - problem.epsilon * size
    if problem.separating:  # margin is the smallest y·f(x)
        primal = 0.5 * norm2 / margin**2 if margin > 0.0 else float("inf")
        return Objective(primal, dual)
    total = sum(b * t for b, t in zip(multipliers, problem.sums, strict=False))
    return Objective(0.5 * norm2 + cost + total, dual)
