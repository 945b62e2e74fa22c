r"""Lagrange multipliers: S1's and S4's worked examples, solved as one linear system.

For :math:`f(x) = \tfrac12 x^\top Q x + c^\top x + k` on the line :math:`h(x) = a^\top x -
d = 0`, the Lagrangian :math:`L(x, \lambda) = f(x) + \lambda h(x)` is stationary where

.. math:: \begin{pmatrix} Q & a \\ a^\top & 0\end{pmatrix}
          \begin{pmatrix} x \\ \lambda\end{pmatrix} =
          \begin{pmatrix} -c \\ d\end{pmatrix},

that is, :math:`\nabla f = -\lambda\nabla h`: the two gradients are parallel, and the
level line of f touches the constraint. S1 calls the multiplier β, S4 λ.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike

    from maxmargin._arrays import Vector


class Stationary(NamedTuple):
    """A stationary point of the Lagrangian, its multiplier and f there."""

    x: Vector
    multiplier: float
    value: float


@dataclass(frozen=True)
class LagrangeExample:
    """A quadratic function of two variables on a line.

    Parameters
    ----------
    source : str
        The seed of the example.
    words : str
        The problem in one line.
    quadratic, linear, constant : nested tuples of float, and float
        Q, c and k of f.
    normal, offset : tuple of float, float
        a and d of the constraint.
    variable : str
        The seed's name of the unknown: ``"w"`` or ``"x"``.

    Examples
    --------
    >>> found = LAGRANGE["S1"].solve()
    >>> found.x.tolist(), found.multiplier, found.value
    ([-0.5, 0.5], -1.0, 0.5)
    """

    source: str
    words: str
    quadratic: tuple[tuple[float, float], tuple[float, float]]
    normal: tuple[float, float]
    offset: float
    linear: tuple[float, float] = (0.0, 0.0)
    constant: float = 0.0
    variable: str = "x"

    def f(self, x: ArrayLike) -> Vector:
        """Return the function; the last axis of x has the two variables."""
        at = np.asarray(x, np.float64)
        curved = 0.5 * np.einsum("...i,ij,...j->...", at, np.array(self.quadratic), at)
        return np.asarray(curved + at @ np.array(self.linear) + self.constant)

    def h(self, x: ArrayLike) -> Vector:
        """Return the constraint, which must be 0."""
        at = np.asarray(x, np.float64)
        return np.asarray(at @ np.array(self.normal) - self.offset)

    def gradient(self, x: ArrayLike) -> Vector:
        """Return ∇f = Qx + c."""
        at = np.asarray(x, np.float64)
        return np.asarray(at @ np.array(self.quadratic) + np.array(self.linear))

    def lagrangian(self, x: ArrayLike, multiplier: float) -> Vector:
        """Return L = f + multiplier·h."""
        return np.asarray(self.f(x) + multiplier * self.h(x))

    def solve(self) -> Stationary:
        """Return the stationary point of the Lagrangian, from the linear system above."""
        system = np.zeros((3, 3))
        system[:2, :2] = self.quadratic
        system[:2, 2] = system[2, :2] = self.normal
        right = np.array([-self.linear[0], -self.linear[1], self.offset])
        found = np.linalg.solve(system, right)
        return Stationary(found[:2], float(found[2]), float(self.f(found[:2])))


LAGRANGE: Mapping[str, LagrangeExample] = {
    "S1": LagrangeExample(
        source="S1",
        words="minimise w₁² + w₂² on w₂ = w₁ + 1",
        quadratic=((2.0, 0.0), (0.0, 2.0)),
        normal=(-1.0, 1.0),
        offset=1.0,
        variable="w",
    ),
    "S4": LagrangeExample(
        source="S4",
        words="maximise 1 − x₁² − x₂² on x₁ + x₂ = 1",
        quadratic=((-2.0, 0.0), (0.0, -2.0)),
        normal=(1.0, 1.0),
        offset=1.0,
        constant=1.0,
    ),
}
