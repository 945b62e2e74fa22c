r"""Crammer and Singer's linear machine by a sequential dual method.

Problem: :class:`~maxmargin.problem.linear_crammer_singer.LinearJointProblem`, rows dense
or sparse.

Update. A visit to row i computes the gradients :math:`G_{im} = w_m\cdot x_i + e_{im}` of
its classes and solves for all of them exactly,

.. math:: \beta_{im} \leftarrow \min\bigl(C_i1[m=y_i],\
          \beta_{im} + (\lambda - G_{im})/\|x_i\|^2\bigr),\quad
          \lambda:\ \sum_m\beta_{im} = 0;\qquad
          w_m \leftarrow w_m + \Delta\beta_{im}x_i

An epoch visits the rows in a new random order. Classes and rows that are satisfied by
more than a tenth of the worst violation of the epoch before are left out (shrinking)
until the next look at all (:mod:`~maxmargin.solvers.linear.classes.visits`).

Every few epochs a look at all rows computes XW', which gives primal, dual, gap, and the
rows that must come back. The time of the next look follows from the fall of the gap and
from the cost of a look against an epoch.

From epoch 40 on, conjugate gradients move all β between their bounds at once, every
twenty epochs (:mod:`~maxmargin.solvers.linear.classes.active_set`): digits, C = 1, gap
1e-6: 600 epochs, without them 4500.

Stop: relative duality gap ≤ tol.

Cost: a visit reads the row once for every watched class, two or three in the end, and
once more for every class that moves; a look reads all rows once for every class.
Memory: three tables of n·K numbers, and three of W's size.

References: S. Keerthi, S. Sundararajan, K.-W. Chang, C.-J. Hsieh and C.-J. Lin, "A
sequential dual method for large scale multi-class linear SVMs", KDD 2008; K. Crammer and
Y. Singer, "On the algorithmic implementation of multiclass kernel-based vector machines",
JMLR 2, 2001.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from maxmargin.errors import OVERFLOW, NumericalError
from maxmargin.problem import (
    LinearJointModel,
    LinearJointProblem,
    WarmStart,
)
from maxmargin.solvers.base import Measures, Status, Steppable
from maxmargin.solvers.classes.crammer_singer import feasible
from maxmargin.solvers.linear.classes import visits as at
from maxmargin.solvers.linear.classes.active_set import (
    ActiveSet,
    active_set_of,
    climb,
    take,
)
from maxmargin.solvers.linear.warm_start import moved_classes
from maxmargin.solvers.step import Step

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin._arrays import Index, Table, Vector

_SLICE = 1 << 24  # policy: numbers read in one unit
_VISIT = 100  # policy: cost of a visit besides its row, in numbers read
_DEFAULT_EPOCHS = 100_000  # policy
_SHARE = 0.1  # policy: of the worst violation; rows satisfied by more are left out
_SOLVED = 0.02  # policy: share of the violation at the last look; below it, look again
_FIRST, _EVERY = 40, 20  # policy: epochs before conjugate gradients, and between them
_SELDOM = 2  # policy: a look may wait until epochs have read so many times as much
_OVERHEAD = 3000  # policy: cost of beginning and ending a look, in products
_DRIFT = 50  # rounding: epochs after which W is computed anew
_ROUNDING, _LOOKS = 1e-11, 10  # rounding: a smaller gap that so many looks do not halve


@dataclass(slots=True)
class State:
    """β and W = β'X, the rows to visit, and the figures of the last look."""

    beta: Table
    W: Table  # by class for dense rows, by feature for sparse ones
    table: Table  # of every row C and ‖x‖²
    watched: NDArray[np.int32]  # of every row how many classes, and which
    order: Index
    place: Index
    figures: Vector
    work: Table  # room for a few numbers of every class
    some: NDArray[np.int32]  # and for its name
    active_set: ActiveSet | None = None  # of conjugate gradients under way
    climb_at: int = _FIRST  # epoch after which they are due
    wait: int = _EVERY
    look_at: int = 0  # epoch after which all rows are looked at again
    looked: Measures = field(default=Measures(np.inf, -np.inf, np.inf))
    outputs: Table = field(default_factory=lambda: np.empty((0, 0)))  # at that look
    fresh: bool = False  # nothing moved since
    gap: float = np.inf  # relative, at that look
    gap_at: int = 0  # epoch of that look
    best: float = np.inf  # the least gap, when it was halved last
    since: int = 0  # looks since then
    exact_at: int = 0  # epoch at which W was computed anew

    @property
    def epoch(self) -> int:
        """Epochs done, those of few rows included."""
        return int(self.place[at.EPOCH])


