"""The binary problems, regressions and descriptions a fit is made of.

A :class:`Part` knows which rows of X it is about, writes itself as an instance of the
template, and turns the solver's β into the coefficients of the decision function
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
        What it is called in certificates and progress bars; may be empty.
    rows : ndarray of int
        Its rows of X, in the order of its Gram.
    weight : ndarray of shape (len(rows),)
        How often every row counts, class weights included.
    """

    name: str
    rows: Index
    weight: Vector
    follows = False  # whether the tolerance depends on the answer
    merges = True  # whether copies of a point are one variable, where the Gram knows them

    @property
    def batched(self) -> bool:
        """Whether, if small, one compiled call can solve it from ``y`` and ``C``."""
        return False

    def targets(self) -> Vector:
        """What must be equal for equal rows to be copies: nothing, as a rule."""
        return np.zeros(self.rows.size)

    def instance(self, gram: Gram, weight: Vector) -> Problem:
        """The instance of the template, with these weights of the rows."""
        raise NotImplementedError

    def problem(self, gram: Gram, kept: Vector | None = None) -> Problem:
        """The instance to be solved; rows whose ``kept`` is 0 get the box [0, 0]."""
        return self.instance(gram, self.weight if kept is None else self.weight * kept)

    def expansion(self, problem: Problem, model: Model) -> Expansion:  # noqa: ARG002
        """The decision function of a solver's model."""
        return Expansion(model.beta, model.bias)

    def restart(self, coef: Vector) -> Vector:
        """A β to start from: the inverse of :meth:`expansion`, up to feasibility."""
        return coef

    def level(self, problem: Problem, model: Model) -> float:  # noqa: ARG002
        """|f| on the margin, in the solver's units."""
        return 1.0

    def complaint(self, problem: Problem, model: Model) -> str:  # noqa: ARG002
        """What is wrong with a solution that is one; nothing, as a rule."""
        return ""

    def unit(self, problem: Problem) -> float:  # noqa: ARG002
        """What the gradient is measured in: ``tol`` is in these units."""
        return 1.0

    def wanted(self, problem: Problem, model: Model, *, tol: float, unit: float) -> float:  # noqa: ARG002
        """The tolerance that a model asks for, where ``follows``; never more than tol."""
        return tol

    def outlives(self, problem: Problem, model: Model) -> bool:  # noqa: ARG002
        """Whether this model of a problem also solves that of every larger C."""
        return False

    def margin(self, problem: Problem, model: Model) -> float:
        """Width of the margin, in feature space."""
        plain = model.gradient - problem.ridge * model.beta - problem.p
        norm2 = float(model.beta @ plain)
        return (
            2.0 * self.level(problem, model) / norm2**0.5 if norm2 > 0.0 else float("inf")
        )

    def certificate(self, problem: Problem, model: Model, run: Run) -> Certificate:
        """How good a model is, and how it was found."""
        return certificate_of(problem, model, run._replace(name=self.name))

    def scores(self, problem: Problem, model: Model) -> Vector:
        """Decision values f at the part's own rows, from the gradient."""
        outputs = model.gradient - problem.ridge * model.beta - problem.p + model.bias
        scores: Vector = outputs[: self.rows.size]
        return scores


@dataclass(frozen=True, eq=False)
class NuPart(Part):
    """A problem without C: its coefficients add up to νN."""

    nu: float

    def unit(self, problem: Problem) -> float:
        """The size of the gradient, at most 1: a mean weight times a mean kernel value.

        Times less where νn < 1. ``tol`` is in these units, so that small weights, a small
        ν or small features leave a model as exact as others are.
        """
        counted = self.weight[self.weight > 0.0]
        mass = min(1.0, self.nu * counted.size) * min(1.0, float(counted.mean()))
        return mass * min(1.0, float(np.abs(problem.diagonal).mean()) or 1.0)


class Solved(NamedTuple):
    """The end of one problem: all that is wanted of it, but not its kernel values.

    Those may fill the memory, which the next problem needs.
    """

    part: Part
    model: Model
    expansion: Expansion  # its decision function
    scores: Vector  # which has these values at the part's rows
    stop: Stop
    n_iter: int
    margin: float
    certificate: Certificate
    lasting: bool  # whether the model also solves the problem of every larger C
    hard: bool  # whether no error was allowed
    separating: bool  # … between classes
    complaint: str  # what is wrong with it, if anything

    @property
    def holds(self) -> bool:
        """Whether it is the answer for every larger C."""
        # A closed gap says nothing of a problem with another C.
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
        What.
    gram : Gram
        Kernel matrix of its rows.
    solver : Solver
        How.
    kept : ndarray of shape (len(part.rows),) or None
        0.0 for rows that are held out.
    warm : ndarray of shape (len(part.rows),) or None
        Coefficients to go on from.
    observers : sequence of Observer
        Who watches.
    counted : bool
        Whether the Gram's counter is this part's alone, and goes into its certificate.
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
    """A model with its certificate."""
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
