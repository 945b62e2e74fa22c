r"""Hinge and tube rounded around a given β: what a proximal step minimises.

With :math:`z = -(f + p)` and a centre β° the β that f asks for is that of
:math:`\max_\beta z^\top\beta - \varepsilon\|\beta\|_1 - \sum(\beta-\beta°)^2/2k` within
the box,

.. math:: \beta = \operatorname{clip}\bigl(\operatorname{soft}(\beta° + kz,\
          k\varepsilon),\ \text{box}\bigr),

a kink rounded off to a parabola as wide as the box over k. Rows whose β is inside its box
bend with k, the others not at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from maxmargin._jit import ASSOCIATIVE, njit
from maxmargin.solvers.linear.newton.line_search import Sums, in_parts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin._arrays import Vector
    from maxmargin.parallel import Workers

_FEW = 64  # numbers: more than a few vectors are long
_AT_THE_END, _ROUNDING = 1e-9, 1e-14  # of the box, and of k: how near its end a row is


@njit(fastmath=set(ASSOCIATIVE))
def _look(z, u, t, centre, bend, lower, upper, epsilon, beta, found):
    """β and the sums of z − t·u."""
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
        """β becomes that of z − t·u; its sums (no squares among them)."""
        # Where β lies close behind what is read, LLVM's vectors could read what they
        # wrote: it looks, and adds up one by one there, which gives other bits. Only few
        # numbers can lie so close; theirs get a place of their own.
        few = z.size < _FEW
        out = np.empty(_FEW + z.size)[_FEW:] if few else beta

        def part(at: slice, found: Vector) -> None:
            _look(
                z[at], u[at], t, self.centre[at], self.bend[at], self.lower[at],
                self.upper[at], self.epsilon, out[at], found,
            )  # fmt: skip

        sums = in_parts(workers, z.size, part)
        if few:
            beta[:] = out
        return sums

    def bending(self, z: Vector) -> NDArray[np.bool_]:
        """Which rows bend at z, those at an end of their bend included.

        With a free intercept Σβ = 0 may hold a row at such an end. Were it left out, the
        next step would not know of it, and be as short as the last.
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
