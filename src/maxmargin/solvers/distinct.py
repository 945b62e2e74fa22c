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
is filled to its bound, the widest first, which leaves the fewest support vectors.

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
from maxmargin.kernels.gram.copies import CopiedGram, sums_by_place
from maxmargin.problem import Model, Problem, WarmStart, model_of
from maxmargin.solvers.wrapped import Wrapped

if TYPE_CHECKING:
    from maxmargin._arrays import Index, Vector
    from maxmargin.solvers.base import Status
    from maxmargin.solvers.step import Step

_LEFT = 1e-12  # rounding: share of a sum that may be left over


@njit
def _fill(place, wanted, bound, out):
    """Share ``wanted`` ≥ 0 of every group out to its points, one after the other."""
    taken = np.zeros_like(wanted)
    for i in range(place.size):
        k = place[i]
        least, most = (1.0 - _LEFT) * wanted[k], (1.0 + _LEFT) * wanted[k]
        if taken[k] >= least:
            out[i] = 0.0
        elif taken[k] + bound[i] <= most:
            out[i] = bound[i]
            taken[k] += bound[i]
        else:
            out[i] = wanted[k] - taken[k]
            taken[k] = wanted[k]


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
    give, least = _shares(problem.ridge)
    gradient = gradient[place]
    if least > 0.0:  # a ridge, and no bounds
        whole = sums_by_place(place, give, B.size)
        portion = np.divide(B, whole, out=np.zeros_like(B), where=whole > 0.0)[place]
        beta = portion * give
        # A copy without a price (held out, say) has no ridge: its output is Kβ alone.
        gradient[give == 0.0] -= least * portion[give == 0.0]
    else:
        beta = _filled(place, B, problem.lower, problem.upper)
    return model_of(problem, beta, gradient)


def _filled(place: Index, B: Vector, lower: Vector, upper: Vector) -> Vector:
    """One copy after the other to its bound, those with the widest first."""
    up = B[place] > 0.0
    bound = np.where(up, upper, -lower)
    beta = np.empty(place.size)
    order = np.argsort(-bound, kind="stable")
    shares = np.empty(place.size)
    _fill(place[order], np.abs(B), bound[order], shares)
    beta[order] = shares
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
class Distinct(Wrapped):
    """Runs a solver on the distinct points of a problem.

    Parameters
    ----------
    solver : Solver
        For a problem whose kernel matrix is a
        :class:`~maxmargin.kernels.gram.copies.CopiedGram`.
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

    def at_work(self, state: State) -> Any:  # noqa: ARG002
        """The solver beneath."""
        return self.solver

    def beneath(self, problem: Problem, state: State) -> Problem:
        """The instance of the distinct points."""
        return _smaller(problem, state)

    def start(self, problem: Problem, warm: WarmStart | None = None) -> State:
        """That of the solver beneath, the β of a warm start added up group by group."""
        place, size = _copied(problem).place, _copied(problem).distinct.n
        p = np.empty(size)
        p[place] = problem.p
        state = State(
            p=p,
            lower=sums_by_place(place, problem.lower, size),
            upper=sums_by_place(place, problem.upper, size),
            ridge=_merged_ridge(problem.ridge, place, size),
        )
        merged = None
        if warm is not None:
            merged = WarmStart(beta=sums_by_place(place, warm.beta, size))
        state.inner = self.solver.start(_smaller(problem, state), merged)
        return state

    def advance(self, problem: Problem, state: State, budget: int) -> Status:
        """At most ``budget`` units of the solver beneath."""
        smaller = _smaller(problem, state)
        status: Status = self.solver.advance(smaller, state.inner, budget)
        return status

    def model(self, problem: Problem, state: State) -> Model:
        """The model of the solver beneath, shared out among the copies."""
        found: Model = super().model(problem, state)
        return shared_out(problem, found.beta, found.gradient)

    def explain(self, problem: Problem, state: State) -> Step:
        """The last step of the solver beneath; ``points`` are the first copies of its."""
        step = super().explain(problem, state)
        _, firsts = np.unique(_copied(problem).place, return_index=True)
        points = tuple(int(firsts[point]) for point in step.points)
        numbers = {
            key: int(firsts[value]) if key in ("i", "j") else value
            for key, value in step.items()
        }
        words = (
            f"{firsts.size:,} of {problem.n:,} points are distinct, and numbered here "
            f"among themselves: {step.words}"
        )
        return replace(step, words=words, numbers=numbers, points=points)


def _copied(problem: Problem) -> CopiedGram:
    assert isinstance(problem.gram, CopiedGram)
    return problem.gram


def _smaller(problem: Problem, state: State) -> Problem:
    """The instance of the distinct points."""
    return Problem(
        _copied(problem).distinct, state.p, state.lower, state.upper, state.ridge,
        problem.sums, problem.epsilon,
    )  # fmt: skip


def _shares(ridge: Vector) -> tuple[Vector, float]:
    """1/r in units of the largest, 0 where there is none; and the least ridge, or 0.

    1/r itself, and more so the sum of several, may be too large for a number.
    """
    priced = ridge > 0.0
    least = float(ridge.min(initial=np.inf, where=priced))
    if least == np.inf:
        return np.zeros_like(ridge), 0.0
    return np.divide(least, ridge, out=np.zeros_like(ridge), where=priced), least


def _merged_ridge(ridge: Vector, place: Index, size: int) -> Vector:
    """1/R = Σ 1/r of all copies of each point."""
    give, least = _shares(ridge)
    whole = sums_by_place(place, give, size)
    return np.divide(least, whole, out=np.zeros(size), where=whole > 0.0)
