"""A solver whose tolerance follows the answer.

Some machines are measured in a unit that only the answer tells: the model of a ν-SVC is
divided by its margin ρ. The solver beneath stops at a tolerance; if its model then asks
for a smaller one, it goes on from where it is, as one run.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from maxmargin.solvers.base import Status
from maxmargin.solvers.wrapped import Wrapped

if TYPE_CHECKING:
    from collections.abc import Callable

    from maxmargin.problem import Model, Problem, WarmStart


@dataclass(slots=True)
class State:
    """The state of the solver beneath, and its tolerance now."""

    inner: Any
    tol: float


@dataclass(frozen=True)
class Follower(Wrapped):
    """Runs a solver until its model is good enough by its own measure.

    Parameters
    ----------
    solver : Solver
        A frozen dataclass with ``tol``.
    tol : float
        Where to begin, in the units of the problem.
    wanted : callable
        ``wanted(problem, model)``: the tolerance that this model asks for.
    """

    solver: Any
    tol: float
    wanted: Callable[[Problem, Model], float]

    @property
    def criterion(self) -> str:
        """What ``tol`` bounds."""
        return str(self.solver.criterion)

    @property
    def unit(self) -> str:
        """What one unit of ``advance``'s budget is."""
        return str(self.solver.unit)

    def at_work(self, state: State) -> Any:
        """The solver beneath, with its tolerance now."""
        return replace(self.solver, tol=state.tol)

    def start(self, problem: Problem, warm: WarmStart | None = None) -> State:
        """That of the solver beneath."""
        inner = replace(self.solver, tol=self.tol).start(problem, warm)
        return State(inner, self.tol)

    def advance(self, problem: Problem, state: State, budget: int) -> Status:
        """At most ``budget`` units; converged only when the model agrees."""
        status: Status = self.at_work(state).advance(problem, state.inner, budget)
        if status is Status.CONVERGED:
            wanted = self.wanted(problem, self.model(problem, state))
            if wanted < state.tol:
                state.tol = wanted
                return Status.RUNNING
        return status
