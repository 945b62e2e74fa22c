"""Numbers: ε-SVR and ν-SVR as parts of a fit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from maxmargin.estimators.kernel.fit.parts import Expansion, Part, inside
from maxmargin.kernels.gram.twins import TwinGram
from maxmargin.problem import epsilon_svr, nu_svr

if TYPE_CHECKING:
    from maxmargin._arrays import Vector
    from maxmargin.certificate import Certificate, Run
    from maxmargin.kernels.gram.contract import Gram
    from maxmargin.problem import Model, Problem


@dataclass(frozen=True, eq=False)
class Tube(Part):
    """ε-regression on the targets ``z``."""

    z: Vector
    C: float
    epsilon: float

    def problem(self, gram: Gram, kept: Vector | None = None) -> Problem:
        """ε-SVR."""
        return epsilon_svr(gram, self.z, self._prices(self.C, kept), self.epsilon)

    def targets(self) -> Vector:
        """The numbers to be met."""
        return self.z

    def outlives(self, problem: Problem, model: Model) -> bool:
        """No |β| at C: a larger C changes nothing."""
        return inside(problem, model)


@dataclass(frozen=True, eq=False)
class NuTube(Part):
    """ν-regression on the targets ``z``: two variables for every row."""

    z: Vector
    C: float
    nu: float
    merges = False  # its matrix is that of twins

    def problem(self, gram: Gram, kept: Vector | None = None) -> Problem:
        """ν-SVR."""
        return nu_svr(TwinGram(gram), self.z, self._prices(self.C, kept), self.nu)

    def expansion(self, problem: Problem, model: Model) -> Expansion:  # noqa: ARG002
        """β = α − α*."""
        n = self.rows.size
        return Expansion(model.beta[:n] + model.beta[n:], model.bias)

    def certificate(self, problem: Problem, model: Model, run: Run) -> Certificate:
        """Support vectors are rows, not variables: at a bound when |α − α*| = C."""
        found = super().certificate(problem, model, run)
        coef, price = self.expansion(problem, model).coef, problem.upper[: self.rows.size]
        n, bound = int(np.count_nonzero(coef)), int((np.abs(coef) == price).sum())
        return replace(found, n_support=n, n_bound=bound, n_free=n - bound)

    def restart(self, coef: Vector) -> Vector:
        """α is what is positive, α* what is negative."""
        return np.concatenate([np.maximum(coef, 0.0), np.minimum(coef, 0.0)])
