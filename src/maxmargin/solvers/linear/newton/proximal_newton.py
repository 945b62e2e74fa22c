r"""Proximal points in the dual, each by Newton's method: hinge and tube of few columns.

Problem: that of :mod:`maxmargin.problem.linear` with ½‖w‖², a hinge or ε-insensitive loss
and any of the three intercepts.

Update. Around a centre β° the dual less :math:`\sum_i(\beta_i-\beta°_i)^2/2k_i`, with
:math:`k_i = \kappa h_i` and :math:`h_i` the width of the row's box, is maximised; its
primal is the loss with every kink rounded off
(:mod:`~maxmargin.solvers.linear.newton.rounded`), smooth in w; Newton's method minimises
it:
:math:`H = I + \kappa\sum h_ix_ix_i^\top` over the rows whose β is inside its box,
Cholesky, and the exact minimum along the direction. When
:math:`\tfrac12\|w-X^\top\beta\|^2` is a tenth of the duality gap, β becomes the centre
and κ grows, from 0.3 over the mean |p|: in every unit of the targets the same part of the
rows is rounded off. A free intercept is minimised exactly after every step, which makes
Σβ = 0.

Centres converge to a solution for every κ, the faster the larger κ is, and, as all is
piecewise linear or quadratic, end in one; and few rows are inside their boxes by then, so
that H changes by few rows from step to step.

With many more rows than columns the first steps are taken on an eighth of the rows, as in
:mod:`~maxmargin.solvers.linear.newton.state`. From a model (β and w) all rows are used at
once, and κ begins higher with more rows a column: few rows are then on the wrong side of
their kinks, and the rounded parts only need enough rows to determine all columns of H.

Stop: relative duality gap at most tol, that of w and of the β of the rounded loss.

Cost of a step: two passes over X, d²/2 multiplications for every row that went into its
box or out (for a sparse row, half the square of what it stores) and d³/6 for the factor.
20 to 100 steps. Memory: a few n × 1 and d × d.

References: R. T. Rockafellar, "Augmented Lagrangians and applications of the proximal
point algorithm in convex programming", Math. Oper. Res. 1, 1976; Y. Yan and Q. Li, "An
efficient augmented Lagrangian method for support vector machine", Optim. Methods Softw.
35, 2020.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from maxmargin.design.hessian import Kept
from maxmargin.design.products import dot
from maxmargin.errors import OVERFLOW, InputError, NumericalError
from maxmargin.parallel import one_blas_thread
from maxmargin.problem import LinearModel, LinearProblem, Objective, WarmStart
from maxmargin.solvers.base import Status, Steppable
from maxmargin.solvers.linear.newton.line_search import balance
from maxmargin.solvers.linear.newton.proximal_schedule import (
    FIRST,
    GROWTH,
    is_eased,
    stands_still,
    verdict,
)
from maxmargin.solvers.linear.newton.rounded import Rounded
from maxmargin.solvers.linear.newton.state import (
    bias_of,
    direction,
    levels,
    rows_in_words,
    take,
)
from maxmargin.solvers.linear.warm_start import with_weights
from maxmargin.solvers.step import Step

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin._arrays import Index, Vector

_WIDEST = 4000  # policy: columns at most; a factor of so many takes seconds
_HELD, _NARROWEST = (
    20.0,
    100.0,
)  # policy: a model's first κ grows by n/(20·columns), ≤ 100
_ROUGH, _LONGEST = 0.01, 10  # policy: rest of ½‖w‖², and steps, that end a sample of rows


@dataclass(slots=True)
class State:
    """The iterate; ``z``, ``beta`` and ``loss`` are those of the rows in play."""

    w: Vector
    centre: Vector  # of all rows
    level: int  # 0: all rows are in play
    depth: NDArray[np.uint8]
    rows: Index
    loss: Rounded
    z: Vector  # −(f + p)
    beta: Vector
    pull: Vector
    unit: float  # of the outputs
    kappa: float
    bias: float = 0.0
    kept: Kept = field(default_factory=Kept)  # Σ h·x̃x̃', h the widths of the boxes
    rest: float = np.inf  # ½‖w − X'β‖²
    both: Objective = field(default_factory=lambda: Objective(np.inf, -np.inf))
    still: int = 0  # steps in a row that gained only rounding
    here: int = 0  # steps with these rows
    centres: int = 0
    steps: int = 0
    last: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class ProximalNewton(Steppable):
    """Proximal points by Newton's method, for losses with a kink and few columns.

    Parameters
    ----------
    tol : float
        Relative duality gap accepted.
    max_iter : int
        Newton steps at most, those on a part of the rows included; −1 for 1000.
    """

    tol: float = 1e-4
    max_iter: int = -1
    criterion = "relative_gap"
    unit = "Newton step"
    solves = LinearProblem

    def start(self, problem: LinearProblem, warm: WarmStart | None = None) -> State:
        """Start at w = 0 on a sample of the rows; on all rows at a given w, or at X'β."""
        _check(problem)
        design, n = problem.design, problem.n
        w, centre = np.zeros(design.width), np.zeros(n)
        level, depth = levels(n, design.width)
        bias, narrower = 0.0, 1.0
        warm = with_weights(problem, warm)
        if warm is not None and warm.w is not None and warm.w.any():
            level, centre = 0, np.clip(warm.beta, problem.lower, problem.upper)
            w, bias = warm.w.copy(), warm.bias if problem.free else 0.0
            narrower = min(max(1.0, n / (_HELD * design.width)), _NARROWEST)
        elif warm is not None and warm.beta.any():
            level, centre = 0, np.clip(warm.beta, problem.lower, problem.upper)
            w = design.back(centre, np.arange(n))
        nothing = np.zeros(0)
        loss = Rounded(nothing, nothing, nothing, nothing, 0.0)
        rows = np.zeros(0, np.intp)
        unit = _unit(problem)
        state = State(
            w, centre, level, depth, rows, loss, nothing, nothing, nothing, unit,
            narrower * FIRST / unit, bias,
        )  # fmt: skip
        with one_blas_thread():
            _enter(problem, state)
        return state

    def advance(self, problem: LinearProblem, state: State, budget: int) -> Status:
        """At most ``budget`` steps."""
        with one_blas_thread():
            for _ in range(budget):
                status = self._verdict(state)
                if status is not Status.RUNNING:
                    return status
                _step(problem, state)
                self._turn(problem, state)
        return self._verdict(state)

    def _turn(self, problem: LinearProblem, state: State) -> None:
        """Go on to more rows, or to another centre, where these are done."""
        if state.level:
            done = state.rest <= _ROUGH * 0.5 * dot(state.w, state.w)
            if done or state.here >= _LONGEST:
                state.level -= 1
                _enter(problem, state)
            return
        if is_eased(state, self.tol, state.kappa * state.unit):
            state.centre = state.beta.copy()
            state.kappa *= GROWTH
            state.centres += 1
            state.loss = _loss(problem, state)
            _settle(problem, state)

    def model(self, problem: LinearProblem, state: State) -> LinearModel:
        """The current w and the β of its rounded loss."""
        if not state.level:
            return _model(problem, state)
        with one_blas_thread():
            whole = replace(state, level=0, kept=Kept())
            _enter(problem, whole)
            return _model(problem, whole)

    def explain(self, problem: LinearProblem, state: State) -> Step:
        """Describe the last step: its length, and its centre."""
        if not state.steps:
            return Step("Nothing done yet.")
        last, where = state.last, rows_in_words(problem, state.last)
        words = (
            f"Newton step {state.steps} on {where}, around centre {last['centre']:.0f} "
            f"with κ = {last['kappa']:.3g}: {last['t']:.4g} of the step proposed was "
            f"best, {last['inside']:.0f} rows are inside their boxes, ½‖w − X'β‖² is "
            f"{last['rest']:.3g}, the relative gap {last['gap']:.3g}."
        )
        return Step(words, {"step": state.steps, **last})

    def n_iter(self, state: State) -> int:
        """Newton steps taken."""
        return state.steps

    def _verdict(self, state: State) -> Status:
        if self.max_iter == 0:
            return Status.MAX_ITER
        # On a sample of the rows the gap is unknown, and infinite.
        return verdict(state, self.tol, self.max_iter)


