r"""Newton's method by conjugate gradients: squared losses of many columns.

Problem: :math:`\min_{w,b}\tfrac12\|w\|^2 + \sum_i\frac1{2r_i}e_i^2`, where :math:`e_i` is
by how much row i misses its margin or its tube. Rows with :math:`e_i \ne 0` are active.

Update: conjugate gradients for :math:`Hs = -\nabla P` with :math:`H = I + X_I^\top
D X_I`, through products with vectors only: one pass over the active rows each. Then the
minimum of P along s, and the free intercept, as in
:mod:`maxmargin.solvers.linear.newton.newton`; H is then that of the centred rows, which
are not made.

Preconditioner: half the diagonal of H and its largest part, that of the mean row; where
columns or active rows are few, and as soon as it is worth its cost, Cholesky's factor
of H of a part of the active rows (:mod:`maxmargin.solvers.linear.newton.preconditioner`).
Measured on 20000 dense rows of 800 columns at C = 1: 30 iterations with the factor, 719
with LIBLINEAR's diagonal, to a relative gap of 1e-6.

A run of conjugate gradients ends when an iteration gains less than a share η of the mean
one (Nash and Sofer), :math:`\eta = \min(\tfrac12, \sqrt{g^\top M^{-1}g/P})`; the ½ is
halved after every step that gained little. Steps are coarse in the beginning, and fine
towards the end and where classes are nearly separable: coarse steps are short there. A
run also ends when its residual, the next gradient, is small enough for tol.

Stop: relative duality gap at most tol, with :math:`\beta_i = \pm e_i/r_i`, whose gap is
:math:`\tfrac12\|\nabla P\|^2`.

Cost: a pass over the active rows for every iteration, two over all rows for every Newton
step. Memory: a few n × 1 and d × 1, and a factor of at most d × d.

References: C.-J. Hsia, W.-L. Chiang and C.-J. Lin, "Preconditioned conjugate gradient
methods in truncated Newton frameworks for large-scale linear classification", ACML 2018;
L. Galli and C.-J. Lin, "A study on truncated Newton methods for linear classification",
IEEE TNNLS 33, 2022; S. Nash and A. Sofer, "Assessing a search direction within a
truncated-Newton method", Operations Research Letters 9, 1990.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from maxmargin.design.products import dot, forward, turn
from maxmargin.errors import OVERFLOW, NumericalError
from maxmargin.problem import LinearProblem
from maxmargin.solvers.base import Status, Steppable
from maxmargin.solvers.linear.newton.preconditioner import (
    Active,
    Preconditioner,
    active_rows,
    chosen,
    pass_price,
)
from maxmargin.solvers.linear.newton.state import (
    NewtonState,
    begin,
    model_of,
    move,
    report,
    verdict,
)
from maxmargin.solvers.step import Step

if TYPE_CHECKING:
    from maxmargin._arrays import Vector
    from maxmargin.problem import LinearModel, WarmStart

_NAME = "Newton's method by conjugate gradients"
_LIMIT = 100_000  # policy: iterations at most by default; a hundred are usual
_LOOSE, _TIGHT = 0.5, 1e-3  # policy: largest η at first, and the least it is halved to
_SLOW = 0.01  # policy: share of P; after a smaller gain η is halved
_ENOUGH = 0.5  # policy: share of the gap that tol allows; a smaller residual ends a run


@dataclass(slots=True)
class Run:
    """One run of conjugate gradients, for one Newton step."""

    active: Active
    gradient: Vector
    s: Vector
    r: Vector  # −∇P − Hs
    d: Vector
    rz: float  # r·M⁻¹r
    share: float  # η
    model: float = 0.0  # ∇P·s + ½s·Hs
    count: int = 0


@dataclass(slots=True)
class State:
    """The iterate, the run of conjugate gradients under way, the preconditioner."""

    at: NewtonState
    run: Run | None = None
    inverse: Preconditioner | None = None
    share: float = _LOOSE  # the largest η
    n_iter: int = 0
    last: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class NewtonCg(Steppable):
    """Newton's method by preconditioned conjugate gradients, for squared losses.

    Parameters
    ----------
    tol : float
        Relative duality gap accepted.
    max_iter : int
        Iterations of conjugate gradients at most; −1 for 100 000.
    """

    tol: float = 1e-4
    max_iter: int = -1
    criterion = "relative_gap"
    unit = "CG iteration"
    solves = LinearProblem
    boxes = False

    def start(self, problem: LinearProblem, warm: WarmStart | None = None) -> State:
        """Start at w = 0, at the given w, or at X'β of the given β."""
        return State(begin(problem, _NAME, warm))

    def advance(self, problem: LinearProblem, state: State, budget: int) -> Status:
        """At most ``budget`` iterations; the last one of a run takes the step, too."""
        for _ in range(budget):
            status = self._verdict(problem, state)
            if status is not Status.RUNNING:
                return status
            if state.run is None:
                state.run = _begin(problem, state)
            self._iterate(problem, state, state.run)
        return self._verdict(problem, state)

    def model(self, problem: LinearProblem, state: State) -> LinearModel:
        """The w of the last Newton step and its β."""
        return model_of(problem, state.at)

    def explain(self, problem: LinearProblem, state: State) -> Step:
        """Describe the iteration; after the last of a run, the Newton step, too."""
        if not state.n_iter:
            return Step("Nothing done yet.")
        count = int(state.last["count"])
        numbers = {"iteration": state.n_iter, **state.last}
        words = (
            f"Iteration {count} of conjugate gradients, {state.n_iter} in all: by the "
            f"quadratic model P falls by {state.last['promise']:.4g}; the residual is "
            f"{state.last['residual']:.3g}."
        )
        if state.run is None:
            step, more = report(problem, state.at)
            words, numbers = f"{words} {step}", numbers | more
        return Step(words, numbers)

    def n_iter(self, state: State) -> int:
        """Iterations of conjugate gradients."""
        return state.n_iter

    @property
    def _limit(self) -> int:
        return self.max_iter if self.max_iter >= 0 else _LIMIT

    def _verdict(self, problem: LinearProblem, state: State) -> Status:
        if self._limit == 0:
            return Status.MAX_ITER
        if state.run is None:
            status = verdict(problem, state.at, self.tol)
            if status is not Status.RUNNING:
                return status
        return Status.MAX_ITER if state.n_iter >= self._limit else Status.RUNNING

    def _iterate(self, problem: LinearProblem, state: State, run: Run) -> None:
        """One iteration; the last one of a run takes the Newton step, too."""
        active, design, inverse = run.active, problem.design, state.inverse
        assert inverse is not None  # it came with the run
        image, along = design.there_and_back(active.weight, run.d, active.some)
        image += run.d
        if active.mean is not None:
            image -= along * active.mean
        length = run.rz / dot(run.d, image)
        sr, sg, rr = forward(run.s, run.r, run.d, image, run.gradient, length)
        if not np.isfinite(rr):
            raise NumericalError(OVERFLOW)
        inverse.spent += pass_price(design, active.some.size)
        run.count += 1
        state.n_iter += 1
        model = 0.5 * (sg - sr)
        gain, run.model = model - run.model, model
        state.last = {"count": run.count, "promise": -model, "residual": np.sqrt(rr)}
        if (
            run.count * gain >= run.share * model
            or 0.5 * rr <= _ENOUGH * self.tol * state.at.primal
            or state.n_iter >= self._limit
        ):
            _step(problem, state, run)
            return
        z = inverse.solve(design, run.r)
        rz = dot(run.r, z)
        turn(run.d, z, rz / run.rz)
        run.rz = rz


