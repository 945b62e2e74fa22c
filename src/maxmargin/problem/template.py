r"""The template: one quadratic programme, and what solving it yields.

.. math:: \min_\beta\ \tfrac12 \beta^\top (K + \mathrm{diag}(r)) \beta + p^\top \beta
          + \varepsilon\|\beta\|_1
          \quad\text{subject to}\quad l \le \beta \le u

and at most two sums: none, :math:`\mathbf 1^\top\beta = t`, or one for each sign of β
(the ν-machines), where the box keeps every point on one side of 0.

With :math:`\beta_i = y_i\alpha_i`, **this is the one sign convention of the library**:
the decision function is :math:`f(x) = \sum_i \beta_i k(x_i, x) + b`, and the gradient of
the smooth part, :math:`F = (K + \mathrm{diag}(r))\beta + p`, equals
:math:`f(x_i) - b - y_i` for a classifier without ridge. No label sign appears in any
solver. Every sum has a multiplier: :math:`b` for one, :math:`b_\pm = b \pm s` for two.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin._arrays import Vector
    from maxmargin.kernels.gram.contract import Gram

NO_PRICE = 1e-300  # a C up to which 1/(2C), a squared loss's ridge, is no number any more


@dataclass(frozen=True, repr=False)
class Problem:
    """One instance of the template.

    Parameters
    ----------
    gram : Gram
        The kernel matrix K of the n points, never stored here, only asked.
    p, lower, upper, ridge : ndarray of shape (n,), float64
        The linear term, the box (``upper`` may be +inf and ``lower`` −inf: hard
        margin), and the diagonal added to K (squared hinge: 1/(2C)).
    sums : tuple of float
        ``()``: no constraint, and no intercept; ``(t,)``: Σβ = t; ``(t, s)``: Σβ = t
        over the points of the positive side and Σβ = s over those of the negative side,
        which are the ones with a negative lower bound.
    epsilon : float
        Price of |β|: half the width of a regression's tube.
    """

    gram: Gram
    p: Vector
    lower: Vector
    upper: Vector
    ridge: Vector
    sums: tuple[float, ...] = (0.0,)
    epsilon: float = 0.0

    def __repr__(self) -> str:
        width = self.upper - self.lower
        return (
            f"<Problem: {self.n} points, boxes of {width.min():g} to {width.max():g}, "
            f"sums {self.sums}, epsilon {self.epsilon:g}>"
        )

    @property
    def n(self) -> int:
        """Number of points."""
        return int(self.p.size)

    @cached_property
    def diagonal(self) -> Vector:
        """K[i, i], asked once: for a Python function it is not free."""
        return self.gram.diagonal()

    @cached_property
    def hard(self) -> bool:
        """Whether a box side is open without a ridge: no error at any price."""
        if self.upper.max(initial=0.0) < np.inf and self.lower.min(initial=0.0) > -np.inf:
            return False
        open_side = np.isinf(self.upper) | np.isinf(self.lower)
        return bool(np.any(open_side & (self.ridge == 0.0)))

    @cached_property
    def separating(self) -> bool:
        """Whether it is the hard margin between classes, rather than a hard tube."""
        return self.hard and bool(((self.lower == 0.0) | (self.upper == 0.0)).all())

    @cached_property
    def side(self) -> NDArray[np.uint8]:
        """Which sum every point is in: 0, or with two sums 1 on the negative side."""
        if len(self.sums) < 2:
            return np.zeros(self.n, np.uint8)
        return (self.lower < 0.0).astype(np.uint8)


class Model(NamedTuple):
    """What a solver hands back, ready to predict.

    β, its gradient F, the intercept b with the interval of all optimal ones, and for two
    sums the split s of their multipliers b ± s: the tube ε of ν-regression, and −ρ of
    ν-classification.
    """

    beta: Vector
    gradient: Vector
    bias: float
    interval: tuple[float, float]
    split: float = 0.0
