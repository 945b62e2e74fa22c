"""The binary problems, regressions and descriptions a fit is made of.

A :class:`Part` knows which rows of X it is about, writes itself as an instance of the
template, and turns the solver's β into the coefficients of the decision function
f(x) = Σ coef·k(x_i, x) + b and back. A machine with several classes has several parts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from maxmargin.certificate import certificate_of
from maxmargin.errors import InputError, Stop
from maxmargin.kernels.twins import TwinGram
from maxmargin.problem import c_svc, epsilon_svr, nu_svc, nu_svr, one_class, svdd
from maxmargin.solvers.base import drive

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from maxmargin.certificate import Certificate
    from maxmargin.kernels.base import Gram
    from maxmargin.problem import Model, Problem
    from maxmargin.solvers.base import Observer, Solver

    Vector = NDArray[np.float64]
    Index = NDArray[np.intp]

__all__ = [
    "Ball",
    "Expansion",
    "Margin",
    "NuMargin",
    "NuTube",
    "Part",
    "Solved",
    "Support",
    "Tube",
    "judged",
    "largest_nu",
    "solve",
]


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

    def problem(self, gram: Gram, kept: Vector | None = None) -> Problem:
        """The instance of the template; rows whose ``kept`` is 0 get the box [0, 0]."""
        raise NotImplementedError

    def expansion(self, model: Model) -> Expansion:
        """The decision function of a solver's model."""
        return Expansion(model.beta, model.bias)

    def restart(self, coef: Vector) -> Vector:
        """A β to start from: the inverse of :meth:`expansion`, up to feasibility."""
        return coef

    def level(self, model: Model) -> float:  # noqa: ARG002
        """|f| on the margin, in the solver's units."""
        return 1.0

    def outlives(self, problem: Problem, model: Model) -> bool:  # noqa: ARG002
        """Whether this model of a problem also solves that of every larger C."""
        return False

    def counts(
        self,
        problem: Problem,  # noqa: ARG002
        model: Model,  # noqa: ARG002
    ) -> tuple[int, int] | None:
        """Support vectors, all and at a bound; None: those of the solver's β."""
        return None

    def margin(self, problem: Problem, model: Model) -> float:
        """Width of the margin, in feature space."""
        plain = model.gradient - problem.ridge * model.beta - problem.p
        norm2 = float(model.beta @ plain)
        return 2.0 * self.level(model) / norm2**0.5 if norm2 > 0.0 else float("inf")

    def certificate(self, problem: Problem, model: Model, **run: Any) -> Certificate:
        """How good a model is, and what is known of the run that found it."""
        counts = self.counts(problem, model)
        return certificate_of(problem, model, counts=counts, name=self.name, **run)

    def scores(self, problem: Problem, model: Model) -> Vector:
        """Decision values f at the part's own rows, from the gradient."""
        outputs = model.gradient - problem.ridge * model.beta - problem.p + model.bias
        scores: Vector = outputs[: self.rows.size]
        return scores

    def _weights(self, kept: Vector | None) -> Vector:
        return self.weight if kept is None else self.weight * kept

    def _prices(self, C: float, kept: Vector | None) -> Vector:
        weight = self._weights(kept)
        # inf·0 is no price: a row without weight costs nothing
        return np.multiply(C, weight, out=np.zeros_like(weight), where=weight > 0.0)


@dataclass(frozen=True, eq=False)
class Margin(Part):
    """C-SVC between two groups of rows, ``y`` = −1.0 or +1.0."""

    y: Vector
    C: float
    squared: bool = False
    fit_intercept: bool = True

    def problem(self, gram: Gram, kept: Vector | None = None) -> Problem:
        """C-SVC."""
        return c_svc(
            gram,
            self.y,
            self._prices(self.C, kept),
            squared=self.squared,
            fit_intercept=self.fit_intercept,
        )

    def outlives(self, problem: Problem, model: Model) -> bool:
        """No α at C: a larger C changes nothing."""
        return not self.squared and _inside(problem, model)


@dataclass(frozen=True, eq=False)
class NuMargin(Part):
    """ν-SVC between two groups of rows; its model is divided by ρ, as LIBSVM's is."""

    y: Vector
    nu: float

    def problem(self, gram: Gram, kept: Vector | None = None) -> Problem:
        """ν-SVC."""
        weight = self._weights(kept)
        nu = self.nu if kept is None else min(self.nu, largest_nu(self.y, weight))
        return nu_svc(gram, self.y, weight, nu)

    def expansion(self, model: Model) -> Expansion:
        """The model in units of its margin: y·f = 1 on it."""
        rho = self.level(model)
        return Expansion(model.beta / rho, model.bias / rho)

    def restart(self, coef: Vector) -> Vector:
        """Σ|β| = νN tells by which ρ the coefficients were divided."""
        size = float(np.abs(coef).sum())
        return coef * (self.nu * float(self.weight.sum()) / size) if size else coef

    def scores(self, problem: Problem, model: Model) -> Vector:
        """Decision values f at the part's own rows, in units of the margin."""
        return super().scores(problem, model) / self.level(model)

    def level(self, model: Model) -> float:
        """ρ, which must not vanish."""
        rho = -model.split
        if rho > 0.0:
            return rho
        msg = (
            f"nu={self.nu:g} is too small for these data: the margin of "
            f"{self.name or 'the classes'} vanishes, for they overlap by more than that "
            "fraction; raise nu, or use a kernel that tells them apart (a larger gamma)"
        )
        raise InputError(msg)


