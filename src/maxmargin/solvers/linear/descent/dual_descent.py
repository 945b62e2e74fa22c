r"""Dual coordinate descent: one β at a time, w kept beside it.

Problem: :class:`~maxmargin.problem.LinearProblem` without a free intercept and with the
penalty ½‖w‖², any of its losses, dense or sparse rows.

Update. With :math:`F_i = x_i\cdot w + p_i + r_i\beta_i` and
:math:`q_i = \|x_i\|^2 + r_i`, the best β for row i alone is

.. math:: \beta_i \leftarrow \operatorname{clip}\bigl(
          S_{\varepsilon/q_i}(\beta_i - F_i/q_i),\ l_i,\ u_i\bigr),\qquad
          w \leftarrow w + \Delta\beta_i\,x_i

(S is the soft threshold). An epoch visits the rows in a new random order. A row at a
bound, or at the kink of |β|, that is satisfied by more than the worst violation of the
epoch before is left out (shrinking) until the next look at all rows.

Now and then a look at all rows computes f = Xw, which gives primal, dual and gap, and the
rows that must come back. A look is due when the visits forecast that the gap is down at
tol (:mod:`~maxmargin.solvers.linear.descent.gap_forecast`), and at the latest after eight
epochs, then after as many as there were before, up to twenty. The primal is that of w
with the best weight for the constant column
(:mod:`~maxmargin.solvers.linear.descent.best_constant`): every row moves this weight, so
that it is the least exact one, sometimes half of the gap. With a hinge or a tube, when
tol is still a hundred epochs away, conjugate gradients move all β between their bounds at
once (:mod:`~maxmargin.solvers.linear.descent.active_set`). One class of 20 newsgroups,
hinge, to 1e-6: 53 epochs instead of 1,596.

Stop: relative duality gap ≤ tol.

Cost: one pass over the rows that are left an epoch, one over all a look; memory
O(n + d).

References: C.-J. Hsieh et al., "A dual coordinate descent method for large-scale linear
SVM", ICML 2008 (algorithm 3); C.-H. Ho and C.-J. Lin, "Large-scale linear support vector
regression", JMLR 13, 2012.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from maxmargin._jit.random import shuffle
from maxmargin.errors import InputError
from maxmargin.problem import (
    LinearModel,
    LinearProblem,
    WarmStart,
)
from maxmargin.solvers.base import Measures, Status, Steppable
from maxmargin.solvers.linear.descent.active_set import active_set_step
from maxmargin.solvers.linear.descent.best_constant import best_shift
from maxmargin.solvers.linear.descent.gap_forecast import Outlook
from maxmargin.solvers.linear.descent.visits import GRAIN, unsettled, visit
from maxmargin.solvers.linear.warm_start import best_multiple, moved
from maxmargin.solvers.step import Step

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin._arrays import Vector

_SLICE = 1 << 24  # policy: numbers read in one unit
_DEFAULT_EPOCHS = 100_000  # policy
_SOLVED = 0.02  # policy: share of the violation at the last look; below it, look again
_SLOW = 30  # policy: epochs before active-set steps are tried
_CRAWL = 100  # policy: epochs to tol; more of them cost as much as active-set steps
_STEPS, _SOON = 3, 5  # policy: active-set steps in a row at most; epochs before them
_FIRST = 8  # policy: epochs before the first look, unless the forecast is down at tol
_SLOWER = 1.5  # policy: factor of the epochs to tol: the gap falls ever more slowly
_DRIFT = 50  # rounding: epochs after which w is computed anew


@dataclass(slots=True)
class State:
    """β and w = X'β, the order of the epoch, and the figures of the last look."""

    table: NDArray[np.float64]  # of every row β, p, lower, upper, ridge, q
    w: Vector
    order: NDArray[np.intp]
    place: NDArray[np.intp]  # next in the order, how many are left in it, visits
    figures: Vector
    epoch: int = 0
    shuffled: bool = False
    look_at: int = _FIRST  # epoch after which all rows are looked at again
    outlook: Outlook = field(default_factory=Outlook)
    worst: float = np.inf  # violation at the last look, or in the first epoch
    nothing: float = np.inf  # primal of w = 0: no less than the optimum
    looked: Measures = field(default=Measures(np.inf, -np.inf, np.inf))
    outputs: Vector = field(default_factory=lambda: np.empty(0))  # f at that look
    shift: float = 0.0  # of the constant's weight, at that look
    gap: float = np.inf  # relative, at the last look
    gap_at: int = 0  # epoch of that look
    exact_at: int = 0  # epoch at which w was computed anew
    crawls: bool = False  # whether tol was far away at the last look

    @property
    def beta(self) -> Vector:
        """The dual variables, a column of the table."""
        return self.table[:, 0]


