"""The best step along a line, and the best free intercept: no pass over X.

A step changes f by t·Xs: once Xs is known, neither needs X. P along a line is piecewise
quadratic and its slope piecewise linear. The loss gives its β and some sums at any t
(:mod:`~maxmargin.solvers.linear.newton.sums`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from maxmargin._arrays import Vector
    from maxmargin.parallel import Workers
    from maxmargin.solvers.linear.newton.sums import Looks, Sums

_LOOKS = 60  # policy: points tried on a line at most; two are usual
_BISECT = 4  # policy: every fourth point halves the bracket, whatever Newton's step is
_NEAR = 0.1  # policy: share of the first slope; a search ends at a smaller one
_ROUND = 4e-16  # rounding: share of Σ|β|; a smaller Σβ counts as 0
_NEARLY = 1e-12  # rounding: share of Σ|β|; the same once Σβ falls no more


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
    halved now and then, for most rows may have their curvature somewhere else.
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
        elif not low < wish < high:  # no bracket yet, and no curvature
            wish, reach = t + np.copysign(reach, sums.total), 2.0 * reach
        if wish == t:
            break
        t = wish
    else:
        sums = loss.look(workers, z, ones, t, beta)
    return t, sums
