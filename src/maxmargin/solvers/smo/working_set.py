r"""SMO on a persistent working set: the production solver.

Problem: the template of :mod:`maxmargin.problem`, n points, any kernel.

Update. A set W of points has its kernel block K_WW in memory. Repeat:

1. *select*: with m = (min_up F + max_low F)/2, evict members at a bound on the
   satisfied side of m, admit the worst violators beyond m on either side;
2. *solve*: SMO by pairs on K_WW (:mod:`maxmargin.solvers.smo.pairs`) until W's own
   violation is a fifth of the global one; where that takes long, as at large C, the free
   points are solved together in between (:mod:`maxmargin.solvers.smo.active_set`);
3. *fold*: F += K[:, changed]·Δβ for all points that can matter just now
   (:mod:`maxmargin.solvers.smo.shrinking`), values made in tiles and never stored.

When the violation is at most tol, *verify*: F is computed again in float64 on the points
that can decide the violation. If it does not hold, the solver goes on from the corrected
F (iterative refinement), and after some such rounds in float64 altogether.

Stop: violation ≤ tol, verified in float64. Every admitted set contains the most
violating pair, so the dual rises at every step and the method converges (Keerthi and
Gilbert, Machine Learning 46, 2002).

Cost: kernel values (members admitted)·|W| + (changes)·n; memory |W|² values, kept
within ``cache_bytes``.

One unit of ``advance`` is a slice of one phase, about 50 ms of work counted in
operations, never in seconds: the result does not depend on clock, budget or threads.

References: E. Osuna, R. Freund, F. Girosi, 1997 (decomposition); T. Joachims, 1999;
Z. Wen et al., "ThunderSVM", JMLR 19, 2018 (large working sets).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.errors import OVERFLOW, NumericalError
from maxmargin.problem import (
    Model,
    Problem,
    WarmStart,
    dual_value,
    hulls_meet,
    model_of,
    prices,
    violation,
    worst_violation,
)
from maxmargin.solvers.base import Measures, Status, Steppable
from maxmargin.solvers.feasible import default_limit, feasible
from maxmargin.solvers.gram_memory import WorkingMemory, capacity
from maxmargin.solvers.smo import gradients
from maxmargin.solvers.smo import pairs as _pairs
from maxmargin.solvers.smo import turns as _turns
from maxmargin.solvers.smo.gradients import (
    deciding_points,
    first_slack,
    objective_is_vague,
)
from maxmargin.solvers.smo.selection import exchange, whole_matrix
from maxmargin.solvers.smo.shrinking import near_points, scope_of
from maxmargin.solvers.smo.state import Phase, State, story
from maxmargin.solvers.smo.turns import SLICE, pairs_of_a_slice

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin._arrays import Index, Vector
    from maxmargin.solvers.step import Step

SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)

_EASED = 0.2  # policy: share of the violation that W is solved to
SOLVED = 1e-5  # rounding: share of the violation that float32 gradients can resolve
_ROUNDS = 5  # policy: verifications that may fail before float64 takes over
_LAST_ROUND = 30  # policy: … and in float64, before the solver gives up
_FALL = 1e-4  # rounding: relative fall of the dual that float32 sums do not explain
_ULP = 6e-8  # rounding: relative error of float32
_TIGHT = 1e-6  # rounding: a tol that float32 kernel values do not reach
_MOMENT = 1 << 20  # policy: operations that measure() may spend on an exact gradient
_EXACT = 1 << 28  # policy: operations spent on an exact gradient of an early stop


def _finite(worst: float) -> float:
    if not np.isfinite(worst):
        raise NumericalError(OVERFLOW)
    return worst


@dataclass(frozen=True)
class WorkingSetSmo(Steppable):
    """SMO on a persistent working set.

    Parameters
    ----------
    tol : float
        Largest violation accepted.
    max_iter : int
        Pair steps at most; −1 for the default of 10⁷ or 100·n. Free points that are
        solved together count one for each that moved.
    cache_bytes : int
        Memory for kernel values.
    shrinking : bool
        Whether members at a bound leave W; without it only a full W evicts.
    """

    tol: float = 1e-3
    max_iter: int = -1
    cache_bytes: int = 200 << 20
    shrinking: bool = True
    criterion = "violation"
    unit = "slice"
    solves = Problem

    def start(self, problem: Problem, warm: WarmStart | None = None) -> State:
        """β = 0 or the repaired ``warm``; its gradient is computed by the first units."""
        n = problem.n
        beta = feasible(problem, warm)
        wide = problem.hard or problem.gram.precisions[0] == DOUBLE
        # Gradients that decide are ±ε from the middle between them. (Where tol itself is
        # beyond float32, it takes the first steps all the same.)
        wide = wide or problem.epsilon * _ULP > 0.1 * max(self.tol, _TIGHT)
        dtype = DOUBLE if wide else SINGLE
        size = capacity(n, self.cache_bytes, dtype)
        support = np.flatnonzero(beta)
        return State(
            beta=beta,
            applied=np.zeros(n),
            gradient=problem.p.copy(),
            diagonal=problem.diagonal + problem.ridge,
            members=np.empty(size, np.intp),
            local=np.empty(size),
            memory=WorkingMemory(size, dtype),
            focus=None,
            fresh=problem.p.copy(),
            targets=np.arange(n, dtype=np.intp),
            pending=support,
            phase=Phase.REFRESH if support.size else Phase.SELECT,
            wide=wide,
        )

    def advance(self, problem: Problem, state: State, budget: int) -> Status:
        """At most ``budget`` slices."""
        phases = {
            Phase.REFRESH: self._fold,
            Phase.SELECT: self._select,
            Phase.SOLVE: self._solve,
            Phase.TOGETHER: self._active_set_step,
            Phase.FOLD: self._fold,
            Phase.VERIFY: self._fold,
        }
        for _ in range(budget):
            state.last[:], state.moved_together = np.nan, 0
            status = phases[state.phase](problem, state)
            if status is not Status.RUNNING:
                return status
        return Status.RUNNING

    def measure(self, problem: Problem, state: State) -> Measures:
        """Figures of ``applied``, the last β with a complete gradient.

        Before the first one nothing is known. Where an exact gradient
        takes a millisecond, they are those of the current β.
        """
        work = problem.n * np.count_nonzero(state.beta) * max(1.0, problem.gram.cost)
        ahead = not np.array_equal(state.beta, state.applied)
        # Not in float32, whose figures would be mixed with these.
        if ahead and state.wide and work <= _MOMENT:
            return problem.measures(self.model(problem, state))
        if state.phase is Phase.REFRESH and state.iterations == 0 and state.beta.any():
            return Measures(np.inf, -np.inf, np.inf)
        return problem.measures(model_of(problem, state.applied, state.gradient))

    def model(self, problem: Problem, state: State) -> Model:
        """The current β and its gradient.

        A converged one is verified. In an early stop the gradient is computed anew in
        float64 where that takes a moment; otherwise what is pending is folded into a
        copy, and float32 rounding of what was folded before stays in it.
        """
        beta, gradient = state.beta, state.gradient
        everyone = np.arange(problem.n, dtype=np.intp)
        support = np.flatnonzero(beta)
        work = problem.n * support.size * max(1.0, problem.gram.cost)
        if not state.converged and work <= _EXACT:
            gradient = problem.p + problem.ridge * beta
            problem.gram.apply(everyone, support, beta[support], gradient, DOUBLE)
        elif (moved := np.flatnonzero(beta != state.applied)).size:
            change = beta - state.applied
            gradient = gradient + problem.ridge * change
            # In float64, which no store keeps: measuring must not change what is kept.
            problem.gram.apply(everyone, moved, change[moved], gradient, DOUBLE)
        return model_of(problem, beta.copy(), gradient.copy())

    def explain(self, problem: Problem, state: State) -> Step:
        """Where the solver stands, and the last pair."""
        return story(problem, state, self.model(problem, state).bias)

    def n_iter(self, state: State) -> int:
        """Pair steps done, and points moved together."""
        return state.iterations

    # -- phases ---------------------------------------------------------------------

    def _fold(self, problem: Problem, state: State) -> Status:
        """One slice of columns into ``fresh``; at the end ``fresh`` becomes F."""
        if state.cursor < state.pending.size:
            gradients.add_columns(problem, state, SLICE)
            return Status.RUNNING
        if state.phase == Phase.VERIFY:
            return self._verified(problem, state)
        gradients.settle(problem, state)
        return Status.RUNNING

    def _select(self, problem: Problem, state: State) -> Status:
        """Measure the violation; end, verify, or choose the next working set."""
        scope = scope_of(problem, state)
        found = np.empty((max(1, len(problem.sums)), 4))
        prices(
            scope.gradient, state.beta[scope.points], scope.lower, scope.upper,
            problem.epsilon, scope.side, found,
        )  # fmt: skip
        ends = found[:, :2]
        state.violation = worst = _finite(worst_violation(ends, bool(problem.sums)))
        if not problem.sums:
            ends[:] = 0.0
        if state.focus is None:
            status = self._settle(problem, state)
            if status is not None:
                return status
        elif worst <= scope.goal or state.idle:
            state.focus = None
            gradients.bring_up(problem, state, scope.points, scope.gradient)
            return Status.RUNNING
        middle = scope.middle(ends)
        entering = exchange(
            problem, state, scope, scope.gradient - middle, self.shrinking
        )
        if state.focus is None and not state.complete:
            state.focus = near_points(problem, state, entering, worst, self.tol)
        members = state.working_set
        at = scope.place[members]
        state.local[: members.size] = scope.gradient[at]
        # A side that cannot move has no middle.
        state.centre = np.where(np.isfinite(middle), middle, 0.0)[at]
        digits = SOLVED if state.complete else _EASED
        state.stop_at = max(digits * worst, 0.5 * self.tol)
        state.began = state.iterations
        state.swept = min(state.swept, 0.0)
        state.phase = Phase.SOLVE
        return Status.RUNNING

    def _settle(self, problem: Problem, state: State) -> Status | None:
        """Decide by the gradients of all points; None: go on."""
        F = state.gradient
        if self._lost_ground(problem, state):
            self._widen(problem, state)
            return Status.RUNNING
        if problem.separating:
            support = np.flatnonzero(state.beta)
            if self._overlap(problem, state, support, F[support]):
                return Status.UNBOUNDED
        if state.violation <= self.tol:
            state.slack = first_slack(self.tol, F)
            state.known = np.zeros(problem.n, bool)
            gradients.look_again(problem, state, self._undecided(problem, state))
            return Status.RUNNING
        return self._stuck(problem, state) if state.idle else None

    def _solve(self, problem: Problem, state: State) -> Status:
        """Some thousand pair steps on W."""
        members = state.working_set
        q = members.size
        diagonal = state.diagonal[members]
        K, noise = self._block(problem, state)
        beta = state.beta[members]
        remaining = self._limit(problem) - state.iterations
        steps = min(
            pairs_of_a_slice(q), self._pairs_to_go(problem, state) or q, remaining
        )
        code, done = _pairs.move(
            problem, members, K, state.local[:q], beta, diagonal, noise=noise,
            stop_at=state.stop_at, limit=steps, centre=state.centre, last=state.last,
        )  # fmt: skip
        state.beta[members] = beta
        state.iterations += done
        state.swept += 2.0 * q * done
        if code == _pairs.UNBOUNDED:
            return Status.UNBOUNDED
        if code == _pairs.PAUSED:
            if state.iterations >= self._limit(problem):
                return Status.MAX_ITER
            if problem.separating and self._overlap(
                problem, state, members, state.local[:q]
            ):
                return Status.UNBOUNDED
            if not self._pairs_to_go(problem, state):
                state.phase = Phase.TOGETHER
            return Status.RUNNING
        if state.complete and state.wide and self._is_solution(problem, state, K):
            return self._accept(state)
        known = members, state.local[:q]
        if not gradients.sharp(state, self.tol):
            known = gradients.NO_POINTS
        gradients.bring_up(problem, state, *known)
        if state.complete and state.stop_at <= self.tol:
            # W's own gradients are those of all points, and good enough.
            state.gradient[members] = state.local[:q]
            state.applied[:] = state.beta
            state.phase = Phase.SELECT
        return Status.RUNNING

    def _active_set_step(self, problem: Problem, state: State) -> Status:
        """The free points of W at once."""
        K, noise = self._block(problem, state)
        _turns.free_step(problem, state, K, noise)
        state.phase = Phase.SOLVE
        return Status.RUNNING

    def _pairs_to_go(self, problem: Problem, state: State) -> int:
        return _turns.pairs_to_go(problem, state, self._limit(problem), self.cache_bytes)

    def _block(self, problem: Problem, state: State) -> tuple[NDArray[Any], float]:
        """K_WW and the relative rounding of its values."""
        K = whole_matrix(problem, state)
        if K is None:
            members = state.working_set
            K = state.memory.block(problem.gram, members, state.diagonal[members])
        return K, _pairs.DOUBLE_NOISE if K.dtype == DOUBLE else _pairs.SINGLE_NOISE

    def _is_solution(self, problem: Problem, state: State, K: NDArray[Any]) -> bool:
        """Whether W, which is everything, is solved; F is summed anew from K."""
        members = state.working_set
        q = members.size
        F = np.empty(problem.n)
        own = np.empty(q)
        _pairs.fresh_gradient(K, q, state.beta[members], problem.p[members], own)
        F[members] = own
        worst = _finite(violation(problem, state.beta, F))
        if worst > self.tol:
            return False
        state.gradient[:], state.applied[:] = F, state.beta
        state.violation, state.phase = worst, Phase.SELECT  # for a run that goes on
        return True

    def _verified(self, problem: Problem, state: State) -> Status:
        """Accept F in float64, look at more points, or go on from the corrected F."""
        F = state.gradient
        targets = state.targets
        exact = state.fresh[: targets.size]
        drift = float(np.abs(exact - F[targets]).max(initial=0.0))
        state.drift = max(state.drift, drift)  # error left in the other points
        F[targets] = exact
        state.known[targets] = True
        state.violation = worst = _finite(violation(problem, state.applied, F))
        if worst > self.tol:
            return self._refine(problem, state)
        if state.settled:
            return self._accept(state)
        if 2.0 * drift > state.slack:
            state.slack = 8.0 * drift
            gradients.look_again(problem, state, self._undecided(problem, state))
        elif objective_is_vague(problem, state.beta, F, state.drift):
            state.settled = True
            gradients.look_again(problem, state, np.flatnonzero(state.beta))
        else:
            return self._accept(state)
        return Status.RUNNING

    def _accept(self, state: State) -> Status:
        state.converged = True
        return Status.CONVERGED

    def _undecided(self, problem: Problem, state: State) -> Index:
        return deciding_points(problem, state.beta, state.gradient, state.slack)

    def _refine(self, problem: Problem, state: State) -> Status:
        """Go on from the corrected F; in float64 altogether if that does not help."""
        slow = state.violation > 0.5 * state.verified
        state.verified = state.violation
        state.rounds += 1
        state.idle = state.settled = state.converged = False
        state.dual = -np.inf  # what it was with the wrong F means nothing
        if state.rounds >= _LAST_ROUND:
            return Status.STALLED  # rounding of F itself is above tol
        if not state.wide and (slow or state.rounds >= _ROUNDS):
            self._widen(problem, state)
        else:
            state.phase = Phase.SELECT
        return Status.RUNNING

    # -- precision, limits, figures --------------------------------------------------

    def _widen(self, problem: Problem, state: State) -> None:
        """From here on in float64: float32 kernel values cannot reach tol."""
        size = capacity(problem.n, self.cache_bytes, DOUBLE)
        state.memory, state.wide = WorkingMemory(size, DOUBLE), True
        state.size = min(state.size, size)
        gradients.begin_anew(problem, state)

    def _lost_ground(self, problem: Problem, state: State) -> bool:
        """Whether the dual fell, which only rounding of float32 values can do."""
        if state.wide:
            return False
        dual = dual_value(problem, state.beta, state.gradient)
        fell = dual < state.dual - _FALL * abs(state.dual)
        state.dual = max(state.dual, dual)
        return fell

    def _stuck(self, problem: Problem, state: State) -> Status:
        """W held the most violating pair and nothing moved: rounding allows no step."""
        if state.wide:
            return Status.STALLED
        state.idle = False
        self._widen(problem, state)
        return Status.RUNNING

    def _limit(self, problem: Problem) -> int:
        return self.max_iter if self.max_iter >= 0 else default_limit(problem.n)

    def _overlap(self, problem: Problem, state: State, members: Index, F: Vector) -> bool:
        """Hard margin: whether to give up, the classes being inseparable."""
        beta = state.beta[members]
        whole = np.abs(beta).sum() >= 0.999 * np.abs(state.beta).sum()
        size = float(np.sqrt(state.diagonal.max()))
        return bool(whole) and hulls_meet(problem, beta, F, members, size)
