r"""Sequential minimal optimisation as Platt published it, with both of his heuristics.

Problem: the margin problem of SVC with an intercept, in its dual,
:math:`\max_\alpha \sum_i\alpha_i - \tfrac12\sum_{ij} y_iy_j\alpha_i\alpha_jK_{ij}`,
:math:`0\le\alpha_i\le C_i`, :math:`\sum_i y_i\alpha_i = 0`.

Update: the analytic step of :mod:`maxmargin.solvers.lectures.two_points` for a pair
chosen so:

1. *First point* j: sweeps over all points alternate with sweeps over the non-bound ones
   (0 < α < C), repeated until these change nothing; j is taken where it breaks its
   optimality condition by more than tol/2.
2. *Second point* i: the non-bound one with the largest |E_i − E_j|, the length of the
   step but for η; if that makes no step, every non-bound point from a random one on; if
   none does, every point from a random one on.

All errors are kept (Platt keeps those of the non-bound points). η = 0 and η < 0 are
treated in the step.

Stop: a sweep over all points that changes nothing. Then every point holds within tol/2 of
one b, or no pair can move it, so that the violation is at most tol (checked; what
rounding leaves above tol is called stalled); or ``max_iter`` steps.

Cost: O(1) for a point that holds, at most O(n) to find its partner, O(n) and at most two
kernel rows for a step; memory O(n) and the rows that ``cache_bytes`` hold.

References: J. Platt, "Sequential minimal optimization: a fast algorithm for training
support vector machines", MSR-TR-98-14, 1998, section 2 and the pseudo-code; seeds S1, S4.
S. Keerthi et al., Neural Computation 13, 2001, show what one b costs: points that hold in
truth are examined again and again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from maxmargin._jit import njit
from maxmargin._jit.random import uniform
from maxmargin.problem import Problem, WarmStart, violation
from maxmargin.solvers.base import Status
from maxmargin.solvers.feasible import default_limit
from maxmargin.solvers.lectures import two_points as two
from maxmargin.solvers.lectures.subsets import overlap_shown
from maxmargin.solvers.lectures.two_points import (
    CHOSEN_BY,
    LEAST,
    MOVES,
    NOWHERE,
    UNBOUNDED,
    PairSolver,
    State,
    apply_pair,
    try_pair,
)

if TYPE_CHECKING:
    from maxmargin.solvers.step import Step

# counters; BOUND_TOO: whether this sweep is over all points
POINT, CHANGED, BOUND_TOO, STEPS, EXAMINED, SEED = range(two.LOADED + 1, 7)
# how _search ended; ≥ 0: the row it needs
DONE, PAUSED, ENDLESS, SWEPT = -1, -2, -3, -4
BY_ERROR, AMONG_FREE, AMONG_ALL = range(3)  # rule that chose the second point
IN_FULL_SWEEP = 10  # added to it


@njit
def _furthest(j, alpha, C, F):
    """The non-bound point with the largest |E_i − E_j|; j itself if there is none."""
    best, where = 0.0, j
    for k in range(F.size):
        if 0.0 < alpha[k] < C[k] and abs(F[k] - F[j]) > best:
            best, where = abs(F[k] - F[j]), k
    return where


@njit
def _second(j, alpha, y, C, F, b, diagonal, row_j, flat, draw, record):
    """Find a partner that makes a step with j: the code of :func:`try_pair`."""
    n = alpha.size
    record_by = BY_ERROR
    i = _furthest(j, alpha, C, F)
    found = try_pair(i, j, alpha, y, C, F, b, diagonal, row_j[i], flat, LEAST, record)
    for free_only in (True, False):
        if found != NOWHERE:
            break
        record_by = AMONG_FREE if free_only else AMONG_ALL
        start = int(draw * n)
        for k in range(n):
            i = (start + k) % n
            if free_only and not 0.0 < alpha[i] < C[i]:
                continue
            found = try_pair(
                i, j, alpha, y, C, F, b, diagonal, row_j[i], flat, LEAST, record
            )
            if found != NOWHERE:
                break
    record[CHOSEN_BY] = record_by
    return found


@njit
def _search(at, last, hard):
    """On from the current point until ``last`` steps are done or a sweep finds nothing.

    Nothing has changed when a kernel row is missing: the same point is examined again.
    For a ``hard`` margin the end of every sweep is reported.
    """
    alpha, y, C, F, b, diagonal, ridge, counters, record, table, slot, tol, flat = at
    n = alpha.size
    while True:
        if counters[STEPS] >= last:
            return PAUSED
        if counters[POINT] == n:
            if counters[BOUND_TOO] and counters[CHANGED] == 0:
                counters[POINT] = 0  # asked again, it looks again
                return DONE
            counters[BOUND_TOO] = not counters[BOUND_TOO] and counters[CHANGED] == 0
            counters[POINT] = counters[CHANGED] = 0
            if hard:
                return SWEPT
        j = counters[POINT]
        if counters[BOUND_TOO] or 0.0 < alpha[j] < C[j]:
            r = y[j] * (F[j] + b[0])
            if (r < -tol and alpha[j] < C[j]) or (r > tol and alpha[j] > 0.0):
                if slot[j] < 0:
                    return j
                row_j = table[slot[j]]
                draw = uniform(counters[SEED], counters[EXAMINED])
                found = _second(
                    j, alpha, y, C, F, b[0], diagonal, row_j, flat, draw, record
                )
                if found == UNBOUNDED:
                    return ENDLESS
                if found == MOVES:
                    i = int(record[two.AT_I])
                    if slot[i] < 0:
                        return i
                    if counters[BOUND_TOO]:
                        record[CHOSEN_BY] += IN_FULL_SWEEP
                    b[0] = apply_pair(alpha, F, y, ridge, record, table[slot[i]], row_j)
                    counters[STEPS] += 1
                    counters[CHANGED] += 1
                counters[EXAMINED] += 1
        counters[POINT] += 1


@dataclass(frozen=True)
class PlattSmo(PairSolver):
    """Platt's SMO: both heuristics, an error cache, any curvature.

    Parameters
    ----------
    tol : float
        Largest violation accepted.
    max_iter : int
        Steps at most; −1 for the default of 10⁷ or 100·n.
    cache_bytes : int
        Memory for kernel rows; the oldest give way.
    seed : int
        Of where searches for a partner begin.
    """

    tol: float = 1e-3
    max_iter: int = -1
    cache_bytes: int = 200 << 20
    seed: int = 0
    criterion = "violation"
    unit = "pair"
    solves = Problem

    def start(self, problem: Problem, warm: WarmStart | None = None) -> State:
        """α = 0 and b = 0, or those of ``warm``; the first sweep is over all points."""
        state = two.begin("PlattSmo", problem, warm, 7, self.cache_bytes)
        state.counters[SEED] = self.seed
        state.counters[BOUND_TOO] = 1
        return state

    def advance(self, problem: Problem, state: State, budget: int) -> Status:
        """At most ``budget`` steps; points that are examined in vain are free."""
        counters = state.counters
        at = two.load(problem, state, 0.5 * self.tol)
        limit = self.max_iter if self.max_iter >= 0 else default_limit(problem.n)
        goal = min(limit, int(counters[STEPS]) + budget)
        code = SWEPT
        while code >= 0 or code == SWEPT:
            code = int(_search(at, goal, problem.separating))
            if code >= 0:
                state.rows.fetch(problem.gram, code)
            elif code == SWEPT and self._overlap(problem, state):
                return Status.UNBOUNDED
        if code == ENDLESS:
            return Status.UNBOUNDED
        if code == PAUSED:
            return Status.MAX_ITER if counters[STEPS] >= limit else Status.RUNNING
        if violation(problem, state.beta, state.F) > self.tol:
            return Status.STALLED
        two.rest(problem, state)
        return Status.CONVERGED

    def _overlap(self, problem: Problem, state: State) -> bool:
        return overlap_shown(problem, state.beta, np.arange(problem.n), state.F)

    def explain(self, problem: Problem, state: State) -> Step:  # noqa: ARG002
        """The last pair, and the rule that chose it."""
        sweep, chosen = divmod(np.nan_to_num(state.record[CHOSEN_BY]), IN_FULL_SWEEP)
        partner = {
            BY_ERROR: "i has the largest |E_i − E_j| of the non-bound points.",
            AMONG_FREE: "the largest |E_i − E_j| makes no step, so i is the next "
            "non-bound point that does.",
            AMONG_ALL: "no non-bound point makes a step with it, so i is the next of all "
            "points that does.",
        }[int(chosen)]
        points = "all points" if sweep else "the non-bound points"
        return two.pair_story(state, "j", f"Sweep over {points}", partner)

    def n_iter(self, state: State) -> int:
        """Steps done."""
        return int(state.counters[STEPS])
