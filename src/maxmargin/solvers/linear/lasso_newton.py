r"""Newton steps for the penalty ‖w‖₁ with the squared hinge, where columns are few.

Problem: that of :mod:`~maxmargin.solvers.linear.lasso_descent`.

Update. With the rows I inside the margin, :math:`g = -X^\top\beta` and
:math:`H = X_I^\top\operatorname{diag}(1/r_I)X_I`, the loss is the quadratic
:math:`g\cdot d + \tfrac12 d^\top Hd` as long as no row crosses the margin. Its sum with
:math:`\|w + d\|_1` is minimised by coordinate descent on d, for which X is not needed;
then the step is halved until the objective falls by a hundredth of what was promised.

Stop: relative duality gap ≤ tol; stalled when no step length brings a fall.

Cost: one X'DX, one Xd and one X'β an iteration, about ten of them; memory O(n + d²).

Reference: G.-X. Yuan, C.-H. Ho and C.-J. Lin, "An improved GLMNET for l1-regularized
logistic regression", JMLR 13, 2012.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from maxmargin._jit import njit
from maxmargin.problem import LinearModel, LinearProblem, paid, response
from maxmargin.solvers.base import Measures, Status, Steppable
from maxmargin.solvers.linear._curvature import curvature
from maxmargin.solvers.linear._lasso import first_weights
from maxmargin.solvers.step import Step

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[np.float64]

__all__ = ["LassoNewton"]

_DEFAULT_STEPS = 1000
_ENOUGH = 0.01  # of the promised fall
_HALVINGS = 40
_ROUNDING = 1e-14  # of the objective
_IDLE = 10  # steps in a row without a narrower gap, after which rounding is to blame
_PASSES = 50  # over the columns, before the signs they have found are used
_ROUNDS = 50  # of that, for one quadratic
_RIDGE = 1e-14  # of the trace, that makes a linear system solvable
_ACCURATE = 1e-3  # of the violation, that a quadratic is solved to


def _solve(H, slope, w, step, accuracy, passes):
    """Minimise slope·d + ½d'Hd + ‖w + d‖₁ over d = ``step``; ``slope`` ends as its own.

    Columns that stay at 0 are passed over after the first pass, until the others are
    done. Returns whether no change was above ``accuracy`` in the end.
    """
    width = w.size
    everyone = True
    for _ in range(passes):
        worst = 0.0
        for j in range(width):
            now = w[j] + step[j]
            if now == 0.0 and not everyone:
                continue
            bend, new = H[j, j], 0.0
            if bend > 0.0:  # else no row feels it: it is nothing but a price
                wish = now - slope[j] / bend
                cut = 1.0 / bend
                if wish > cut:
                    new = wish - cut
                elif wish < -cut:
                    new = wish + cut
            change = new - now
            if change != 0.0:
                worst = max(worst, abs(change) * bend)
                step[j] += change
                line = H[j]
                for k in range(width):
                    slope[k] += change * line[k]
        if worst <= accuracy:
            if everyone:
                return True
            everyone = True
        else:
            everyone = False
    return False


_solve = njit(_solve)


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
    idle: int = 0  # steps in a row that did not narrow the gap
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
    unit = "Newton step"

    def start(self, problem: LinearProblem, warm: Vector | None = None) -> State:
        """W = 0, or the weights ``warm``: a β would say nothing of those that are 0."""
        w = first_weights(problem, warm)
        f = problem.design.times(w) if w.any() else np.zeros(problem.n)
        beta = response(problem, f)
        return State(w, f, beta, problem.design.back(beta))

    def advance(self, problem: LinearProblem, state: State, budget: int) -> Status:
        """At most ``budget`` steps."""
        limit = self.max_iter if self.max_iter >= 0 else _DEFAULT_STEPS
        for _ in range(budget):
            before = self.measure(problem, state).relative_gap
            if before <= self.tol:
                return Status.CLOSED
            if state.iterations >= limit:
                return Status.MAX_ITER
            if not self._step(problem, state):
                return Status.STALLED
            gained = self.measure(problem, state).relative_gap < before
            state.idle = 0 if gained else state.idle + 1
            if state.idle >= _IDLE:
                return Status.STALLED
        return Status.RUNNING

    def _step(self, problem: LinearProblem, state: State) -> bool:
        """One Newton step; whether there was any."""
        design, w = problem.design, state.w
        rows = np.flatnonzero(state.beta)
        H = curvature(design, design.scaling, 1.0 / problem.ridge[rows], rows)
        H = np.tril(H) + np.tril(H, -1).T
        slope = -state.pull
        step = _quadratic(H, slope, w)
        moved = design.times(step)
        before = _loss(problem, state.f)
        promised = _promise(slope, w, step)
        # Near the end a fall drowns in the sums that it is the difference of.
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
        state.beta = response(problem, state.f)
        state.pull = design.back(state.beta)
        state.iterations += 1
        state.length, state.inside, state.looked = length, rows.size, None
        return True

    def measure(self, problem: LinearProblem, state: State) -> Measures:
        """Figures of the current weights."""
        if state.looked is None:
            state.looked = Measures.of_linear(problem, self.model(problem, state))
        return state.looked

    def model(self, problem: LinearProblem, state: State) -> LinearModel:
        """The weights, and the β that their outputs ask for."""
        scaling = problem.design.scaling
        return LinearModel(
            w=state.w.copy(),
            bias=float(scaling * state.w[-1]) if scaling else 0.0,
            beta=state.beta.copy(),
            outputs=state.f.copy(),
            pull=state.pull.copy(),
        )

    def explain(self, problem: LinearProblem, state: State) -> Step:
        """The last step."""
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


def _quadratic(H: NDArray[np.float64], slope: Vector, w: Vector) -> Vector:
    """The d that minimises slope·d + ½d'Hd + ‖w + d‖₁, to an accuracy that serves.

    Coordinate descent finds out which weights are 0 and the signs of the others; for
    these the minimum solves a linear system, which columns that are nearly alike would
    keep coordinates from for ever.
    """
    accuracy = _ACCURATE * _violation(w, slope)
    step, now = np.zeros_like(w), slope.copy()
    for _ in range(_ROUNDS):
        if _solve(H, now, w, step, accuracy, _PASSES):
            break
        kept = np.flatnonzero(w + step)
        sign = np.sign(w + step)[kept]
        part = H[np.ix_(kept, kept)]
        ridge = _RIDGE * float(np.trace(part))
        part[np.diag_indices(kept.size)] += ridge
        change = np.zeros_like(w)
        change[kept] = np.linalg.solve(part, -(now[kept] + sign))
        # As far as the first of them changes its sign.
        ahead = (w + step)[kept] / np.where(change[kept] == 0.0, np.inf, -change[kept])
        share = min(1.0, float(ahead[ahead > 0.0].min(initial=np.inf)))
        step += share * change
        crossing = kept[(ahead > 0.0) & (ahead <= share)]
        step[crossing] = -w[crossing]
        now = slope + H @ step
    return step


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


def _violation(w: Vector, slope: Vector) -> float:
    """How far the worst column is from optimal."""
    at_zero = np.maximum(np.abs(slope) - 1.0, 0.0)
    return float(np.where(w == 0.0, at_zero, np.abs(slope + np.sign(w))).max(initial=0.0))
