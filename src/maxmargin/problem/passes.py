"""The sums and extremes behind optimality and objective: compiled, one pass each.

A small fit asks for them several times and consists of little else; in NumPy each takes
a dozen passes over all points.
"""

from __future__ import annotations

import numpy as np

from maxmargin._jit import inlined, njit


@njit(allocates=False)
def prices(F, beta, lower, upper, epsilon, side, found):
    """For every sum s: found[s] = (min of F↑, max of F↓, sum of free F, how many).

    Free points can rise and fall at the same price.
    """
    for s in range(found.shape[0]):
        found[s, 0], found[s, 1] = np.inf, -np.inf
        found[s, 2], found[s, 3] = 0.0, 0.0
    for k in range(F.size):
        s = side[k]
        rises, falls = beta[k] < upper[k], beta[k] > lower[k]
        rise = F[k] + (epsilon if beta[k] >= 0.0 else -epsilon)
        fall = F[k] + (epsilon if beta[k] > 0.0 else -epsilon)
        # NaN is kept: no number is below or above it.
        if rises and (rise < found[s, 0] or np.isnan(rise)):
            found[s, 0] = rise
        if falls and (fall > found[s, 1] or np.isnan(fall)):
            found[s, 1] = fall
        if rises and falls and rise == fall and np.isfinite(rise):
            found[s, 2] += rise
            found[s, 3] += 1.0


@inlined
def _cost(slope, lower, upper, ridge, epsilon):
    """Max of slope·β − ε|β| − ½rβ² over the box: the template's loss.

    |β| takes ε off the gain; what is left is worth following to the bound, or for a
    ridge to where it is used up.
    """
    gain = abs(slope) - epsilon
    if gain <= 0.0:
        return 0.0
    if np.isnan(gain):
        return gain
    left = np.copysign(gain, slope)
    best = upper if slope > 0.0 else lower
    curved = 0.0
    if ridge > 0.0:
        best = min(max(left / ridge, lower), upper)
        curved = 0.5 * ridge * best * best
    return left * best - curved if best != 0.0 else 0.0


@njit(allocates=False)
def paid(f, p, lower, upper, ridge, epsilon):
    """The losses of all points whose outputs are f."""
    total = 0.0
    for k in range(f.size):
        total += _cost(-(f[k] + p[k]), lower[k], upper[k], ridge[k], epsilon)
    return total


@njit(allocates=False)
def promised(beta, p, ridge, epsilon, found):
    """Terms of the dual besides the norm: Σ(pβ + ε|β|) and Σrβ²."""
    linear, curved = 0.0, 0.0
    for k in range(beta.size):
        linear += p[k] * beta[k] + epsilon * abs(beta[k])
        curved += ridge[k] * beta[k] * beta[k]
    found[0], found[1] = linear, curved


@njit(allocates=False)
def worth(F, beta, p, lower, upper, ridge, epsilon, side, multipliers, found):
    """The sums that primal and dual consist of, in ``found``."""
    norm2, weighted, linear, size, cost, margin = 0.0, 0.0, 0.0, 0.0, 0.0, np.inf
    for k in range(F.size):
        plain = F[k] - ridge[k] * beta[k]  # Kβ + p
        norm2 += beta[k] * (plain - p[k])
        weighted += ridge[k] * beta[k] * beta[k]
        linear += p[k] * beta[k]
        size += abs(beta[k])
        slope = -(plain + multipliers[side[k]])  # gain per unit of β
        margin = min(margin, 1.0 + slope * p[k])
        cost += _cost(slope, lower[k], upper[k], ridge[k], epsilon)
    # One by one: found[:] = … compiles Numba's error messages about shapes, for 2 s.
    found[0], found[1], found[2] = norm2, weighted, linear
    found[3], found[4], found[5] = size, cost, margin
