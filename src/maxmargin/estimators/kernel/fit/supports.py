"""Rows without labels: the one-class machine and SVDD as parts of a fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from maxmargin.estimators.kernel.fit.parts import Expansion, NuPart
from maxmargin.problem import one_class, svdd

if TYPE_CHECKING:
    from maxmargin._arrays import Vector
    from maxmargin.kernels.gram.contract import Gram
    from maxmargin.problem import Model, Problem


@dataclass(frozen=True, eq=False)
class Support(NuPart):
    """The one-class machine."""

    def problem(self, gram: Gram, kept: Vector | None = None) -> Problem:
        """One-class SVM."""
        return one_class(gram, self._weights(kept), self.nu)


@dataclass(frozen=True, eq=False)
class Ball(NuPart):
    """SVDD; its coefficients are the centre's, Σα = 1."""

    @property
    def mass(self) -> float:
        """M = νN, the sum of the problem's β."""
        return self.nu * float(self.weight.sum())

    def problem(self, gram: Gram, kept: Vector | None = None) -> Problem:
        """SVDD."""
        return svdd(gram, self._weights(kept), self.nu)

    def expansion(self, problem: Problem, model: Model) -> Expansion:  # noqa: ARG002
        """The centre a = Σα·φ(x_i); for the intercept see :meth:`radius2`."""
        return Expansion(model.beta / self.mass, model.bias)

    def restart(self, coef: Vector) -> Vector:
        """β = Mα."""
        return coef * self.mass

    def radius2(self, model: Model, scores: Vector) -> tuple[float, float]:
        """R² = ‖a‖² + 2b/M, and ‖a‖² = α·Kα, from the scores Kβ + b."""
        # M may be as small as ν: its square may vanish
        alpha = model.beta / self.mass
        centre2 = float(alpha @ (scores - model.bias)) / self.mass
        return max(0.0, centre2 + 2.0 * model.bias / self.mass), centre2