def _check(problem: LinearProblem) -> None:
    """Refuse all but a hinge or a tube with ½‖w‖², boxes and few columns."""
    name, width = "proximal Newton", problem.design.width
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
    if width > _WIDEST:
        msg = (
            f"{name} factors a matrix of columns × columns: {width} columns are given, "
            f"{_WIDEST} are possible; use solver='auto'"
        )
        raise InputError(msg)


def _unit(problem: LinearProblem) -> float:
    """The unit of outputs: the mean |p| of rows with a price, 1 for classes."""
    open_ = problem.upper > problem.lower
    mean = float(np.abs(problem.p[open_]).mean()) if open_.any() else 0.0
    return mean if mean > np.finfo(float).tiny else 1.0


def _loss(problem: LinearProblem, state: State) -> Rounded:
    """The rounded loss of the rows in play, weighted to stand for all."""
    rows, share = state.rows, state.rows.size / max(1, problem.n)
    lower, upper = problem.lower[rows] / share, problem.upper[rows] / share
    bend = state.kappa * (upper - lower)
    return Rounded(state.centre[rows], bend, lower, upper, problem.epsilon)


def _enter(problem: LinearProblem, state: State) -> None:
    """Put the rows of the level into play."""
    state.rows = np.arange(problem.n)
    if state.level:
        state.rows = np.flatnonzero(state.depth >= state.level)
    state.loss = _loss(problem, state)
    state.z = -problem.p[state.rows] - state.bias
    if state.w.any():
        state.z -= problem.design.times(state.w, state.rows)
    state.beta, state.here = np.empty(state.rows.size), 0
    state.kept.forget()
    _settle(problem, state)


