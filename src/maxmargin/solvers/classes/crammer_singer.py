r"""Crammer and Singer's machine by blocks: all classes of one point at a time.

Problem: :mod:`maxmargin.problem.crammer_singer`, n points, K classes, any kernel.

Update. With :math:`A = k(x_i, x_i)` and :math:`B_m = G_{im} - A\beta_{im}` the K
variables of point i have an exact solution (:mod:`maxmargin.solvers.classes.blocks`).
A set W of points has its block K_WW in memory. Repeat:

1. *select*: members far from moving leave W, the worst violators enter;
2. *solve*: sweep over W, solving every point whose violation is over half of the worst
   at the beginning of the sweep, and now and then going on along the way of the last
   sweeps, until W's violation is a tenth of the global one;
3. *fold*: G += K[:, changed]·Δβ for all points, values made in tiles and forgotten.

When the violation is at most tol, *verify*: G is computed anew in float64 for all points.
If it does not hold, the solver goes on from there, in float64 if float32 did not help.

Stop: violation ≤ tol, verified in float64. Every W contains the worst violator, whose
block is solved exactly, so the dual rises at every step.

Cost: kernel values (members admitted)·|W| + (changes)·n, as for a binary problem and
not K times it; O(|W|·changed classes) a step. Memory: |W|² values within
``cache_bytes``, and nine tables of n·K numbers at most.

One unit of ``advance`` is a slice of one phase, about 30 ms of work counted in
operations, never in seconds: the result does not depend on clock, budget or threads.

References: K. Crammer and Y. Singer, JMLR 2, 2001; S. Keerthi et al., "A sequential dual
method for large scale multi-class linear SVMs", KDD 2008 (blocks of one point).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.errors import OVERFLOW, InputError, NumericalError
from maxmargin.problem import (
    JointModel,
    JointProblem,
    WarmStart,
    joint_dual,
)
from maxmargin.solvers.base import Measures, Status, Steppable
from maxmargin.solvers.classes import blocks as _class_blocks
from maxmargin.solvers.feasible import default_limit
from maxmargin.solvers.gram_memory import WorkingMemory, capacity
from maxmargin.solvers.step import Step

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin._arrays import Index, Table, Vector
    from maxmargin.problem import LinearJointProblem

SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)

_SLICE = 1 << 25  # policy: operations of one unit
_PIECE = (256, 1 << 12)  # policy: kernel values folded at a time, 8 MB
_ROUNDS = 3  # policy: verifications that may fail before float64 takes over
_LAST_ROUND = 12  # policy: … and in float64, before the solver gives up
_FALL = 1e-4  # rounding: relative fall of the dual that float32 sums do not explain
_EXACT = 1 << 28  # policy: operations spent on an exact gradient of an early stop


class Phase(Enum):
    """The next slice of work."""

    REFRESH = "compute the gradient of a given β from nothing"
    SELECT = "measure the violation, choose the working set"
    LOAD = "kernel values of the points that entered it"
    SOLVE = "steps on the working set"
    FOLD = "bring its changes to the gradients of all points"
    VERIFY = "compute the gradient anew, in float64"


@dataclass(slots=True)
class State:
    """Everything the solver remembers; tables of gradients are (K, n), of β (n, K).

    ``gradient`` is always G of ``applied``; ``beta`` runs ahead of it while W is being
    solved. A gradient under construction is ``fresh``: ``cursor`` of the columns
    ``pending`` have gone into it (in LOAD: of the members into K_WW).
    """

    beta: Table
    applied: Table
    gradient: Table
    diagonal: Vector
    # the working set: the first ``size`` of ``members``, their G, and K_WW
    members: Index
    local: Table
    memory: WorkingMemory
    from_local: Table  # where the next leap begins: G of W, and β of W
    from_beta: Table
    fresh: Table
    pending: Index
    cursor: int = 0
    phase: Phase = Phase.REFRESH
    size: int = 0
    counters: NDArray[np.int64] = field(default_factory=lambda: np.zeros(3, np.int64))
    level: Vector = field(default_factory=lambda: np.zeros(1))
    stop_at: float = 0.0  # violation at which SOLVE ends
    iterations: int = 0
    dual: float = -np.inf  # the best so far
    violation: float = np.inf  # the last one above tol
    stuck: bool = False  # rounding ended the last SOLVE
    wide: bool = False  # float64 kernel values from here on
    verified: float = np.inf  # violation of the last verification that failed
    rounds: int = 0  # verifications that failed, and SOLVEs that got stuck
    converged: bool = False


@dataclass(frozen=True)
class CrammerSinger(Steppable):
    """Crammer and Singer's machine by blocks on a persistent working set.

    Parameters
    ----------
    tol : float
        Largest violation accepted (:func:`maxmargin.problem.joint_violation`).
    max_iter : int
        Block steps at most; −1 for the default of 10⁷ or 100·n.
    cache_bytes : int
        Memory for kernel values.
    """

    tol: float = 1e-3
    max_iter: int = -1
    cache_bytes: int = 200 << 20
    criterion = "violation"
    unit = "slice"
    solves = JointProblem

    def start(self, problem: JointProblem, warm: WarmStart | None = None) -> State:
        """β = 0 or the repaired ``warm``; its gradient is computed by the first units."""
        n = problem.n
        beta = feasible(problem, None if warm is None else np.asarray(warm.beta))
        wide = problem.gram.precisions[0] == DOUBLE
        dtype = DOUBLE if wide else SINGLE
        size = capacity(n, self.cache_bytes, dtype)
        offset = np.ascontiguousarray(problem.offset.T)
        return State(
            beta=beta,
            applied=np.zeros_like(beta),
            gradient=offset,
            diagonal=problem.gram.diagonal(),
            members=np.empty(size, np.intp),
            local=np.empty((problem.n_classes, 0)),
            memory=WorkingMemory(size, dtype),
            from_local=np.empty((problem.n_classes, 0)),
            from_beta=np.empty((0, problem.n_classes)),
            fresh=offset.copy(),
            pending=np.flatnonzero(beta.any(axis=1)),
            wide=wide,
        )

    def advance(self, problem: JointProblem, state: State, budget: int) -> Status:
        """At most ``budget`` slices."""
        phases = {
            Phase.REFRESH: self._fold,
            Phase.SELECT: self._select,
            Phase.LOAD: self._load,
            Phase.SOLVE: self._solve,
            Phase.FOLD: self._fold,
            Phase.VERIFY: self._fold,
        }
        for _ in range(budget):
            status = phases[state.phase](problem, state)
            if status is not Status.RUNNING:
                return status
        return Status.RUNNING

    def measure(self, problem: JointProblem, state: State) -> Measures:
        """Figures of ``applied``, the last β with a complete gradient."""
        G = state.gradient.T
        return problem.measures(JointModel(state.applied, G))

    def model(self, problem: JointProblem, state: State) -> JointModel:
        """The current β and its gradient.

        A converged one is verified. In an early stop G is computed anew in float64 where
        that takes a moment; else float32 rounding of about 1e-7·Σ|β| stays in it.
        """
        beta, G = state.beta.copy(), state.gradient.copy()
        support = np.flatnonzero(beta.any(axis=1))
        work = problem.n * support.size * max(1.0, problem.gram.cost)
        if not state.converged and work <= _EXACT:
            G[:] = problem.offset.T
            fold(problem, support, beta[support], G, DOUBLE)
        else:
            moved = np.flatnonzero((beta != state.applied).any(axis=1))
            change = beta[moved] - state.applied[moved]
            fold(problem, moved, change, G, state.memory.dtype)
        return JointModel(beta, np.ascontiguousarray(G.T))

    def explain(self, problem: JointProblem, state: State) -> Step:
        """Where the solver stands."""
        words = (
            f"{state.iterations:,} steps so far, each of one point in all classes, on a "
            f"working set of {state.size:,} of {problem.n:,} points. "
        )
        words += "Verified." if state.converged else f"Next: {state.phase.value}."
        return Step(
            words,
            {
                "iterations": state.iterations,
                "working_set": state.size,
                "phase": state.phase.name.lower(),
            },
        )

    def n_iter(self, state: State) -> int:
        """Block steps done."""
        return state.iterations

    # -- phases ---------------------------------------------------------------------

    def _fold(self, problem: JointProblem, state: State) -> Status:
        """One slice of columns into ``fresh``; at the end ``fresh`` becomes G."""
        columns, cursor = state.pending, state.cursor
        if cursor < columns.size:
            cost = problem.n * (3.0 + 3.0 * problem.gram.cost)  # K lines, stored values
            some = columns[cursor : cursor + max(64, int(_SLICE / cost) // 64 * 64)]
            change, dtype = state.beta[some], DOUBLE
            if state.phase is Phase.FOLD:
                # Only steps are small enough for float32; a whole gradient is not.
                change, dtype = change - state.applied[some], state.memory.dtype
            fold(problem, some, change, state.fresh, dtype)
            state.cursor += some.size
            return Status.RUNNING
        state.gradient[:] = state.fresh
        state.applied[:] = state.beta
        if state.phase is Phase.VERIFY:
            return self._verified(problem, state)
        state.phase = Phase.SELECT
        return Status.RUNNING

    def _select(self, problem: JointProblem, state: State) -> Status:
        """Measure the violation; end, verify, or choose the next working set."""
        merit = np.empty(problem.n)
        _class_blocks.merits(state.gradient, state.beta, problem.codes, problem.C, merit)
        worst = max(0.0, float(merit.max(initial=0.0)))
        if not np.isfinite(state.gradient).all():
            raise NumericalError(OVERFLOW)
        if worst <= self.tol:
            self._again(problem, state, Phase.VERIFY)
            return Status.RUNNING
        dual = joint_dual(problem, state.beta, state.gradient.T)
        fell = dual < state.dual - _FALL * abs(state.dual)
        state.dual = max(state.dual, dual)
        slow = worst > 0.5 * state.violation
        state.violation = worst
        if state.stuck and slow:
            state.rounds += 1
            if state.wide and state.rounds >= _LAST_ROUND:
                return Status.STALLED  # rounding allows no smaller violation
        if not state.wide and (fell or (state.stuck and slow)):
            self._widen(problem, state)
            return Status.RUNNING
        everything = self._exchange(problem, state, merit, worst)
        state.stop_at = max(0.0 if everything else 0.1 * worst, 0.5 * self.tol)
        # Contiguous lines: every step adds a kernel row to some of them.
        members = state.members[: state.size]
        state.local = np.ascontiguousarray(state.gradient[:, members])
        state.from_local, state.from_beta = state.local.copy(), state.beta[members]
        state.counters[:] = 0, 1, 0
        state.phase = Phase.LOAD
        return Status.RUNNING

    def _load(self, problem: JointProblem, state: State) -> Status:
        """One slice of the members' kernel values."""
        cost = state.size * (3.0 + 3.0 * problem.gram.cost)
        state.cursor = min(state.size, state.cursor + max(64, int(_SLICE / cost)))
        some = state.members[: state.cursor]  # what is there already is left alone
        state.memory.block(problem.gram, some, state.diagonal[some])
        if state.cursor == state.size:
            state.phase = Phase.SOLVE
        return Status.RUNNING

    def _solve(self, problem: JointProblem, state: State) -> Status:
        """Some thousand steps on W."""
        members = state.members[: state.size]
        diagonal = state.diagonal[members]
        K = state.memory.block(problem.gram, members, diagonal)
        beta = state.beta[members]
        limit = default_limit(problem.n) if self.max_iter < 0 else self.max_iter
        W = _class_blocks.WorkingSet(
            K, state.local, beta, problem.codes[members], problem.C[members], diagonal,
            state.from_local, state.from_beta,
        )  # fmt: skip
        code, done = _class_blocks.sweep(
            W, state.counters, state.level, state.stop_at, limit - state.iterations,
            _SLICE,
        )  # fmt: skip
        state.beta[members] = beta
        state.iterations += done
        if code == _class_blocks.PAUSED:
            return Status.MAX_ITER if state.iterations >= limit else Status.RUNNING
        state.stuck = code == _class_blocks.STUCK
        state.fresh[:] = state.gradient
        state.pending = np.flatnonzero((state.beta != state.applied).any(axis=1))
        state.phase, state.cursor = Phase.FOLD, 0
        return Status.RUNNING

    def _verified(self, problem: JointProblem, state: State) -> Status:
        """Accept, or go on from the corrected G; in float64 if that does not help."""
        worst = problem.violation(state.beta, state.gradient.T)
        state.converged = worst <= self.tol
        if state.converged:
            return Status.CONVERGED
        slow = worst > 0.5 * state.verified
        state.violation = state.verified = worst
        state.dual = joint_dual(problem, state.beta, state.gradient.T)  # exact from here
        state.rounds += 1
        if state.rounds >= _LAST_ROUND:
            return Status.STALLED  # rounding of G itself is above tol
        state.phase = Phase.SELECT
        if not state.wide and (slow or state.rounds >= _ROUNDS):
            self._widen(problem, state)
        return Status.RUNNING

    # -- the working set --------------------------------------------------------------

    def _exchange(
        self, problem: JointProblem, state: State, merit: Vector, worst: float
    ) -> bool:
        """Members far from moving leave W, the worst violators enter; True if all are in.

        Points that the sweeps would leave alone do not enter. A full W gives up its least
        promising members, until half of it or a batch of newcomers fits.
        """
        members, size = state.members, state.memory.size
        inside = np.zeros(problem.n, bool)
        inside[members[: state.size]] = True
        coming = np.flatnonzero((merit > max(0.1 * worst, 0.5 * self.tol)) & ~inside)
        batch = min(batch_size(problem.n), coming.size)
        mine = merit[members[: state.size]]
        leaving = np.flatnonzero(mine < -worst)
        need = min(batch, max(1, size // 2)) - (size - mine.size + leaving.size)
        if need > 0:
            order = np.argsort(mine, kind="stable")
            leaving = np.union1d(leaving, order[: leaving.size + need])
        state.memory.evict(members, mine.size, leaving)
        kept = mine.size - leaving.size
        room = min(batch, size - kept)
        state.cursor = kept
        first = np.argsort(-merit[coming], kind="stable")[:room]
        state.size = kept + first.size
        members[kept : state.size] = coming[first]
        return state.size == problem.n

    def _again(self, problem: JointProblem, state: State, phase: Phase) -> None:
        """Compute G anew from nothing."""
        state.fresh[:] = problem.offset.T
        state.pending = np.flatnonzero(state.beta.any(axis=1))
        state.phase, state.cursor = phase, 0

    def _widen(self, problem: JointProblem, state: State) -> None:
        """From here on in float64: float32 kernel values cannot reach tol."""
        size = capacity(problem.n, self.cache_bytes, DOUBLE)
        state.memory = WorkingMemory(size, DOUBLE)
        state.wide, state.size = True, min(state.size, size)
        state.members = state.members[:size].copy()
        state.stuck = False
        self._again(problem, state, Phase.REFRESH)


def batch_size(n: int) -> int:
    """Points admitted at a time: by the number of points, everything if few."""
    return n if n <= 512 else int(np.clip(n // 12, 256, 2048))


def fold(
    problem: JointProblem, columns: Index, change: Table, G: Table, dtype: np.dtype[Any]
) -> None:
    """``G[m, t] += Σ_j K[t, columns[j]]·change[j, m]`` for all points t."""
    everyone = np.arange(problem.n, dtype=np.intp)
    wide, long = _PIECE
    values = np.empty((min(wide, columns.size), min(long, problem.n)), dtype)
    for first in range(0, columns.size, wide):
        some = columns[first : first + wide]
        for start in range(0, problem.n, long):
            end = min(start + long, problem.n)
            problem.gram.block(some, everyone[start:end], values)
            _class_blocks.add(values, change[first : first + wide], G, start, end)


def feasible(problem: JointProblem | LinearJointProblem, warm: Table | None) -> Table:
    """A β within its bounds and with Σ_m β = 0, as near to ``warm`` as is simple.

    What other classes hold against a point is scaled down to its price, and its own
    class answers for it.
    """
    shape = problem.n, problem.n_classes
    if warm is None:
        return np.zeros(shape)
    if warm.shape != shape or not np.isfinite(warm).all():
        msg = f"warm must be a finite array of shape {shape}; it has shape {warm.shape}"
        raise InputError(msg)
    rows = np.arange(problem.n)
    beta: Table = np.minimum(warm, 0.0)
    beta[rows, problem.codes] = 0.0
    total, own = -beta.sum(axis=1), warm[rows, problem.codes]
    over = total > problem.C
    beta[over] *= (problem.C[over] / total[over])[:, None]
    total = np.minimum(total, problem.C)
    # A solver's own β goes through unchanged: its sum is 0 but for rounding.
    near = (np.abs(own - total) <= 1e-12 * total) & (own <= problem.C)
    beta[rows, problem.codes] = np.where(near, own, total)
    return beta
