r"""Squared losses of many rows.

With :math:`z = -(f + p)` the β that f asks for is :math:`(z \mp \varepsilon)/r` outside
the tube and 0 within; the loss is :math:`\tfrac12\sum r\beta^2`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from maxmargin._jit import ASSOCIATIVE, njit
from maxmargin.errors import InputError
from maxmargin.solvers.linear.newton.line_search import Sums, in_parts
from maxmargin.solvers.linear.newton.smooth import Smooth

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
        """Those of some rows, which stand for all."""
        each = self.rise.size / rows.size
        return Loss(each * self.rise[rows], each * self.fall[rows], self.epsilon)

    def look(
        self, workers: Workers, z: Vector, u: Vector, t: float, beta: Vector
    ) -> Sums:
        """β becomes that of z − t·u; its sums."""

        def part(at: slice, found: Vector) -> None:
            _look(
                z[at], u[at], t, self.rise[at], self.fall[at], self.epsilon, beta[at],
                found,
            )  # fmt: skip

        return in_parts(workers, z.size, part)

    def bends(self, z: Vector, beta: Vector) -> tuple[Vector, Flags]:  # noqa: ARG002
        """The curvature of every row while it is active, and which rows are."""
        return np.maximum(self.rise, self.fall), beta != 0.0


@njit
def _strengths(lower, upper, ridge, rise, fall):
    """1/r for either sign of β; False where a loss is no square."""
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
def _look(z, u, t, rise, fall, epsilon, beta, found):
    """β and the sums of z − t·u."""
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