@dataclass(frozen=True)
class DualDescent(Steppable):
    """Dual coordinate descent.

    Parameters
    ----------
    tol : float
        Relative duality gap accepted.
    max_iter : int
        Epochs at most, n visits each; −1 for 100,000.
    seed : int
        Of the order of the rows.
    shrinking : bool
        Whether satisfied rows are left out for a while.
    faces : bool
        Whether a slow run of another loss takes steps for all β between their bounds.
    """

    tol: float = 1e-4
    max_iter: int = -1
    seed: int = 0
    shrinking: bool = True
    faces: bool = True
    criterion = "relative_gap"
    unit = "slice"
    solves = LinearProblem

    def start(self, problem: LinearProblem, warm: WarmStart | None = None) -> State:
        """β = 0, or ``warm`` within the box, and its w."""
        if problem.free or problem.lasso:
            msg = (
                "dual coordinate descent has neither a free intercept nor the penalty "
                "l1: use solver='auto'"
            )
            raise InputError(msg)
        if not np.isfinite(np.where(problem.ridge > 0.0, 0.0, problem.upper)).all():
            msg = "dual coordinate descent needs a finite C: use SVC for a hard margin"
            raise InputError(msg)
        design = problem.design
        if warm is not None and warm.pull is not None:
            beta, w = best_multiple(problem, warm)
        elif warm is not None:
            beta = np.clip(moved(problem, warm), problem.lower, problem.upper)
            w = design.back(beta)
        else:
            beta, w = np.zeros(problem.n), np.zeros(design.width)
        order = np.flatnonzero(problem.lower < problem.upper)
        known = (beta, problem.p, problem.lower, problem.upper, problem.ridge)
        return State(
            table=np.column_stack([*known, design.norms + problem.ridge]),
            w=w,
            order=order,
            place=np.array([0, order.size, 0], np.intp),
            figures=np.array([np.inf, 0.0, -1.0, 0.0, 0.0, 0.0, 0.0]),
            nothing=problem.unfitted,
        )

    def advance(self, problem: LinearProblem, state: State, budget: int) -> Status:
        """At most ``budget`` slices of an epoch, or looks at all rows."""
        design = problem.design
        if self._limit == 0:
            self._look(problem, state)
            return Status.MAX_ITER
        average = max(1, design.stored // max(1, problem.n))
        visits = max(1, _SLICE // average)
        for _ in range(budget):
            if state.place[0] >= state.place[1]:
                status = self._end_of_epoch(problem, state)
                if status is not Status.RUNNING:
                    return status
                continue
            if not state.shuffled:
                shuffle(state.order, int(state.place[1]), self.seed, state.epoch)
                state.shuffled = True
            visit(
                design.rows, design.scaling, state.table, problem.epsilon, state.w,
                state.order, state.place, state.figures, visits,
            )  # fmt: skip
        return Status.RUNNING

    def _end_of_epoch(self, problem: LinearProblem, state: State) -> Status:
        state.epoch += 1
        worst = float(state.figures[1])
        state.figures[0] = worst if self.shrinking and worst > 0.0 else np.inf
        state.outlook.epoch(float(state.figures[6]))
        state.figures[1] = state.figures[6] = 0.0
        state.place[0], state.shuffled = 0, False
        over = self.n_iter(state) >= self._limit
        if over or self._is_due(problem, state, worst):
            self._look(problem, state)
            if state.looked.relative_gap <= self.tol:
                return Status.CLOSED
            if state.looked.violation <= GRAIN:  # no row would move
                return Status.STALLED
        return Status.MAX_ITER if over else Status.RUNNING

    def _is_due(self, problem: LinearProblem, state: State, worst: float) -> bool:
        """Whether to look at all rows now."""
        # Solved for the rows that are left: the others may want to come back.
        solved = worst <= _SOLVED * state.worst < np.inf or worst <= GRAIN
        if solved or state.place[1] == 0:
            return True
        if state.epoch == 1:
            state.worst = worst
        dual = problem.dual(state.beta.copy(), state.w)
        gap = min(state.outlook.gap, state.nothing - dual)
        closed = gap <= self.tol * max(abs(dual), abs(dual + gap))
        return closed or state.epoch >= state.look_at

    @property
    def _limit(self) -> int:
        return self.max_iter if self.max_iter >= 0 else _DEFAULT_EPOCHS

    def _look(self, problem: LinearProblem, state: State) -> None:
        """Compute primal, dual and gap, the rows to visit, and when to look next."""
        if state.crawls:
            self._solve_active_set(problem, state)
        if state.epoch - state.exact_at >= _DRIFT:
            state.w, state.exact_at = problem.design.back(state.beta.copy()), state.epoch
        about, state.shift = abs(state.shift), 0.0
        state.outputs = problem.design.times(state.w)
        plain = self._model(problem, state, state.outputs)
        worst = problem.violation(plain)
        if problem.design.scaling and state.epoch:
            weight = float(state.w[-1])
            state.shift = best_shift(problem, state.outputs, weight, about)
        both = problem.objective(self._shifted(problem, state, plain))
        state.looked = Measures(both.primal, both.dual, worst)
        state.outlook.found(both.gap)
        gap = state.looked.relative_gap
        state.look_at = state.epoch + self._patience(problem, state, gap)
        state.gap, state.gap_at, state.worst = gap, state.epoch, worst
        # The worst violation of the rows that were left is too small a limit for all.
        state.figures[0] = state.looked.violation if self.shrinking else np.inf
        order = np.empty(problem.n, np.intp)
        left = unsettled(
            state.outputs, state.table, problem.epsilon, state.figures[0], order
        )
        state.order, state.place[:2] = order, (0, left)

    def _solve_active_set(self, problem: LinearProblem, state: State) -> None:
        """Active-set steps for the β between their bounds, until none meets a bound."""
        for _ in range(_STEPS):
            moved = active_set_step(problem, state.beta.copy(), state.w)
            if moved is None:
                return
            state.table[moved.some, 0], state.w = moved.beta, moved.w
            if not moved.met:
                return

    def _patience(self, problem: LinearProblem, state: State, gap: float) -> int:
        """Epochs until the next look, whatever the forecast."""
        most, ahead = max(1, min(20, state.epoch)), np.inf
        if 0.0 < gap < state.gap < np.inf:
            fall = np.log(state.gap / gap) / (state.epoch - state.gap_at)
            # Ever more slowly, as a rule.
            ahead = np.ceil(_SLOWER * np.log(gap / max(self.tol, 1e-16)) / fall)
        late = self.faces and state.epoch >= _SLOW and not problem.squared
        state.crawls = bool(late and ahead > _CRAWL)
        return _SOON if state.crawls else most

    def measure(self, problem: LinearProblem, state: State) -> Measures:  # noqa: ARG002
        """Figures of the last look at all rows."""
        return state.looked

    def model(self, problem: LinearProblem, state: State) -> LinearModel:
        """The current β with its own w; after a look, the best constant besides."""
        fresh = state.gap_at == state.epoch and state.place[0] == 0 and state.epoch
        f = state.outputs if fresh else problem.design.times(state.w)
        plain = self._model(problem, state, f)
        plain = plain._replace(w=plain.w.copy(), pull=plain.w.copy())
        return self._shifted(problem, state, plain) if fresh else plain

    def _model(
        self, problem: LinearProblem, state: State, outputs: Vector
    ) -> LinearModel:
        """The model of w as it is."""
        scaling = problem.design.scaling
        bias = float(scaling * state.w[-1]) if scaling else 0.0
        return LinearModel(state.w, bias, state.beta.copy(), outputs, state.w)

    def _shifted(
        self, problem: LinearProblem, state: State, plain: LinearModel
    ) -> LinearModel:
        """The model with the weight of the constant that the last look found."""
        if not state.shift:
            return plain
        w, scaling = plain.w.copy(), problem.design.scaling
        w[-1] += state.shift
        f = plain.outputs + scaling * state.shift
        return plain._replace(w=w, bias=float(scaling * w[-1]), outputs=f)

    def explain(self, problem: LinearProblem, state: State) -> Step:
        """Describe the last row that moved."""
        row, before, after, F = state.figures[2:6].tolist()
        if row < 0:
            return Step("Nothing done yet: w = 0.")
        i = int(row)
        left = int(state.place[1])
        words = (
            f"Epoch {state.epoch + 1}: of row {i} β moved from {before:.4g} to "
            f"{after:.4g}, for its gradient was {F:.3g}; {left:,} of {problem.n:,} rows "
            f"are visited, the relative gap at the last look was "
            f"{state.looked.relative_gap:.3g}."
        )
        numbers = {
            "i": i,
            "before": before,
            "after": after,
            "gradient": F,
            "epoch": state.epoch,
            "active": left,
        }
        return Step(words, numbers, (i,))

    def n_iter(self, state: State) -> int:
        """Visits in epochs of n."""
        n = int(state.table.shape[0])
        return -(-int(state.place[2]) // max(1, n))
