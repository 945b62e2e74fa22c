r"""Linear machines: the template with the rows themselves instead of a kernel.

.. math:: \min_{w,b}\ \tfrac12\|w\|^2 + \sum_i \max_{l_i\le\beta\le u_i}\bigl[
          -(f_i + p_i)\beta - \varepsilon|\beta| - \tfrac12 r_i\beta^2\bigr],
          \qquad f = Xw + b

The sum is the loss: the conjugate of every point's box in the template of
:mod:`~maxmargin.problem.template`, of which this is the instance :math:`K = XX^\top`.
:math:`C\max(0, 1 - yf)` is the box between 0 and :math:`yC` with :math:`p = -y`, its
square a ridge :math:`r = 1/(2C)` and no bound, a regression's tube the price ε of |β|.

The dual value of any feasible β is :math:`-\tfrac12\|X^\top\beta\|^2 -
\tfrac12\sum r\beta^2 - p^\top\beta - \varepsilon\|\beta\|_1`, so a pair (w, β) proves its
own distance to the optimum, whether or not :math:`w = X^\top\beta` already.

The intercept is one of three: none; LIBLINEAR's, the weight of a constant column of the
design, which ½‖w‖² counts like any other; or ``free``, which costs nothing and
demands Σβ = 0, as in :class:`maxmargin.SVC`.

With ``lasso`` ‖w‖₁ takes the place of ½‖w‖², and :math:`\|X^\top\beta\|_\infty\le1` the
place of its conjugate: a β beyond it is scaled back before it is valued.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from maxmargin.problem.objective import Objective
from maxmargin.problem.passes import paid, prices, promised
from maxmargin.problem.template import NO_PRICE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin._arrays import Vector
    from maxmargin.design.operator import Design


@dataclass(frozen=True, repr=False)
class LinearProblem:
    """One linear machine.

    Parameters
    ----------
    design : Design
        The rows. A constant column, if it has one, is LIBLINEAR's intercept.
    p, lower, upper, ridge : ndarray of shape (n,), float64
        As in :class:`~maxmargin.problem.Problem`.
    epsilon : float
        Half the width of a regression's tube.
    free : bool
        Whether there is an intercept that costs nothing; the design then has none.
    lasso : bool
        Whether the penalty is ‖w‖₁.
    """

    design: Design
    p: Vector
    lower: Vector
    upper: Vector
    ridge: Vector
    epsilon: float = 0.0
    free: bool = False
    lasso: bool = False

    def __repr__(self) -> str:
        kind = "sparse" if self.design.sparse else "dense"
        return f"<LinearProblem: {self.n} × {self.design.width}, {kind}>"

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.p.size)

    @property
    def squared(self) -> bool:
        """Whether the loss is a square: a ridge, and no bound."""
        return bool(self.ridge.any())

    @property
    def unfitted(self) -> float:
        """The primal of w = 0."""
        f = np.zeros(self.n)
        return float(paid(f, self.p, self.lower, self.upper, self.ridge, self.epsilon))

    @cached_property
    def side(self) -> NDArray[np.uint8]:
        """Of the one sum that there may be."""
        return np.zeros(self.n, np.uint8)


class LinearModel(NamedTuple):
    """What a solver hands back.

    ``w`` has a weight for every column of the design; ``bias`` is the intercept, be it
    that of the constant column or the free one; ``outputs`` are f = Xw + b, and ``pull``
    is X'β: where it is w, the two sides are one.
    """

    w: Vector
    bias: float
    beta: Vector
    outputs: Vector
    pull: Vector


def linear_svc(
    design: Design,
    y: Vector,
    C: Vector,
    *,
    squared: bool = True,
    free: bool = False,
    lasso: bool = False,
) -> LinearProblem:
    """Classification; y is −1.0 or +1.0, C the price of every row.

    A row with price 0 has the box [0, 0].
    """
    top, ridge = _box(C, squared=squared)
    positive = y > 0.0
    return LinearProblem(
        design, -y, np.where(positive, 0.0, -top), np.where(positive, top, 0.0), ridge,
        free=free, lasso=lasso,
    )  # fmt: skip


def linear_svr(
    design: Design,
    z: Vector,
    C: Vector,
    *,
    epsilon: float = 0.0,
    squared: bool = False,
    free: bool = False,
) -> LinearProblem:
    """Regression of z within a tube of half width ε."""
    top, ridge = _box(C, squared=squared)
    return LinearProblem(design, -z, -top, top, ridge, epsilon=epsilon, free=free)


def _box(C: Vector, *, squared: bool) -> tuple[Vector, Vector]:
    """The bound of |β| and the ridge."""
    if not squared:
        return C, np.zeros_like(C)
    ridge, priced = np.zeros_like(C), C > NO_PRICE
    np.divide(0.5, C, out=ridge, where=priced)
    return np.where(priced, np.inf, 0.0), ridge


def response(problem: LinearProblem, outputs: Vector) -> Vector:
    """The β that f asks for: minus the slope of every row's loss.

    Unique for a squared loss. At a hinge's kink any β within the box would do; this one
    is at a bound.
    """
    slope = -(outputs + problem.p)
    left = np.sign(slope) * np.maximum(np.abs(slope) - problem.epsilon, 0.0)
    wish = np.full(problem.n, np.inf)
    np.divide(np.abs(left), problem.ridge, out=wish, where=problem.ridge > 0.0)
    wish[left == 0.0] = 0.0
    wanted: Vector = np.clip(np.copysign(wish, left), problem.lower, problem.upper)
    return wanted


def linear_objective(problem: LinearProblem, model: LinearModel) -> Objective:
    """Primal of (w, b) and dual of β."""
    w, pull, beta = model.w, model.pull, model.beta
    loss = paid(
        model.outputs, problem.p, problem.lower, problem.upper, problem.ridge,
        problem.epsilon,
    )  # fmt: skip
    if problem.lasso:
        linear, curved = linear_promises(problem, beta)
        # The best multiple of β among the feasible ones.
        peak = float(np.abs(pull).max(initial=0.0))
        best = -linear / curved if curved > 0.0 else 0.0
        fit = max(0.0, min(best, 1.0 / peak if peak > 0.0 else np.inf))
        dual = -fit * linear - 0.5 * fit * fit * curved
        return Objective(float(np.abs(w).sum()) + loss, dual)
    return Objective(0.5 * float(w @ w) + loss, linear_dual(problem, beta, pull))


def linear_dual(problem: LinearProblem, beta: Vector, pull: Vector) -> float:
    """The dual of β with the penalty ½‖w‖²; ``pull`` is X'β."""
    linear, curved = linear_promises(problem, beta)
    return -0.5 * (float(pull @ pull) + curved) - linear


def linear_promises(problem: LinearProblem, beta: Vector) -> tuple[float, float]:
    """Of the dual what depends on β alone: its linear part, and that of the ridge."""
    found = np.empty(2)
    promised(beta, problem.p, problem.ridge, problem.epsilon, found)
    return float(found[0]), float(found[1])


def linear_violation(problem: LinearProblem, model: LinearModel) -> float:
    """How far (f, β) misses optimality, as in :mod:`~maxmargin.problem.optimality`."""
    F = model.outputs - model.bias * problem.free + problem.p
    F += problem.ridge * model.beta
    found = np.empty((1, 4))
    prices(
        F, model.beta, problem.lower, problem.upper, problem.epsilon, problem.side, found
    )
    fmin, fmax = float(found[0, 0]), float(found[0, 1])
    return max(0.0, fmax - fmin) if problem.free else max(0.0, fmax, -fmin)
