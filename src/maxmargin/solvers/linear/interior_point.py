r"""Interior point for linear machines: few steps, each with one width × width system.

Problem: that of :mod:`maxmargin.problem.linear` with ½‖w‖², a hinge or ε-insensitive loss
and any of the three intercepts.

Update: a predictor and a corrector (Mehrotra) on the optimality conditions of primal and
dual at once, with β inside its box. Rows are eliminated (see
:mod:`~maxmargin.solvers.linear._barrier`), and what is left is

.. math:: (I + X^\top W X)\,\Delta w = X^\top\beta - w + X^\top W g

for two right sides g, W a diagonal of positive weights. A free intercept is a column of
ones whose entry of I is 0; its equation keeps Σβ = 0. Both sides go the same length: with
two lengths a quadratic programme can diverge.

Rows that have made up their mind leave: once a row is three times as far from the kinks
of its loss as the last step moved it, and as it moved rows on average, and β is within a
tenth of the box from the end where it belongs, β is set to that end and only the other
rows go on. Soon few are in play, and the rest of the run costs next to nothing. The
answer is checked on all rows; those that left wrongly come back, and the rows in play
start again from their middle, with the w that they have.

Where columns are many, X'WX is made of rows drawn with probabilities W‖x‖², and conjugate
gradients with its factor solve for all rows.

Stop: relative duality gap at most tol, measured on all rows; entries of β near an end of
their box are put there where that raises the dual.

Cost: a step is X'WX (width²/2 multiplications a row) and three passes over the rows in
play. 10 to 40 steps, whatever C is, of which 5 to 15 with most rows.

References: K. Woodsend and J. Gondzio, "Exploiting separability in large-scale linear
support vector machine training", Comput. Optim. Appl. 49, 2011; S. Mehrotra, "On the
implementation of a primal-dual interior point method", SIAM J. Optim. 2, 1992.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.errors import InputError
from maxmargin.parallel import one_blas_thread
from maxmargin.solvers.base import Status, Steppable
from maxmargin.solvers.linear import _barrier
from maxmargin.solvers.linear._in_play import Passes, Play, System
from maxmargin.solvers.linear._interior_answer import answer, counted
from maxmargin.solvers.linear.newton.kinks import check_kinked
from maxmargin.solvers.step import Step

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin._arrays import Vector
    from maxmargin.problem import LinearModel, LinearProblem

_LIMIT = 200  # steps; 10 to 40 are usual
_WIDEST = 2000  # columns; a factor of so many takes a tenth of a second
_LOOSE, _TIGHT = 0.1, 0.03  # error of the two directions, where it is not 0
_REACH = 0.99  # of the way to the nearest end
_CALM, _END = 3.0, 0.1  # who leaves: see above
_MANY = 0.1  # of the rows in play have to, or nobody does
_FEW = 256  # rows in play, or two a column, which cost nothing: they all stay
_ROUNDS = 3  # checks that bring rows back, before nobody leaves any more
_PATIENCE, _LESS = 15, 0.95  # steps without a gap of so much less
_NOTHING = 1e-10  # of the losses for w = 0: a primal that may be 0


@dataclass(slots=True)
class State:
    """Where it stands; ``gap`` is that of the rows in play, ``proved`` that of all."""

    play: Play
    w: Vector  # a free intercept is its last entry
    pull: Vector  # X'β, likewise
    beta: Vector  # of the rows that are not in play
    nothing: float  # a primal that may be 0
    linear: float = 0.0  # p'β + ε‖β‖₁ of those
    stay: bool = False  # nobody leaves
    steps: int = 0
    mu: float = 0.0
    gap: float = np.inf
    wide: float = np.inf  # the same, absolute
    primal: float = np.inf
    best: float = np.inf  # gap so far
    since: int = 0  # steps since
    goal: float = np.inf  # gap at which the next check pays
    rounds: int = 0
    answer: LinearModel | None = None
    proved: float = np.inf
    stuck: bool = False
    last: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class InteriorPoint(Steppable):
    """Primal-dual interior point, for losses with a kink and few columns.

    Parameters
    ----------
    tol : float
        Relative duality gap accepted.
    max_iter : int
        Steps at most; −1 for 200.
    """

    tol: float = 1e-4
    max_iter: int = -1
    criterion = "relative_gap"
    restarts = False
    unit = "step"

    def start(self, problem: LinearProblem, warm: Vector | None = None) -> State:
        """All rows in the middle of their boxes, and w = 0.

        A given β would not help: near the ends of the boxes, steps are short.
        """
        check_kinked(problem, "the interior point", _WIDEST)
        if warm is not None and warm.any():
            msg = (
                "the interior point cannot go on from given coefficients: use "
                "warm_start=False, or solver='proximal-newton'"
            )
            raise InputError(msg)
        play = Play.of(problem)
        state = State(
            play,
            np.zeros(problem.design.width + problem.free),
            np.zeros(0),
            np.zeros(problem.n),
            _NOTHING * float((play.width * np.abs(play.p)).sum()),
        )
        passes = Passes(problem, play)
        state.pull = passes.back(play.at, play.beta())
        _look(problem, state, passes, 0.0)
        if play.m == 0:
            self._check(problem, state)
        return state

    def advance(self, problem: LinearProblem, state: State, budget: int) -> Status:
        """At most ``budget`` steps."""
        with one_blas_thread():
            for _ in range(budget):
                status = self._verdict(state)
                if status is not Status.RUNNING:
                    return status
                self._step(problem, state)
        return self._verdict(state)

    def model(self, problem: LinearProblem, state: State) -> LinearModel:
        """The current w, and β with what is near an end of its box put there."""
        if state.answer is not None:
            return state.answer
        with one_blas_thread():
            return answer(problem, state.play, state.w, state.pull, state.beta)

    def explain(self, problem: LinearProblem, state: State) -> Step:
        """How far the last step went, and with how many rows."""
        if not state.last:
            return Step("Nothing done yet: w = 0, β in the middle of its boxes.")
        numbers: dict[str, Any] = {"step": state.steps, **state.last}
        words = (
            f"Step {state.steps}, {numbers['rows']} of {problem.n} rows in play: aimed "
            f"at μ = {numbers['aim']:.3g}, went {numbers['length']:.3g} of the way, to "
            f"μ = {numbers['mu']:.3g} and a relative gap of {numbers['gap']:.3g} on "
            f"these rows."
        )
        if numbers["left"]:
            words += f" {numbers['left']} rows left at the ends of their boxes."
        if numbers["came"]:
            words += f" Checked on all rows: {numbers['came']} of them came back."
        return Step(words, numbers)

    def n_iter(self, state: State) -> int:
        """Steps taken."""
        return state.steps

    def _verdict(self, state: State) -> Status:
        # Not remembered: a finished run may be asked again with a smaller tol.
        limit = self.max_iter if self.max_iter >= 0 else _LIMIT
        if state.proved <= self.tol:
            return Status.CLOSED
        if state.stuck:
            return Status.STALLED
        return Status.MAX_ITER if state.steps >= limit else Status.RUNNING

    def _step(self, problem: LinearProblem, state: State) -> None:
        state.answer, state.proved = None, np.inf
        passes = Passes(problem, state.play)
        moved = _newton(problem, state, passes)
        if moved is None:
            self._give_up(problem, state)
            return
        aim, length = moved
        rows = state.play.m
        pace = _look(problem, state, passes, length)
        state.steps += 1
        state.since = 0 if state.wide < _LESS * state.best else state.since + 1
        state.best = min(state.best, state.wide)
        left = 0 if state.stay else _leave(problem, state, passes, pace)
        state.last = {
            "rows": rows, "aim": aim, "length": length, "mu": state.mu, "gap": state.gap,
            "left": left, "came": 0,
        }  # fmt: skip
        if state.gap <= min(self.tol, state.goal) or state.primal <= state.nothing:
            self._check(problem, state)
        if state.since >= _PATIENCE and not state.proved <= self.tol:
            self._give_up(problem, state)

    def _check(self, problem: LinearProblem, state: State) -> None:
        """The gap on all rows; those that left wrongly come back."""
        state.answer = answer(problem, state.play, state.w, state.pull, state.beta)
        state.proved = problem.objective(state.answer).relative_gap
        if state.proved <= self.tol:
            return
        play, f = state.play, state.answer.outputs
        out = problem.lower < problem.upper
        out[play.at[: play.m]] = False
        error = np.abs(problem.loss.answer(f) - state.beta)  # a box, or nothing
        wrong = np.flatnonzero(out & (error > 0.25 * (problem.upper - problem.lower)))
        if wrong.size == 0:
            _refresh(problem, state, state.answer, wrong, None)
            state.goal = 0.5 * state.gap
            return
        away = np.abs(np.abs(f[wrong] + problem.p[wrong]) - problem.epsilon)
        _refresh(problem, state, state.answer, wrong, max(state.mu, float(away.max())))
        state.last["came"] = wrong.size
        state.rounds += 1
        state.stay = state.rounds >= _ROUNDS
        state.best, state.since, state.goal = np.inf, 0, np.inf

    def _give_up(self, problem: LinearProblem, state: State) -> None:
        """Begin anew with all rows, for good; where they are in play already, end."""
        if state.play.m == state.play.at.size:
            state.stuck = True
            return
        fresh, steps = self.start(problem), state.steps
        for one in fields(State):
            setattr(state, one.name, getattr(fresh, one.name))
        state.steps, state.stay = steps, True


def _look(problem: LinearProblem, state: State, passes: Passes, length: float) -> float:
    """Go on in the rows; the gap there, μ, and how much Δf was on average."""
    play, ones = state.play, counted(problem)
    now = passes.step(length)
    apart = ones * (state.pull - state.w)
    gap = now.gap + 0.5 * float(apart @ apart)
    dual = -0.5 * float((ones * state.pull) @ state.pull) - now.linear - state.linear
    state.primal, state.wide = dual + gap, gap
    scale = max(abs(dual), abs(state.primal))
    state.gap = gap / scale if scale > 0.0 else 0.0
    state.mu = now.products / max(1, 2 * play.m * play.price.size)
    return float(np.sqrt(now.speed / max(1, play.m)))


def _newton(
    problem: LinearProblem, state: State, passes: Passes
) -> tuple[float, float] | None:
    """Predictor and corrector: what they aimed at and the length of the step.

    w and X'β are moved, the rows not yet; None where arithmetic ends.
    """
    ones = counted(problem)
    if state.play.m == 0:  # all have left: w is X'β
        state.w = np.where(ones > 0.0, state.pull, state.w)
        return 0.0, 1.0
    system = System(problem, passes, ones, state.pull - ones * state.w, state.steps)
    if system.failed:
        return None
    second, most, total = passes.predict(system.solve(system.slope, _LOOSE))
    ends = 2 * state.play.m * state.play.price.size
    after = (1.0 - most) * state.mu + most * most * total / ends
    aim = (max(0.0, after) / state.mu) ** 3 * state.mu
    trust = most  # in second-order terms, which mislead where the predictor is blocked
    dw = system.solve(system.slope + aim * system.centre - trust * second, _TIGHT)
    change, most = passes.correct(dw, aim, trust)
    length = min(1.0, _REACH * most)
    if not (np.isfinite(change).all() and length > 0.0):
        return None
    state.w += length * dw
    state.pull += length * change
    return aim, length


def _leave(problem: LinearProblem, state: State, passes: Passes, pace: float) -> int:
    """Rows that have made up their mind go to the ends of their boxes; how many."""
    play = state.play
    if play.m <= max(_FEW, 2 * state.w.size):
        return 0
    far = np.empty(play.m, np.bool_)
    count = _barrier.decided(
        play.m, play.inner, play.p, play.f, play.df, play.price, _CALM * pace, _CALM,
        _END, far,
    )  # fmt: skip
    if count <= _MANY * play.m:
        return 0
    gone, shift = np.empty(count, np.intp), np.empty(count)
    play.m = _barrier.leave(
        play.m, far, play.at, play.p, play.low, play.width, play.f, play.inner,
        state.beta, gone, shift,
    )  # fmt: skip
    state.linear += _linear(problem, state, gone)
    state.pull += passes.back(gone, shift)
    return int(count)


def _linear(problem: LinearProblem, state: State, rows: NDArray[np.intp]) -> float:
    """p'β + ε‖β‖₁ of rows that are not in play."""
    beta = state.beta[rows]
    return float(problem.p[rows] @ beta) + problem.epsilon * float(np.abs(beta).sum())


def _refresh(
    problem: LinearProblem,
    state: State,
    answer: LinearModel,
    rows: NDArray[np.intp],
    mu: float | None,
) -> None:
    """Outputs and X'β anew, without the rounding of all steps; ``rows`` come back.

    With a μ, all rows in play begin where as = tx = μ. The μ that they have would make
    for short steps: those that come back have to go the length of their boxes.
    """
    play, passes = state.play, Passes(problem, state.play)
    state.linear -= _linear(problem, state, rows)
    state.beta[rows] = 0.0
    at = np.concatenate([play.at[: play.m], rows])
    state.w = np.append(answer.w, answer.bias) if problem.free else answer.w.copy()
    if mu is None:
        play.f[: play.m] = answer.outputs[at]
    else:
        play.m = 0
        play.enter(problem, at, answer.outputs[at], mu)
    beta = state.beta.copy()
    beta[at] = play.beta()
    whole = np.flatnonzero(beta)
    state.pull = passes.back(whole, beta[whole])
    _look(problem, state, passes, 0.0)
