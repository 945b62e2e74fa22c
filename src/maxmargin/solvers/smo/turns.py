"""When to take an active-set step instead of pair steps on a working set.

Pairs begin. Free points are solved together (:mod:`maxmargin.solvers.smo.active_set`)
once pairs have swept as many points on this W as that step costs (the ski-rental rule):
W never takes much more than twice the better of the two. Pairs have longer after a step
that failed, or in which more points met a bound than may leave. Only operations are
counted, so that results do not depend on clock, budget or threads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from maxmargin.solvers.smo.active_set import (
    free_points,
    operations,
    scratch_size,
    solve_free,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin.problem import Problem
    from maxmargin.solvers.smo.state import State

SLICE = 1 << 26  # policy: operations of one unit
_TIMES = 1.0  # policy: cost of pair steps before a step, in costs of that step
_LONGER, _LONGEST = 1.5, 64.0  # policy: growth of that after a cut step, and its limit
_NEVER = 1 << 40
_MOST = 4000  # policy: free points of a step, a second that nothing can interrupt
_FEWEST = 64  # policy: least pair steps of a call


def pairs_of_a_slice(q: int) -> int:
    """Pair steps on q points that make one unit of work."""
    return max(64, SLICE // max(256, q))


def pairs_to_go(problem: Problem, state: State, limit: int, cache_bytes: int) -> int:
    """Pair steps on W before a step on its free points; 0: now.

    Not of too many, nor where it could exceed ``limit`` steps in all or, beside K_WW,
    ``cache_bytes``; nor as long as W is everything and
    :mod:`maxmargin.solvers.smo.batch` might solve it by pairs: both must give the same
    bits.
    """
    members = state.working_set
    n, q = free_points(problem, members, state.beta[members]).size, members.size
    room = cache_bytes - q * q * state.memory.dtype.itemsize
    if n > _MOST or state.iterations + n > limit or 8 * scratch_size(n) > room:
        return _NEVER
    left = _TIMES * state.patience * operations(n, q) - state.swept
    if state.complete:
        left = max(left, 2.0 * q * (pairs_of_a_slice(q) - state.iterations))
    if left <= 0.0 and n > 1:
        return 0
    return max(_FEWEST, int(left / (2.0 * q)) + 1)


def free_step(problem: Problem, state: State, K: NDArray[Any], noise: float) -> None:
    """Solve the free points of W. Where not all was gone, pairs have longer next time."""
    members = state.working_set
    q = members.size
    beta = state.beta[members]
    points = free_points(problem, members, beta)
    way = solve_free(
        problem, members, K, state.local[:q], beta, points,
        state.memory.scratch(scratch_size(points.size)), noise=noise, goal=state.stop_at,
    )  # fmt: skip
    state.beta[members] = beta
    state.iterations += way.moved
    state.moved_together, state.last[7] = way.moved, way.gain
    state.patience = 1.0 if way.whole else min(_LONGEST, _LONGER * state.patience)
    state.swept = min(0.0, operations(points.size, q) - way.cost)
