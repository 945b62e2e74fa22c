r"""Plain SMO: second-order pairs on the whole kernel matrix, one pair at a time.

Problem: the template of :mod:`maxmargin.problem`.

Update: that of :mod:`maxmargin.solvers.smo.pairs` on all points, in float64.

Stop: violation of all points at most tol.

Cost: n² kernel values and their memory, then two sweeps over n an iteration: for small
problems, for watching every pair, and as the inner solver of
:class:`~maxmargin.solvers.smo.working_set.WorkingSetSmo`, which has no such limit.

References: J. Platt, "Sequential Minimal Optimization", 1998; R.-E. Fan, P.-H. Chen and
C.-J. Lin, JMLR 6, 2005 (second-order choice of pairs).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from maxmargin.errors import InputError
from maxmargin.problem import Model, Problem, WarmStart, model_of
from maxmargin.solvers.base import Status, Steppable
from maxmargin.solvers.feasible import default_limit, feasible
from maxmargin.solvers.gram_memory import WorkingMemory
from maxmargin.solvers.smo import pairs as _pairs
from maxmargin.solvers.step import Step, pair_moved

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin._arrays import Vector

ITERATIONS, STARTED = range(2)  # counters
_DOUBLE = np.dtype(np.float64)


class State(NamedTuple):
    """β, its gradient (of β = 0 until the first unit), counters, last pair, matrix."""

    beta: Vector
    gradient: Vector
    diagonal: Vector
    counters: NDArray[np.int64]
    last: Vector
    memory: WorkingMemory


@dataclass(frozen=True)
class Smo(Steppable):
    """SMO by second-order pairs on a stored kernel matrix.

    Parameters
    ----------
    tol : float
        Largest violation accepted.
    max_iter : int
        Pairs at most; −1 for the default of 10⁷ or 100·n.
    cache_bytes : int
        Memory for the matrix: 8n² bytes are needed.
    """

    tol: float = 1e-3
    max_iter: int = -1
    cache_bytes: int = 200 << 20
    criterion = "violation"
    unit = "pair"
    solves = Problem

    def start(self, problem: Problem, warm: WarmStart | None = None) -> State:
        """β = 0 or the repaired ``warm``; the first unit computes the matrix."""
        n = problem.n
        if 8 * n * n > self.cache_bytes:
            msg = (
                f"plain SMO stores the whole kernel matrix: {n} points need "
                f"{8 * n * n / 2**20:.0f} MB, cache_bytes allows "
                f"{self.cache_bytes / 2**20:.0f}; use WorkingSetSmo, or a larger cache"
            )
            raise InputError(msg)
        return State(
            beta=feasible(problem, warm),
            gradient=problem.p.copy(),
            diagonal=problem.diagonal + problem.ridge,
            counters=np.zeros(2, np.int64),
            last=np.full(8, np.nan),
            memory=WorkingMemory(n, _DOUBLE),
        )

    def advance(self, problem: Problem, state: State, budget: int) -> Status:
        """At most ``budget`` pairs."""
        n = problem.n
        counters = state.counters
        everyone = np.arange(n, dtype=np.intp)
        K = state.memory.block(problem.gram, everyone, state.diagonal)
        if not counters[STARTED]:
            state.gradient[:] += K @ state.beta
            counters[STARTED] = 1
        limit = self.max_iter if self.max_iter >= 0 else default_limit(n)
        steps = min(budget, limit - int(counters[ITERATIONS]))
        code, done = _pairs.move(
            problem, everyone, K, state.gradient, state.beta, state.diagonal,
            noise=1e-12, stop_at=self.tol, limit=steps, last=state.last,
        )  # fmt: skip
        counters[ITERATIONS] += done
        if not done:  # the last pair converges within its own unit
            state.last[:] = np.nan
        if code == _pairs.PAUSED and counters[ITERATIONS] >= limit:
            return Status.MAX_ITER
        return {
            _pairs.CONVERGED: Status.CONVERGED,
            _pairs.PAUSED: Status.RUNNING,
            _pairs.STUCK: Status.STALLED,
            _pairs.UNBOUNDED: Status.UNBOUNDED,
        }[code]

    def model(self, problem: Problem, state: State) -> Model:
        """The current β; before the first unit its gradient is computed here."""
        gradient = state.gradient.copy()
        if not state.counters[STARTED] and state.beta.any():
            everyone = np.arange(problem.n, dtype=np.intp)
            problem.gram.apply(everyone, everyone, state.beta, gradient, _DOUBLE)
            gradient += problem.ridge * state.beta
        return model_of(problem, state.beta.copy(), gradient)

    def explain(self, problem: Problem, state: State) -> Step:
        """The last pair."""
        return pair_moved(state.last, self.model(problem, state).bias)

    def n_iter(self, state: State) -> int:
        """Pairs moved."""
        return int(state.counters[ITERATIONS])
