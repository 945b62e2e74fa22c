r"""The problem of a linear kernel through its weights: rows instead of kernel values.

Problem: the template of :mod:`maxmargin.problem` with :math:`K = XX^\top`, a box for
every row and at most the one sum Σβ = 0: a classifier or regressor, its loss a hinge, a
tube or the square of one.

Update: that of a linear machine with a free intercept, the same problem: proximal Newton
(:mod:`maxmargin.solvers.linear.newton.proximal_newton`) for losses with a kink, Newton
(:mod:`maxmargin.solvers.linear.newton.newton`) for squares. Whenever it has closed the
gap that it aimed at, the violation is computed from :math:`F = p + X(X^\top\beta)`;
while that is above tol, the solver goes on to a tenth of the gap.

:class:`~maxmargin.solvers.smo.working_set.WorkingSetSmo` takes over where rounding ends
this early. It has all the work where there are few rows, many columns, an open box, two
sums, or a β to start from.

Stop: violation ≤ tol.

Cost: 20 to 100 steps of n·d instead of n·(support vectors)·d. Memory: d², and a few
numbers a row.

References: those of the three solvers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from maxmargin.problem import (
    BoxLoss,
    LinearProblem,
    Model,
    Problem,
    WarmStart,
    model_of,
    violation,
)
from maxmargin.solvers.base import Status
from maxmargin.solvers.linear.newton.newton import Newton
from maxmargin.solvers.linear.newton.proximal_newton import ProximalNewton
from maxmargin.solvers.smo.working_set import WorkingSetSmo
from maxmargin.solvers.wrapped import Wrapped

if TYPE_CHECKING:
    from maxmargin.problem import Measures

FEW = 5000  # policy: rows; with so many or fewer kernel values are cheap
WIDE = 300  # policy: columns at most
_FIRST, _TIGHTER = 1e-5, 0.1  # policy: first relative gap aimed at, factor of the next
_LAST = 1e-14  # rounding: least relative gap aimed at


@dataclass(slots=True)
class State:
    """The state of the solver at work: the linear one, or SMO after it."""

    inner: Any
    linear: str = ""  # the name of the linear solver, if it has begun
    goal: float = _FIRST  # relative gap that it aims at
    steps: int = 0
    by_pairs: bool = False  # whether SMO is at work


@dataclass(frozen=True)
class ThroughWeights(Wrapped):
    """The linear machine's solver where that is faster, else SMO.

    Parameters
    ----------
    tol : float
        Largest violation accepted.
    max_iter : int
        Steps, and pair steps of SMO, at most; −1 leaves it to the two.
    cache_bytes : int
        Memory for kernel values, of SMO.
    shrinking : bool
        Of SMO.
    """

    tol: float = 1e-3
    max_iter: int = -1
    cache_bytes: int = 200 << 20
    shrinking: bool = True
    criterion = "violation"
    unit = "step"
    chooses = True
    solves = Problem

    def at_work(self, state: State) -> Any:
        """SMO, or the solver of the linear problem with the gap that it aims at."""
        if state.by_pairs:
            return WorkingSetSmo(
                self.tol, self.max_iter, self.cache_bytes, self.shrinking
            )
        kind: Any = Newton if state.linear == Newton.__name__ else ProximalNewton
        return kind(tol=state.goal, max_iter=self.max_iter)

    def beneath(self, problem: Problem, state: State) -> Any:
        """The problem itself for SMO; else the linear problem of its rows."""
        return problem if state.by_pairs else _linear(problem)

    def start(self, problem: Problem, warm: WarmStart | None = None) -> State:
        """W = 0; or SMO's start."""
        state = State(None)
        if warm is not None or not _suits(problem):
            return self._hand_over(problem, state, warm)
        linear = _linear(problem)
        state.linear = (Newton if linear.squared else ProximalNewton).__name__
        state.inner = self.at_work(state).start(linear)
        return state

    def _hand_over(self, problem: Problem, state: State, warm: WarmStart | None) -> State:
        """SMO begins."""
        state.by_pairs = True
        state.inner = self.at_work(state).start(problem, warm)
        return state

    def advance(self, problem: Problem, state: State, budget: int) -> Status:
        """At most ``budget`` steps, or slices of SMO."""
        linear = None if state.by_pairs else _linear(problem)
        for _ in range(budget):
            if linear is None or state.by_pairs:
                status: Status = self.at_work(state).advance(problem, state.inner, 1)
            else:
                status = self._step(problem, linear, state)
            if status is not Status.RUNNING:
                return status
        return Status.RUNNING

    def _step(self, problem: Problem, linear: LinearProblem, state: State) -> Status:
        solver = self.at_work(state)
        status: Status = solver.advance(linear, state.inner, 1)
        state.steps = solver.n_iter(state.inner)
        limited = status is Status.MAX_ITER and self.max_iter >= 0
        if status is Status.RUNNING or limited:
            return status
        model = self.model(problem, state)
        if violation(problem, model.beta, model.gradient) <= self.tol:
            return Status.CONVERGED
        if status is Status.CLOSED and state.goal > _LAST:
            state.goal *= _TIGHTER
        else:
            self._hand_over(problem, state, WarmStart(beta=model.beta))
        return Status.RUNNING

    def measure(self, problem: Problem, state: State) -> Measures:
        """Figures of SMO, or of the linear solver's model."""
        if state.by_pairs:
            return super().measure(problem, state)
        return problem.measures(self.model(problem, state))

    def model(self, problem: Problem, state: State) -> Model:
        """The current β, with its gradient through X'β."""
        found = super().model(problem, state)
        if state.by_pairs:
            smo: Model = found
            return smo
        design = _linear(problem).design
        gradient = design.times(design.back(found.beta))
        gradient += problem.p + problem.ridge * found.beta
        return model_of(problem, found.beta.copy(), gradient)

    def ran(self, state: State) -> str:
        """Name the linear solver, and SMO after it; nothing where SMO did all the work.

        SMO is the rule for other kernels, whose certificates do not name it either.
        """
        if not state.linear or not state.by_pairs:
            return state.linear
        return f"{state.linear}, then {WorkingSetSmo.__name__}"

    def n_iter(self, state: State) -> int:
        """Steps, and pair steps of SMO."""
        pairs = super().n_iter(state) if state.by_pairs else 0
        return state.steps + pairs

    def tol_at(self, state: State) -> float:  # noqa: ARG002
        """The violation asked for: the linear solver aims at a gap."""
        return self.tol


def _suits(problem: Problem) -> bool:
    """Whether the problem is a linear one, with rows cheaper than kernel values."""
    fitting = problem.sums in ((), (0.0,)) and not problem.hard
    if not fitting or problem.n <= FEW:
        return False
    design = problem.gram.design
    return design is not None and design.width <= WIDE


def _linear(problem: Problem) -> LinearProblem:
    gram: Any = problem.gram
    loss = BoxLoss(
        problem.p, problem.lower, problem.upper, problem.ridge, problem.epsilon
    )
    return LinearProblem(gram.design, loss, free=bool(problem.sums))
