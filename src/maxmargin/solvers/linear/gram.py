r"""The kernel solver on a linear machine: where columns are many and rows are few.

Problem: any :class:`~maxmargin.problem.LinearProblem` with the penalty ½‖w‖², written as
the template with :math:`K = XX^\top + s^2` (s² from the constant column, 0 without one).

Update: that of :class:`~maxmargin.solvers.WorkingSetSmo`, whose tolerance bounds the
violation. When it holds, w = X'β and the duality gap are computed; while the gap is too
large, the run goes on with a tenth of the tolerance.

Pairs converge slowly where rows are alike or columns differ much in size. After 300
epochs of them Newton's methods go on from β with the rows of L, :math:`LL^\top = K`: the
same rows in n columns (:attr:`maxmargin.design.operator.Design.turned`), and a v there is
:math:`w = X^\top L^{-\top}v` here. By then the two have cost about the same; 1500 × 1600
rows of 20 directions and noise, hinge, C = 1: a gap of 0.7 after 1000 epochs of pairs,
1e-5 with Newton's in 2 s.

Stop: relative duality gap of w ≤ tol; where it is larger than Newton's own gap, of v, the
goal of Newton's is lowered by tenths.

Cost: that of the kernel solver: n² products of rows at most, and one pass over the rows
for every gap; Newton's, n³/3 for L and for every step.

References: those of the solvers at work.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from maxmargin.errors import InputError
from maxmargin.kernels import Linear, Polynomial
from maxmargin.kernels.factory import training_gram
from maxmargin.kernels.gram.table import TableGram
from maxmargin.problem import LinearModel, LinearProblem, Problem, WarmStart
from maxmargin.solvers.base import Measures, Status, Steppable
from maxmargin.solvers.linear.newton.newton import Newton
from maxmargin.solvers.linear.newton.proximal_newton import ProximalNewton
from maxmargin.solvers.linear.warm_start import moved
from maxmargin.solvers.smo.working_set import WorkingSetSmo

if TYPE_CHECKING:
    from maxmargin._arrays import Vector
    from maxmargin.design.operator import Design
    from maxmargin.solvers.step import Step

_FIRST = 1e-2  # policy: violation that pairs aim at first
_FINER = 0.1  # policy: factor of the next goal
_LEAST = 1e-10  # rounding: least violation aimed at
_CRAWL = 300  # policy: epochs of pairs before Newton's method; about as expensive as it
_MOST_ROWS = 4000  # policy: rows at most for Newton's method
_CLOSEST = 1e-15  # rounding: least relative gap that Newton's aims at


class Turned(NamedTuple):
    """Newton's method on the rows of L: its state, and the relative gap it aims at."""

    state: Any
    goal: float


@dataclass(slots=True)
class State:
    """The template, the kernel solver's state, and its tolerance now."""

    template: Problem
    inner: Any
    tol: float
    looked: Measures
    turned: Turned | None = None


