r"""The problem of a linear kernel through its weights: rows instead of kernel values.

Problem: the template of :mod:`maxmargin.problem` with :math:`K = XX^\top`, a box for
every row and at most the one sum Σβ = 0: a classifier or regressor, its loss a hinge, a
tube or the square of one.

Update: that of a linear machine with a free intercept, the same problem: proximal Newton
(:mod:`maxmargin.solvers.linear.newton.proximal_newton`) for losses with a kink, Newton
(:mod:`maxmargin.solvers.linear.newton.newton`) for squares. Whenever it has closed the
gap that it aimed at, :math:`F = p + X(X^\top\beta)` tells the violation; while that is
above tol, it goes on to a tenth of the gap.

Where rounding ends it early, and where there are few rows, many columns, an open box, two
sums, or a β to start from, the rest is left to
:class:`~maxmargin.solvers.smo.working_set.WorkingSetSmo`.

Stop: violation ≤ tol.

Cost: 20 to 100 steps of n·d instead of n·(support vectors)·d. Memory: d², and a few
numbers a row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from maxmargin.problem import LinearProblem, Model, Problem, model_of, violation
from maxmargin.solvers.base import Measures, Status, Steppable
from maxmargin.solvers.linear.newton.newton import Newton
from maxmargin.solvers.linear.newton.proximal_newton import ProximalNewton
from maxmargin.solvers.smo.working_set import WorkingSetSmo

if TYPE_CHECKING:
    from maxmargin._arrays import Vector
    from maxmargin.solvers.step import Step

FEW = 5000  # rows up to which kernel values cost nothing
WIDE = 300  # columns
_FIRST, _TIGHTER, _LAST = 1e-5, 0.1, 1e-14  # relative gaps that it aims at


@dataclass(slots=True)
class State:
    """That of the linear solver, and of the one that takes over."""

    inner: Any
    linear: str = ""  # the name of the linear solver, if it has begun
    goal: float = _FIRST  # relative gap that it aims at
    steps: int = 0
    smo: Any = None


@dataclass(frozen=True)
class ThroughWeights(Steppable):
    """A linear machine's solver where that pays, and SMO where it does not.

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

    def start(self, problem: Problem, warm: Vector | None = None) -> State:
        """W = 0; or SMO's start."""
        if warm is not None or not _suits(problem):
            return State(None, smo=self._smo.start(problem, warm))
        linear = _linear(problem)
        solver = self._solver(linear, _FIRST)
        return State(solver.start(linear), type(solver).__name__)

    def advance(self, problem: Problem, state: State, budget: int) -> Status:
        """At most ``budget`` steps, or slices of SMO."""
        linear = None if state.smo is not None else _linear(problem)
        for _ in range(budget):
            if linear is None or state.smo is not None:
                status = self._smo.advance(problem, state.smo, 1)
            else:
                status = self._step(problem, linear, state)
            if status is not Status.RUNNING:
                return status
        return Status.RUNNING

    def _step(self, problem: Problem, linear: LinearProblem, state: State) -> Status:
        solver = self._solver(linear, state.goal)
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
            state.smo = self._smo.start(problem, model.beta)
        return Status.RUNNING

    def measure(self, problem: Problem, state: State) -> Measures:
        """Figures of the model."""
        if state.smo is not None:
            return self._smo.measure(problem, state.smo)
        return Measures.of(problem, self.model(problem, state))

    def model(self, problem: Problem, state: State) -> Model:
        """β, whose weights X'β make the gradient."""
        if state.smo is not None:
            return self._smo.model(problem, state.smo)
        linear = _linear(problem)
        found = self._solver(linear, state.goal).model(linear, state.inner)
        gradient = linear.design.times(linear.design.back(found.beta))
        gradient += problem.p + problem.ridge * found.beta
        return model_of(problem, found.beta.copy(), gradient)

    def explain(self, problem: Problem, state: State) -> Step:
        """What the solver at work says."""
        if state.smo is not None:
            return self._smo.explain(problem, state.smo)
        linear = _linear(problem)
        step: Step = self._solver(linear, state.goal).explain(linear, state.inner)
        return step

    def ran(self, state: State) -> str:
        """The linear solver, and SMO after it; nothing where that has all the work.

        It has it with every other kernel, too, and no certificate speaks of it.
        """
        if not state.linear or state.smo is None:
            return state.linear
        return f"{state.linear}, then {type(self._smo).__name__}"

    def n_iter(self, state: State) -> int:
        """Steps, and pair steps of SMO."""
        pairs = 0 if state.smo is None else self._smo.n_iter(state.smo)
        return state.steps + pairs

    @property
    def _smo(self) -> WorkingSetSmo:
        return WorkingSetSmo(self.tol, self.max_iter, self.cache_bytes, self.shrinking)

    def _solver(self, linear: LinearProblem, goal: float) -> Any:
        kind: Any = Newton if linear.squared else ProximalNewton
        return kind(tol=goal, max_iter=self.max_iter)


def _suits(problem: Problem) -> bool:
    """Whether rows are cheaper than kernel values, and the problem is a linear one."""
    fitting = problem.sums in ((), (0.0,)) and not problem.hard
    if not fitting or problem.n <= FEW:
        return False
    design = getattr(problem.gram, "design", None)
    return design is not None and design.width <= WIDE


def _linear(problem: Problem) -> LinearProblem:
    gram: Any = problem.gram
    return LinearProblem(
        gram.design, problem.p, problem.lower, problem.upper, problem.ridge,
        problem.epsilon, free=bool(problem.sums),
    )  # fmt: skip
