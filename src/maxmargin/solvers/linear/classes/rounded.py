r"""Crammer and Singer's loss rounded around a given β, for a proximal step.

With :math:`\alpha_{im} = C_i1[m=y_i] - \beta_{im}`, non-negative with sum :math:`C_i`,
a row's loss is :math:`\max_\alpha\alpha\cdot(f_i + e_i) - C_if_{iy_i}`. Less
:math:`\|\alpha-\alpha°\|^2/2k` with :math:`k = \kappa C_i` its edges are rounded off, and
the α of f is a projection on that simplex,

.. math:: \alpha = \bigl(\alpha° + k(f_i + e_i) - \theta\bigr)_+,\quad
          \theta:\ \sum_m\alpha_m = C_i.

Its derivative by f is :math:`k(I_S - 11^\top/|S|)` on the classes S with α > 0.

Reference: C. Michelot, "A finite algorithm for finding the projection of a point onto the
canonical simplex of ℝⁿ", J. Optim. Theory Appl. 50, 1986.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from maxmargin._jit import njit
from maxmargin.solvers.linear.newton.sums import Sums, summed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin._arrays import Table, Vector
    from maxmargin.parallel import Workers
    from maxmargin.problem import LinearJointProblem


@njit
def _project(v, C):
    """V becomes the nearest point of the simplex of size C, by Michelot's rounds."""
    count, total = v.size, 0.0
    for m in range(v.size):
        total += v[m]
    level = (total - C) / count
    while True:
        left, total = 0, 0.0
        for m in range(v.size):
            if v[m] > level:
                left += 1
                total += v[m]
        if left >= count or left == 0:  # it never grows, but for rounding
            break
        count, level = left, (total - C) / left
    for m in range(v.size):
        v[m] = max(v[m] - level, 0.0)


@njit
def _look(z, u, centre, codes, C, beta, t, kappa, found):
    """Write β of the outputs t·u − z and its sums."""
    K = z.shape[1]
    v = np.empty(K)
    along, curved, size = 0.0, 0.0, 0.0
    for i in range(codes.size):
        y, price, k = codes[i], C[i], kappa * C[i]
        if not price > 0.0:
            beta[i] = 0.0
            continue
        top = -np.inf
        for m in range(K):
            v[m] = t * u[i, m] - z[i, m] + (0.0 if m == y else 1.0)
            top = max(top, v[m])
        for m in range(K):
            # Less the largest, which changes nothing: k may be large, and f, too.
            v[m] = k * (v[m] - top) - centre[i, m] + (price if m == y else 0.0)
        _project(v, price)
        count, sum_, square, others = 0, 0.0, 0.0, 0.0
        for m in range(K):
            if v[m] > 0.0:
                count += 1
                sum_ += u[i, m]
                square += u[i, m] * u[i, m]
                others += v[m] if m != y else 0.0
        # Σβ = 0 to the last digit but one, however small β is beside C.
        full = others > 0.0 and (v[y] == 0.0 or others > price)
        factor = price / others if full else 1.0
        for m in range(K):
            one = -factor * v[m] if v[m] > 0.0 else 0.0
            if m == y:
                one = price if full else others
            beta[i, m] = one
            along += one * u[i, m]
        if count > 0:
            curved += k * max(square - sum_ * sum_ / count, 0.0)
        size += 2.0 * beta[i, y]
    found[0], found[1], found[2], found[3], found[4] = 0.0, along, curved, 0.0, size


class RoundedJoint(NamedTuple):
    """Of every row the centre β°, its class and its price; and κ."""

    centre: Table
    codes: NDArray[np.intp]
    C: Vector
    kappa: float

    def look(self, workers: Workers, z: Table, u: Table, t: float, beta: Table) -> Sums:
        """Write β of the outputs −(z − t·u); return its sums."""
        arrays = z, u, self.centre, self.codes, self.C, beta
        return summed(_look, workers, arrays, (t, self.kappa))


def bending(problem: LinearJointProblem, beta: Table) -> NDArray[np.bool_]:
    """The classes S of every row whose β moves with the outputs; none if S is one."""
    inside: NDArray[np.bool_] = beta < 0.0
    rows = np.arange(problem.n)
    inside[rows, problem.codes] = beta[rows, problem.codes] < problem.C
    inside[inside.sum(axis=1) < 2] = False
    return inside
