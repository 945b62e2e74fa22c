"""Base of solvers around a solver: it forwards all verbs but those it changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from maxmargin.solvers.base import Steppable

if TYPE_CHECKING:
    from maxmargin.problem import AnyProblem, Measures
    from maxmargin.solvers.step import Step


class Wrapped(Steppable):
    """Base of solvers whose state holds that of another solver in ``inner``.

    A subclass says in :meth:`at_work` which solver that is, and in :meth:`beneath` which
    problem it is given.
    """

    def at_work(self, state: Any) -> Any:
        """The solver that ``state.inner`` belongs to, as it is now."""
        raise NotImplementedError

    def beneath(self, problem: Any, state: Any) -> AnyProblem:  # noqa: ARG002
        """The problem of the solver at work: the same, as a rule."""
        given: AnyProblem = problem
        return given

    def measure(self, problem: Any, state: Any) -> Measures:
        """Figures of the solver at work."""
        solver = self.at_work(state)
        figures: Measures = solver.measure(self.beneath(problem, state), state.inner)
        return figures

    def model(self, problem: Any, state: Any) -> Any:
        """The model of the solver at work."""
        return self.at_work(state).model(self.beneath(problem, state), state.inner)

    def explain(self, problem: Any, state: Any) -> Step:
        """The last step of the solver at work."""
        solver = self.at_work(state)
        step: Step = solver.explain(self.beneath(problem, state), state.inner)
        return step

    def n_iter(self, state: Any) -> int:
        """Iterations of the solver at work."""
        return int(self.at_work(state).n_iter(state.inner))

    def ran(self, state: Any) -> str:
        """Which algorithms the solver at work names."""
        names: str = self.at_work(state).ran(state.inner)
        return names

    def tol_at(self, state: Any) -> float:
        """The tolerance that the solver at work has come to."""
        return float(self.at_work(state).tol_at(state.inner))


class Adopted:
    """A user's own solver, with the methods that only solvers of this library have.

    Parameters
    ----------
    foreign : object
        It has the verbs of a solver, but need not be a
        :class:`~maxmargin.solvers.base.Steppable`.
    """

    chooses = False

    def __init__(self, foreign: Any) -> None:
        self.foreign = foreign
        self.restarts = bool(getattr(foreign, "restarts", True))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.foreign, name)

    def ran(self, state: Any) -> str:
        """Its own ``ran`` if it has one; else the name of its class."""
        own = getattr(self.foreign, "ran", None)
        return type(self.foreign).__name__ if own is None else str(own(state))

    def tol_at(self, state: Any) -> float:  # noqa: ARG002
        """Its tolerance."""
        return float(self.foreign.tol)


def adopted(solver: Any) -> Any:
    """The solver itself if it is one of ours, else wrapped in :class:`Adopted`."""
    return solver if isinstance(solver, Steppable) else Adopted(solver)