def largest_nu(y: Vector, weight: Vector) -> float:
    """The largest ν for which either class can carry νN/2."""
    positive = float(weight[y > 0.0].sum())
    total = float(weight.sum())
    return 2.0 * min(positive, total - positive) / total


@dataclass(frozen=True, eq=False)
class Tube(Part):
    """ε-regression on the targets ``z``."""

    z: Vector
    C: float
    epsilon: float

    def problem(self, gram: Gram, kept: Vector | None = None) -> Problem:
        """ε-SVR."""
        return epsilon_svr(gram, self.z, self._prices(self.C, kept), self.epsilon)

    def outlives(self, problem: Problem, model: Model) -> bool:
        """No |β| at C: a larger C changes nothing."""
        return _inside(problem, model)


@dataclass(frozen=True, eq=False)
class NuTube(Part):
    """ν-regression on the targets ``z``: two variables for every row."""

    z: Vector
    C: float
    nu: float

    def problem(self, gram: Gram, kept: Vector | None = None) -> Problem:
        """ν-SVR."""
        return nu_svr(TwinGram(gram), self.z, self._prices(self.C, kept), self.nu)

    def expansion(self, model: Model) -> Expansion:
        """β = α − α*."""
        n = self.rows.size
        return Expansion(model.beta[:n] + model.beta[n:], model.bias)

    def counts(self, problem: Problem, model: Model) -> tuple[int, int]:
        """Rows, not variables: at a bound when |α − α*| = C."""
        coef, price = self.expansion(model).coef, problem.upper[: self.rows.size]
        return int(np.count_nonzero(coef)), int((np.abs(coef) == price).sum())

    def restart(self, coef: Vector) -> Vector:
        """α is what is positive, α* what is negative."""
        return np.concatenate([np.maximum(coef, 0.0), np.minimum(coef, 0.0)])


@dataclass(frozen=True, eq=False)
class Support(Part):
    """The one-class machine."""

    nu: float

    def problem(self, gram: Gram, kept: Vector | None = None) -> Problem:
        """One-class SVM."""
        return one_class(gram, self._weights(kept), self.nu)


@dataclass(frozen=True, eq=False)
class Ball(Part):
    """SVDD; its coefficients are the centre's, Σα = 1."""

    nu: float

    @property
    def mass(self) -> float:
        """M = νN, the sum of the problem's β."""
        return self.nu * float(self.weight.sum())

    def problem(self, gram: Gram, kept: Vector | None = None) -> Problem:
        """SVDD."""
        return svdd(gram, self._weights(kept), self.nu)

    def expansion(self, model: Model) -> Expansion:
        """The centre a = Σα·φ(x_i); for the intercept see :meth:`radius2`."""
        return Expansion(model.beta / self.mass, model.bias)

    def restart(self, coef: Vector) -> Vector:
        """β = Mα."""
        return coef * self.mass

    def radius2(self, problem: Problem, model: Model) -> tuple[float, float]:
        """R² = ‖a‖² + 2b/M, and ‖a‖²."""
        # M may be as small as ν: its square may vanish
        alpha = model.beta / self.mass
        centre2 = float(alpha @ (model.gradient - problem.p)) / self.mass
        return max(0.0, centre2 + 2.0 * model.bias / self.mass), centre2


def _inside(problem: Problem, model: Model) -> bool:
    """Whether no coefficient but 0 is at a bound."""
    bound = (model.beta == problem.lower) | (model.beta == problem.upper)
    return not bool((bound & (model.beta != 0.0)).any())


class Solved(NamedTuple):
    """The end of one problem."""

    part: Part
    problem: Problem
    model: Model
    stop: Stop
    n_iter: int
    margin: float
    certificate: Certificate

    @property
    def expansion(self) -> Expansion:
        """Its decision function."""
        return self.part.expansion(self.model)


def solve(
    part: Part,
    gram: Gram,
    solver: Solver,
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
    outcome = drive(
        solver,
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
    return judged(
        part,
        problem,
        outcome.model,
        solver,
        stop=outcome.stop,
        n_iter=outcome.n_iter,
        n_kernel=gram.n_kernel - before if counted else 0,
        seconds=outcome.seconds,
    )


def judged(
    part: Part,
    problem: Problem,
    model: Model,
    solver: Solver,
    *,
    stop: Stop,
    n_iter: int = 0,
    n_kernel: int = 0,
    seconds: float = 0.0,
) -> Solved:
    """A model with its certificate."""
    return Solved(
        part=part,
        problem=problem,
        model=model,
        stop=stop,
        n_iter=n_iter,
        margin=part.margin(problem, model),
        certificate=part.certificate(
            problem,
            model,
            tol=solver.tol,
            criterion=solver.criterion,
            stop=stop.value,
            n_iter=n_iter,
            n_kernel=n_kernel,
            seconds=seconds,
        ),
    )
