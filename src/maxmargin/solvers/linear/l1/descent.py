r"""Coordinate descent on the weights: the penalty ‖w‖₁ with the squared hinge.

Problem: :class:`~maxmargin.problem.LinearProblem` with ``lasso``,
:math:`\min_w \|w\|_1 + \sum_i C_i\max(0, 1 - y_i\,w\cdot x_i)^2`; the constant column, if
there is one, is penalised like the others, as in LIBLINEAR.

Update. For column j with slope G and curvature H of the loss along it, the minimum of
:math:`Gd + \tfrac12 Hd^2 + |w_j + d|` is a soft threshold; because H changes with the
rows inside the margin, the step is halved until the objective falls by a
hundredth of what was promised (Armijo). An epoch visits the columns in a new random
order. A column with :math:`w_j = 0` whose slope is well inside (−1, 1) is left out until
the next look at all of them.

At a look f = Xw is computed anew, β is the slope of every row's loss, and the largest
multiple of it with :math:`\|X^\top\beta\|_\infty\le1` gives the dual value.

Stop: relative duality gap ≤ tol.

Cost: two passes over the columns that are left an epoch; memory: a copy of X by columns.

Reference: G.-X. Yuan, K.-W. Chang, C.-J. Hsieh and C.-J. Lin, "A comparison of
optimization methods and software for large-scale l1-regularized linear classification",
JMLR 11, 2010 (section 4.1, CDN).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin._jit import is_record, njit, overload
from maxmargin._jit.random import shuffle
from maxmargin.design.row import add_row
from maxmargin.problem import LinearModel, LinearProblem, WarmStart
from maxmargin.rows.records import DenseRows
from maxmargin.solvers.base import Measures, Status, Steppable
from maxmargin.solvers.linear.l1.penalty import first_weights
from maxmargin.solvers.step import Step

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin._arrays import Vector

_SLICE = 1 << 23  # policy: numbers read in one unit
_DEFAULT_EPOCHS = 100_000  # policy
_ENOUGH = 0.01  # policy: share of the promised fall that a step must reach (Armijo)
_HALVINGS = 30  # policy: lengths of a step that are tried
_FLOOR = 1e-12  # rounding: least curvature, for columns without rows inside the margin


@njit
def _loss(f, y, price):
    """C·max(0, 1 − yf)² for y = ±1, price = 2C."""
    inside = 1.0 - y * f
    return 0.5 * price * inside * inside if inside > 0.0 else 0.0


def _slope(columns: Any, j: int, f: Any, y: Any, price: Any) -> Any:
    """Slope and curvature of the loss along column j."""
    raise TypeError(f"no columns in {type(columns).__name__}: compiled code only")  # noqa: EM102


def _change(columns: Any, j: int, step: float, f: Any, y: Any, price: Any) -> Any:
    """How the loss changes when w_j moves by ``step``."""
    raise TypeError(f"no columns in {type(columns).__name__}: compiled code only")  # noqa: EM102


@overload(_slope)
def _overload_slope(columns, j, f, y, price):
    return _slope_dense if is_record(columns, DenseRows) else _slope_csc


@overload(_change)
def _overload_change(columns, j, step, f, y, price):
    return _change_dense if is_record(columns, DenseRows) else _change_csc


def _slope_dense(columns, j, f, y, price):
    column = columns.data[j]
    slope, curvature = 0.0, 0.0
    for i in range(column.size):
        inside = 1.0 - y[i] * f[i]
        if inside > 0.0:
            x = float(column[i])
            slope -= price[i] * inside * y[i] * x
            curvature += price[i] * x * x
    return slope, curvature


def _slope_csc(columns, j, f, y, price):
    slope, curvature = 0.0, 0.0
    for e in range(columns.indptr[j], columns.indptr[j + 1]):
        i = columns.indices[e]
        inside = 1.0 - y[i] * f[i]
        if inside > 0.0:
            x = float(columns.data[e])
            slope -= price[i] * inside * y[i] * x
            curvature += price[i] * x * x
    return slope, curvature


def _change_dense(columns, j, step, f, y, price):
    column = columns.data[j]
    total = 0.0
    for i in range(column.size):
        moved = f[i] + step * column[i]
        total += _loss(moved, y[i], price[i]) - _loss(f[i], y[i], price[i])
    return total


def _change_csc(columns, j, step, f, y, price):
    total = 0.0
    for e in range(columns.indptr[j], columns.indptr[j + 1]):
        i = columns.indices[e]
        moved = f[i] + step * columns.data[e]
        total += _loss(moved, y[i], price[i]) - _loss(f[i], y[i], price[i])
    return total


@njit
def _visit(columns, y, price, w, f, order, place, figures, visits):
    """At most ``visits`` columns of an epoch.

    ``place`` = (next column in the order, how many are left in it, visits so far);
    ``figures`` = (how far inside (−1, 1) the slope of a column is that is left out, worst
    violation so far, and of the last step: column, w before and after, slope).
    """
    while visits > 0 and place[0] < place[1]:
        visits -= 1
        place[2] += 1
        at = place[0]
        j = order[at]
        slope, curvature = _slope(columns, j, f, y, price)
        old = w[j]
        if old > 0.0:
            wrong = abs(slope + 1.0)
        elif old < 0.0:
            wrong = abs(slope - 1.0)
        else:
            wrong = max(0.0, abs(slope) - 1.0)
            if abs(slope) < 1.0 - figures[0]:
                place[1] -= 1
                order[at], order[place[1]] = order[place[1]], j
                continue
        place[0] = at + 1
        figures[1] = max(figures[1], wrong)
        curvature = max(curvature, _FLOOR)
        if slope + 1.0 <= curvature * old:
            step = -(slope + 1.0) / curvature
        elif slope - 1.0 >= curvature * old:
            step = -(slope - 1.0) / curvature
        else:
            step = -old
        if step == 0.0:
            continue
        promised = slope * step + abs(old + step) - abs(old)
        for _ in range(_HALVINGS):
            grown = abs(old + step) - abs(old)
            fall = _change(columns, j, step, f, y, price) + grown
            if fall <= _ENOUGH * promised:
                w[j] = old + step
                add_row(columns, j, step, f, 0.0)
                break
            step *= 0.5
            promised *= 0.5
        figures[2], figures[3], figures[4], figures[5] = j, old, w[j], slope


@dataclass(slots=True)
class State:
    """Weights and f = Xw, the order of the epoch, and the figures of the last look."""

    w: Vector
    f: Vector
    order: NDArray[np.intp]
    place: NDArray[np.intp]  # next in the order, how many are left in it, visits
    figures: Vector
    epoch: int = 0
    shuffled: bool = False
    look_at: int = 1  # epoch after which all columns are looked at again
    looked: Measures = field(default=Measures(np.inf, -np.inf, np.inf))


@dataclass(frozen=True)
class LassoDescent(Steppable):
    """Coordinate descent for the penalty ‖w‖₁.

    Parameters
    ----------
    tol : float
        Relative duality gap accepted.
    max_iter : int
        Epochs at most, as many visits as there are columns each; −1 for 100,000.
    seed : int
        Of the order of the columns.
    """

    tol: float = 1e-4
    max_iter: int = -1
    seed: int = 0
    criterion = "relative_gap"
    unit = "slice"
    solves = LinearProblem

    def start(self, problem: LinearProblem, warm: WarmStart | None = None) -> State:
        """W = 0, or the weights ``warm``: a β would say nothing of those that are 0."""
        w, width = first_weights(problem, warm), problem.design.width
        first = width if w.any() else 0  # weights are looked at before any is moved
        return State(
            w=w,
            f=problem.design.times(w) if w.any() else np.zeros(problem.n),
            order=np.arange(width, dtype=np.intp),
            place=np.array([first, width, 0], np.intp),
            figures=np.array([np.inf, 0.0, -1.0, 0.0, 0.0, 0.0]),
        )

    def advance(self, problem: LinearProblem, state: State, budget: int) -> Status:
        """At most ``budget`` slices of an epoch, or looks at all columns."""
        if self.max_iter == 0:
            state.looked = problem.measures(self.model(problem, state))
            return Status.MAX_ITER
        design, price = problem.design, np.zeros(problem.n)
        np.divide(1.0, problem.ridge, out=price, where=problem.ridge > 0.0)
        visits = max(1, _SLICE * design.width // max(1, design.stored))
        for _ in range(budget):
            if state.place[0] >= state.place[1]:
                status = self._end_of_epoch(problem, state)
                if status is not Status.RUNNING:
                    return status
                continue
            if not state.shuffled:
                shuffle(state.order, int(state.place[1]), self.seed, state.epoch)
                state.shuffled = True
            _visit(
                design.columns, -problem.p, price, state.w, state.f, state.order,
                state.place, state.figures, visits,
            )  # fmt: skip
        return Status.RUNNING

    def _end_of_epoch(self, problem: LinearProblem, state: State) -> Status:
        state.epoch += 1
        worst = float(state.figures[1])
        state.figures[0] = worst / max(1, problem.n)
        state.figures[1] = 0.0
        state.place[0], state.shuffled = 0, False
        limit = self.max_iter if self.max_iter >= 0 else _DEFAULT_EPOCHS
        over = self.n_iter(state) >= limit
        if over or state.epoch >= state.look_at or state.place[1] == 0:
            state.f = problem.design.times(state.w)
            state.looked = problem.measures(self.model(problem, state))
            if state.looked.relative_gap <= self.tol:
                return Status.CLOSED
            state.look_at = state.epoch + max(1, min(20, state.epoch // 4))
            state.place[1] = state.order.size
        return Status.MAX_ITER if over else Status.RUNNING

    def measure(self, problem: LinearProblem, state: State) -> Measures:  # noqa: ARG002
        """Figures of the last look at all columns."""
        return state.looked

    def model(self, problem: LinearProblem, state: State) -> LinearModel:
        """The weights and the β of their outputs."""
        design = problem.design
        beta = problem.loss.answer(state.f)
        pull = design.back(beta)
        return LinearModel(
            w=state.w.copy(),
            bias=float(design.scaling * state.w[-1]) if design.scaling else 0.0,
            beta=beta,
            outputs=state.f.copy(),
            pull=pull,
        )

    def explain(self, problem: LinearProblem, state: State) -> Step:  # noqa: ARG002
        """Describe the last column that moved."""
        _, _, column, before, after, slope = state.figures.tolist()
        if column < 0:
            return Step("Nothing done yet: w = 0.")
        left = int(state.place[1])
        words = (
            f"Epoch {state.epoch + 1}: weight {int(column)} moved from {before:.4g} to "
            f"{after:.4g}, for the slope of the loss was {slope:.3g}; {left:,} of "
            f"{state.w.size:,} columns are visited."
        )
        numbers = {
            "j": int(column),
            "before": before,
            "after": after,
            "slope": slope,
            "epoch": state.epoch,
            "active": left,
        }
        return Step(words, numbers, ())

    def n_iter(self, state: State) -> int:
        """Visits in epochs of all columns."""
        return -(-int(state.place[2]) // max(1, state.w.size))
