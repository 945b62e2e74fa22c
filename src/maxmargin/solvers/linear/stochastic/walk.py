"""The run of stochastic sub-gradient solvers; each adds its parameters."""

from __future__ import annotations

import math
from copy import deepcopy
from numbers import Integral
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from maxmargin.errors import InputError, InputTypeError
from maxmargin.problem import LinearModel, LinearProblem, WarmStart
from maxmargin.solvers.base import Status, Steppable
from maxmargin.solvers.linear.stochastic.subgradient import (
    BEGAN,
    DONE,
    ERRORS,
    FACTOR,
    MARGIN,
    MASS,
    NEXT_TAIL,
    NORM2,
    OLD,
    PENALTY,
    ROW,
    SETTLED,
    SHARE,
    SIZE,
    STEP,
    TAIL,
    steps,
)
from maxmargin.solvers.linear.warm_start import moved
from maxmargin.solvers.step import Step
from maxmargin.theory import from_C

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin._arrays import Vector

    Counts = NDArray[np.int32]
    Index = NDArray[np.int64]

# Policy: by default at most 1000 epochs, or as many as make a million or 300/λ steps; a
# tiny λ makes at most 10⁹ visits of rows, which take about a minute.
EPOCHS, STEPS, LENGTHS, VISITS = 1000, 1e6, 300, 1e9
AVERAGES = ("tail", "all", "last")


class Walk(NamedTuple):
    """The iterate: it goes on when other rows come.

    w = q/(λt)·v, and A·v − u is the sum of the iterates since the last settlement;
    ``sums`` holds that of those before, and the whole sum when the last two tails began.
    """

    v: Vector
    u: Vector
    sums: Vector
    reals: Vector  # q, A, ‖v‖², λ
    counters: Index  # steps, draws, the seed, where averages begin

    def copy(self) -> Walk:
        """An independent copy."""
        return deepcopy(self)

    @property
    def steps(self) -> int:
        """Steps done, on whatever rows."""
        return int(self.counters[STEP])

    @property
    def tail(self) -> int:
        """The step after which the tail begins."""
        return int(self.counters[TAIL])


class State(NamedTuple):
    """A walk, and the rows of this run."""

    walk: Walk
    alive: NDArray[np.intp]  # rows that have weight
    odds: Vector  # their cumulative prices
    order: Index  # of this epoch
    counts: Counts  # errors and visits of every row, since the next tail began and before
    given: Vector  # β of rows that were not visited yet
    drawn: Index  # the rows of a step …
    wrong: NDArray[np.bool_]  # … and whether they are margin errors
    run: Index  # steps of this run, and whether all rows weigh the same
    report: Vector  # of the last step


