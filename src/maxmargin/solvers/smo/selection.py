"""Selection: satisfied members leave the working set W, violators enter.

Few points, or those of a matrix that is kept as a whole, are all members at once.

With F↑ and F↓ the prices of rising and falling (:mod:`maxmargin.problem.template`)
relative to the middle of the violated interval, a point that may rise has merit −F↑, one
that may fall F↓, one that may do both the larger; the merit of a violator is positive.
Members without merit sit at a bound, or at the kink of |β|, to which the gradient
presses them. The choice among violators is compiled, one pass over all points each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from maxmargin._jit import inlined, njit
from maxmargin.kernels.gram.row_cache import CHEAP, SMALL

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin._arrays import Flags, Vector
    from maxmargin.problem import Problem
    from maxmargin.solvers.smo.shrinking import Scope
    from maxmargin.solvers.smo.state import State

_FEW, _FEW_CHEAP = 512, 1000  # policy: points that are all admitted, by their cost
_WORST = 0.15  # policy: share of those that enter for the size of their violation
BINS = 1024  # of merits, when the worst are sought


def whole_matrix(problem: Problem, state: State) -> NDArray[Any] | None:
    """The kernel matrix of all points, if W is everything and the Gram keeps it."""
    if not state.complete or problem.ridge.any():
        return None
    if not np.array_equal(state.members, np.arange(problem.n)):
        return None
    return problem.gram.whole(state.memory.dtype)


def exchange(
    problem: Problem, state: State, scope: Scope, F: Vector, shrinking: bool
) -> Vector:
    """Satisfied members leave W, the worst violators in scope enter.

    F is relative to the middle of the violated interval. The worst come first; the
    others are taken evenly from all violators, for the worst ones are often similar.
    Returns how much every point in scope violates.
    """
    merit, falls = np.empty(F.size), np.empty(F.size, bool)
    if _takes_all(problem, state):
        state.members[:] = np.arange(problem.n)
        state.size = problem.n
        return merit
    rising, falling = merits(
        F, state.beta[scope.points], scope.lower, scope.upper, problem.epsilon, merit,
        falls,
    )  # fmt: skip
    batch = min(_batch_size(problem.n), rising + falling)
    _evict(state, merit[scope.place[state.working_set]], batch, shrinking)
    inside = np.zeros(F.size, bool)
    inside[scope.place[state.working_set]] = True
    q = state.size
    room = min(batch, state.memory.size - q)
    enter = _Door(merit, falls, inside, state.members, falling)
    end = enter(worst, q, min(room, max(2, int(_WORST * room))))
    end = enter(evenly, end, q + room - end)
    state.members[q:end] = scope.points[state.members[q:end]]
    state.size = end
    return merit


class _Door(NamedTuple):
    """How violators enter W: half of them want to rise, as far as there are so many."""

    merit: Vector
    falls: NDArray[np.bool_]
    inside: NDArray[np.bool_]
    members: NDArray[np.intp]
    falling: int

    def __call__(self, choose: Any, start: int, count: int) -> int:
        """Let ``count`` enter from slot ``start`` on; returns the slot after the last."""
        half = count - min(self.falling, count // 2)
        end = start
        for wanted, number in ((False, half), (True, count)):
            end = choose(
                self.merit, self.falls, self.inside, wanted, start + number - end,
                self.members, end,
            )  # fmt: skip
        self.inside[self.members[start:end]] = True
        return int(end)


def admits_all(n: int, cost: float) -> bool:
    """Whether n points are few enough to be solved as one block."""
    return n <= (_FEW_CHEAP if cost <= CHEAP else _FEW)


def _takes_all(problem: Problem, state: State) -> bool:
    """Whether one block for all points, once and for all, is the quickest."""
    gram = problem.gram
    stored = gram.keeps_all and gram.cost <= CHEAP
    few = problem.n <= SMALL if stored else admits_all(problem.n, gram.cost)
    return few and state.memory.size >= problem.n


def _evict(state: State, merit: Vector, batch: int, shrinking: bool) -> None:
    """Members without merit leave; the last slot moves into each place.

    A full W also gives up its least promising members, until half of it or a batch
    of newcomers fits: the most violating pair must always find room.
    """
    before, size = merit.size, state.memory.size
    leaving = np.flatnonzero(merit < 0.0) if shrinking else np.empty(0, np.intp)
    need = min(batch, max(2, size // 2)) - (size - before + leaving.size)
    if need > 0:
        order = np.argsort(merit, kind="stable")
        leaving = np.union1d(leaving, order[: leaving.size + need])
    state.memory.evict(state.members, before, leaving)
    state.size = before - leaving.size


def _batch_size(n: int) -> int:
    """Points admitted at a time, by the number of points."""
    return int(np.clip(n // 12, 128, 2048))


@njit(allocates=False)
def merits(F, beta, lower, upper, epsilon, merit, falls):
    """merit[k], and whether it is that of falling; F is relative to the middle.

    Returns the number of violators that want to rise and to fall.
    """
    rising, falling = 0, 0
    for k in range(F.size):
        value, fall = -np.inf, False
        if beta[k] < upper[k]:
            value = -(F[k] + (epsilon if beta[k] >= 0.0 else -epsilon))
        if beta[k] > lower[k]:
            gain = F[k] + (epsilon if beta[k] > 0.0 else -epsilon)
            if gain > value:
                value, fall = gain, True
        merit[k], falls[k] = value, fall
        if value > 0.0:
            if fall:
                falling += 1
            else:
                rising += 1
    return rising, falling


@inlined
def _bin(merit, largest, scale, count):
    """The worst violator is alone with its equals on top, whatever rounding says."""
    if merit == largest:
        return count - 1
    return min(int(merit * scale), count - 2)


@njit(allocates=False)
def _worst(merit, falls, inside, wanted, count, chosen, start, bins):
    """Write about the ``count`` worst violators of one kind, at most, into ``chosen``.

    ``wanted`` is False for those that want to rise, True for those that want to fall.

    Those outside W are binned by merit; whole bins are taken from the top, the last one
    in the order of the points. ``bins`` is scratch. Returns where ``chosen`` ends. (An
    exact partial sort took several times longer and changed nothing in the number of
    steps.)
    """
    largest = 0.0
    for k in range(merit.size):
        if falls[k] == wanted and not inside[k] and merit[k] > largest:
            largest = merit[k]
    if largest == 0.0 or count <= 0:
        return start
    for k in range(bins.size):
        bins[k] = 0
    scale = min((bins.size - 1) / largest, 1e300)  # finite for denormal merits too
    for k in range(merit.size):
        if falls[k] == wanted and not inside[k] and merit[k] > 0.0:
            bins[_bin(merit[k], largest, scale, bins.size)] += 1
    threshold, taken = bins.size, 0
    while threshold > 0 and taken + bins[threshold - 1] <= count:
        threshold -= 1
        taken += bins[threshold]
    rest = count - taken  # from the bin below the threshold
    end = start
    for k in range(merit.size):
        if falls[k] == wanted and not inside[k] and merit[k] > 0.0:
            place = _bin(merit[k], largest, scale, bins.size)
            if place == threshold - 1 and rest > 0:
                rest -= 1
            elif place < threshold:
                continue
            chosen[end] = k
            end += 1
    return end


@njit(allocates=False)
def evenly(merit, falls, inside, wanted, count, chosen, start):
    """Write ``count`` violators of one kind into ``chosen``, evenly spaced among them.

    Returns where ``chosen`` ends.
    """
    total = 0
    for k in range(merit.size):
        if falls[k] == wanted and not inside[k] and merit[k] > 0.0:
            total += 1
    count = min(count, total)
    end, seen = start, 0
    for k in range(merit.size):
        if falls[k] == wanted and not inside[k] and merit[k] > 0.0:
            # the m-th of them is taken when m·count/total reaches a new integer
            if (seen + 1) * count // total > seen * count // total:
                chosen[end] = k
                end += 1
            seen += 1
    return end


def worst(
    merit: Vector, falls: Flags, inside: Flags, wanted: bool, count: int,
    chosen: NDArray[np.intp], start: int,
) -> int:  # fmt: skip
    """About the ``count`` worst violators, at most: see ``_worst``.

    The bins are made here: an allocation in compiled code takes 0.2 s to compile.
    """
    bins = np.empty(BINS, np.int64)
    end: int = _worst(merit, falls, inside, wanted, count, chosen, start, bins)
    return end
