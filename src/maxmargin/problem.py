r"""The one quadratic programme behind every kernel machine.

.. math:: \min_\beta\ \tfrac12 \beta^\top (K + \mathrm{diag}(r)) \beta + p^\top \beta
          \quad\text{subject to}\quad l \le \beta \le u,\ \ \mathbf 1^\top\beta = 0

with :math:`\beta_i = y_i\alpha_i`. **This is the one sign convention of the library**:
the decision function is :math:`f(x) = \sum_i \beta_i k(x_i, x) + b`, and the gradient
:math:`F = (K + \mathrm{diag}(r))\beta + p` equals :math:`f(x_i) - b - y_i` for a
classifier without ridge. No label sign appears in any solver.

Optimality (KKT) reads: some :math:`b` exists with :math:`F_i + b \ge 0` where
:math:`\beta_i < u_i` ("up": β may rise) and :math:`F_i + b \le 0` where
:math:`\beta_i > l_i` ("low": β may fall). Hence the violation
:math:`\max_{low} F - \min_{up} F`, LIBSVM's stopping quantity.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from maxmargin.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin.kernels.base import Gram

    Vector = NDArray[np.float64]

__all__ = [
    "Model",
    "Objective",
    "Problem",
    "bias_interval",
    "c_svc",
    "objective",
    "violation",
]


@dataclass(frozen=True)
class Problem:
    """One instance of the template.

    Parameters
    ----------
    gram : Gram
        The kernel matrix K of the n points, never stored here, only asked.
    p, lower, upper, ridge : ndarray of shape (n,), float64
        The linear term, the box (``upper`` may be +inf and ``lower`` −inf: hard
        margin), and the diagonal added to K (squared hinge: 1/(2C)).
    balanced : bool
        Whether the constraint Σβ = 0 is present, that is, whether the machine has an
        unregularised intercept.
    """

    gram: Gram
    p: Vector
    lower: Vector
    upper: Vector
    ridge: Vector
    balanced: bool = True

    @property
    def n(self) -> int:
        """Number of points."""
        return int(self.p.size)

    @cached_property
    def hard(self) -> bool:
        """Whether a box side is open without a ridge: the hard margin."""
        open_side = np.isinf(self.upper) | np.isinf(self.lower)
        return bool(np.any(open_side & (self.ridge == 0.0)))


class Model(NamedTuple):
    """What a solver hands back, ready to predict: β, its gradient F, and b."""

    beta: Vector
    gradient: Vector
    bias: float
    interval: tuple[float, float]


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


def c_svc(
    gram: Gram,
    y: Vector,
    C: Vector,
    *,
    squared: bool = False,
    fit_intercept: bool = True,
) -> Problem:
    r"""Soft-margin classification: C-SVC, its squared-hinge form, or hard margin.

    Parameters
    ----------
    gram : Gram
        Kernel matrix of the n points.
    y : ndarray of shape (n,)
        Labels −1.0 or +1.0.
    C : ndarray of shape (n,)
        Price of each point's slack: C · class weight · sample weight. ``inf`` for a
        hard margin.
    squared : bool
        Pay :math:`C\xi^2` instead of :math:`C\xi`: K + I/(2C) and no upper bound.
    fit_intercept : bool
        Whether b exists; without it the constraint Σβ = 0 falls away.
    """
    top = np.full_like(C, np.inf) if squared else C
    ridge = 1.0 / (2.0 * C) if squared else np.zeros_like(C)
    positive = y > 0.0
    return Problem(
        gram=gram,
        p=-y,
        lower=np.where(positive, 0.0, -top),
        upper=np.where(positive, top, 0.0),
        ridge=ridge,
        balanced=fit_intercept,
    )


def _extremes(problem: Problem, beta: Vector, gradient: Vector) -> tuple[float, float]:
    """Min of F where β may rise, max of F where β may fall (±inf if no such point)."""
    up = beta < problem.upper
    low = beta > problem.lower
    fmin = float(gradient[up].min()) if up.any() else float("inf")
    fmax = float(gradient[low].max()) if low.any() else float("-inf")
    return fmin, fmax


def violation(problem: Problem, beta: Vector, gradient: Vector) -> float:
    """Worst violation of the optimality conditions, never negative.

    With the constraint Σβ = 0: max over I_low of F − min over I_up of F. Without it
    b is 0, so the two sides are measured against 0 and the worse one counts.
    """
    fmin, fmax = _extremes(problem, beta, gradient)
    if problem.balanced:
        return max(0.0, fmax - fmin)
    return max(0.0, fmax, -fmin)


def bias_interval(
    problem: Problem, beta: Vector, gradient: Vector
) -> tuple[float, tuple[float, float]]:
    """Intercept b and the interval [lo, hi] of all optimal intercepts.

    b is the mean of −F over the free support vectors (l < β < u); with none, the
    midpoint of the interval. Where one end is open (all β at one bound), the finite
    end is taken. Without the constraint Σβ = 0 the intercept is 0.
    """
    if not problem.balanced:
        return 0.0, (0.0, 0.0)
    fmin, fmax = _extremes(problem, beta, gradient)
    lo, hi = sorted((-fmin, -fmax))
    free = (beta > problem.lower) & (beta < problem.upper)
    if free.any():
        return float(-gradient[free].mean()), (lo, hi)
    if not np.isfinite(lo) or not np.isfinite(hi):
        finite = [end for end in (lo, hi) if np.isfinite(end)]
        if not finite:
            msg = "every point has a zero box: no point can carry weight"
            raise InputError(msg)
        return finite[0], (lo, hi)
    return 0.5 * (lo + hi), (lo, hi)


def objective(problem: Problem, model: Model) -> Objective:
    r"""Primal and dual value of a model.

    Every point costs the conjugate of its box,
    :math:`\max_{l\le\beta\le u} -(F_i - r_i\beta_i + b)\beta - \tfrac12 r_i\beta^2`,
    which is :math:`C\xi` for the hinge and :math:`C\xi^2` for its square, so one
    formula serves every machine. For a hard margin the primal is that of w rescaled
    until every point is feasible; it is infinite when none is.
    """
    beta, ridge = model.beta, problem.ridge
    plain = model.gradient - ridge * beta  # Kβ + p
    norm2 = float(beta @ (plain - problem.p))  # ‖w‖² = β'Kβ
    dual = -0.5 * (norm2 + float(beta @ (ridge * beta))) - float(problem.p @ beta)
    slope = -(plain + model.bias)  # gain per unit of β
    if problem.hard:
        return Objective(_rescaled_primal(problem, slope, norm2), dual)
    with np.errstate(divide="ignore", invalid="ignore"):
        best = np.where(ridge > 0.0, slope / ridge, np.where(slope > 0, np.inf, -np.inf))
    best = np.clip(best, problem.lower, problem.upper)
    cost = slope * best - 0.5 * ridge * best * best
    return Objective(0.5 * norm2 + float(cost.sum()), dual)


def _rescaled_primal(problem: Problem, slope: Vector, norm2: float) -> float:
    """½‖w‖²/m², m = the smallest functional margin y·f(x) over all points."""
    y = -problem.p
    margin = float((1.0 - slope * y).min())  # y·f = 1 + y(F + b)
    return 0.5 * norm2 / margin**2 if margin > 0.0 else float("inf")