def _step(problem: LinearProblem, state: State, run: Run) -> None:
    """Take the Newton step at the end of a run."""
    at, mean = state.at, run.active.mean
    shift = 0.0 if mean is None else -dot(mean, run.s)
    level = at.level
    move(problem, at, run.s, shift)
    state.run = None
    if at.level != level:
        state.inverse, state.share = None, _LOOSE
        return
    assert state.inverse is not None
    state.inverse.stale |= at.last["changed"] > 0 or not at.loss.fixed
    if at.last["gain"] < _SLOW * at.primal:
        state.share = max(_TIGHT, 0.5 * state.share)


def _begin(problem: LinearProblem, state: State) -> Run:
    """Begin a run for the current active rows."""
    at, design = state.at, problem.design
    strength, active_now = at.loss.bends(at.z, at.beta)
    now = np.flatnonzero(active_now)
    active = active_rows(design, at.rows[now], strength[now], free=problem.free)
    state.inverse = chosen(design, active, state.inverse, state.n_iter)
    gradient = at.w - at.pull
    r = -gradient
    d = state.inverse.solve(design, r)
    rz = dot(r, d)
    share = min(state.share, float(np.sqrt(rz / at.primal)))
    return Run(active, gradient, np.zeros_like(r), r, d, rz, share)
