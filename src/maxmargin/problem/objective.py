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

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin.problem.template import Model, Problem

    Vector = NDArray[np.float64]

__all__ = ["Objective", "dual_value", "objective"]


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
        if not np.isfinite(scale):
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
    beta, ridge = model.beta, problem.ridge
    plain = model.gradient - ridge * beta  # Kβ + p
    norm2 = float(beta @ (plain - problem.p))  # ‖w‖² = β'Kβ
    weighted = float(beta @ (ridge * beta))
    dual = -0.5 * (norm2 + weighted) - float(problem.p @ beta)
    dual -= problem.epsilon * float(np.abs(beta).sum())
    multipliers = np.array([model.bias + model.split, model.bias - model.split])
    slope = -(plain + multipliers[problem.side])  # gain per unit of β
    if problem.separating:
        return Objective(_rescaled_primal(problem, slope, norm2), dual)
    # |β| takes ε off every gain; what is left is worth following to the bound, or for a
    # ridge to where it is used up.
    left = np.sign(slope) * np.maximum(np.abs(slope) - problem.epsilon, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        best = np.where(ridge > 0.0, left / ridge, np.copysign(np.inf, left))
    best = np.clip(best, problem.lower, problem.upper)
    best[left == 0.0] = 0.0
    curved = np.where(ridge > 0.0, best, 0.0)
    cost = left * best - 0.5 * ridge * curved * curved
    total = sum(float(b) * t for b, t in zip(multipliers, problem.sums, strict=False))
    return Objective(0.5 * norm2 + float(cost.sum()) + total, dual)


def _rescaled_primal(problem: Problem, slope: Vector, norm2: float) -> float:
    """½‖w‖²/m², m = the smallest functional margin y·f(x) over all points."""
    y = -problem.p
    margin = float((1.0 - slope * y).min())  # y·f = 1 + y(F + b)
    return 0.5 * norm2 / margin**2 if margin > 0.0 else float("inf")
