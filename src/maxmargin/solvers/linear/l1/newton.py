r"""Newton steps for the penalty ‖w‖₁ with the squared hinge, where columns are few.

Problem: that of :mod:`~maxmargin.solvers.linear.l1.descent`.

Update. With the rows I inside the margin, :math:`g = -X^\top\beta` and
:math:`H = X_I^\top\operatorname{diag}(1/r_I)X_I`, the loss is the quadratic
:math:`g\cdot d + \tfrac12 d^\top Hd` as long as no row crosses the margin. Its sum with
:math:`\|w + d\|_1` is minimised over d, for which X is not needed
(:mod:`~maxmargin.solvers.linear.l1.quadratic`);
then the step is halved until the objective falls by a hundredth of what was promised.

Stop: relative duality gap ≤ tol; stalled when no step length brings a fall, or ten steps
have not narrowed the gap.

Cost: one X'DX, one Xd and one X'β an iteration, about ten of them where rows outnumber
columns; where they do not, H is singular and a quadratic takes seconds. Memory O(n + d²).

Reference: G.-X. Yuan, C.-H. Ho and C.-J. Lin, "An improved GLMNET for l1-regularized
logistic regression", JMLR 13, 2012.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from maxmargin.problem import LinearModel, LinearProblem, WarmStart, paid
from maxmargin.solvers.base import Measures, Status, Steppable
from maxmargin.solvers.linear.l1.hessian_parts import Growing
from maxmargin.solvers.linear.l1.penalty import first_weights
from maxmargin.solvers.linear.l1.quadratic import Quadratic
from maxmargin.solvers.step import Step

if TYPE_CHECKING:
    from maxmargin._arrays import Vector

_DEFAULT_STEPS = 1000  # policy
_ENOUGH = 0.01  # policy: share of the promised fall that a step must reach (Armijo)
_HALVINGS = 40  # policy: lengths of a step that are tried
_ROUNDING = 1e-14  # rounding: share of the objective; a smaller rise counts as none
_IDLE = 10  # policy: steps in a row without a narrower gap before STALLED


@dataclass(slots=True)
class State:
    """The weights, f = Xw, β and X'β of them, and the last step."""

    w: Vector
    f: Vector
    beta: Vector
    pull: Vector
    iterations: int = 0
    length: float = 0.0  # of the last step, as a multiple of the one proposed
    inside: int = 0  # rows inside the margin
    rounds: int = 0  # of all quadratics
    idle: int = 0  # steps in a row that did not narrow the gap
    growing: Growing = field(default_factory=Growing)  # the matrix of the next step
    quadratic: Quadratic | None = None  # of the next step, once that is complete
    looked: Measures | None = None


