"""Which points enter and leave a working set: compiled, one pass over all points each.

With F the gradient and m the middle of the violated interval, a point that may rise (β
below its upper bound) has merit m − F, one that may fall F − m, one that may do both the
larger; the merit of a violator is positive. Members without merit sit at a bound to which
the gradient presses them.
"""

from __future__ import annotations

import numpy as np

from maxmargin._jit import njit

__all__ = ["BINS", "extremes", "merits", "worst"]

BINS = 1024


def _extremes(F, beta, lower, upper, found):
    """Set found = (min of F where β may rise, max of F where β may fall)."""
    fmin, fmax = np.inf, -np.inf
    for k in range(F.size):
        if beta[k] < upper[k] and F[k] < fmin:
            fmin = F[k]
        if beta[k] > lower[k] and F[k] > fmax:
            fmax = F[k]
    found[0], found[1] = fmin, fmax


def _merits(F, beta, lower, upper, middle, merit):
    """merit[k], and as result the number of violators below and above the middle."""
    below, above = 0, 0
    for k in range(F.size):
        value = -np.inf
        if beta[k] < upper[k]:
            value = middle - F[k]
        if beta[k] > lower[k] and F[k] - middle > value:
            value = F[k] - middle
        merit[k] = value
        if value > 0.0:
            if F[k] < middle:
                below += 1
            else:
                above += 1
    return below, above


def _bin(merit, largest, scale, count):
    """The worst violator is alone with its equals on top, whatever rounding says."""
    if merit == largest:
        return count - 1
    return min(int(merit * scale), count - 2)


_bin = njit(_bin)


def _worst(F, middle, merit, inside, above, count, bins, chosen, start):
    """Write about the ``count`` worst violators of one side, at most, into ``chosen``.

    Those outside W are binned by merit; whole bins are taken from the top, the last one
    in the order of the points. Returns where ``chosen`` ends. (An exact partial sort
    took several times longer and changed nothing in the number of steps.)
    """
    largest = 0.0
    for k in range(merit.size):
        if (F[k] >= middle) == above and not inside[k] and merit[k] > largest:
            largest = merit[k]
    if largest == 0.0 or count <= 0:
        return start
    for b in range(bins.size):
        bins[b] = 0
    scale = min((bins.size - 1) / largest, 1e300)  # finite for denormal merits too
    for k in range(merit.size):
        if (F[k] >= middle) == above and not inside[k] and merit[k] > 0.0:
            bins[_bin(merit[k], largest, scale, bins.size)] += 1
    threshold, taken = bins.size, 0
    while threshold > 0 and taken + bins[threshold - 1] <= count:
        threshold -= 1
        taken += bins[threshold]
    rest = count - taken  # from the bin below the threshold
    end = start
    for k in range(merit.size):
        if (F[k] >= middle) == above and not inside[k] and merit[k] > 0.0:
            place = _bin(merit[k], largest, scale, bins.size)
            if place == threshold - 1 and rest > 0:
                rest -= 1
            elif place < threshold:
                continue
            chosen[end] = k
            end += 1
    return end


extremes = njit(_extremes)
merits = njit(_merits)
worst = njit(_worst)
