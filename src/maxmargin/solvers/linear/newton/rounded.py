r"""Hinge and tube rounded around a given β: what a proximal step minimises.

With :math:`z = -(f + p)` and a centre β° the β of f solves
:math:`\max_\beta z^\top\beta - \varepsilon\|\beta\|_1 - \sum(\beta-\beta°)^2/2k` within
the box,

.. math:: \beta = \operatorname{clip}\bigl(\operatorname{soft}(\beta° + kz,\
          k\varepsilon),\ \text{box}\bigr),

a kink rounded off to a parabola as wide as the box over k. Rows whose β is inside its box
have the curvature k, the others none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from maxmargin._jit import ASSOCIATIVE, njit
from maxmargin.solvers.linear.newton.sums import Sums, summed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin._arrays import Vector
    from maxmargin.parallel import Workers

_FEW = 64  # policy: rows; fewer get a β of their own, away from what is read
_AT_THE_END, _ROUNDING = 1e-9, 1e-14  # rounding: of the box, of k; so near, at its end


@njit(fastmath=set(ASSOCIATIVE))
def _look(z, u, centre, bend, lower, upper, beta, t, epsilon, found):
    """Write β at z − t·u and its sums."""
    along, curved, total, size = 0.0, 0.0, 0.0, 0.0
    for i in range(z.size):
        k, move = bend[i], u[i]
        wish = centre[i] + k * (z[i] - t * move)
        edge = k * epsilon
        # The one that is not 0 is what is left of it beyond ±kε.
        one = max(wish - edge, 0.0) + min(wish + edge, 0.0)
        one = min(max(one, lower[i]), upper[i])
        inside = lower[i] < one < upper[i] and one != 0.0
        beta[i] = one
        along += one * move
        curved += k * move * move if inside else 0.0
        total += one
        size += abs(one)
    found[0], found[1], found[2], found[3], found[4] = 0.0, along, curved, total, size


class Rounded(NamedTuple):
    """Of every row the centre β°, k, and the box; and ε."""

    centre: Vector
    bend: Vector
    lower: Vector
    upper: Vector
    epsilon: float

    def look(
        self, workers: Workers, z: Vector, u: Vector, t: float, beta: Vector
    ) -> Sums:
        """Write β at z − t·u; return its sums (Σ loss is left 0)."""
        # Where β lies close behind what is read, vectors could read what they wrote.
        # LLVM tests that and adds up one by one there, which gives other bits. Only short
        # arrays can lie so close; their β is written elsewhere.
        few = z.size < _FEW
        out = np.empty(_FEW + z.size)[_FEW:] if few else beta
        arrays = z, u, self.centre, self.bend, self.lower, self.upper, out
        sums = summed(_look, workers, arrays, (t, self.epsilon))
        if few:
            beta[:] = out
        return sums

    def bending(self, z: Vector) -> NDArray[np.bool_]:
        """Rows with a curvature at z, and those at an end of their parabola.

        With a free intercept Σβ = 0 may hold a row at such an end. Without it the next
        step would be as short as the last.
        """
        wish = self.centre + self.bend * z
        slack = np.maximum(_AT_THE_END * (self.upper - self.lower), _ROUNDING * self.bend)
        least, most = self.lower - slack, self.upper + slack
        if self.epsilon == 0.0:
            bends: NDArray[np.bool_] = (least <= wish) & (wish <= most)
            return bends & (self.bend > 0.0)  # a row without a price has no box
        edge = self.bend * self.epsilon
        over, under = wish - edge, wish + edge
        rises = (over >= -slack) & (over <= most) & (self.upper > 0.0)
        falls = (under <= slack) & (under >= least) & (self.lower < 0.0)
        either: NDArray[np.bool_] = rises | falls
        return either
