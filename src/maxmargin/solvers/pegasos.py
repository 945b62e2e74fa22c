r"""Kernelised Pegasos: stochastic sub-gradient steps on the primal.

Problem (no intercept, hinge loss): :math:`\min_w \tfrac\lambda2\|w\|^2 +
\sum_i \pi_i \max(0, 1 - y_i \langle w, \phi(x_i)\rangle)` with
:math:`\pi_i = C_i/\sum C` and :math:`\lambda = 1/\sum C`, which is the template divided
by :math:`\sum C` (for equal C, λ = 1/(nC)).

Update, at step t: draw i with probability :math:`\pi_i`; if
:math:`y_i \frac1{\lambda t}\sum_j c_j y_j k(x_j, x_i) < 1`, count it,
:math:`c_i \mathrel{+}= 1`. Then :math:`w = \frac1{\lambda t}\sum_j c_j y_j\phi(x_j)`,
that is :math:`\beta_j = y_j c_j \sum C / t`, clipped to the box so that the dual can
certify it.

Stop: relative duality gap at most tol, tested after epochs (n steps) 1 … 10, then after
every tenth; or ``max_iter`` epochs.

Cost: O(log n) for a step without a margin error, one kernel row for a step with one; rows
are kept within ``cache_bytes``. The error falls as O(1/(λt)): good for a first idea of
the answer, not for the exact one.

Reference: S. Shalev-Shwartz, Y. Singer, N. Srebro and A. Cotter, "Pegasos", Math.
Programming 127, 2011, section 4 and figure 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from maxmargin._jit import njit
from maxmargin.errors import InputError
from maxmargin.problem import Model, Problem, model_of, objective, violation
from maxmargin.solvers._memory import RowStore
from maxmargin.solvers.base import Measures, Status

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[np.float64]

__all__ = ["Pegasos"]

STEP, SEED = range(2)  # counters


def _random(seed, step):
    """Uniform number in [0, 1) for a step: SplitMix64 of the counter, no hidden state.

    G. Steele, D. Lea and C. Flood, "Fast splittable pseudorandom number generators",
    OOPSLA 2014.
    """
    z = np.uint64(seed) + np.uint64(step) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return np.float64(z >> np.uint64(11)) * 2.0**-53


_random = njit(_random)


def _walk(y, odds, total, score, counts, table, slot, counters, last):
    """Steps up to ``last``; returns a point whose kernel row is missing, or −1.

    ``score[i]`` = Σ_j c_j y_j k(x_j, x_i); ``odds`` is the cumulative sum of C.
    """
    while counters[STEP] < last:
        t = counters[STEP] + 1
        i = np.searchsorted(odds, _random(counters[SEED], t) * total, side="right")
        if y[i] * score[i] * total / t < 1.0:
            if slot[i] < 0:
                return i
            row = table[slot[i]]
            counts[i] += 1
            for k in range(score.size):
                score[k] += y[i] * row[k]
        counters[STEP] = t
    return -1


_walk = njit(_walk)


class State(NamedTuple):
    """Counts of margin errors, their scores, the step counter with the seed, and rows."""

    counts: NDArray[np.int64]
    score: Vector
    odds: Vector
    counters: NDArray[np.int64]
    rows: RowStore


@dataclass(frozen=True)
class Pegasos:
    """Kernelised Pegasos.

    Parameters
    ----------
    tol : float
        Relative duality gap accepted.
    max_iter : int
        Epochs (n steps each) at most; −1 for 1000.
    cache_bytes : int
        Memory for kernel rows.
    seed : int
        Of the sequence of points.
    """

    tol: float = 1e-2
    max_iter: int = 1000
    cache_bytes: int = 200 << 20
    seed: int = 0
    criterion = "relative_gap"
    unit = "sample"

    def start(self, problem: Problem, warm: Vector | None = None) -> State:
        """Nothing counted yet; a warm start is not possible, its step has no number."""
        if problem.sums:
            msg = "Pegasos has no intercept: use fit_intercept=False, or solver='smo'"
            raise InputError(msg)
        labels = bool((np.abs(problem.p) == 1.0).all())
        if problem.ridge.any() or problem.hard or problem.epsilon or not labels:
            msg = (
                "Pegasos solves the soft margin with the hinge loss: use loss='hinge' "
                "and a finite C, or solver='smo'"
            )
            raise InputError(msg)
        if warm is not None and warm.any():
            msg = "Pegasos cannot go on from given coefficients: use warm_start=False"
            raise InputError(msg)
        C = np.maximum(-problem.lower, problem.upper)
        return State(
            counts=np.zeros(problem.n, np.int64),
            score=np.zeros(problem.n),
            odds=np.cumsum(C),
            counters=np.array([0, self.seed], np.int64),
            rows=RowStore(problem.n, self.cache_bytes),
        )

    def advance(self, problem: Problem, state: State, budget: int) -> Status:
        """At most ``budget`` samples; the gap is tested at the end of an epoch."""
        n, counters = problem.n, state.counters
        total = float(state.odds[-1])
        goal = int(counters[STEP]) + budget
        while counters[STEP] < goal:
            end_of_epoch = (int(counters[STEP]) // n + 1) * n
            table, slot = state.rows.arrays()
            missing = _walk(
                -problem.p, state.odds, total, state.score, state.counts, table, slot,
                counters, min(goal, end_of_epoch),
            )  # fmt: skip
            if missing >= 0:
                state.rows.fetch(problem.gram, int(missing))
            elif counters[STEP] == end_of_epoch:
                status = self._epoch(problem, state, end_of_epoch // n)
                if status is not Status.RUNNING:
                    return status
        return Status.RUNNING

    def _epoch(self, problem: Problem, state: State, epoch: int) -> Status:
        if epoch <= 10 or epoch % 10 == 0:
            both = objective(problem, self.model(problem, state))
            if both.relative_gap <= self.tol:
                return Status.CLOSED
        limit = self.max_iter if self.max_iter >= 0 else 1000
        return Status.MAX_ITER if epoch >= limit else Status.RUNNING

    def measure(self, problem: Problem, state: State) -> Measures:
        """Figures of the clipped β."""
        model = self.model(problem, state)
        both = objective(problem, model)
        return Measures(
            both.primal, both.dual, violation(problem, model.beta, model.gradient)
        )

    def model(self, problem: Problem, state: State) -> Model:
        """β of the counts, clipped to the box, and its gradient."""
        factor = float(state.odds[-1]) / max(1, int(state.counters[STEP]))
        whole = -problem.p * state.counts * factor
        beta = np.clip(whole, problem.lower, problem.upper)
        gradient = problem.p + factor * state.score
        clipped = np.flatnonzero(beta != whole)
        if clipped.size:
            everyone = np.arange(problem.n, dtype=np.intp)
            change = (beta - whole)[clipped]
            problem.gram.apply(everyone, clipped, change, gradient, np.dtype(np.float64))
        return model_of(problem, beta, gradient)

    def n_iter(self, state: State) -> int:
        """Epochs begun."""
        return -(-int(state.counters[STEP]) // state.counts.size)