@dataclass(frozen=True)
class LassoNewton(Steppable):
    """Newton steps for the penalty ‖w‖₁.

    Parameters
    ----------
    tol : float
        Relative duality gap accepted.
    max_iter : int
        Steps at most; −1 for 1000.
    """

    tol: float = 1e-4
    max_iter: int = -1
    criterion = "relative_gap"
    unit = "part of a Newton step"
    solves = LinearProblem

    def start(self, problem: LinearProblem, warm: WarmStart | None = None) -> State:
        """W = 0, or the weights ``warm``: a β would say nothing of those that are 0."""
        w = first_weights(problem, warm)
        f = problem.design.times(w) if w.any() else np.zeros(problem.n)
        beta = problem.loss.answer(f)
        return State(w, f, beta, problem.design.back(beta))

    def advance(self, problem: LinearProblem, state: State, budget: int) -> Status:
        """At most ``budget`` parts of the matrix or rounds of its quadratic."""
        limit = self.max_iter if self.max_iter >= 0 else _DEFAULT_STEPS
        for _ in range(budget):
            if self.measure(problem, state).relative_gap <= self.tol:
                return Status.CLOSED
            if state.iterations >= limit:
                return Status.MAX_ITER
            if state.quadratic is None:
                _prepare(problem, state)
                continue
            state.rounds += 1
            if state.quadratic.round() and not self._finish(problem, state):
                return Status.STALLED
        return Status.RUNNING

    def _finish(self, problem: LinearProblem, state: State) -> bool:
        """Take the step; return whether it paid and the gap still narrows."""
        before = self.measure(problem, state).relative_gap
        assert state.quadratic is not None
        found, state.quadratic = state.quadratic, None
        if not self._step(problem, state, found):
            return False
        gained = self.measure(problem, state).relative_gap < before
        state.idle = 0 if gained else state.idle + 1
        return state.idle < _IDLE

    def _step(self, problem: LinearProblem, state: State, found: Quadratic) -> bool:
        """Halve the step of a quadratic until it pays; return whether it does."""
        design, w, slope, step = problem.design, state.w, found.slope, found.step
        moved = design.times(step)
        before = _loss(problem, state.f)
        promised = _promise(slope, w, step)
        # Near the end a fall is lost in the rounding of the two sums.
        rounding = _ROUNDING * (before + _norm(w))
        length = 1.0
        for _ in range(_HALVINGS):
            fall = _loss(problem, state.f + length * moved) - before
            fall += _norm(w + length * step) - _norm(w)
            if fall <= _ENOUGH * length * promised + rounding and promised < 0.0:
                break
            length *= 0.5
        else:
            return False
        state.w = w + length * step
        state.f = state.f + length * moved
        state.inside = int(np.count_nonzero(state.beta))
        state.beta = problem.loss.answer(state.f)
        state.pull = design.back(state.beta)
        state.iterations += 1
        state.length, state.looked = length, None
        return True

    def measure(self, problem: LinearProblem, state: State) -> Measures:
        """Figures of the current weights."""
        if state.looked is None:
            state.looked = problem.measures(self.model(problem, state))
        return state.looked

    def model(self, problem: LinearProblem, state: State) -> LinearModel:
        """The weights and the β of their outputs."""
        scaling = problem.design.scaling
        return LinearModel(
            w=state.w.copy(),
            bias=float(scaling * state.w[-1]) if scaling else 0.0,
            beta=state.beta.copy(),
            outputs=state.f.copy(),
            pull=state.pull.copy(),
        )

    def explain(self, problem: LinearProblem, state: State) -> Step:
        """Describe the last step."""
        if state.iterations == 0:
            return Step("Nothing done yet: w = 0.")
        left = int(np.count_nonzero(state.w))
        words = (
            f"Newton step {state.iterations}, {state.length:g} of the one proposed by "
            f"{state.inside:,} of {problem.n:,} rows inside the margin: {left:,} of "
            f"{state.w.size:,} weights are not 0."
        )
        numbers = {
            "iteration": state.iterations,
            "length": state.length,
            "inside": state.inside,
            "weights": left,
        }
        return Step(words, numbers, ())

    def n_iter(self, state: State) -> int:
        """Newton steps done."""
        return state.iterations


def _prepare(problem: LinearProblem, state: State) -> None:
    """Make the next part of H, and the quadratic once H is complete."""
    design, rows = problem.design, np.flatnonzero(state.beta)
    weight = 1.0 / problem.ridge[rows]
    if state.growing.grow(design, design.scaling, weight, rows):
        H = state.growing.square
        whole = np.tril(H) + np.tril(H, -1).T
        state.quadratic = Quadratic.of(whole, -state.pull, state.w)


def _promise(slope: Vector, w: Vector, step: Vector) -> float:
    """slope·d + ‖w + d‖₁ − ‖w‖₁, column by column.

    Where a weight keeps its sign, that is (slope + sign)·d: near the end the sums over
    all columns would have nothing but rounding for a difference.
    """
    keeps = np.sign(w) * np.sign(w + step) > 0.0
    bent = slope * step + (np.abs(w + step) - np.abs(w))
    return float(np.where(keeps, (slope + np.sign(w)) * step, bent).sum())


def _norm(w: Vector) -> float:
    return float(np.abs(w).sum())


def _loss(problem: LinearProblem, f: Vector) -> float:
    return float(
        paid(f, problem.p, problem.lower, problem.upper, problem.ridge, problem.epsilon)
    )
