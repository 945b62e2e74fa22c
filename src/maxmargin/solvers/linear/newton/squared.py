r"""Squared losses of many rows.

With :math:`z = -(f + p)` the β = −loss'(f) is :math:`(z \mp \varepsilon)/r` outside
the tube and 0 within; the loss is :math:`\tfrac12\sum r\beta^2`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from maxmargin._jit import ASSOCIATIVE, njit
from maxmargin.errors import InputError
from maxmargin.solvers.linear.newton.smooth import Smooth
from maxmargin.solvers.linear.newton.sums import Sums, summed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin._arrays import Flags, Vector
    from maxmargin.parallel import Workers
    from maxmargin.problem import LinearProblem


class Loss(NamedTuple):
    """1/r of every row for β > 0 and for β < 0 (0: not allowed), and ε."""

    rise: Vector
    fall: Vector
    epsilon: float
    fixed: bool = True  # whether the curvature of an active row never changes

    def of(self, rows: NDArray[np.intp]) -> Loss:
        """The losses of some rows, weighted to stand for all."""
        each = self.rise.size / rows.size
        return Loss(each * self.rise[rows], each * self.fall[rows], self.epsilon)

    def look(
        self, workers: Workers, z: Vector, u: Vector, t: float, beta: Vector
    ) -> Sums:
        """Write β at z − t·u; return its sums."""
        arrays = z, u, self.rise, self.fall, beta
        return summed(_look, workers, arrays, (t, self.epsilon))

    def bends(self, z: Vector, beta: Vector) -> tuple[Vector, Flags]:  # noqa: ARG002
        """The curvature of every row while it is active, and which rows are."""
        return np.maximum(self.rise, self.fall), beta != 0.0


@njit
def _strengths(lower, upper, ridge, rise, fall):
    """Write 1/r for either sign of β; return whether every loss is a square."""
    squares = True
    for i in range(ridge.size):
        up, down = upper[i] > 0.0, lower[i] < 0.0
        rise[i] = 1.0 / ridge[i] if up else 0.0
        fall[i] = 1.0 / ridge[i] if down else 0.0
        bounded = (up and upper[i] < np.inf) or (down and lower[i] > -np.inf)
        moved = upper[i] < 0.0 or lower[i] > 0.0
        if bounded or moved or ((up or down) and not ridge[i] > 0.0):
            squares = False
    return squares


def loss_of(problem: LinearProblem, name: str) -> Loss | Smooth:
    """The losses of all rows, squares in their own form."""
    if problem.lasso:
        msg = (
            f"{name} minimises ½‖w‖² and a loss, and the penalty given is ‖w‖₁: use "
            "penalty='l2', or solver='lasso-newton'"
        )
        raise InputError(msg)
    if not problem.boxed:
        return Smooth(problem.loss)
    rise, fall = np.empty(problem.n), np.empty(problem.n)
    if not _strengths(problem.lower, problem.upper, problem.ridge, rise, fall):
        if (problem.ridge[problem.lower < problem.upper] > 0.0).all():
            return Smooth(problem.loss)
        msg = (
            f"{name} needs a loss with a second derivative, and the one given is a hinge "
            "or a tube without a square: use loss='squared_hinge' (LinearSVR: "
            "'squared_epsilon_insensitive'), or solver='auto'"
        )
        raise InputError(msg)
    return Loss(rise, fall, problem.epsilon)


@njit(fastmath=set(ASSOCIATIVE))
def _look(z, u, rise, fall, beta, t, epsilon, found):
    """Write β at z − t·u and its sums."""
    square, along, curved, total, size = 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(z.size):
        at = z[i] - t * u[i]
        over, under = at - epsilon, at + epsilon
        strength, excess = 0.0, 0.0
        if over > 0.0:
            strength, excess = rise[i], over
        if under < 0.0:
            strength, excess = fall[i], under
        one = strength * excess
        beta[i] = one
        square += one * excess
        along += one * u[i]
        curved += strength * u[i] * u[i]
        total += one
        size += abs(one)
    found[0], found[1], found[2] = 0.5 * square, along, curved
    found[3], found[4] = total, size
