r"""Kernelised Pegasos: stochastic sub-gradient steps on the primal.

Problem (no intercept, hinge loss): :math:`\min_w \tfrac\lambda2\|w\|^2 +
\sum_i \pi_i \max(0, 1 - y_i \langle w, \phi(x_i)\rangle)` with
:math:`\pi_i = C_i/\sum C` and :math:`\lambda = 1/(n\bar C)` for the mean C
(:func:`maxmargin.theory.from_C`), which is the template divided by :math:`\sum C`.

Update, at step t: draw i with probability :math:`\pi_i` (every point once in an epoch of
n steps, in a new order each time, if all C are equal; in general one point of each of n
equal shares of :math:`\sum C`; or, as the paper and S0 print it, anew at every step); if
:math:`y_i \frac1{\lambda t}\sum_j c_j y_j k(x_j, x_i) < 1`, count it,
:math:`c_i \mathrel{+}= 1`. Then :math:`w = \frac1{\lambda t}\sum_j c_j y_j\phi(x_j)`,
that is :math:`\beta_j = y_j c_j \sum C / t`, clipped to the box so that the dual can
certify it.

Stop: relative duality gap at most tol, tested after epochs (n steps) 1 … 10, then after
every tenth; or ``max_iter`` epochs.

Cost: O(log n) for a step without a margin error, one kernel row for a step with one; rows
are kept within ``cache_bytes``. The error falls as O(1/(λt)): good for a first idea of
the answer, not for the exact one.

Drawing without replacement matters for the certificate: a point that errs at every visit
then has α = C exactly, not C(1 ± √(n/t)). Measured on 1000 points of two moons at C = 1,
the relative gap after 10, 100 and 1000 epochs: 0.11, 0.0096 and 0.0010; drawn anew: 0.44,
0.36 and 0.032.

Reference: S. Shalev-Shwartz, Y. Singer, N. Srebro and A. Cotter, "Pegasos", Math.
Programming 127, 2011, section 4 and figure 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from maxmargin._jit import njit
from maxmargin._jit.random import uniform
from maxmargin.errors import InputError
from maxmargin.problem import Model, Problem, WarmStart, model_of, objective
from maxmargin.solvers.base import Status, Steppable
from maxmargin.solvers.gram_memory import RowStore
from maxmargin.solvers.step import Step
from maxmargin.theory import from_C

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin._arrays import Vector

STEP, SEED = range(2)  # counters
GOLDEN = 0.6180339887498949


@njit
def _shuffle(order, seed, epoch):
    """Another order for every epoch, from nothing but its number (Fisher and Yates)."""
    n = order.size
    for k in range(n):
        order[k] = k
    for k in range(n - 1, 0, -1):
        other = int(uniform(seed + 1, epoch * n + k) * (k + 1))
        order[k], order[other] = order[other], order[k]


@njit
def _walk(
    y, odds, strength, score, counts, order, anew, table, slot, counters, report, last
):
    """Steps up to ``last``; returns a point whose kernel row is missing, or −1.

    ``score[i]`` = Σ_j c_j y_j k(x_j, x_i); ``odds`` is the cumulative sum of C,
    ``strength`` 1/λ, ``order`` that of this epoch unless points are drawn ``anew``,
    ``report`` the last point, and its margin before the step.
    """
    n = score.size
    while counters[STEP] < last:
        epoch, k = divmod(counters[STEP], n)
        if anew:
            share = uniform(counters[SEED], counters[STEP] + 1)
        else:
            if k == 0:
                _shuffle(order, counters[SEED], epoch)
            # A grid of n shares, moved by another fraction in every epoch: by the golden
            # ratio, so that every point soon has its part however small its C is.
            # Off the edges of the shares, where rounding would decide the draw.
            moved = (uniform(counters[SEED], 0) + epoch * GOLDEN) % 1.0
            share = (order[k] + 0.001 + 0.998 * moved) / n
        i = min(n - 1, np.searchsorted(odds, share * odds[-1], side="right"))
        t = counters[STEP] + 1
        margin = y[i] * score[i] * strength / t
        if margin < 1.0:
            if slot[i] < 0:
                return i
            row = table[slot[i]]
            counts[i] += 1
            for j in range(n):
                score[j] += y[i] * row[j]
        report[0], report[1] = i, margin
        counters[STEP] = t
    return -1


class State(NamedTuple):
    """Counts of margin errors, their scores, the step counter with the seed, the last
    point with its margin, and rows.
    """

    counts: NDArray[np.int64]
    score: Vector
    odds: Vector
    order: NDArray[np.int64]
    counters: NDArray[np.int64]
    last: Vector
    rows: RowStore


@dataclass(frozen=True)
class Pegasos(Steppable):
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
    replacement : bool
        Whether every step draws from all points, as printed in S0; by default every
        epoch visits all.
    """

    tol: float = 1e-2
    max_iter: int = 1000
    cache_bytes: int = 200 << 20
    seed: int = 0
    replacement: bool = False
    criterion = "relative_gap"
    restarts = False
    least_tol = 1e-2  # a bound on the gap, of a solver that is not exact
    unit = "sample"
    solves = Problem

    def start(self, problem: Problem, warm: WarmStart | None = None) -> State:
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
        if warm is not None and warm.beta.any():
            msg = "Pegasos cannot go on from given coefficients: use warm_start=False"
            raise InputError(msg)
        C = np.maximum(-problem.lower, problem.upper)
        return State(
            counts=np.zeros(problem.n, np.int64),
            score=np.zeros(problem.n),
            odds=np.cumsum(C),
            order=np.arange(problem.n),
            counters=np.array([0, self.seed], np.int64),
            last=np.full(2, np.nan),
            rows=RowStore(problem.n, self.cache_bytes),
        )

    def advance(self, problem: Problem, state: State, budget: int) -> Status:
        """At most ``budget`` samples; the gap is tested at the end of an epoch."""
        n, counters = problem.n, state.counters
        if self.max_iter == 0:
            return Status.MAX_ITER
        strength = 1.0 / self.penalty(state)
        goal = int(counters[STEP]) + budget
        while counters[STEP] < goal:
            end_of_epoch = (int(counters[STEP]) // n + 1) * n
            table, slot = state.rows.arrays()
            missing = _walk(
                -problem.p, state.odds, strength, state.score, state.counts, state.order,
                self.replacement, table, slot, counters, state.last,
                min(goal, end_of_epoch),
            )  # fmt: skip
            if missing >= 0:
                state.rows.fetch(problem.gram, int(missing))
            elif counters[STEP] == end_of_epoch:
                status = self._epoch(problem, state, end_of_epoch // n)
                if status is not Status.RUNNING:
                    return status
        return Status.RUNNING

    def penalty(self, state: State) -> float:
        """λ, from the mean of C."""
        n = state.odds.size
        return from_C(float(state.odds[-1]) / n, n, "pegasos")

    def _epoch(self, problem: Problem, state: State, epoch: int) -> Status:
        if epoch <= 10 or epoch % 10 == 0:
            both = objective(problem, self.model(problem, state))
            if both.relative_gap <= self.tol:
                return Status.CLOSED
        limit = self.max_iter if self.max_iter >= 0 else 1000
        return Status.MAX_ITER if epoch >= limit else Status.RUNNING

    def model(self, problem: Problem, state: State) -> Model:
        """β of the counts, clipped to the box, and its gradient."""
        factor = 1.0 / (self.penalty(state) * max(1, int(state.counters[STEP])))
        whole = -problem.p * state.counts * factor
        beta = np.clip(whole, problem.lower, problem.upper)
        # A point that always erred is at its bound; only rounding keeps it below.
        C = np.maximum(-problem.lower, problem.upper)
        full = np.abs(beta) >= C * (1.0 - 1e-12)
        beta[full] = np.where(problem.p[full] < 0.0, C[full], -C[full])
        gradient = problem.p + factor * state.score
        clipped = np.flatnonzero(beta != whole)
        if clipped.size:
            everyone = np.arange(problem.n, dtype=np.intp)
            change = (beta - whole)[clipped]
            problem.gram.apply(everyone, clipped, change, gradient, np.dtype(np.float64))
        return model_of(problem, beta, gradient)

    def explain(self, problem: Problem, state: State) -> Step:
        """The last point, and whether it was counted."""
        t = int(state.counters[STEP])
        if t == 0:
            return Step("Nothing done yet: w = 0.")
        i, margin = int(state.last[0]), float(state.last[1])
        counted = margin < 1.0
        rate = 1.0 / (self.penalty(state) * t)
        done = f"c_{i} rises to {state.counts[i]}" if counted else "nothing is counted"
        words = (
            f"Step {t}: point {i} was drawn; its margin y·f = {margin:.4g} is "
            f"{'below' if counted else 'at least'} 1, so {done}, and w shrinks by "
            f"the factor 1 − 1/{t}; the learning rate 1/(λt) is {rate:.3g}."
        )
        numbers = {
            "t": t,
            "i": i,
            "margin": margin,
            "counted": counted,
            "count": int(state.counts[i]),
            "rate": rate,
            "epoch": -(-t // problem.n),
        }
        return Step(words, numbers, (i,))

    def n_iter(self, state: State) -> int:
        """Epochs begun."""
        return -(-int(state.counters[STEP]) // state.counts.size)
