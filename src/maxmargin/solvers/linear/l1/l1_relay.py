r"""The penalty ‖w‖₁: the solver for the shape, then an interior point if it is slow.

Problem: that of :mod:`~maxmargin.solvers.linear.l1.descent`.

Update: that of :class:`~maxmargin.solvers.linear.LassoNewton` where columns are few and
there are three rows for each of them, else that of
:class:`~maxmargin.solvers.linear.LassoDescent`. Where coordinates are slow
(:mod:`~maxmargin.solvers.relay`), or the quadratics of Newton steps have cost as much as
it does, :class:`~maxmargin.solvers.linear.LassoInterior` takes over, from the beginning:
an interior point cannot use weights that are 0.

That happens where C is large and classes are separable. 2000 × 3000 rows of which 1 % is
not 0, random classes, C = 100: a gap of 0.2 after 3000 epochs of coordinates, 3 s; the
interior point has 5e-5 after 13 steps, 2 s. 3000 × 400 Gaussian rows, C = 1000: a gap of
0.98 after ten seconds of Newton steps, 2e-5 after one of the interior point.

Stop: relative duality gap ≤ tol.

Cost: at most about twice that of the cheaper of the two.

References: those of the two solvers.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from maxmargin.design.hessian import WIDE
from maxmargin.problem import LinearProblem
from maxmargin.solvers.linear.l1.descent import LassoDescent
from maxmargin.solvers.linear.l1.interior import MOST, LassoInterior, effort
from maxmargin.solvers.linear.l1.newton import LassoNewton
from maxmargin.solvers.relay import Relay

if TYPE_CHECKING:
    from maxmargin.problem import LinearModel
    from maxmargin.solvers.relay import State

_TALL = 3  # policy: rows a column at least for Newton steps; H is singular with few
_PASSES = 1000  # policy: cost of a round an entry of H, in multiplications of a factor
_STEPS = 15  # policy: steps of the interior point in a usual fit
_LEAST = 50  # policy: rounds at least before Newton steps count as slow
_READ = 300  # policy: cost of a number that coordinates read, in the same multiplications


class LassoRelay(Relay):
    """Newton steps or coordinate descent, and an interior point where these are slow.

    The parameters are those of :class:`~maxmargin.solvers.relay.Relay`.
    """

    solves = LinearProblem

    def _first(self, problem: LinearProblem) -> LassoNewton | LassoDescent:
        if _is_tall(problem):
            return LassoNewton(tol=self.tol, max_iter=self.max_iter)
        return LassoDescent(tol=self.tol, max_iter=self.max_iter, seed=self.seed)

    def _second(self, limit: int) -> LassoInterior:
        return LassoInterior(tol=self.tol, max_iter=limit)

    def _worth(self, problem: LinearProblem) -> float:
        """Epochs of coordinates, or rounds of quadratics."""
        width = problem.design.width
        if min(problem.n, width) > MOST:
            return math.inf
        one = float(_READ * max(1, problem.design.stored))
        if _is_tall(problem):
            one = width**3 / 3.0 + _PASSES * width**2
        return _STEPS * effort(problem) / one

    def _is_slow(self, problem: LinearProblem, state: State) -> bool:
        if isinstance(state.solver, LassoNewton):
            gap = state.solver.measure(problem, state.inner).relative_gap
            return bool(state.inner.rounds >= max(_LEAST, state.worth) and gap > self.tol)
        return super()._is_slow(problem, state)

    def _handed(self, model: LinearModel) -> None:  # noqa: ARG002
        return None


def _is_tall(problem: LinearProblem) -> bool:
    """Whether columns are few, and rows more than enough to determine the weights."""
    width = problem.design.width
    return width <= WIDE and problem.n >= _TALL * width