@dataclass(frozen=True)
class LinearCrammerSinger(Steppable):
    """All classes in one problem, a row at a time.

    Parameters
    ----------
    tol : float
        Relative duality gap accepted.
    max_iter : int
        Epochs at most, n visits each; −1 for 100,000. An iteration of conjugate gradients
        counts as a visit to every row of the active set.
    seed : int
        Of the order of the rows.
    shrinking : bool
        Whether satisfied rows and classes are left out for a while.
    conjugate : bool
        Whether conjugate gradients help.
    """

    tol: float = 1e-4
    max_iter: int = -1
    seed: int = 0
    shrinking: bool = True
    conjugate: bool = True
    criterion = "relative_gap"
    unit = "slice"
    solves = LinearJointProblem

    def start(self, problem: LinearJointProblem, warm: WarmStart | None = None) -> State:
        """β = 0 or the repaired ``warm``, and its W."""
        design, n, K = problem.design, problem.n, problem.n_classes
        if not np.isfinite(design.norms).all():
            raise NumericalError(OVERFLOW)
        given = None if warm is None else moved_classes(problem, warm)
        beta = feasible(problem, given)
        share = _SHARE if self.shrinking else np.inf
        return State(
            beta=beta,
            W=design.back_classes(beta) if beta.any() else design.no_weights(K),
            table=np.column_stack([problem.C, design.norms]),
            watched=np.zeros((n, K + 1), np.int32),
            order=np.empty(n, np.intp),
            place=np.array([0, 0, 0, 0, 0, 0, 0, 0, -1, 0], np.intp),
            figures=np.array([np.inf, share, 0.0, 0.0, 0.0, 0.0, 0.0]),
            work=np.empty((5, K)),
            some=np.empty(K, np.int32),
        )

    def advance(self, problem: LinearJointProblem, state: State, budget: int) -> Status:
        """At most ``budget`` slices of epochs, iterations, or looks at all rows."""
        for _ in range(budget):
            status = self._unit(problem, state)
            if status is not Status.RUNNING:
                return status
        return Status.RUNNING

    def _unit(self, problem: LinearJointProblem, state: State) -> Status:
        design, place = problem.design, state.place
        if state.active_set is not None:
            return self._climb(problem, state, state.active_set)
        if np.isinf(state.looked.primal):
            return self._look(problem, state)
        if self._over(problem, state) and state.fresh:
            return Status.MAX_ITER
        place[at.EVENT] = state.look_at
        if self.conjugate:
            place[at.EVENT] = min(state.look_at, state.climb_at)
        place[at.MOST] = (self._limit - 1) * problem.n
        state.figures[at.ENOUGH] = _SOLVED * state.looked.violation
        state.fresh = False
        epoch = at.Epoch(
            state.table, state.beta, state.watched, state.W, state.work, state.some,
            state.order, place, state.figures,
        )  # fmt: skip
        visits = max(1, _SLICE // (_VISIT + _average(problem) * problem.n_classes))
        ended = at.visit(design.rows, design.scaling, epoch, self.seed, visits)
        if not ended:
            return Status.RUNNING
        waiting = state.epoch >= state.climb_at and place[at.LEFT] > 0
        if self.conjugate and waiting and not self._over(problem, state):
            return self._begin(problem, state)
        return self._look(problem, state)

    # -- conjugate gradients ---------------------------------------------------------

    def _begin(self, problem: LinearJointProblem, state: State) -> Status:
        """Find the active set, if conjugate gradients are worth it."""
        active = active_set_of(
            problem.design, state.table, state.beta, state.watched, state.W,
            state.order[: state.place[at.LEFT]], state.work,
        )  # fmt: skip
        if active is None:
            state.wait *= 2
            state.climb_at = state.epoch + state.wait
            return self._look(problem, state) if self._due(state) else Status.RUNNING
        rest = self._limit * problem.n - int(state.place[at.VISITS])
        active.iterations[1] = min(active.iterations[1], rest // active.rows.size)
        state.active_set = active
        return Status.RUNNING

    def _climb(
        self, problem: LinearJointProblem, state: State, active: ActiveSet
    ) -> Status:
        """Some iterations; after the last, take the step."""
        design = problem.design
        done = int(active.iterations[0])
        read = 2 * active.classes.size * _average(problem) + 4 * state.W.size
        ended = climb(
            design.rows, design.scaling, state.table, state.beta, active, state.work[4],
            max(1, _SLICE // read),
        )  # fmt: skip
        state.place[at.VISITS] += (int(active.iterations[0]) - done) * active.rows.size
        if not ended:
            return Status.RUNNING
        gain, far = take(design, state.table, state.beta, state.W, active, state.work)
        state.active_set = None
        if far:
            state.wait = _EVERY
        elif not gain > 0.0:
            state.wait *= 2
        state.climb_at = state.epoch + state.wait
        state.place[at.STEPS] += gain > 0.0
        if self._due(state) or self._over(problem, state):
            return self._look(problem, state)
        return Status.RUNNING

    def _due(self, state: State) -> bool:
        return state.epoch >= state.look_at

    # -- looks -----------------------------------------------------------------------

    def _look(self, problem: LinearJointProblem, state: State) -> Status:
        """Compute primal, dual and gap, the rows to visit, and when to look next."""
        if state.epoch - state.exact_at >= _DRIFT:
            state.W = problem.design.back_classes(state.beta)
            state.exact_at = state.epoch
        state.outputs = problem.design.times_classes(state.W)
        model = self._shown(problem, state, state.W, state.outputs)
        looked = problem.measures(model)
        if not np.isfinite(looked.primal):
            raise NumericalError(OVERFLOW)
        state.looked, state.fresh = looked, True
        worst, gap = looked.violation, looked.relative_gap
        stuck = self._is_stuck(state, gap)
        state.look_at = state.epoch + self._patience(problem, state, gap)
        state.gap, state.gap_at = gap, state.epoch
        # The worst violation of the rows that were left is too small a limit for all.
        limit = _SHARE * worst if self.shrinking else np.inf
        state.figures[at.LIMIT], state.figures[at.WORST] = limit, 0.0
        left = at.choose(
            state.outputs, problem.codes, state.table, state.beta, state.watched, limit,
            state.order,
        )  # fmt: skip
        state.place[[at.NEXT, at.LEFT, at.SHUFFLED, at.STEPS]] = 0, left, 0, 0
        if gap <= self.tol:
            return Status.CLOSED
        if self._over(problem, state):
            return Status.MAX_ITER
        return Status.STALLED if stuck else Status.RUNNING

    def _is_stuck(self, state: State, gap: float) -> bool:
        """Whether nothing moves any more, or only by rounding; count the look."""
        state.since += 1
        if gap < 0.5 * state.best:
            state.best, state.since = gap, 0
        still = state.epoch > state.gap_at and state.place[at.STEPS] == 0
        return bool(still or (state.best <= _ROUNDING and state.since >= _LOOKS))

    def _patience(self, problem: LinearJointProblem, state: State, gap: float) -> int:
        """Epochs until the gap is down at tol if it falls as before, within limits."""
        look = problem.n * problem.n_classes + _OVERHEAD
        epoch = 1 + 4 * int(state.place[at.LEFT])
        rare = min(state.epoch // 2, _SELDOM * look // epoch)
        most = max(1, min(20, state.epoch), rare)
        if not (0.0 < gap < state.gap < np.inf and state.epoch > state.gap_at):
            return most
        fall = np.log(state.gap / gap) / (state.epoch - state.gap_at)
        return int(np.clip(np.log(gap / max(self.tol, 1e-16)) / fall, 1, most))

    # -- figures and model -------------------------------------------------------------

    def measure(self, problem: LinearJointProblem, state: State) -> Measures:  # noqa: ARG002
        """Figures of the last look at all rows."""
        return state.looked

    def model(self, problem: LinearJointProblem, state: State) -> LinearJointModel:
        """The current β with its own W."""
        W = state.W.copy()
        outputs = state.outputs.copy() if state.fresh else None
        if outputs is None:
            outputs = problem.design.times_classes(W)
        shown = self._shown(problem, state, W, outputs)
        return shown._replace(W=np.ascontiguousarray(shown.W), beta=state.beta.copy())

    def _shown(
        self, problem: LinearJointProblem, state: State, W: Table, outputs: Table
    ) -> LinearJointModel:
        lines, scaling = problem.design.by_class(W), problem.design.scaling
        bias = scaling * lines[:, -1] if scaling else np.zeros(problem.n_classes)
        return LinearJointModel(lines, bias, state.beta, outputs)

    def explain(self, problem: LinearJointProblem, state: State) -> Step:
        """Describe the last row that moved."""
        i, moved, left = state.place[[at.ROW, at.MOVED, at.LEFT]].tolist()
        if i < 0:
            origin = "that of the given β" if state.beta.any() else "0"
            return Step(f"Nothing done yet: W is {origin}.")
        violation, before, after = state.figures[[at.VIOLATION, at.BEFORE, at.AFTER]]
        words = (
            f"Epoch {state.epoch + 1}: row {i} missed its optimality by {violation:.3g} "
            f"and moved {moved} classes; β of its own class {problem.codes[i]} went from "
            f"{before:.4g} to {after:.4g}. {left:,} of {problem.n:,} rows are visited, "
            f"the relative gap at the last look was {state.looked.relative_gap:.3g}."
        )
        if state.active_set is not None:
            words += (
                f" Iteration {state.active_set.iterations[0]} of conjugate gradients on "
                f"{state.active_set.rows.size:,} rows is done."
            )
        numbers = {
            "i": i,
            "before": float(before),
            "after": float(after),
            "violation": float(violation),
            "classes": moved,
            "epoch": state.epoch,
            "active": left,
        }
        return Step(words, numbers, (i,))

    def n_iter(self, state: State) -> int:
        """Visits in epochs of n."""
        n = int(state.table.shape[0])
        return -(-int(state.place[at.VISITS]) // max(1, n))

    @property
    def _limit(self) -> int:
        return self.max_iter if self.max_iter >= 0 else _DEFAULT_EPOCHS

    def _over(self, problem: LinearJointProblem, state: State) -> bool:  # noqa: ARG002
        return self.n_iter(state) >= self._limit


def _average(problem: LinearJointProblem) -> int:
    """Numbers in a row."""
    return max(1, problem.design.stored // max(1, problem.n))