@dataclass(frozen=True)
class GramSmo(Steppable):
    """SMO on the products of all rows, and Newton's method where that crawls.

    Parameters
    ----------
    tol : float
        Relative duality gap accepted.
    max_iter : int
        Epochs of n pair steps, and Newton steps, at most in all; −1 for 10⁷ pair steps,
        or 100 epochs if that is more, and the limit of Newton's own.
    cache_bytes : int
        Memory for products of rows.
    """

    tol: float = 1e-4
    max_iter: int = -1
    cache_bytes: int = 200 << 20
    criterion = "relative_gap"
    unit = "slice"
    solves = LinearProblem

    def start(self, problem: LinearProblem, warm: WarmStart | None = None) -> State:
        """Start the kernel solver."""
        if problem.lasso:
            msg = "GramSmo has the penalty l2 alone: use solver='auto' for penalty='l1'"
            raise InputError(msg)
        template = Problem(
            gram=self._gram(problem.design),
            p=problem.p,
            lower=problem.lower,
            upper=problem.upper,
            ridge=problem.ridge,
            sums=(0.0,) if problem.free else (),
            epsilon=problem.epsilon,
        )
        begin = None if warm is None else WarmStart(beta=moved(problem, warm))
        inner = self._solver(problem, _FIRST).start(template, begin)
        return State(template, inner, _FIRST, Measures(np.inf, -np.inf, np.inf))

    def _gram(self, design: Design) -> Any:
        """All products where they fit into memory, else a kernel that makes them."""
        if self._fits(design):
            return TableGram(design.products)
        kernel: Any = Linear()
        if design.scaling:
            kernel = Polynomial(1, coef0=design.scaling**2)
        return training_gram(kernel, design.X, workers=design.workers)

    def _fits(self, design: Design) -> bool:
        return design.n**2 * 8 <= self.cache_bytes

    def _solver(self, problem: LinearProblem, tol: float) -> WorkingSetSmo:
        limit = self.max_iter * problem.n if self.max_iter > 0 else self.max_iter
        return WorkingSetSmo(tol, limit, self.cache_bytes)

    def _newton(self, state: State, goal: float) -> Any:
        """Newton's method for the loss, with the steps that the epochs have left."""
        method = Newton if state.template.ridge.any() else ProximalNewton
        left = self.max_iter if self.max_iter < 0 else self.max_iter - _epochs(state)
        return method(tol=goal, max_iter=left)

    def advance(self, problem: LinearProblem, state: State, budget: int) -> Status:
        """At most ``budget`` units of the kernel solver, or Newton steps."""
        for _ in range(budget):
            if state.turned is not None:
                status = self._step(problem, state, state.turned)
            else:
                status = self._slice(problem, state)
            if status is not Status.RUNNING:
                return status
        return Status.RUNNING

    def _slice(self, problem: LinearProblem, state: State) -> Status:
        """One unit of the kernel solver; compute the gap where it came to an end."""
        solver = self._solver(problem, state.tol)
        status = solver.advance(state.template, state.inner, 1)
        if status is not Status.RUNNING:
            # At a limit too: the gap may be small before the violation is.
            self._look(problem, state)
            if state.looked.relative_gap <= self.tol:
                return Status.CLOSED
            if status is not Status.CONVERGED:
                return status
            if state.tol <= _LEAST:
                return Status.STALLED
            state.tol *= _FINER
            return Status.RUNNING
        affordable = self._fits(problem.design) and problem.n <= _MOST_ROWS
        steps_left = self.max_iter < 0 or _epochs(state) < self.max_iter
        if affordable and steps_left and _epochs(state) >= _CRAWL:
            self._turn(problem, state, solver.model(state.template, state.inner).beta)
        return status

    def _turn(self, problem: LinearProblem, state: State, beta: Vector) -> None:
        """Newton's method takes over."""
        newton = self._newton(state, self.tol)
        begun = newton.start(_there(problem), WarmStart(beta=beta))
        state.turned = Turned(begun, self.tol)

    def _step(self, problem: LinearProblem, state: State, turned: Turned) -> Status:
        """One Newton step; compute the gap of w where its own is small enough."""
        newton = self._newton(state, turned.goal)
        status: Status = newton.advance(_there(problem), turned.state, 1)
        if status is Status.RUNNING:
            return status
        self._look(problem, state)
        if state.looked.relative_gap <= self.tol:
            return Status.CLOSED
        if status is Status.CLOSED and turned.goal > _CLOSEST:
            state.turned = turned._replace(goal=_FINER * turned.goal)
            return Status.RUNNING
        return Status.STALLED if status is Status.CLOSED else status

    def _look(self, problem: LinearProblem, state: State) -> None:
        state.looked = problem.measures(self.model(problem, state))

    def measure(self, problem: LinearProblem, state: State) -> Measures:  # noqa: ARG002
        """Figures of the last time that the solver at work came to an end."""
        return state.looked

    def model(self, problem: LinearProblem, state: State) -> LinearModel:
        """W = X'β, or Newton's; the free intercept is that of the solver at work."""
        design = problem.design
        found: Any
        if state.turned is None:
            found = self._solver(problem, state.tol).model(state.template, state.inner)
            w = pull = design.back(found.beta)
        else:
            newton = self._newton(state, state.turned.goal)
            found = newton.model(_there(problem), state.turned.state)
            L = design.turned.X
            w = design.back(solve_triangular(L, found.w, lower=True, trans="T"))
            pull = design.back(found.beta)
        free = float(found.bias) if problem.free else 0.0
        bias = float(design.scaling * w[-1]) if design.scaling else free
        return LinearModel(
            w=w, bias=bias, beta=found.beta, outputs=design.times(w) + free, pull=pull
        )

    def explain(self, problem: LinearProblem, state: State) -> Step:
        """Describe the last unit of the solver at work."""
        if state.turned is not None:
            newton = self._newton(state, state.turned.goal)
            step: Step = newton.explain(_there(problem), state.turned.state)
            return step
        return self._solver(problem, state.tol).explain(state.template, state.inner)

    def ran(self, state: State) -> str:
        """Name pairs alone, or Newton's method after them."""
        if state.turned is None:
            return type(self).__name__
        newton = self._newton(state, state.turned.goal)
        return f"{type(self).__name__}, then {type(newton).__name__}"

    def n_iter(self, state: State) -> int:
        """Epochs of n pair steps begun, and Newton steps."""
        if state.turned is None:
            return _epochs(state)
        newton = self._newton(state, state.turned.goal)
        return _epochs(state) + int(newton.n_iter(state.turned.state))


def _epochs(state: State) -> int:
    """Epochs of n pair steps begun."""
    return -(-int(state.inner.iterations) // state.template.n)


def _there(problem: LinearProblem) -> LinearProblem:
    """The same problem with the rows of L."""
    return replace(problem, design=problem.design.turned)
