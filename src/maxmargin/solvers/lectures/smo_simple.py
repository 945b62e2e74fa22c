r"""Simplified SMO, the tutorial's: every i in turn, and a random j.

Problem: the margin problem of SVC with an intercept, in its dual,
:math:`\max_\alpha \sum_i\alpha_i - \tfrac12\sum_{ij} y_iy_j\alpha_i\alpha_jK_{ij}`,
:math:`0\le\alpha_i\le C_i`, :math:`\sum_i y_i\alpha_i = 0`.

Update: sweep over i; where i breaks its optimality condition by more than tol/2
(:math:`y_iE_i < -tol/2` while :math:`\alpha_i < C`, or :math:`y_iE_i > tol/2` while
:math:`\alpha_i > 0`), draw j and take the analytic step of
:mod:`maxmargin.solvers.lectures.two_points`.

Stop: at the end of a sweep, the violation (worst over pairs, so without b) at most tol;
the tutorial's own rule, ``max_passes`` sweeps in a row that changed nothing, is a limit
where that has not been reached, as ``max_iter`` sweeps are. Where every point
holds within tol/2 of one b the violation is at most tol, and the sweep acts on all
others: only unlucky draws keep it from that.

Cost: O(1) for a point that holds, O(n) and at most two kernel rows for a step. Random
partners make many small steps: for a few hundred points.

References: seed S3 (the tutorial; the misprints of its b₁ and b₂ are named
in ``_two_points``); "The simplified
SMO algorithm", CS 229, Stanford; J. Platt, "Sequential minimal optimization", 1998.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from maxmargin._jit import njit
from maxmargin._jit.random import uniform
from maxmargin.errors import InputError
from maxmargin.problem import Problem, WarmStart, violation
from maxmargin.solvers.base import Status
from maxmargin.solvers.lectures import two_points as two
from maxmargin.solvers.lectures.subsets import overlap_shown
from maxmargin.solvers.lectures.two_points import (
    LEAST,
    PairSolver,
    State,
    apply_pair,
    try_pair,
)

if TYPE_CHECKING:
    from maxmargin.solvers.step import Step

# counters
POINT, CHANGED, FRUITLESS, SWEEPS, STEPS, DRAWS, SEED = range(two.LOADED + 1, 8)
SWEPT, PAUSED, UNBOUNDED = -1, -2, -3  # how _sweep ended; ≥ 0: the row it needs

_SWEEPS = 1_000_000  # policy: sweeps at most, by default


@njit
def _sweep(at, last):
    """On from the current point until the sweep ends, or ``last`` steps are done.

    A draw is keyed on its number, so that the one that was interrupted by a missing
    kernel row is made again.
    """
    alpha, y, C, F, b, diagonal, ridge, counters, record, table, slot, tol, flat = at
    n = alpha.size
    while counters[POINT] < n:
        if counters[STEPS] >= last:
            return PAUSED
        i = counters[POINT]
        r = y[i] * (F[i] + b[0])
        wrong = (r < -tol and alpha[i] < C[i]) or (r > tol and alpha[i] > 0.0)
        if wrong and n > 1:
            j = int(uniform(counters[SEED], counters[DRAWS]) * (n - 1))
            j += j >= i
            if slot[i] < 0:
                return i
            row = table[slot[i]]
            found = try_pair(
                i, j, alpha, y, C, F, b[0], diagonal, row[j], flat, LEAST, record
            )
            if found == two.UNBOUNDED:
                return UNBOUNDED
            if found != two.NOWHERE:
                if slot[j] < 0:
                    return j
                b[0] = apply_pair(alpha, F, y, ridge, record, row, table[slot[j]])
                record[two.CHOSEN_BY] = counters[SWEEPS] + 1
                counters[STEPS] += 1
                counters[CHANGED] += 1
            counters[DRAWS] += 1
        counters[POINT] += 1
    return SWEPT


@dataclass(frozen=True)
class SimpleSmo(PairSolver):
    """Simplified SMO: every i in turn, and a random j.

    Parameters
    ----------
    tol : float
        Largest violation accepted.
    max_iter : int
        Sweeps over the data at most; −1 for 10⁶.
    max_passes : int
        Sweeps in a row without any change after which it gives up.
    cache_bytes : int
        Memory for kernel rows; the oldest give way.
    seed : int
        Of the partners.
    """

    tol: float = 1e-3
    max_iter: int = -1
    max_passes: int = 1000
    cache_bytes: int = 200 << 20
    seed: int = 0
    criterion = "violation"
    unit = "pair"
    solves = Problem

    def start(self, problem: Problem, warm: WarmStart | None = None) -> State:
        """α = 0 and b = 0, or those of ``warm``."""
        if self.max_passes < 1:
            msg = f"max_passes={self.max_passes}: give at least 1 sweep"
            raise InputError(msg)
        state = two.begin("SimpleSmo", problem, warm, 8, self.cache_bytes)
        state.counters[SEED] = self.seed
        return state

    def advance(self, problem: Problem, state: State, budget: int) -> Status:
        """At most ``budget`` steps; sweeps that change nothing are free."""
        counters = state.counters
        at = two.load(problem, state, 0.5 * self.tol)
        limit = self.max_iter if self.max_iter >= 0 else _SWEEPS
        goal = int(counters[STEPS]) + budget
        while counters[STEPS] < goal:
            if counters[POINT] == 0 and counters[SWEEPS] >= limit:
                return Status.MAX_ITER
            code = _sweep(at, goal)
            if code >= 0:
                state.rows.fetch(problem.gram, int(code))
            elif code == UNBOUNDED:
                return Status.UNBOUNDED
            elif code == SWEPT:
                status = self._swept(problem, state)
                if status is not Status.RUNNING:
                    return status
        return Status.RUNNING

    def _swept(self, problem: Problem, state: State) -> Status:
        """The end of a sweep: whether it was the last."""
        counters = state.counters
        fruitless = counters[CHANGED] == 0
        counters[FRUITLESS] = counters[FRUITLESS] + 1 if fruitless else 0
        counters[SWEEPS] += 1
        counters[POINT] = counters[CHANGED] = 0
        if violation(problem, state.beta, state.F) <= self.tol:
            two.rest(problem, state)
            return Status.CONVERGED
        if overlap_shown(problem, state.beta, np.arange(problem.n), state.F):
            return Status.UNBOUNDED
        if counters[FRUITLESS] >= self.max_passes:
            return Status.MAX_ITER
        return Status.RUNNING

    def explain(self, problem: Problem, state: State) -> Step:  # noqa: ARG002
        """The last pair."""
        sweep = np.nan_to_num(state.record[two.CHOSEN_BY])
        return two.pair_story(state, "i", f"Sweep {sweep:.0f}", "j was drawn at random.")

    def n_iter(self, state: State) -> int:
        """Sweeps begun."""
        return int(state.counters[SWEEPS]) + int(state.counters[POINT] > 0)
