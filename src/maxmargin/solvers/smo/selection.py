"""Who is in the working set: satisfied members leave, violators enter.

Few points, or those of a matrix that is kept as a whole, are all members at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from maxmargin.kernels.gram.row_cache import CHEAP, SMALL
from maxmargin.solvers.smo import partners as _choice

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin._arrays import Vector
    from maxmargin.problem import Problem
    from maxmargin.solvers.smo.shrinking import Scope
    from maxmargin.solvers.smo.state import State

_FEW, _FEW_CHEAP = 512, 1000  # points that are all admitted at once, by their cost
_WORST = 0.15  # of those that enter, by how much they violate


def whole_matrix(problem: Problem, state: State) -> NDArray[Any] | None:
    """The kernel matrix of all points, if W is everything and somebody keeps it."""
    if not state.complete or problem.ridge.any():
        return None
    keeper: Any = getattr(problem.gram, "whole", None)
    if keeper is None or not np.array_equal(state.members, np.arange(problem.n)):
        return None
    table: NDArray[Any] | None = keeper(state.memory.dtype)
    return table


def exchange(
    problem: Problem, state: State, scope: Scope, F: Vector, shrinking: bool
) -> Vector:
    """Satisfied members leave W, the worst violators in scope enter.

    F is relative to the middle of the violated interval. The worst come first; the
    others are taken evenly from all violators, for the worst ones are often neighbours
    that want the same. Returns how much every point in scope violates.
    """
    merit, falls = np.empty(F.size), np.empty(F.size, bool)
    if _takes_all(problem, state):
        state.members[:] = np.arange(problem.n)
        state.size = problem.n
        return merit
    rising, falling = _choice.merits(
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
    end = enter(_choice.worst, q, min(room, max(2, int(_WORST * room))))
    end = enter(_choice.evenly, end, q + room - end)
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
    """Whether n points are few enough to be solved as one block, whoever keeps it."""
    return n <= (_FEW_CHEAP if cost <= CHEAP else _FEW)


def _takes_all(problem: Problem, state: State) -> bool:
    """Whether one block for all points, once and for all, is the quickest."""
    gram: Any = problem.gram
    stored = getattr(gram, "keeps_all", False) and gram.cost <= CHEAP
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
