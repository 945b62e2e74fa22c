r"""Squared losses along a line: no pass over X.

With :math:`z = -(f + p)` the β that f asks for is :math:`(z \mp \varepsilon)/r` outside
the tube and 0 within; the loss is :math:`\tfrac12\sum r\beta^2`. A step changes f by
t·Xs: with Xs at hand, neither the best t nor the best free intercept needs X.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from maxmargin._jit import ASSOCIATIVE, njit
from maxmargin.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin.parallel import Workers
    from maxmargin.problem import LinearProblem

    Vector = NDArray[np.float64]

__all__ = ["Loss", "Sums", "balance", "look", "loss_of", "search"]

_PARTS = 8  # sums over rows are cut into so many
_WORTH = 1 << 16  # rows below which they are not
_LOOKS = 60  # at a line, at most; two are usual
_NEAR = 0.1  # of the first slope: a line need not be followed further
_ROUND = 4e-16  # of Σ|β|: a sum of β that is nothing but rounding


class Loss(NamedTuple):
    """1/r of every row for β > 0 and for β < 0 (0: not allowed), and ε."""

    rise: Vector
    fall: Vector
    epsilon: float


class Sums(NamedTuple):
    """What a look finds: Σrβ², Σβu, Σu²/r of the active rows, Σβ, Σ|β|."""

    square: float
    along: float
    curved: float
    total: float
    size: float


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


_strengths = njit(_strengths)


def loss_of(
    problem: LinearProblem, name: str, rows: NDArray[np.intp], share: float
) -> Loss:
    """The losses of some rows, which stand for all: they are ``share`` of them."""
    if problem.lasso:
        msg = (
            f"{name} minimises ½‖w‖² and a loss, and the penalty given is ‖w‖₁: use "
            "penalty='l2', or solver='dual-descent'"
        )
        raise InputError(msg)
    ridge = problem.ridge[rows] * share
    rise, fall = np.empty_like(ridge), np.empty_like(ridge)
    if not _strengths(problem.lower[rows], problem.upper[rows], ridge, rise, fall):
        msg = (
            f"{name} needs a loss with a second derivative, and the one given is a hinge "
            "or a tube without a square: use loss='squared_hinge' (LinearSVR: "
            "'squared_epsilon_insensitive'), or solver='dual-descent'"
        )
        raise InputError(msg)
    return Loss(rise, fall, problem.epsilon)


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
    found[0], found[1], found[2], found[3], found[4] = square, along, curved, total, size


_look = njit(_look, fastmath=set(ASSOCIATIVE))


def look(
    loss: Loss, workers: Workers, z: Vector, u: Vector, t: float, beta: Vector
) -> Sums:
    """β becomes that of z − t·u; its sums, in parts that depend on n alone."""
    parts = _PARTS if z.size >= _WORTH else 1
    edges = [z.size * part // parts for part in range(parts + 1)]
    found = np.empty((parts, 5))

    def part(k: int) -> None:
        at = slice(edges[k], edges[k + 1])
        _look(
            z[at], u[at], t, loss.rise[at], loss.fall[at], loss.epsilon, beta[at],
            found[k],
        )  # fmt: skip

    workers.map(part, range(parts))
    return Sums(*found.sum(axis=0).tolist())


def search(
    loss: Loss,
    workers: Workers,
    z: Vector,
    u: Vector,
    line: tuple[float, float, float],
    beta: Vector,
) -> tuple[float, Sums]:
    """The t > 0 that minimises P along a direction, well enough; β becomes that of t.

    ``line`` is (slope at 0, w·s, s·s): P'(t) = w·s + t·s·s − Σβ(t)u, piecewise linear.
    Newton's method within a bracket finds its zero; t = 1 is tried first.
    """
    before, first, second = line
    low, high, t = 0.0, np.inf, 1.0
    for _ in range(_LOOKS):
        sums = look(loss, workers, z, u, t, beta)
        slope = first + second * t - sums.along
        if not abs(slope) > _NEAR * abs(before):
            break
        low, high = (t, high) if slope < 0.0 else (low, t)
        wish = t - slope / (second + sums.curved)
        if not low < wish < high:
            wish = 0.5 * (low + high) if high < np.inf else 2.0 * t
        if wish == t:
            break
        t = wish
    return t, sums


def balance(
    loss: Loss, workers: Workers, z: Vector, ones: Vector, beta: Vector
) -> tuple[float, Sums]:
    """The change of the free intercept that makes Σβ = 0 to rounding.

    Σβ falls with it, piecewise linearly: Newton's method within a bracket.
    """
    low, high, t = -np.inf, np.inf, 0.0
    best, idle = np.inf, 0
    for _ in range(_LOOKS):
        sums = look(loss, workers, z, ones, t, beta)
        # In its last piece the sum can be had to rounding, and no better.
        idle = idle + 1 if abs(sums.total) >= 0.5 * best else 0
        best = min(best, abs(sums.total))
        if abs(sums.total) <= _ROUND * sums.size or idle >= 3:
            break
        low, high = (t, high) if sums.total > 0.0 else (low, t)
        wish = t + sums.total / sums.curved
        if wish == t:  # by less than rounding
            break
        if not low < wish < high:
            wish = 0.5 * (low + high)
        if wish == t or not np.isfinite(wish):
            break
        t = wish
    return t, sums
