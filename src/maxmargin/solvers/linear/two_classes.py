r"""Crammer and Singer's machine of two classes, which is a hinge between them.

Problem: :class:`~maxmargin.problem.LinearJointProblem` with two classes. At its optimum
:math:`w_1 = -w_0`. With :math:`u = w_1 - w_0` and y = ±1 the programme reads

.. math:: \tfrac14\|u\|^2 + \sum_i C_i\max(0, 1 - y_i\,u\cdot x_i)
          = \tfrac12\Bigl[\tfrac12\|u\|^2 + \sum_i 2C_i\max(0, 1 - y_i\,u\cdot x_i)\Bigr],

half the hinge machine with twice the price, and so is its dual:
:math:`\beta_{i1} = -\beta_{i0} = \tfrac12 b_i` for the dual variables b of that machine.

Update: that of :class:`~maxmargin.solvers.linear.ProximalNewton` for few columns, of
:class:`~maxmargin.solvers.linear.DualDescent` for many. The solver of several classes,
one row at a time, is slow where rows are far from the origin: 100 rows around (100, 100)
take it 52,438 epochs to 1e-4, and Newton's method ten steps.

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
from maxmargin.problem import (
    LinearJointModel,
    LinearJointProblem,
    Measures,
    WarmStart,
    linear_svc,
)
from maxmargin.solvers.base import Status
from maxmargin.solvers.linear.descent.dual_descent import DualDescent
from maxmargin.solvers.linear.newton.proximal_newton import ProximalNewton
from maxmargin.solvers.linear.warm_start import moved_classes
from maxmargin.solvers.wrapped import Wrapped

if TYPE_CHECKING:
    from maxmargin.problem import LinearProblem

_TIGHTER = 0.1  # policy: factor of the next gap that the solver aims at
_LEAST = 1e-15  # rounding: least gap aimed at


@dataclass(slots=True)
class State:
    """The state of the solver at work, and the relative gap that it aims at."""

    inner: Any
    goal: float
    wide: bool = False  # many columns: coordinate descent is at work


@dataclass(frozen=True)
class TwoClasses(Wrapped):
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
    solves = LinearJointProblem

    def at_work(self, state: State) -> Any:
        """Newton's method for few columns, coordinate descent for many."""
        if state.wide:
            return DualDescent(tol=state.goal, max_iter=self.max_iter, seed=self.seed)
        return ProximalNewton(tol=state.goal, max_iter=self.max_iter)

    def beneath(self, problem: LinearJointProblem, state: State) -> LinearProblem:  # noqa: ARG002
        """The hinge between the two classes, at twice the price."""
        y = np.where(problem.codes == 1, 1.0, -1.0)
        return linear_svc(problem.design, y, 2.0 * problem.C, squared=False)

    def start(self, problem: LinearJointProblem, warm: WarmStart | None = None) -> State:
        """Start at W = 0, or at β'X of the given β."""
        if problem.n_classes != 2:
            msg = (
                f"TwoClasses is for two classes, and these are {problem.n_classes}: use "
                "LinearCrammerSinger"
            )
            raise InputError(msg)
        begin = None
        if warm is not None:
            beta = moved_classes(problem, warm)
            begin = WarmStart(beta=np.ascontiguousarray(beta[:, 1] - beta[:, 0]))
        state = State(None, self.tol, problem.design.width > WIDE)
        binary = self.beneath(problem, state)
        state.inner = self.at_work(state).start(binary, begin)
        return state

    def advance(self, problem: LinearJointProblem, state: State, budget: int) -> Status:
        """At most ``budget`` units of the solver."""
        binary = self.beneath(problem, state)
        for _ in range(budget):
            status: Status = self.at_work(state).advance(binary, state.inner, 1)
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
        return problem.measures(self.model(problem, state))

    def model(self, problem: LinearJointProblem, state: State) -> LinearJointModel:
        """The current β with its own W."""
        found = super().model(problem, state)
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

    def ran(self, state: State) -> str:
        """Name the solver at work: ``max_iter`` counts its iterations."""
        return f"{type(self).__name__} by {super().ran(state)}"

    def tol_at(self, state: State) -> float:  # noqa: ARG002
        """The tolerance asked for: the solver at work may aim at less."""
        return self.tol
