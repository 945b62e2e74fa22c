"""Two classes: C-SVC and ν-SVC as parts of a fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from maxmargin.estimators.kernel.fit.parts import Expansion, NuPart, Part, inside
from maxmargin.problem import c_svc, nu_svc

if TYPE_CHECKING:
    from maxmargin._arrays import Vector
    from maxmargin.kernels.gram.contract import Gram
    from maxmargin.problem import Model, Problem


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
        return not self.squared and inside(problem, model)


_VANISHED = 1e-3  # a margin of less than this, in units of the gradient, is none


@dataclass(frozen=True, eq=False)
class NuMargin(NuPart):
    """ν-SVC between two groups of rows; its model is divided by ρ, as LIBSVM's is."""

    y: Vector
    follows = True

    def problem(self, gram: Gram, kept: Vector | None = None) -> Problem:
        """ν-SVC."""
        weight = self._weights(kept)
        nu = self.nu if kept is None else min(self.nu, largest_nu(self.y, weight))
        return nu_svc(gram, self.y, weight, nu)

    def wanted(self, problem: Problem, model: Model, *, tol: float, unit: float) -> float:  # noqa: ARG002
        """``tol`` holds before the division by ρ, and after it where ρ is small."""
        return tol * min(1.0, max(_VANISHED, -model.split / unit))

    def complaint(self, problem: Problem, model: Model) -> str:
        """Say when the margin vanishes."""
        if self._resolved(problem, model):
            return ""
        return (
            f"nu={self.nu:g} is too small for these data: the margin of "
            f"{self.name or 'the classes'} vanishes, for they overlap by more than that "
            "fraction, and decisions are noise; raise nu, or use a kernel that tells "
            "them apart (a larger gamma)"
        )

    def _resolved(self, problem: Problem, model: Model) -> bool:
        return -model.split > _VANISHED * self.unit(problem)

    def level(self, problem: Problem, model: Model) -> float:
        """ρ; where there is none, the least that would count."""
        rho = -model.split
        return rho if rho > 0.0 else _VANISHED * self.unit(problem)

    def expansion(self, problem: Problem, model: Model) -> Expansion:
        """The model in units of its margin: y·f = 1 on it."""
        rho = self.level(problem, model)
        return Expansion(model.beta / rho, model.bias / rho)

    def restart(self, coef: Vector) -> Vector:
        """Σ|β| = νN tells by which ρ the coefficients were divided."""
        size = float(np.abs(coef).sum())
        if size == 0.0:
            return coef
        beta = coef * (self.nu * float(self.weight.sum()) / size)
        # What rounding has kept from its bound would count as free.
        bound = np.abs(np.abs(beta) - self.weight) <= 1e-12 * self.weight
        return np.where(bound, np.copysign(self.weight, beta), beta)

    def scores(self, problem: Problem, model: Model) -> Vector:
        """Decision values in units of the margin, or of the least one that counts.

        So the folds of a calibration stay comparable where one of them has none.
        """
        least = _VANISHED * self.unit(problem)
        return super().scores(problem, model) / max(-model.split, least)


def largest_nu(y: Vector, weight: Vector) -> float:
    """The largest ν for which either class can carry νN/2."""
    positive = float(weight[y > 0.0].sum())
    total = float(weight.sum())
    return 2.0 * min(positive, total - positive) / total