def _settle(problem: LinearProblem, state: State, *, known: bool = False) -> None:
    """Compute β (unless known), the free intercept, X'β and the figures of w."""
    workers, unpaid = problem.design.workers, 0.0
    if problem.free:
        ones = np.ones_like(state.z)
        t, sums = balance(state.loss, workers, state.z, ones, state.beta)
        state.z -= t
        state.bias += t
        unpaid = abs(state.bias * sums.total)
    elif not known:
        state.loss.look(workers, state.z, np.zeros_like(state.z), 0.0, state.beta)
    state.pull = problem.design.back(state.beta, state.rows)
    apart = state.w - state.pull
    state.rest = 0.5 * dot(apart, apart)
    if not np.isfinite(state.rest):
        raise NumericalError(OVERFLOW)
    if not state.level:
        primal, dual = problem.objective(_model(problem, state))
        state.both = Objective(primal, dual - unpaid)  # 0 but for rounding


def _step(problem: LinearProblem, state: State) -> None:
    """One Newton step on the rounded loss."""
    loss = state.loss
    inside = loss.bending(state.z)
    state.kept.follow(problem, state.rows, loss.upper - loss.lower, inside)
    s, shift = direction(problem, state, state.kappa * state.kept.square)
    t, slope, *_ = take(problem, state, s, shift)
    _settle(problem, state, known=True)
    still = stands_still(state, -t * slope) and not state.level
    state.still = state.still + 1 if still else 0
    state.steps += 1
    state.here += 1
    state.last = {
        "t": t, "rows": state.rows.size, "inside": int(np.count_nonzero(inside)),
        "centre": state.centres, "kappa": state.kappa, "rest": state.rest,
        "gap": np.nan if state.level else state.both.relative_gap,
    }  # fmt: skip


def _model(problem: LinearProblem, state: State) -> LinearModel:
    """The model, with all rows in play."""
    bias, outputs = bias_of(problem, state), -state.z - problem.p
    return LinearModel(
        state.w.copy(), bias, state.beta.copy(), outputs, state.pull.copy()
    )
