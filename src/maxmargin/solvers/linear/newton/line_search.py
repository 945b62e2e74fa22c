"""The best step along a line, and the best free intercept: no pass over X.

A step changes f by t·Xs: with Xs at hand, neither needs X. P along a line is piecewise
quadratic and its slope piecewise linear, whatever the loss is; the loss only has to tell
its β, and some sums, at any t.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from maxmargin._arrays import Vector
    from maxmargin.parallel import Workers

_PARTS = 8  # sums over rows are cut into so many
_WORTH = 1 << 16  # rows below which they are not
_LOOKS = 60  # at a line, at most; two are usual
_BISECT = 4  # every so many looks a bracket is halved, whatever Newton's method wishes
_NEAR = 0.1  # of the first slope: a line need not be followed further
_ROUND = 4e-16  # of Σ|β|: a sum of β that is nothing but rounding
_NEARLY = 1e-12  # of Σ|β|: a sum that may be, if it does not fall any more


class Sums(NamedTuple):
    """What a look finds: the losses, Σβu, Σu²·curvature, Σβ, Σ|β|."""

    paid: float
    along: float
    curved: float
    total: float
    size: float


class Looks(Protocol):
    """A loss of many rows."""

    def look(
        self, workers: Workers, z: Vector, u: Vector, t: float, beta: Vector
    ) -> Sums:
        """β becomes that of z − t·u; its sums, in parts that depend on n alone."""


def in_parts(workers: Workers, n: int, part: Callable[[slice, Vector], None]) -> Sums:
    """The sums of ``part(rows, found)`` over parts of n rows, added up in order."""
    parts = _PARTS if n >= _WORTH else 1
    edges = [n * number // parts for number in range(parts + 1)]
    found = np.empty((parts, 5))

    def one(number: int) -> None:
        part(slice(edges[number], edges[number + 1]), found[number])

    workers.map(one, range(parts))
    return Sums(*found.sum(axis=0).tolist())


def search(
    loss: Looks,
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
        sums = loss.look(workers, z, u, t, beta)
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
    else:
        sums = loss.look(workers, z, u, t, beta)
    return t, sums


def balance(
    loss: Looks, workers: Workers, z: Vector, ones: Vector, beta: Vector
) -> tuple[float, Sums]:
    """The change of the free intercept that makes Σβ = 0 to rounding.

    Σβ falls with it, piecewise linearly: Newton's method within a bracket, which is
    halved now and then, as most rows may bend somewhere else.
    """
    low, high, t = -np.inf, np.inf, 0.0
    best, idle, reach = np.inf, 0, 1.0
    for number in range(1, 2 * _LOOKS):
        sums = loss.look(workers, z, ones, t, beta)
        # In its last piece the sum can be had to rounding, and no better.
        idle = idle + 1 if abs(sums.total) >= 0.5 * best else 0
        best = min(best, abs(sums.total))
        spent = idle >= 3 and best <= _NEARLY * sums.size
        if abs(sums.total) <= _ROUND * sums.size or spent:
            break
        low, high = (t, high) if sums.total > 0.0 else (low, t)
        bracketed = np.isfinite(high - low)
        wish = np.nan
        if sums.curved > 0.0:
            wish = t + sums.total / sums.curved
        if wish == t:  # by less than rounding
            break
        if bracketed and (number % _BISECT == 0 or not low < wish < high):
            wish = 0.5 * (low + high)
        elif not low < wish < high:  # no bracket yet, and no row that bends
            wish, reach = t + np.copysign(reach, sums.total), 2.0 * reach
        if wish == t:
            break
        t = wish
    else:
        sums = loss.look(workers, z, ones, t, beta)
    return t, sums
