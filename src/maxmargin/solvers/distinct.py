r"""Points that are copies of each other, solved as one.

Problem: the template of :mod:`maxmargin.problem`, some of whose points have equal kernel
rows, equal :math:`p` and are in the same sum. Only the sum :math:`B` of their
:math:`\beta` matters, so they are one variable of a smaller instance:

.. math:: B \in \Bigl[\sum_i l_i, \sum_i u_i\Bigr],\qquad
          \tfrac1R = \sum_i \tfrac1{r_i}

where the ridge is the least that :math:`\sum_i r_i\beta_i^2` can be for a given sum. This
is exact: primal, dual, violation and gap are those of the whole problem.

Update: that of the solver beneath, on the smaller instance. Its :math:`B` is shared out:
in proportion to :math:`1/r_i` where there is a ridge; otherwise one copy after the other
is filled to its bound, which leaves the fewest support vectors.

Stop: that of the solver beneath.

Cost: O(n) a look at the model.

Reference: a weight of 2 is a point twice (:mod:`maxmargin.problem.machines`); this reads
it backwards.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin._jit import njit
from maxmargin.kernels.copies import CopiedGram, sums_by_place
from maxmargin.problem import Model, Problem, model_of
from maxmargin.solvers.base import Measures, Status, Steppable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin.solvers.step import Step

    Index = NDArray[np.intp]
    Vector = NDArray[np.float64]

__all__ = ["Distinct", "shared_out"]

_LEFT = 1e-14  # of a sum that rounding may leave over


def _fill(place, wanted, bound, out):
    """Share ``wanted`` ≥ 0 of every group out to its points, one after the other."""
    left = wanted.copy()
    for i in range(place.size):
        k = place[i]
        if left[k] <= _LEFT * wanted[k]:
            out[i] = 0.0
        elif left[k] < bound[i] * (1.0 - _LEFT):
            out[i] = left[k]
            left[k] = 0.0
        else:
            out[i] = bound[i]
            left[k] -= bound[i]


_fill = njit(_fill)


def shared_out(problem: Problem, B: Vector, gradient: Vector) -> Model:
    """The model of all points from that of the distinct ones.

    Parameters
    ----------
    problem : Problem
        Of all points; its kernel matrix is a CopiedGram.
    B, gradient : ndarray of shape (m,)
        Sums of β over the copies of each distinct point, and its gradient.
    """
    place = _copied(problem).place
    give = _inverse(problem.ridge)
    if give.any():  # and no bounds
        beta = (B * _inverse(sums_by_place(place, give, B.size)))[place] * give
    else:
        beta = _filled(place, B, problem.lower, problem.upper)
    return model_of(problem, beta, gradient[place])


def _filled(place: Index, B: Vector, lower: Vector, upper: Vector) -> Vector:
    """One copy after the other to its bound."""
    up = B[place] > 0.0
    bound = np.where(up, upper, -lower)
    beta = np.empty(place.size)
    _fill(place, np.abs(B), bound, beta)
    full = np.abs(B)[place] == sums_by_place(place, bound, B.size)[place]
    beta[full] = bound[full]  # to the bit, whatever rounding left over
    return np.where(up, beta, -beta)


@dataclass(slots=True)
class State:
    """The smaller instance but for its kernel matrix, and the state of its solver."""

    p: Vector
    lower: Vector
    upper: Vector
    ridge: Vector
    inner: Any = None


@dataclass(frozen=True)
class Distinct(Steppable):
    """Runs a solver on the distinct points of a problem.

    Parameters
    ----------
    solver : Solver
        For a problem whose kernel matrix is a
        :class:`~maxmargin.kernels.copies.CopiedGram`.
    """

    solver: Any

    @property
    def tol(self) -> float:
        """That of the solver beneath."""
        return float(self.solver.tol)

    @property
    def criterion(self) -> str:
        """What ``tol`` bounds."""
        return str(self.solver.criterion)

    @property
    def unit(self) -> str:
        """What one unit of ``advance``'s budget is."""
        return str(self.solver.unit)

    def start(self, problem: Problem, warm: Vector | None = None) -> State:
        """That of the solver beneath, ``warm`` added up group by group."""
        place, size = _copied(problem).place, _copied(problem).distinct.n
        p = np.empty(size)
        p[place] = problem.p
        state = State(
            p=p,
            lower=sums_by_place(place, problem.lower, size),
            upper=sums_by_place(place, problem.upper, size),
            ridge=_inverse(sums_by_place(place, _inverse(problem.ridge), size)),
        )
        merged = None if warm is None else sums_by_place(place, warm, size)
        state.inner = self.solver.start(_smaller(problem, state), merged)
        return state

    def advance(self, problem: Problem, state: State, budget: int) -> Status:
        """At most ``budget`` units of the solver beneath."""
        status: Status = self.solver.advance(
            _smaller(problem, state), state.inner, budget
        )
        return status

    def measure(self, problem: Problem, state: State) -> Measures:
        """Figures of the solver beneath, which are those of the whole problem."""
        figures: Measures = self.solver.measure(_smaller(problem, state), state.inner)
        return figures

    def model(self, problem: Problem, state: State) -> Model:
        """The model of the solver beneath, shared out among the copies."""
        found: Model = self.solver.model(_smaller(problem, state), state.inner)
        return shared_out(problem, found.beta, found.gradient)

    def explain(self, problem: Problem, state: State) -> Step:
        """What the solver beneath did; ``points`` are the first copies of its points."""
        told: Step = self.solver.explain(_smaller(problem, state), state.inner)
        _, firsts = np.unique(_copied(problem).place, return_index=True)
        points = tuple(int(firsts[point]) for point in told.points)
        words = (
            f"{firsts.size:,} of {problem.n:,} points are distinct, and numbered here "
            f"among themselves: {told.words}"
        )
        return replace(told, words=words, points=points)

    def n_iter(self, state: State) -> int:
        """Iterations of the solver beneath."""
        return int(self.solver.n_iter(state.inner))


def _copied(problem: Problem) -> CopiedGram:
    assert isinstance(problem.gram, CopiedGram)
    return problem.gram


def _smaller(problem: Problem, state: State) -> Problem:
    """The instance of the distinct points."""
    return Problem(
        _copied(problem).distinct, state.p, state.lower, state.upper, state.ridge,
        problem.sums, problem.epsilon,
    )  # fmt: skip


def _inverse(ridge: Vector) -> Vector:
    """1/r; 0 where there is none."""
    return np.divide(1.0, ridge, out=np.zeros_like(ridge), where=ridge > 0.0)
