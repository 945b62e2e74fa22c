"""The problems of a fit: binary classifications, a regression or a description.

A :class:`Part` has its rows of X, makes an instance of the quadratic programme, and turns
the solver's β into the coefficients of the decision function
f(x) = Σ coef·k(x_i, x) + b and back. A machine with several classes has several parts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from maxmargin.certificate import Run, certificate_of
from maxmargin.errors import InputError, Stop
from maxmargin.kernels.gram.copies import CopiedGram
from maxmargin.solvers.base import drive
from maxmargin.solvers.distinct import Distinct
from maxmargin.solvers.follower import Follower

if TYPE_CHECKING:
    from collections.abc import Sequence

    from maxmargin._arrays import Index, Vector
    from maxmargin.certificate import Certificate
    from maxmargin.kernels.gram.contract import Gram
    from maxmargin.problem import Model, Problem
    from maxmargin.solvers.base import Observer


class Expansion(NamedTuple):
    """A decision function: one coefficient for every row of the part, and b.

    Several decision functions (all classes at once) have a column each, and as many b.
    """

    coef: Vector
    intercept: Any


@dataclass(frozen=True, eq=False)
class Part:
    """One problem of a fit.

    Parameters
    ----------
    name : str
        Its name in certificates and progress bars; may be empty.
    rows : ndarray of int
        Its rows of X, in the order of its Gram.
    weight : ndarray of shape (len(rows),)
        How often every row counts, class weights included.
    """

    name: str
    rows: Index
    weight: Vector
    follows = False  # whether the tolerance depends on the solution
    merges = True  # whether copies of a point are one variable, where the Gram knows them

    @property
    def batched(self) -> bool:
        """Whether the fast path for small problems can solve it from ``y`` and ``C``."""
        return False

    def targets(self) -> Vector:
        """Return a target per row; rows are copies only if their targets are equal."""
        return np.zeros(self.rows.size)

    def instance(self, gram: Gram, weight: Vector) -> Problem:
        """Return the quadratic programme with these weights of the rows."""
        raise NotImplementedError

    def problem(self, gram: Gram, kept: Vector | None = None) -> Problem:
        """Return the problem to be solved; rows with ``kept`` 0 get the box [0, 0]."""
        return self.instance(gram, self.weight if kept is None else self.weight * kept)

    def expansion(self, problem: Problem, model: Model) -> Expansion:  # noqa: ARG002
        """Return the decision function of a solver's model."""
        return Expansion(model.beta, model.bias)

    def restart(self, coef: Vector) -> Vector:
        """Return a β to start from: the inverse of :meth:`expansion`."""
        return coef

    def level(self, problem: Problem, model: Model) -> float:  # noqa: ARG002
        """Return |f| on the margin, in the solver's units."""
        return 1.0

    def complaint(self, problem: Problem, model: Model) -> str:  # noqa: ARG002
        """Return a warning about an optimal solution; empty for most problems."""
        return ""

    def unit(self, problem: Problem) -> float:  # noqa: ARG002
        """Return the unit of the gradient, in which ``tol`` is measured."""
        return 1.0

    def wanted(self, problem: Problem, model: Model, *, tol: float, unit: float) -> float:  # noqa: ARG002
        """Return the tolerance that a model needs, where ``follows``; at most tol."""
        return tol

    def outlives(self, problem: Problem, model: Model) -> bool:  # noqa: ARG002
        """Return whether this model also solves the problem of every larger C."""
        return False

    def margin(self, problem: Problem, model: Model) -> float:
        """Return the width of the margin, in feature space."""
        plain = model.gradient - problem.ridge * model.beta - problem.p
        norm2 = float(model.beta @ plain)
        return (
            2.0 * self.level(problem, model) / norm2**0.5 if norm2 > 0.0 else float("inf")
        )

    def certificate(self, problem: Problem, model: Model, run: Run) -> Certificate:
        """Return the certificate of a model and its run."""
        return certificate_of(problem, model, run._replace(name=self.name))

    def scores(self, problem: Problem, model: Model) -> Vector:
        """Return the decision values f at the part's own rows, from the gradient."""
        outputs = model.gradient - problem.ridge * model.beta - problem.p + model.bias
        scores: Vector = outputs[: self.rows.size]
        return scores


