r"""The losses of linear machines: ours once more, and others from their records.

A loss from outside is a record :math:`\varphi` in ``maxmargin.losses.LOSSES``, a function
of the margin :math:`m = yf(x)`. With :math:`a_i = y_i\beta_i/C_i` a point

.. math:: \text{costs}\ C_i\,\varphi(m_i)\qquad\text{and brings}\
          -C_i\,\varphi^*(-a_i) = -C_i\sup_m(-a_im - \varphi(m))

to the dual, minus infinity outside of :math:`0\le a_i\le` ``top``; it is optimal when
:math:`a_i = -\varphi'(m_i)`. Its residual is, in the units of the machine's own
certificate,

- of a loss that is the conjugate of a box, the error of its margin, as for the hinge;
- of any other loss with a curvature, :math:`|a_i + \varphi'(m_i)|`;
- of any other, its share of the gap, :math:`\varphi(m_i) + \varphi^*(-a_i) + a_im_i`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from maxmargin._referee.certification import Task
from maxmargin._referee.optimality import Box
from maxmargin._referee.tables import require
from maxmargin.errors import InputError
from maxmargin.losses import LOSSES

if TYPE_CHECKING:
    from collections.abc import Callable

    from maxmargin._arrays import Vector
    from maxmargin._referee.certification import Machine
    from maxmargin.losses import MarginLoss

SLOP = 1e-9  # rounding: relative, within which a β is at its bound, and a sum is 0
_SQUARED = {
    Task.CLASSIFY: {"hinge": False, "squared_hinge": True},
    Task.REGRESS: {"epsilon_insensitive": False, "squared_epsilon_insensitive": True},
}


class Hinge(NamedTuple):
    """The hinge of a classifier, or on either side the tube of a regression."""

    y: Vector  # ±1, or targets
    C: Vector  # price of every row
    squared: bool  # β then has no bound: every point with β ≠ 0 has slack
    regression: bool
    epsilon: float

    def slack(self, f: Vector) -> Vector:
        """The cost of every row, before its price."""
        y, tube = self.y, self.regression
        return np.maximum(np.abs(y - f) - self.epsilon if tube else 1.0 - y * f, 0.0)

    def paid(self, slack: Vector) -> float:
        """The cost of all rows."""
        return float(self.C @ (slack**2 if self.squared else slack))

    def response(self, f: Vector) -> Vector | None:
        """The β that f asks for, where there is only one."""
        sign = np.sign(self.y - f) if self.regression else self.y
        return 2.0 * self.C * sign * self.slack(f) if self.squared else None

    def promised(self, beta: Vector) -> tuple[float, float]:
        """Share of β in the dual: a linear part, and a quadratic one to take off."""
        linear = float(self.y @ beta) - self.epsilon * float(np.abs(beta).sum())
        some = (self.C > 0.0) & self.squared
        return linear, float((beta[some] ** 2 / (4.0 * self.C[some])).sum())

    def shrunk(self, beta: Vector, most: float) -> float:
        """Share of the best multiple of β in the dual, up to ``most`` times β."""
        linear, curved = self.promised(beta)
        fit = max(0.0, min(most, linear / (2.0 * curved) if curved > 0.0 else 0.0))
        return fit * linear - fit * fit * curved

    def box(self, beta: Vector) -> Box:
        """The size of every β, and its bound."""
        top = np.where(self.C > 0.0, np.inf, 0.0) if self.squared else self.C
        amount = np.abs(beta) if self.regression else self.y * beta
        return Box.of(amount, top, self.C, SLOP)

    def residual(self, f: Vector, beta: Vector) -> Vector:
        """How far every row misses its own condition."""
        ridge = np.zeros(f.size)
        if self.squared:
            np.divide(0.5, self.C, out=ridge, where=self.C > 0.0)
        F = f - self.y + ridge * beta
        up = F + np.where(beta >= 0.0, self.epsilon, -self.epsilon)
        down = F + np.where(beta > 0.0, self.epsilon, -self.epsilon)
        box = self.box(beta)
        free = box.amount < box.top
        if self.regression:  # at a bound there is one way back
            rises, falls = free | (beta < 0.0), free | (beta > 0.0)
        else:
            rises = np.where(self.y > 0.0, free, box.used)
            falls = np.where(self.y > 0.0, box.used, free)
        wrong = np.maximum(np.where(rises, -up, 0.0), np.where(falls, down, 0.0))
        return np.maximum(wrong, 0.0)


class Recorded(NamedTuple):
    """A loss from outside, by its record; the methods are those of :class:`Hinge`."""

    y: Vector
    C: Vector
    record: MarginLoss
    squared: bool = False
    epsilon: float = 0.0

    def slack(self, f: Vector) -> Vector:
        return np.asarray(self.record.value(self.y * f), np.float64)

    def paid(self, slack: Vector) -> float:
        return float(self.C @ slack)

    def response(self, f: Vector) -> Vector | None:
        if self.record.curvature is None or self.record.slope is None:
            return None
        return -self.C * self.y * self.record.slope(self.y * f)

    def promised(self, beta: Vector) -> tuple[float, float]:
        return self.shrunk(beta, 1.0), 0.0

    def shrunk(self, beta: Vector, most: float) -> float:
        some = self.C > 0.0
        return -float(
            self.C[some] @ self._conjugate(min(most, 1.0) * self._a(beta)[some])
        )

    def box(self, beta: Vector) -> Box:
        top = np.zeros_like(self.C)
        np.multiply(self.C, self.record.top, out=top, where=self.C > 0.0)
        return Box.of(self.y * beta, top, self.C, SLOP)

    def residual(self, f: Vector, beta: Vector) -> Vector:
        a, m, record = self._a(beta), self.y * f, self.record
        if record.box is not None:
            short = record.box.offset - m - record.box.ridge * a
            rise = np.where(a < record.top, short, 0.0)
            return np.maximum(np.maximum(rise, np.where(a > 0.0, -short, 0.0)), 0.0)
        if record.curvature is not None and record.slope is not None:
            return np.abs(a + record.slope(m))
        return np.maximum(record.value(m) + self._conjugate(a) + a * m, 0.0)

    def _conjugate(self, a: Vector) -> Vector:
        assert self.record.conjugate is not None  # loss_of() refuses others
        inside = np.clip(a, 0.0, self.record.top)
        return np.where(a == inside, self.record.conjugate(inside), np.inf)

    def _a(self, beta: Vector) -> Vector:
        """y·β/C, moved into the domain where only rounding keeps it outside."""
        a = np.zeros_like(beta)
        np.divide(self.y * beta, self.C, out=a, where=self.C > 0.0)
        inside = np.clip(a, 0.0, self.record.top)
        return np.where(np.abs(a - inside) <= SLOP, inside, a)


Loss = Hinge | Recorded


def is_squared(estimator: Any) -> bool:
    """Tell which of the two losses a kernel classifier has."""
    name, known = getattr(estimator, "loss", "hinge"), _SQUARED[Task.CLASSIFY]
    require(
        name in known,
        f"loss={name!r}: certify judges machines with a kernel for "
        f"{' and '.join(map(repr, known))}",
    )
    return known[name]


def loss_of(estimator: Any, machine: Machine) -> Callable[[Vector, Vector], Loss]:
    """The loss of a linear machine, for given y and C."""
    name, known = str(getattr(estimator, "loss", None)), _SQUARED[machine.task]
    regression = machine.task is Task.REGRESS
    if name in known:
        epsilon = float(estimator.epsilon) if regression else 0.0
        return lambda y, C: Hinge(y, C, known[name], regression, epsilon)
    record = None if regression else LOSSES.get(name)
    if record is None or record.conjugate is None:
        msg = (
            f"loss={name!r}: certify knows {' and '.join(map(repr, known))}, and of "
            "classifiers the losses in maxmargin.losses.LOSSES that have a conjugate"
        )
        raise InputError(msg)
    return lambda y, C: Recorded(y, C, record)