class StochasticSolver(Steppable):
    """Steps, certificate and explanations; solvers add their parameters."""

    tol: float
    max_iter: int
    seed: int
    batch_size: int
    projection: bool
    average: str
    replacement: bool
    criterion = "relative_gap"
    unit = "step"
    solves = LinearProblem

    def __post_init__(self) -> None:
        super().__post_init__()
        size = self.batch_size
        if isinstance(size, bool) or not isinstance(size, Integral):
            msg = f"batch_size={size!r}: it must be an integer"
            raise InputTypeError(msg)
        if size < 1:
            msg = f"batch_size={size}: a step needs at least 1 row"
            raise InputError(msg)
        if self.average not in AVERAGES:
            msg = f"average={self.average!r}: it must be 'tail', 'all' or 'last'"
            raise InputError(msg)

    # --- the contract -----------------------------------------------------------------

    def start(self, problem: LinearProblem, warm: WarmStart | None = None) -> State:
        """At w = 0, or at the w of a β as if an epoch had led there."""
        state = self._state(problem, self._origin(problem.design.width))
        if warm is None or not warm.beta.any():
            return state
        beta = np.clip(moved(problem, warm), problem.lower, problem.upper)
        walk, count = state.walk, self.epoch_steps(state)
        w = problem.design.back(beta)
        penalty = self.penalty(state)
        length = float(np.sqrt(w @ w))
        if self.projection and length > penalty**-0.5:
            w *= penalty**-0.5 / length
        walk.v[:] = (penalty * count) * w
        walk.reals[NORM2] = float(walk.v @ walk.v)
        walk.counters[[STEP, BEGAN, TAIL, NEXT_TAIL]] = count
        state.given[:] = beta
        return state

    def resume(self, problem: LinearProblem, walk: Walk) -> State:
        """A run on these rows that begins at the walk of a run on others."""
        if walk.v.size != problem.design.width:
            msg = (
                f"the walk has {walk.v.size} weights and the rows have "
                f"{problem.design.width} columns, the constant included: give rows with "
                "the same columns"
            )
            raise InputError(msg)
        fresh = self._origin(walk.v.size)
        if walk.u.size == fresh.u.size:
            return self._state(problem, walk.copy())
        # There was no average before: it is of the iterates from here on.
        fresh.v[:], fresh.reals[:], fresh.counters[:] = walk.v, walk.reals, walk.counters
        fresh.reals[MASS] = 0.0
        fresh.counters[[BEGAN, TAIL, NEXT_TAIL]] = walk.steps
        return self._state(problem, fresh)

    def advance(self, problem: LinearProblem, state: State, budget: int) -> Status:
        """At most ``budget`` steps; the gap is tested at the end of an epoch."""
        per_epoch = self.epoch_steps(state)
        limit = self.limit(state)
        if limit == 0:
            return Status.MAX_ITER
        goal = int(state.run[DONE]) + budget
        while state.run[DONE] < goal:
            epoch = min(limit, _next_look(int(state.run[DONE]) // per_epoch))
            self._walk(problem, state, min(goal, epoch * per_epoch))
            if state.run[DONE] < epoch * per_epoch:
                continue
            if self.tol > 0.0:
                both = problem.objective(self.model(problem, state))
                if both.relative_gap <= self.tol:
                    return Status.CLOSED
            if epoch >= limit:
                return Status.MAX_ITER
        return Status.RUNNING

    def model(self, problem: LinearProblem, state: State) -> LinearModel:
        """The iterate or an average of them, and β of the margin errors.

        β is the box times the share of a row's visits that were margin errors, in the
        tail: the average of what the loss's sub-gradients asked of it.
        """
        design, alive = problem.design, state.alive
        w = self.weights(state)
        errors, visits = state.counts[:, :2].T + state.counts[:, 2:].T
        share = errors / np.maximum(1, visits)
        beta = state.given.copy()
        seen = visits > 0
        some = alive[seen]
        beta[some] = (problem.lower[some] + problem.upper[some]) * share[seen]
        pull = design.back(beta)
        gain, size = -float(problem.p @ beta), float(pull @ pull)
        if gain < size:  # a multiple has a larger dual: matters in the first epochs
            beta *= gain / size
            pull *= gain / size
        bias = design.scaling * float(w[-1]) if design.scaling else 0.0
        return LinearModel(w, bias, beta, design.times(w), pull)

    def explain(self, problem: LinearProblem, state: State) -> Step:  # noqa: ARG002
        """Describe the rows of the last step, and the change of w."""
        t, report = state.walk.steps, state.report
        if state.run[DONE] == 0:
            return Step("Nothing done yet." if t else "Nothing done yet: w = 0.")
        i, size, errors = int(report[ROW]), int(report[SIZE]), int(report[ERRORS])
        margin, factor = float(report[MARGIN]), float(report[FACTOR])
        rate = 1.0 / (self.penalty(state) * t)
        if size == 1:
            found = "below" if errors else "at least"
            moved = f"w gains {rate:.3g}·y·x" if errors else "w gains nothing"
            drawn = (
                f"row {i} was drawn; its margin y·f = {margin:.4g} is {found} 1, so "
                f"{moved}"
            )
        else:
            drawn = (
                f"{size} rows were drawn, {errors} of which have a margin y·f below 1; "
                f"w gains {rate:.3g} times the sum of their y·x over {size}"
            )
        words = (
            f"Step {t}: {drawn}, after shrinking by the factor 1 − 1/{t}; the learning "
            f"rate 1/(λt) is {rate:.3g}."
        )
        if factor < 1.0:
            words += f" It was too long, and is shortened to 1/√λ, by {factor:.4g}."
        numbers = {
            "t": t,
            "i": i,
            "margin": margin,
            "size": size,
            "errors": errors,
            "rate": rate,
            "projected": factor,
            "epoch": self.n_iter(state),
        }
        rows = state.alive[state.drawn[:size]].tolist()
        return Step(words, numbers, tuple(rows))

    def n_iter(self, state: State) -> int:
        """Epochs begun."""
        return -(-int(state.run[DONE]) // self.epoch_steps(state))

    # --- parts of the verbs ------------------------------------------------------------

    def penalty(self, state: State) -> float:
        """λ of Pegasos's form."""
        return float(state.walk.reals[PENALTY])

    def epoch_steps(self, state: State) -> int:
        """Steps in which every row is drawn once, or as often on average."""
        return -(-state.alive.size // min(self.batch_size, state.alive.size))

    def limit(self, state: State) -> int:
        """Epochs at most."""
        if self.max_iter >= 0:
            return self.max_iter
        by_length = min(LENGTHS / self.penalty(state), VISITS / state.drawn.size)
        return max(EPOCHS, math.ceil(max(STEPS, by_length) / self.epoch_steps(state)))

    def weights(self, state: State) -> Vector:
        """The w that ``average`` names."""
        walk, t = state.walk, state.walk.steps
        since = {"last": t, "all": int(walk.counters[BEGAN]), "tail": walk.tail}
        begun = since[self.average]
        if t == begun:  # the last iterate
            factor = walk.reals[SHARE] / (self.penalty(state) * t) if t else 0.0
            return np.asarray(factor * walk.v)
        total = walk.sums[SETTLED] + (walk.reals[MASS] * walk.v - walk.u)
        if self.average == "tail":
            total -= walk.sums[OLD]
        return np.asarray(total / (t - begun))

    def _origin(self, width: int) -> Walk:
        averaged = width if self.average != "last" else 0
        return Walk(
            v=np.zeros(width),
            u=np.zeros(averaged),
            sums=np.zeros((3, averaged)),
            reals=np.array([1.0, 0.0, 0.0, 0.0]),
            counters=np.array([0, 0, self.seed, 0, 0, 0], np.int64),
        )

    def _state(self, problem: LinearProblem, walk: Walk) -> State:
        price = np.maximum(-problem.lower, problem.upper)
        alive = np.flatnonzero(price > 0.0)
        self._check(problem, price, alive)
        n = alive.size
        batch = min(self.batch_size, n)
        odds = np.cumsum(price[alive])
        _change_penalty(walk, from_C(float(odds[-1]) / n, n, "pegasos"))
        even = int(price[alive].min() == price[alive].max())
        return State(
            walk=walk,
            alive=alive,
            odds=odds,
            order=np.arange(n, dtype=np.int64),
            counts=np.zeros((n, 4), np.int32),
            given=np.zeros(problem.n),
            drawn=np.zeros(batch, np.int64),
            wrong=np.zeros(batch, np.bool_),
            run=np.array([0, even], np.int64),
            report=np.full(5, np.nan),
        )

    def _check(
        self, problem: LinearProblem, price: Vector, alive: NDArray[np.intp]
    ) -> None:
        name = type(self).__name__
        if problem.lasso:
            msg = f"{name} minimises ‖w‖²: use penalty='l2', or another solver"
            raise InputError(msg)
        if problem.free:
            msg = (
                f"{name} knows no intercept that costs nothing: use the constant column "
                "(fit_intercept=True) or none, or ProximalNewton"
            )
            raise InputError(msg)
        if problem.squared or problem.epsilon or np.isinf(price).any():
            msg = (
                f"{name} solves the soft margin with the hinge loss: use loss='hinge' "
                "and a finite C, or DualDescent or Newton"
            )
            raise InputError(msg)
        one_sided = np.minimum(-problem.lower, problem.upper)[alive] == 0.0
        if not (one_sided.all() and (np.abs(problem.p[alive]) == 1.0).all()):
            msg = f"{name} tells two classes apart: for a regression use DualDescent"
            raise InputError(msg)
        if alive.size == 0:
            msg = "no row has a price, so there is nothing to learn from: give weights"
            raise InputError(msg)

    def _walk(self, problem: LinearProblem, state: State, last: int) -> None:
        design = problem.design
        steps(
            design.rows, design.scaling, -problem.p, state,
            design.norms if self.projection else state.odds, self.epoch_steps(state),
            state.drawn.size, self.replacement, self.projection, last,
        )  # fmt: skip


def _next_look(epoch: int) -> int:
    """After epochs 1 … 10, then every tenth, from 1000 on every hundredth, and so on."""
    grid = 1 if epoch < 10 else 10 ** max(1, len(str(epoch)) - 2)
    return (epoch // grid + 1) * grid


def _change_penalty(walk: Walk, penalty: float) -> None:
    """Another λ, the same w."""
    before = float(walk.reals[PENALTY])
    if before not in (0.0, penalty):
        ratio = penalty / before
        walk.v[:] *= ratio
        walk.reals[NORM2] *= ratio * ratio
        walk.reals[MASS] /= ratio
    walk.reals[PENALTY] = penalty
