"""Shrinking: only points near the margin keep an up-to-date gradient.

Adding a step to the gradients of all n points is most of the work of a large fit, and
most points lie far beyond the margin and stay there. Once the violation is v, the solver
goes on with the points that violate, or are satisfied by less than a multiple of v (the
scope), until their violation is a twentieth of v. Then the other gradients are computed
together, and the next scope is chosen from all points.

This shrinks the set of gradients, not that of variables as in T. Joachims, 1999. A wrong
guess costs time, never the answer: all points are checked at the end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin._arrays import Index, Vector
    from maxmargin.problem import Problem
    from maxmargin.solvers.smo.state import State

_NEAR = 1.0  # policy: violations within which a satisfied point stays in scope
_GOAL = 0.05  # policy: share of the violation at which all points are checked again
_MANY = 2000  # policy: least number of points that shrinking is used for
_PART = 0.6  # policy: largest share of the points that shrinking may keep


@dataclass(slots=True)
class Scope:
    """The points whose gradients are up to date, and their bounds.

    ``gradient`` is F at these points of the coefficients ``applied`` (of all points).
    """

    points: Index
    gradient: Vector
    applied: Vector
    lower: Vector
    upper: Vector
    side: NDArray[np.uint8]
    place: Index  # of every point among ``points``; −1 outside
    goal: float = 0.0  # violation at which all points are checked again

    def middle(self, ends: Vector) -> Vector:
        """Middle of the violated interval, for every point; 0 where there is no sum."""
        middle: Vector = (0.5 * (ends[:, 0] + ends[:, 1]))[self.side]
        return middle


def scope_of(problem: Problem, state: State) -> Scope:
    """The points in focus, or all, on the state's own arrays."""
    if state.focus is not None:
        return state.focus
    everyone = np.arange(problem.n, dtype=np.intp)
    return Scope(
        points=everyone,
        gradient=state.gradient,
        applied=state.applied,
        lower=problem.lower,
        upper=problem.upper,
        side=problem.side,
        place=everyone,
    )


def near_points(
    problem: Problem, state: State, merit: Vector, worst: float, tol: float
) -> Scope | None:
    """The points that can still matter, if they are few enough to be worth it.

    ``merit`` is how much a point violates; where negative, how far it is satisfied.
    """
    if problem.n < _MANY or problem.hard:
        return None
    near = merit > -_NEAR * worst
    near[state.working_set] = True
    if np.count_nonzero(near) > _PART * problem.n:
        return None
    scope = _part(problem, state, np.flatnonzero(near))
    scope.goal = max(_GOAL * worst, 0.8 * tol)
    return scope


def _part(problem: Problem, state: State, points: Index) -> Scope:
    place = np.full(problem.n, -1, np.intp)
    place[points] = np.arange(points.size)
    return Scope(
        points=points,
        gradient=state.gradient[points],
        applied=state.applied.copy(),
        lower=problem.lower[points],
        upper=problem.upper[points],
        side=problem.side[points],
        place=place,
    )
