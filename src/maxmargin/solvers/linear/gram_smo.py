r"""The kernel solver on a linear machine: where columns are many and rows are few.

Problem: any :class:`~maxmargin.problem.LinearProblem` with the penalty ½‖w‖², written as
the template with :math:`K = XX^\top + s^2` (s² from the constant column, 0 without one).

Update: that of :class:`~maxmargin.solvers.WorkingSetSmo`, whose tolerance bounds the
violation. When it holds, or at the iteration limit, w = X'β and the duality gap are
computed; while the gap is too large, the run goes on with a tenth of the tolerance.

Stop: relative duality gap ≤ tol.

Cost: that of the kernel solver: n² products of rows at most, and one pass over the rows
for every gap.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.errors import InputError
from maxmargin.kernels.factory import training_gram
from maxmargin.kernels.table import TableGram
from maxmargin.kernels.vector import Linear, Polynomial
from maxmargin.problem import LinearModel, LinearProblem, Problem
from maxmargin.solvers.base import Measures, Status, Steppable
from maxmargin.solvers.working_set import WorkingSetSmo

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin.design import Design
    from maxmargin.solvers.step import Step

    Vector = NDArray[np.float64]

__all__ = ["GramSmo"]

_FIRST = 1e-2  # violation to begin with
_FINER = 0.1
_LEAST = 1e-10  # beyond which rounding decides


@dataclass(slots=True)
class State:
    """The template, the kernel solver's state, and its tolerance now."""

    template: Problem
    inner: Any
    tol: float
    looked: Measures


@dataclass(frozen=True)
class GramSmo(Steppable):
    """SMO on the products of all rows.

    Parameters
    ----------
    tol : float
        Relative duality gap accepted.
    max_iter : int
        Epochs of n pair steps at most; −1 for 10⁷ steps, or 100 epochs if that is more.
    cache_bytes : int
        Memory for products of rows.
    """

    tol: float = 1e-4
    max_iter: int = -1
    cache_bytes: int = 200 << 20
    criterion = "relative_gap"
    unit = "slice"

    def start(self, problem: LinearProblem, warm: Vector | None = None) -> State:
        """That of the kernel solver."""
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
        inner = self._solver(problem, _FIRST).start(template, warm)
        return State(template, inner, _FIRST, Measures(np.inf, -np.inf, np.inf))

    def _gram(self, design: Design) -> Any:
        """All products where they fit into memory, else a kernel that makes them."""
        if design.n**2 * 8 <= self.cache_bytes:
            return TableGram(design.products)
        kernel: Any = Linear()
        if design.scaling:
            kernel = Polynomial(1, 1.0, design.scaling**2)
        return training_gram(kernel, design.X, workers=design.workers)

    def _solver(self, problem: LinearProblem, tol: float) -> WorkingSetSmo:
        limit = self.max_iter * problem.n if self.max_iter > 0 else self.max_iter
        return WorkingSetSmo(tol, limit, self.cache_bytes)

    def advance(self, problem: LinearProblem, state: State, budget: int) -> Status:
        """At most ``budget`` units of the kernel solver."""
        for _ in range(budget):
            solver = self._solver(problem, state.tol)
            status = solver.advance(state.template, state.inner, 1)
            if status is Status.RUNNING:
                continue
            # At a limit too: the gap may be small before the violation is.
            state.looked = Measures.of_linear(problem, self.model(problem, state))
            if state.looked.relative_gap <= self.tol:
                return Status.CLOSED
            if status is not Status.CONVERGED:
                return status
            if state.tol <= _LEAST:
                return Status.STALLED
            state.tol *= _FINER
        return Status.RUNNING

    def measure(self, problem: LinearProblem, state: State) -> Measures:  # noqa: ARG002
        """Figures of the last time that the kernel solver came to an end."""
        return state.looked

    def model(self, problem: LinearProblem, state: State) -> LinearModel:
        """W = X'β; the free intercept is the template's."""
        design = problem.design
        found = self._solver(problem, state.tol).model(state.template, state.inner)
        w = design.back(found.beta)
        bias = design.scaling * w[-1] if design.scaling else 0.0
        return LinearModel(
            w=w,
            bias=float(found.bias if problem.free else bias),
            beta=found.beta,
            outputs=design.times(w) + (found.bias if problem.free else 0.0),
            pull=w,
        )

    def explain(self, problem: LinearProblem, state: State) -> Step:
        """What the kernel solver did."""
        return self._solver(problem, state.tol).explain(state.template, state.inner)

    def n_iter(self, state: State) -> int:
        """Epochs of n pair steps, begun."""
        return -(-int(state.inner.iterations) // state.template.n)
