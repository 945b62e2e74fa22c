r"""The losses of many rows as functions of their outputs f.

For a convex loss :math:`L_i(f_i)` of every row, weights w and dual variables β,

.. math:: P = \tfrac12\|w\|^2 + \sum_i L_i(f_i),\qquad
          D = -\tfrac12\|X^\top\beta\|^2 - \sum_i L_i^*(-\beta_i),

and P − D = 0 exactly where w = X'β and β answers f: :math:`\beta_i = -L_i'(f_i)`. For any
f and the β that answers it, :math:`L + L^* = -f\beta` (Fenchel and Young), so that
:math:`P - D = \tfrac12\|w - X^\top\beta\|^2 - b\sum\beta` whatever the loss is.

:class:`BoxLoss` is the conjugate of a box with a ridge, which exact dual solvers need:
the hinge, its square, a regression's tube, the perceptron's, Huber's.
:class:`SmoothLoss` is any :class:`~maxmargin.losses.MarginLoss` with a curvature.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from maxmargin.problem.passes import paid, prices, promised

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin._arrays import Flags, Index, Vector
    from maxmargin.losses import MarginLoss


class BoxLoss(NamedTuple):
    r"""The conjugates of boxes, a row each.

    .. math:: L_i(f) = \max_{l_i\le\beta\le u_i}\bigl[-(f + p_i)\beta
              - \varepsilon|\beta| - \tfrac12 r_i\beta^2\bigr]

    ``p``, ``lower``, ``upper`` and ``ridge`` are arrays of n numbers, ``epsilon`` is one.
    """

    p: Vector
    lower: Vector
    upper: Vector
    ridge: Vector
    epsilon: float = 0.0

    def paid(self, outputs: Vector) -> float:
        """The losses of all rows."""
        return float(
            paid(outputs, self.p, self.lower, self.upper, self.ridge, self.epsilon)
        )

    def answer(self, outputs: Vector) -> Vector:
        """The β that f asks for: minus the slope of every row's loss.

        Unique for a squared loss. At a hinge's kink any β within the box would do; this
        one is at a bound.
        """
        slope = -(outputs + self.p)
        left = np.sign(slope) * np.maximum(np.abs(slope) - self.epsilon, 0.0)
        wish = np.full(self.p.size, np.inf)
        np.divide(np.abs(left), self.ridge, out=wish, where=self.ridge > 0.0)
        wish[left == 0.0] = 0.0
        wanted: Vector = np.clip(np.copysign(wish, left), self.lower, self.upper)
        return wanted

    def promises(self, beta: Vector) -> tuple[float, float]:
        """Σ L*(−β) in two parts: pβ + ε|β|, and rβ², which counts half."""
        found = np.empty(2)
        promised(beta, self.p, self.ridge, self.epsilon, found)
        return float(found[0]), float(found[1])

    def violation(self, outputs: Vector, beta: Vector, bias: float | None) -> float:
        """How far β is from answering f, as for the template of all kernel machines.

        ``bias`` is a free intercept, which is part of f; None where there is none.
        """
        F = outputs - (0.0 if bias is None else bias) + self.p
        F += self.ridge * beta
        found, side = np.empty((1, 4)), np.zeros(self.p.size, np.uint8)
        prices(F, beta, self.lower, self.upper, self.epsilon, side, found)
        fmin, fmax = float(found[0, 0]), float(found[0, 1])
        return max(0.0, fmax, -fmin) if bias is None else max(0.0, fmax - fmin)

    def of(self, rows: Index) -> BoxLoss:
        """The losses of some rows, which stand for all."""
        share = self.p.size / rows.size
        return BoxLoss(
            self.p[rows], share * self.lower[rows], share * self.upper[rows],
            self.ridge[rows] / share, self.epsilon,
        )  # fmt: skip

    def curvature(self, outputs: Vector) -> Vector:
        """The second derivative of every row's loss, where the ridge makes one."""
        beta = self.answer(outputs)
        inside = (self.lower < beta) & (beta < self.upper) & (beta != 0.0)
        found = np.zeros_like(beta)
        np.divide(1.0, self.ridge, out=found, where=inside & (self.ridge > 0.0))
        return found

    def at_bound(self, beta: Vector) -> Flags:
        """Which β are at an end of their boxes."""
        ends: Flags = (beta == self.lower) | (beta == self.upper)
        return ends


class SmoothLoss(NamedTuple):
    """C_i·φ(y_i·f_i) for a loss φ with a curvature: what Newton's method needs."""

    kind: MarginLoss
    y: Vector
    C: Vector

    @property
    def p(self) -> Vector:
        """Linear term of the dual: none."""
        return np.zeros(self.y.size)

    def of(self, rows: Index) -> SmoothLoss:
        """The losses of some rows, which stand for all."""
        share = self.y.size / rows.size
        return SmoothLoss(self.kind, self.y[rows], share * self.C[rows])

    def paid(self, outputs: Vector) -> float:
        """The losses of all rows."""
        with np.errstate(over="ignore"):
            return float((self.C * self.kind.value(self.y * outputs)).sum())

    def answer(self, outputs: Vector) -> Vector:
        """The β that f asks for: minus the slope of every row's loss."""
        assert self.kind.slope is not None  # linear_problem() refuses others
        with np.errstate(over="ignore"):
            return -self.C * self.y * self.kind.slope(self.y * outputs)

    def curvature(self, outputs: Vector) -> Vector:
        """The second derivative of every row's loss."""
        assert self.kind.curvature is not None
        with np.errstate(over="ignore"):
            return self.C * self.kind.curvature(self.y * outputs)

    def promises(self, beta: Vector) -> tuple[float, float]:
        """Σ L*(−β), infinite outside of its domain; and 0."""
        assert self.kind.conjugate is not None
        steep = self._steepness(beta)
        if (steep < 0.0).any() or (steep > self.kind.top).any():
            return np.inf, 0.0
        return float((self.C * self.kind.conjugate(steep)).sum()), 0.0

    def violation(self, outputs: Vector, beta: Vector, bias: float | None) -> float:  # noqa: ARG002
        """The largest difference, in units of C, between β and the answer to f."""
        priced = self.C > 0.0
        off = np.abs(beta - self.answer(outputs))[priced] / self.C[priced]
        return float(off.max(initial=0.0))

    def at_bound(self, beta: Vector) -> NDArray[np.bool_]:
        """Which β belong to the steepest slope."""
        return self._steepness(beta) >= self.kind.top

    def _steepness(self, beta: Vector) -> Vector:
        """−φ' that β stands for: y·β/C, 0 for rows without a price."""
        steep = np.zeros_like(beta)
        np.divide(self.y * beta, self.C, out=steep, where=self.C > 0.0)
        return steep
