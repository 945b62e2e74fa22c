r"""Crammer and Singer's machine of two classes, which is a hinge between them.

Problem: :class:`~maxmargin.problem.LinearJointProblem` with two classes. At its optimum
:math:`w_1 = -w_0`; with :math:`u = w_1 - w_0` and y = ±1 the programme reads

.. math:: \tfrac14\|u\|^2 + \sum_i C_i\max(0, 1 - y_i\,u\cdot x_i)
          = \tfrac12\Bigl[\tfrac12\|u\|^2 + \sum_i 2C_i\max(0, 1 - y_i\,u\cdot x_i)\Bigr],

half the hinge machine with twice the price, and so is its dual:
:math:`\beta_{i1} = -\beta_{i0} = \tfrac12 b_i` for the dual variables b of that machine.

Update: that of :class:`~maxmargin.solvers.linear.ProximalNewton` for few columns, of
:class:`~maxmargin.solvers.linear.DualDescent` for many. One row at a time, as all classes
together are solved, crawls where rows are far from the origin: 100 rows around (100, 100)
take 52,438 epochs to 1e-4, and ten steps of Newton's.

Stop: relative duality gap ≤ tol, with :math:`W = \beta^\top X`; where the solver's own w
is better than that, it goes on to a tenth of its gap.

Cost: that of the solver.

References: K. Crammer and Y. Singer, "On the algorithmic implementation of multiclass
kernel-based vector machines", JMLR 2, 2001 (the programme).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.design.hessian import WIDE
from maxmargin.errors import InputError
from maxmargin.problem import LinearJointModel, linear_joint_figures, linear_svc
from maxmargin.solvers.base import Measures, Status, Steppable
from maxmargin.solvers.linear.descent.dual_descent import DualDescent
from maxmargin.solvers.linear.newton.proximal_newton import ProximalNewton

if TYPE_CHECKING:
    from maxmargin._arrays import Table
    from maxmargin.problem import LinearJointProblem, LinearProblem
    from maxmargin.solvers.step import Step

_TIGHTER, _LEAST = 0.1, 1e-15  # what the solver's own gap is taken down by, and to


@dataclass(slots=True)
class State:
    """That of the solver at work, its name, and the relative gap that it aims at."""

    inner: Any
    by_newton: bool
    goal: float


@dataclass(frozen=True)
class TwoClasses(Steppable):
    """Crammer and Singer's machine of two classes, through the hinge between them.

    Parameters
    ----------
    tol : float
        Relative duality gap accepted.
    max_iter : int
        Of the solver at work, in its own unit.
    seed : int
        Of the order of the rows, where they come in one.
    """

    tol: float = 1e-4
    max_iter: int = -1
    seed: int = 0
    criterion = "relative_gap"
    unit = "step"

    def start(self, problem: LinearJointProblem, warm: Table | None = None) -> State:
        """W = 0, or that of the given β."""
        if problem.n_classes != 2:
            msg = (
                f"TwoClasses is for two classes, and these are {problem.n_classes}: use "
                "LinearCrammerSinger"
            )
            raise InputError(msg)
        begin = None if warm is None else np.ascontiguousarray(warm[:, 1] - warm[:, 0])
        binary = _binary(problem)
        solver = self._solver(binary, self.tol)
        by_newton = isinstance(solver, ProximalNewton)
        return State(solver.start(binary, begin), by_newton, self.tol)

    def advance(self, problem: LinearJointProblem, state: State, budget: int) -> Status:
        """At most ``budget`` units of the solver."""
        binary = _binary(problem)
        for _ in range(budget):
            solver = self._solver(binary, state.goal)
            status: Status = solver.advance(binary, state.inner, 1)
            if status is Status.RUNNING:
                continue
            if self.measure(problem, state).relative_gap <= self.tol:
                return Status.CLOSED
            if status is not Status.CLOSED:
                return status
            if state.goal <= _LEAST:
                return Status.STALLED
            state.goal *= _TIGHTER
        return Status.RUNNING

    def measure(self, problem: LinearJointProblem, state: State) -> Measures:
        """Figures of the model."""
        both, worst = linear_joint_figures(problem, self.model(problem, state))
        return Measures(both.primal, both.dual, worst)

    def model(self, problem: LinearJointProblem, state: State) -> LinearJointModel:
        """The current β with its own W."""
        binary = _binary(problem)
        found = self._solver(binary, state.goal).model(binary, state.inner)
        half = 0.5 * found.beta
        w = problem.design.back(half)
        f, scaling = problem.design.times(w), problem.design.scaling
        bias = scaling * w[-1] if scaling else 0.0
        return LinearJointModel(
            W=np.stack([-w, w]),
            bias=np.array([-bias, bias]),
            beta=np.column_stack([-half, half]),
            outputs=np.column_stack([-f, f]),
        )

    def explain(self, problem: LinearJointProblem, state: State) -> Step:
        """What the solver at work says."""
        binary = _binary(problem)
        step: Step = self._solver(binary, state.goal).explain(binary, state.inner)
        return step

    def ran(self, state: State) -> str:
        """By which solver: ``max_iter`` counts its iterations."""
        return f"{type(self).__name__} by {type(_like(state)).__name__}"

    def n_iter(self, state: State) -> int:
        """Iterations of the solver at work."""
        return int(_like(state).n_iter(state.inner))

    def _solver(self, binary: LinearProblem, goal: float) -> Any:
        if binary.design.width <= WIDE:
            return ProximalNewton(tol=goal, max_iter=self.max_iter)
        return DualDescent(tol=goal, max_iter=self.max_iter, seed=self.seed)


def _like(state: State) -> Any:
    """A solver of the kind that is at work."""
    return ProximalNewton() if state.by_newton else DualDescent()


def _binary(problem: LinearJointProblem) -> LinearProblem:
    """The hinge between the two, at twice the price."""
    y = np.where(problem.codes == 1, 1.0, -1.0)
    return linear_svc(problem.design, y, 2.0 * problem.C, squared=False)
