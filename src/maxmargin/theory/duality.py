r"""Lagrange duality: S1's two worked examples, one without and one with a gap.

Both minimise :math:`f(w) = w_1^2 + w_2^2` over the square [−2, 2]² where
:math:`g(w)\le0`:

1. :math:`g = 1 - w_2`, convex: p* = 1 at (0, 1); :math:`\theta_D(\alpha) = \alpha -
   \alpha^2/4`, so d* = 1 at α = 2, and the gap is 0.
2. :math:`g = -w_2 - \tfrac12w_1^4 + w_1^2 + 1`, not convex: p* = 1 again, but for α ≥ 1
   the Lagrangian is least at :math:`w_1=\pm2`, :math:`\theta_D = 4 - 3\alpha -
   \alpha^2/4`; d* = ¾ at α = 1, and the gap is ¼. S1 prints the exponent of
   :math:`\tfrac12w_1^4` as 2, which would make g convex and contradict its own
   derivatives; it computes with the fourth power.

Here :math:`\theta_D(\alpha) = \min_w f(w) + \alpha g(w)` and all that follows from it is
found numerically, by a grid over the square and a local search from every local minimum
of the grid. The formulas above are not used: the tests compare with them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.optimize import minimize, minimize_scalar

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import ArrayLike

    from maxmargin._arrays import Vector

_SIDE = 2.0  # of the square [−2, 2]²
_POINTS = 81  # of the grid along each axis; odd, so that 0 is among them
_STARTS = 8  # local searches, at most
_SAME = 1e-6  # rounding: minima nearer than this to the least one are minimisers too
_FEASIBLE = 1e-9  # rounding: a larger g is a violation


class Primal(NamedTuple):
    """The least f where g ≤ 0, and its place."""

    value: float
    w: Vector


class Dual(NamedTuple):
    """The largest θ_D, its α, and every w at which f + αg is least there."""

    value: float
    alpha: float
    minimisers: Vector


def _convex(w1: Any, w2: Any) -> Any:
    return 1.0 - w2 + 0.0 * w1


def _quartic(w1: Any, w2: Any) -> Any:
    return -w2 - 0.5 * w1**4 + w1**2 + 1.0


@dataclass(frozen=True)
class DualityExample:
    """Minimise w₁² + w₂² over [−2, 2]² where g(w) ≤ 0.

    Parameters
    ----------
    words : str
        The problem in one line.
    constraint : callable
        g(w₁, w₂), of arrays.

    Examples
    --------
    >>> example = DUALITY[1]
    >>> round(example.primal.value, 6), round(example.dual.value, 6)
    (1.0, 1.0)
    """

    words: str
    constraint: Callable[[Any, Any], Any]

    def f(self, w1: ArrayLike, w2: ArrayLike) -> Vector:
        """Return w₁² + w₂²."""
        return np.square(np.asarray(w1, np.float64)) + np.square(w2)

    def g(self, w1: ArrayLike, w2: ArrayLike) -> Vector:
        """Return the constraint, which must be at most 0."""
        return np.asarray(
            self.constraint(np.asarray(w1, np.float64), np.asarray(w2, np.float64))
        )

    def image(self, points: int = _POINTS) -> tuple[Vector, Vector]:
        """Return (g, f) of a grid over the square, as S1 draws it."""
        w1, w2 = _grid(points)
        return self.g(w1, w2), self.f(w1, w2)

    def theta(self, alpha: float) -> float:
        """Return θ_D(α), the least f + αg over the square."""
        return self._minima(alpha)[0][0]

    @cached_property
    def primal(self) -> Primal:
        """The minimum p*, and w*."""
        w1, w2 = _grid(_POINTS)
        values = np.where(self.g(w1, w2) <= 0.0, self.f(w1, w2), np.inf)
        found = []
        for start in _local_minima(w1, w2, values):
            end = minimize(
                lambda w: float(self.f(*w)),
                start,
                method="SLSQP",
                bounds=[(-_SIDE, _SIDE)] * 2,
                constraints={"type": "ineq", "fun": lambda w: -float(self.g(*w))},
                options={"ftol": 1e-14, "maxiter": 200},
            )
            # a search may leave the feasible region
            w = end.x if float(self.g(*end.x)) <= _FEASIBLE else start
            found.append(Primal(float(self.f(*w)), w))
        return min(found, key=lambda one: one.value)

    @cached_property
    def dual(self) -> Dual:
        """The maximum d* of the concave θ_D, by a line search; α* and the minimisers."""
        end = minimize_scalar(
            lambda alpha: -self.theta(alpha),
            bounds=(0.0, self.steepest),
            method="bounded",
            options={"xatol": 1e-9},
        )
        alpha = float(end.x)
        minima = self._minima(alpha)
        # at a kink of θ_D there are several minimisers, and the search ends beside it
        near = [w for value, w in minima if value <= minima[0][0] + _SAME]
        return Dual(minima[0][0], alpha, np.array(near))

    @cached_property
    def steepest(self) -> float:
        """A bound on α*: the least (f(w) − θ_D(0))/(−g(w)) of all w with g(w) < 0.

        It follows from θ_D(0) ≤ d* ≤ f(w) + α*g(w).
        """
        w1, w2 = _grid(_POINTS)
        f, g = self.f(w1, w2), self.g(w1, w2)
        inside = g < 0.0
        return float(((f[inside] - self.theta(0.0)) / -g[inside]).min())

    @property
    def gap(self) -> float:
        """p* − d*, which is not negative but for rounding."""
        return self.primal.value - self.dual.value

    def _minima(self, alpha: float) -> list[tuple[float, Vector]]:
        """Return the local minima of f + αg, the least first."""

        def lagrangian(w: Any) -> float:
            return float(self.f(*w) + alpha * self.g(*w))

        w1, w2 = _grid(_POINTS)
        found = []
        for start in _local_minima(w1, w2, self.f(w1, w2) + alpha * self.g(w1, w2)):
            end = minimize(
                lagrangian, start, method="L-BFGS-B", bounds=[(-_SIDE, _SIDE)] * 2,
                options={"ftol": 1e-15, "gtol": 1e-10},
            )  # fmt: skip
            found.append((lagrangian(end.x), end.x))
        return sorted(found, key=lambda one: one[0])


def _grid(points: int) -> tuple[Vector, Vector]:
    axis = np.linspace(-_SIDE, _SIDE, points)
    w1, w2 = np.meshgrid(axis, axis, indexing="ij")
    return w1, w2


def _local_minima(w1: Vector, w2: Vector, values: Vector) -> Vector:
    """Return grid points no higher than their eight neighbours, the lowest first."""
    padded = np.pad(values, 1, constant_values=np.inf)
    rows, cols = values.shape
    neighbours = [
        padded[1 + i : 1 + i + rows, 1 + j : 1 + j + cols]
        for i in (-1, 0, 1)
        for j in (-1, 0, 1)
        if (i, j) != (0, 0)
    ]
    lowest = np.isfinite(values) & (values <= np.minimum.reduce(neighbours))
    at = np.flatnonzero(lowest)
    at = at[np.argsort(values.ravel()[at], kind="stable")][:_STARTS]
    return np.column_stack([w1.ravel()[at], w2.ravel()[at]])


DUALITY: Mapping[int, DualityExample] = {
    1: DualityExample("minimise w₁² + w₂² where w₂ ≥ 1", _convex),
    2: DualityExample("minimise w₁² + w₂² where w₂ ≥ 1 + w₁² − ½w₁⁴", _quartic),
}