@dataclass(frozen=True, eq=False)
class NuPart(Part):
    """A problem without C: its coefficients add up to νN."""

    nu: float

    def unit(self, problem: Problem) -> float:
        """Return the size of the gradient, at most 1: mean weight · mean kernel value.

        Where νn < 1 it is smaller by that factor. As ``tol`` is in these units, a model
        with small weights, a small ν or small features is as exact as others.
        """
        counted = self.weight[self.weight > 0.0]
        mass = min(1.0, self.nu * counted.size) * min(1.0, float(counted.mean()))
        return mass * min(1.0, float(np.abs(problem.diagonal).mean()) or 1.0)


class Solved(NamedTuple):
    """One solved problem, without its kernel values: the next one needs the memory."""

    part: Part
    model: Model
    expansion: Expansion  # its decision function
    scores: Vector  # its values at the part's rows
    stop: Stop
    n_iter: int
    margin: float
    certificate: Certificate
    lasting: bool  # whether the model also solves the problem of every larger C
    hard: bool  # whether no error was allowed
    separating: bool  # … between classes
    complaint: str  # a warning about the solution, or empty

    @property
    def holds(self) -> bool:
        """Whether it is also the solution for every larger C."""
        # A closed gap says nothing about a problem with another C.
        return self.lasting and self.stop is Stop.CONVERGED


def solve(
    part: Part,
    gram: Gram,
    solver: Any,
    *,
    kept: Vector | None = None,
    warm: Vector | None = None,
    observers: Sequence[Observer] = (),
    counted: bool = True,
) -> Solved:
    """Solve one part.

    Parameters
    ----------
    part : Part
        The part.
    gram : Gram
        Kernel matrix of its rows.
    solver : Solver
        The solver.
    kept : ndarray of shape (len(part.rows),) or None
        0.0 for rows that are held out.
    warm : ndarray of shape (len(part.rows),) or None
        Coefficients to start from.
    observers : sequence of Observer
        Called during the run.
    counted : bool
        Whether the Gram counts kernel values of this part only; then they go into its
        certificate.
    """
    problem = part.problem(gram, kept)
    before = gram.n_kernel
    unit = part.unit(problem)
    runner: Any = solver
    if unit != 1.0 or part.follows:
        tol = unit * solver.tol
        runner = Follower(solver, tol, partial(part.wanted, tol=tol, unit=unit))
    if part.merges and isinstance(problem.gram, CopiedGram):
        runner = Distinct(runner)
    outcome = drive(
        runner,
        problem,
        warm=None if warm is None else part.restart(warm),
        observers=observers,
        name=part.name,
    )
    if outcome.stop is Stop.UNBOUNDED:
        msg = (
            "C=inf: a hard margin needs classes that can be separated, and these overlap "
            f"({part.name}): {outcome.stop.value}; use a finite C"
        )
        raise InputError(msg)
    run = Run(
        outcome.stop,
        runner.tol_at(outcome.state),
        runner.criterion,
        outcome.n_iter,
        gram.n_kernel - before if counted else 0,
        outcome.seconds,
        solver=runner.ran(outcome.state) if solver.chooses else "",
    )
    return judged(part, problem, outcome.model, run)


def judged(part: Part, problem: Problem, model: Model, run: Run) -> Solved:
    """Return a model with its certificate and figures."""
    return Solved(
        part=part,
        model=model,
        expansion=part.expansion(problem, model),
        scores=part.scores(problem, model),
        stop=run.stop,
        n_iter=run.n_iter,
        margin=part.margin(problem, model),
        certificate=part.certificate(problem, model, run),
        lasting=part.outlives(problem, model),
        hard=problem.hard,
        separating=problem.separating,
        complaint=part.complaint(problem, model),
    )
