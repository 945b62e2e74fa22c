r"""The template: one quadratic programme, its objective and its optimality conditions.

.. math:: \min_\beta\ \tfrac12 \beta^\top (K + \mathrm{diag}(r)) \beta + p^\top \beta
          + \varepsilon\|\beta\|_1
          \quad\text{subject to}\quad l \le \beta \le u

and at most two sums: none, :math:`\mathbf 1^\top\beta = t`, or one for each sign of β
(the ν-machines), where the box keeps every point on one side of 0.

With :math:`\beta_i = y_i\alpha_i`, **this is the one sign convention of the library**:
the decision function is :math:`f(x) = \sum_i \beta_i k(x_i, x) + b`, and the gradient of
the smooth part, :math:`F = (K + \mathrm{diag}(r))\beta + p`, equals
:math:`f(x_i) - b - y_i` for a classifier without ridge. No label sign appears in any
solver. Every sum has a multiplier: :math:`b` for one, :math:`b_\pm = b \pm s` for two.

**Objective.** The dual value of a feasible β, the one that is maximised, is minus the
template's objective. The primal of its model, with :math:`w = \sum\beta_i\varphi(x_i)`
and the multiplier :math:`b_i` of the sum of point i, is

.. math:: \tfrac12\|w\|^2 + \sum_i \max_{l_i\le\beta\le u_i}\bigl[
          -(F_i - r_i\beta_i + b_i)\beta - \varepsilon|\beta| - \tfrac12 r_i\beta^2\bigr]
          + \sum_{sums} b\,t

the conjugate of every point's box: :math:`C\xi` for the hinge, :math:`C\xi^2` for its
square, :math:`C\max(0, |z - f| - \varepsilon)` for regression; one formula serves every
machine. Primal − dual bounds the distance of either to the optimum.

**Optimality.** β may rise where it is below its upper bound, at the price
:math:`F_i^\uparrow = F_i + \varepsilon` (:math:`F_i - \varepsilon` while β < 0), and fall
where it is above its lower bound, gaining :math:`F_i^\downarrow = F_i + \varepsilon`
(:math:`F_i - \varepsilon` unless β > 0). Optimality (KKT) reads: for every sum some
:math:`b` exists with :math:`F_i^\uparrow + b \ge 0` and :math:`F_i^\downarrow + b \le 0`
at its points. Hence the violation :math:`\max F^\downarrow - \min F^\uparrow`, LIBSVM's
stopping quantity, the worst over the sums; without a sum b is 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from maxmargin.errors import InputError
from maxmargin.problem.contract import AnyProblem, Evidence, Measures, Objective
from maxmargin.problem.passes import prices, worth

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin._arrays import Vector
    from maxmargin.kernels.gram.contract import Gram

_SEPARATED = 1e-6  # rounding: hulls closer than this, relative to the data, overlap
NO_PRICE = 1e-300  # rounding: C up to which 1/(2C), a squared loss's ridge, overflows


@dataclass(frozen=True, repr=False)
class Problem(AnyProblem):
    """One instance of the template.

    Parameters
    ----------
    gram : Gram
        The kernel matrix K of the n points, never stored here, only asked.
    p, lower, upper, ridge : ndarray of shape (n,), float64
        The linear term, the box (``upper`` may be +inf and ``lower`` −inf: hard
        margin), and the diagonal added to K (squared hinge: 1/(2C)).
    sums : tuple of float
        ``()``: no constraint, and no intercept; ``(t,)``: Σβ = t; ``(t, s)``: Σβ = t
        over the points of the positive side and Σβ = s over those of the negative side,
        which are the ones with a negative lower bound.
    epsilon : float
        Price of |β|: half the width of a regression's tube.
    """

    gram: Gram
    p: Vector
    lower: Vector
    upper: Vector
    ridge: Vector
    sums: tuple[float, ...] = (0.0,)
    epsilon: float = 0.0

    def __repr__(self) -> str:
        width = self.upper - self.lower
        return (
            f"<Problem: {self.n} points, boxes of {width.min():g} to {width.max():g}, "
            f"sums {self.sums}, epsilon {self.epsilon:g}>"
        )

    @property
    def n(self) -> int:
        """Number of points."""
        return int(self.p.size)

    @cached_property
    def diagonal(self) -> Vector:
        """K[i, i], asked once: for a Python function it is not free."""
        return self.gram.diagonal()

    @cached_property
    def hard(self) -> bool:
        """Whether a box side is open without a ridge: no error at any price."""
        if self.upper.max(initial=0.0) < np.inf and self.lower.min(initial=0.0) > -np.inf:
            return False
        open_side = np.isinf(self.upper) | np.isinf(self.lower)
        return bool(np.any(open_side & (self.ridge == 0.0)))

    @cached_property
    def separating(self) -> bool:
        """Whether it is the hard margin between classes, rather than a hard tube."""
        return self.hard and bool(((self.lower == 0.0) | (self.upper == 0.0)).all())

    @cached_property
    def side(self) -> NDArray[np.uint8]:
        """Which sum every point is in: 0, or with two sums 1 on the negative side."""
        if len(self.sums) < 2:
            return np.zeros(self.n, np.uint8)
        return (self.lower < 0.0).astype(np.uint8)

    @property
    def n_kernel(self) -> int:
        """Kernel values computed so far."""
        return self.gram.n_kernel

    def measures(self, model: Model) -> Measures:
        """Primal, dual and violation of a model whose gradient is complete."""
        both = objective(self, model)
        worst = violation(self, model.beta, model.gradient)
        return Measures(both.primal, both.dual, worst)

    def evidence(self, model: Model) -> Evidence:
        """Figures, support vectors and intercepts of a model."""
        bound = (model.beta == self.lower) | (model.beta == self.upper)
        support = model.beta != 0.0
        return Evidence(
            self.measures(model),
            int(np.count_nonzero(support)),
            int(np.count_nonzero(support & bound)),
            imbalance(self, model.beta),
            model.interval,
        )


class Model(NamedTuple):
    """The answer of a solver, ready to predict.

    β, its gradient F, the intercept b with the interval of all optimal ones, and for two
    sums the split s of their multipliers b ± s: the tube ε of ν-regression, and −ρ of
    ν-classification.
    """

    beta: Vector
    gradient: Vector
    bias: float
    interval: tuple[float, float]
    split: float = 0.0


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


def scores(problem: Problem, beta: Vector, gradient: Vector) -> tuple[Vector, Vector]:
    """F↑ and F↓ of every point; +inf where β cannot rise, −inf where it cannot fall."""
    rise = fall = gradient
    if problem.epsilon > 0.0:
        rise = gradient + np.where(beta >= 0.0, problem.epsilon, -problem.epsilon)
        fall = gradient + np.where(beta > 0.0, problem.epsilon, -problem.epsilon)
    return (
        np.where(beta < problem.upper, rise, np.inf),
        np.where(beta > problem.lower, fall, -np.inf),
    )


def extremes(problem: Problem, up: Vector, low: Vector) -> list[tuple[float, float]]:
    """(Min of F↑, max of F↓) for every sum; of all points if there is none."""
    if len(problem.sums) < 2:
        return [(float(up.min(initial=np.inf)), float(low.max(initial=-np.inf)))]
    sides = [problem.side == side for side in (0, 1)]
    return [
        (float(up[side].min(initial=np.inf)), float(low[side].max(initial=-np.inf)))
        for side in sides
    ]


def violation(problem: Problem, beta: Vector, gradient: Vector) -> float:
    """Worst violation of the optimality conditions, never negative.

    With a sum: max F↓ − min F↑. Without one b is 0, so the two are measured against 0
    and the worse one counts.
    """
    ends = np.array(_ends(problem, beta, gradient))
    return worst_violation(ends, bool(problem.sums))


def worst_violation(ends: Vector, sums: bool) -> float:
    """The violation, from min of F↑ and max of F↓ of every sum; NaN where one is.

    Python's own ``max(0.0, nan)`` would be 0.
    """
    below, above = ends[:, 0], ends[:, 1]
    return float(np.max([0.0, *(above - below)] if sums else [0.0, *above, *-below]))


def _ends(problem: Problem, beta: Vector, gradient: Vector) -> list[list[float]]:
    """Of every sum: min of F↑, max of F↓, and of the free points sum of F and count."""
    found = np.empty((max(1, len(problem.sums)), 4))
    prices(
        gradient, beta, problem.lower, problem.upper, problem.epsilon, problem.side, found
    )
    ends: list[list[float]] = found.tolist()
    return ends


def imbalance(problem: Problem, beta: Vector) -> float:
    """How far the worst sum misses its value, relative to Σ|β|; 0 when β is 0."""
    if not problem.sums:
        return 0.0
    found = [float(beta.sum())]
    if len(problem.sums) == 2:
        found = [float(beta[problem.side == side].sum()) for side in (0, 1)]
    size = float(np.abs(beta).sum())
    missed = max(abs(one - want) for one, want in zip(found, problem.sums, strict=True))
    return missed / size if size > 0.0 else missed


def model_of(problem: Problem, beta: Vector, gradient: Vector) -> Model:
    r"""The model of β: its intercept, and the interval of all optimal intercepts.

    The multiplier of a sum is the mean of −F (with ±ε) over its free points, those
    strictly inside the box and away from the kink of |β|; with none, the midpoint of its
    interval. Where one end is open (all β at one bound), the finite end is taken.
    Without a sum the intercept is 0.

    For a hard margin that midpoint is S1's :math:`b^* = -\tfrac12[\min_{y=1} w\cdot x +
    \max_{y=-1} w\cdot x]`, which the notes print without the minus sign.
    """
    if not problem.sums:
        return Model(beta, gradient, 0.0, (0.0, 0.0))
    found = []
    for fmin, fmax, total, count in _ends(problem, beta, gradient):
        lo, hi = sorted((-fmin, -fmax))
        # Where β can move both ways at one price, that price is exactly −b.
        b = -total / count if count else _between(lo, hi)
        found.append((b, lo, hi))
    (b, lo, hi), (c, other_lo, other_hi) = found[0], found[-1]
    interval = (0.5 * (lo + other_lo), 0.5 * (hi + other_hi))
    return Model(beta, gradient, 0.5 * (b + c), interval, 0.5 * (b - c))


def _between(lo: float, hi: float) -> float:
    if np.isfinite(lo) and np.isfinite(hi):
        return 0.5 * (lo + hi)
    finite = [end for end in (lo, hi) if np.isfinite(end)]
    if not finite:
        msg = "every point has a zero box: no point can carry weight"
        raise InputError(msg)
    return finite[0]


def hulls_meet(
    problem: Problem, beta: Vector, F: Vector, members: NDArray[np.intp], size: float
) -> bool:
    """Hard margin: whether the convex hulls of the classes touch, up to rounding.

    β/Σ|β| names a point in either hull, 2‖w‖/Σ|β| apart, an upper bound of the margin:
    when it vanishes against ``size``, the largest norm of a point, there is none.
    ``F`` and ``beta`` are those of ``members``, which hold all weight.
    """
    total = float(np.abs(beta).sum())
    norm = np.sqrt(max(0.0, float(beta @ (F - problem.p[members]))))
    return total > 0.0 and bool(2.0 * norm < _SEPARATED * size * total)
