"""Which points enter and leave a working set: compiled, one pass over all points each.

With F↑ and F↓ the prices of rising and falling (:mod:`maxmargin.problem.template`)
relative to the middle of the violated interval, a point that may rise has merit −F↑, one
that may fall F↓, one that may do both the larger; the merit of a violator is positive.
Members without merit sit at a bound, or at the kink of |β|, to which the gradient
presses them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from maxmargin._jit import inlined, njit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin._arrays import Flags, Vector

BINS = 1024


def _merits(F, beta, lower, upper, epsilon, merit, falls):
    """merit[k], and whether it is that of falling; F is relative to the middle.

    Returns the number of violators that want to rise and to fall.
    """
    rising, falling = 0, 0
    for k in range(F.size):
        value, fall = -np.inf, False
        if beta[k] < upper[k]:
            value = -(F[k] + (epsilon if beta[k] >= 0.0 else -epsilon))
        if beta[k] > lower[k]:
            gain = F[k] + (epsilon if beta[k] > 0.0 else -epsilon)
            if gain > value:
                value, fall = gain, True
        merit[k], falls[k] = value, fall
        if value > 0.0:
            if fall:
                falling += 1
            else:
                rising += 1
    return rising, falling


def _bin(merit, largest, scale, count):
    """The worst violator is alone with its equals on top, whatever rounding says."""
    if merit == largest:
        return count - 1
    return min(int(merit * scale), count - 2)


_bin = inlined(_bin)


def _worst(merit, falls, inside, wanted, count, chosen, start, bins):
    """Write about the ``count`` worst violators of one kind, at most, into ``chosen``.

    ``wanted`` is False for those that want to rise, True for those that want to fall.

    Those outside W are binned by merit; whole bins are taken from the top, the last one
    in the order of the points. ``bins`` is scratch. Returns where ``chosen`` ends. (An
    exact partial sort took several times longer and changed nothing in the number of
    steps.)
    """
    largest = 0.0
    for k in range(merit.size):
        if falls[k] == wanted and not inside[k] and merit[k] > largest:
            largest = merit[k]
    if largest == 0.0 or count <= 0:
        return start
    for k in range(bins.size):
        bins[k] = 0
    scale = min((bins.size - 1) / largest, 1e300)  # finite for denormal merits too
    for k in range(merit.size):
        if falls[k] == wanted and not inside[k] and merit[k] > 0.0:
            bins[_bin(merit[k], largest, scale, bins.size)] += 1
    threshold, taken = bins.size, 0
    while threshold > 0 and taken + bins[threshold - 1] <= count:
        threshold -= 1
        taken += bins[threshold]
    rest = count - taken  # from the bin below the threshold
    end = start
    for k in range(merit.size):
        if falls[k] == wanted and not inside[k] and merit[k] > 0.0:
            place = _bin(merit[k], largest, scale, bins.size)
            if place == threshold - 1 and rest > 0:
                rest -= 1
            elif place < threshold:
                continue
            chosen[end] = k
            end += 1
    return end


def _evenly(merit, falls, inside, wanted, count, chosen, start):
    """Write ``count`` violators of one kind into ``chosen``, evenly spaced among them.

    Returns where ``chosen`` ends.
    """
    total = 0
    for k in range(merit.size):
        if falls[k] == wanted and not inside[k] and merit[k] > 0.0:
            total += 1
    count = min(count, total)
    end, seen = start, 0
    for k in range(merit.size):
        if falls[k] == wanted and not inside[k] and merit[k] > 0.0:
            # the m-th of them is taken when m·count/total reaches a new integer
            if (seen + 1) * count // total > seen * count // total:
                chosen[end] = k
                end += 1
            seen += 1
    return end


evenly = njit(_evenly, allocates=False)
merits = njit(_merits, allocates=False)
_worst = njit(_worst, allocates=False)


def worst(
    merit: Vector, falls: Flags, inside: Flags, wanted: bool, count: int,
    chosen: NDArray[np.intp], start: int,
) -> int:  # fmt: skip
    """About the ``count`` worst violators, at most: see ``_worst``.

    The bins are made here: an allocation in compiled code takes 0.2 s to compile.
    """
    bins = np.empty(BINS, np.int64)
    end: int = _worst(merit, falls, inside, wanted, count, chosen, start, bins)
    return end
