r"""Newton's method with the exact Hessian: squared losses of few columns.

Problem: :math:`\min_{w,b}\tfrac12\|w\|^2 + \sum_i\frac1{2r_i}e_i^2`, where :math:`e_i` is
by how much row i misses its margin or its tube. Rows with :math:`e_i \ne 0` are active.

Update: :math:`H = I + \sum x_ix_i^\top/r_i` over the active rows, s from
:math:`Hs = -\nabla P` by Cholesky, and the minimum of P along s, which is piecewise
quadratic: besides Xs, no pass over X. H changes only by rows that became active or
inactive: they are added and subtracted where they are fewer than the active ones. Every
tenth time H is made anew, so that rounding does not pile up. A free intercept is
minimised exactly after every step, which makes Σβ = 0; for s it is eliminated from H.

With many more rows than columns the first steps are taken on an eighth of the rows
(:mod:`maxmargin.solvers.linear.newton.state`), which find the active ones.

Stop: relative duality gap at most tol, with :math:`\beta_i = \pm e_i/r_i`, whose gap is
:math:`\tfrac12\|\nabla P\|^2`, or with the β that the last step predicted
(:mod:`maxmargin.solvers.linear.newton.predicted_dual`), which may stop a step earlier. P
has finitely many pieces, and a step that stays within one ends at its minimum: the last
digits come at once.

Cost of a step: two passes over X, d²/2 multiplications for every row that changed sides
(for a sparse row, half the square of what it stores) and d³/6 for the factor. Memory: a
few n × 1 and d × d.

References: O. Mangasarian, "A finite Newton method for classification", Optimization
Methods and Software 17, 2002; S. Keerthi and D. DeCoste, "A modified finite Newton method
for fast solution of large scale linear SVMs", JMLR 6, 2005.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from maxmargin.design.hessian import Kept
from maxmargin.errors import InputError
from maxmargin.problem import LinearProblem
from maxmargin.solvers.base import Status, Steppable
from maxmargin.solvers.linear.newton.state import (
    NewtonState,
    begin,
    direction,
    model_of,
    move,
    report,
    verdict,
)
from maxmargin.solvers.step import Step

if TYPE_CHECKING:
    from maxmargin.problem import LinearModel, WarmStart

_NAME = "Newton's method"
_WIDEST = 4000  # policy: columns at most; a factor of so many takes seconds
_LIMIT = 1000  # policy: steps at most by default; ten are usual


@dataclass(slots=True)
class State:
    """The iterate, and the Hessian of its active rows."""

    at: NewtonState
    kept: Kept = field(default_factory=Kept)  # Σ x̃x̃'/r


@dataclass(frozen=True)
class Newton(Steppable):
    """Newton's method with the exact Hessian, for squared losses.

    Parameters
    ----------
    tol : float
        Relative duality gap accepted.
    max_iter : int
        Steps at most, those on a part of the rows included; −1 for 1000.
    """

    tol: float = 1e-4
    max_iter: int = -1
    criterion = "relative_gap"
    unit = "Newton step"
    solves = LinearProblem
    boxes = False

    def start(self, problem: LinearProblem, warm: WarmStart | None = None) -> State:
        """At w = 0, at the given w, or at X'β of the given β."""
        width = problem.design.width
        if width > _WIDEST:
            msg = (
                f"{_NAME} with the exact Hessian factors a matrix of columns × columns: "
                f"{width} columns are given, {_WIDEST} are possible; use "
                "solver='newton-cg' or solver='dual-descent'"
            )
            raise InputError(msg)
        return State(begin(problem, _NAME, warm))

    def advance(self, problem: LinearProblem, state: State, budget: int) -> Status:
        """At most ``budget`` steps."""
        for _ in range(budget):
            status = self._verdict(problem, state)
            if status is not Status.RUNNING:
                return status
            at = state.at
            if at.here == 0 or not at.loss.fixed:
                state.kept.forget()
            state.kept.follow(problem, at.rows, *at.loss.bends(at.z, at.beta))
            move(problem, at, *direction(problem, at, state.kept.square), self.tol)
        return self._verdict(problem, state)

    def model(self, problem: LinearProblem, state: State) -> LinearModel:
        """The current w and its β."""
        return model_of(problem, state.at)

    def explain(self, problem: LinearProblem, state: State) -> Step:
        """Describe the last step: its length, and how many rows changed sides."""
        if not state.at.steps:
            return Step("Nothing done yet.")
        return Step(*report(problem, state.at))

    def n_iter(self, state: State) -> int:
        """Steps taken."""
        return state.at.steps

    def _verdict(self, problem: LinearProblem, state: State) -> Status:
        limit = self.max_iter if self.max_iter >= 0 else _LIMIT
        if limit == 0:
            return Status.MAX_ITER
        status = verdict(problem, state.at, self.tol)
        if status is Status.RUNNING and state.at.steps >= limit:
            return Status.MAX_ITER
        return status
