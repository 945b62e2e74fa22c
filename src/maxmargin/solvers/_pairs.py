r"""The compiled inner loop of SMO: pairs by second-order gain, on a stored block of K.

Problem: the template of :mod:`maxmargin.problem` restricted to q points whose kernel
block is in memory. One iteration takes

.. math:: i = \arg\min_{up} F,\qquad
          j = \arg\max_{low} \frac{\max(0, F_j - F_i)^2}{K_{ii} + K_{jj} - 2K_{ij}}

moves :math:`\beta_i` up and :math:`\beta_j` down by
:math:`t = (F_j - F_i)/(K_{ii} + K_{jj} - 2K_{ij})`, clipped to the box, and updates
:math:`F \mathrel{+}= t(K_i - K_j)` in the same sweep that finds the next i and the
violation (Fan, Chen and Lin, JMLR 6, 2005, "WSS 3", curvatures bounded below; the fused
sweep after Steinwart, Hush and Scovel, JMLR 12, 2011). Without the constraint
Σβ = 0 single points are moved.

Cost: two sweeps over q an iteration, 0.7 ns a point in cache. "β may rise" and "β may
fall" are additive masks (0 or ±1e30) rather than branches, so that sweeps vectorise.
"""

from __future__ import annotations

import numpy as np

from maxmargin._jit import njit
from maxmargin._jit.simd import vmax, vmin

__all__ = ["CONVERGED", "PAUSED", "STUCK", "UNBOUNDED", "move_pairs", "move_singles"]

CONVERGED, PAUSED, STUCK, UNBOUNDED = 0, 1, 2, 3

_BLOCK = 256  # a sweep keeps one minimum a block, then looks for its place in that block
_FAST = {"nnan", "nsz", "reassoc", "contract", "arcp"}


def _set_masks(beta, lower, upper, up, low):
    for k in range(beta.size):
        up[k] = 0.0 if beta[k] < upper[k] else 1e30
        low[k] = 0.0 if beta[k] > lower[k] else -1e30


def _floor(diagonal, noise):
    """Least curvature that is not mere rounding.

    Between equal points it is zero, under an indefinite kernel it may be negative: the
    step then goes as far as the box allows.
    """
    largest = 0.0
    for k in range(diagonal.size):
        largest = max(largest, abs(diagonal[k]))
    return noise * largest if largest > 0.0 else noise


def _sweep(F, t, row_i, row_j, up, low, found):
    """F += t(K_i − K_j); returns the argmin of F over up.

    found = (min of F over up, max of F over low).
    """
    lowest, highest = 1e30, -1e30
    where = 0
    for start in range(0, F.size, _BLOCK):
        f, ki, kj = (
            F[start : start + _BLOCK],
            row_i[start : start + _BLOCK],
            row_j[start : start + _BLOCK],
        )
        u, w = up[start : start + _BLOCK], low[start : start + _BLOCK]
        small, large = 1e30, -1e30
        for k in range(f.size):
            value = f[k] + t * (np.float64(ki[k]) - np.float64(kj[k]))
            f[k] = value
            small = vmin(small, value + u[k])
            large = vmax(large, value + w[k])
        highest = vmax(highest, large)
        if small < lowest:
            lowest, where = small, start
    f, u = F[where : where + _BLOCK], up[where : where + _BLOCK]
    best, value = 0, f[0] + u[0]
    for k in range(1, f.size):
        if f[k] + u[k] < value:
            best, value = k, f[k] + u[k]
    found[0], found[1] = lowest, highest
    return where + best


def _partner(F, f_i, span, row_i, diagonal, d_i, noise, unit, low):
    """The j of largest gain; in float32, where twice as many fit in a register.

    Gradients are divided by the violation, curvatures by the largest diagonal value
    (``span`` and ``unit`` are the inverses), so that every number is near 1.
    """
    best_gain = np.float32(-1.0)
    where = 0
    zero, two, floor = np.float32(0.0), np.float32(2.0), np.float32(noise)
    own = np.float32(d_i * unit)
    small = row_i.dtype.type(unit)
    for start in range(0, F.size, _BLOCK):
        f, ki = F[start : start + _BLOCK], row_i[start : start + _BLOCK]
        d, w = diagonal[start : start + _BLOCK], low[start : start + _BLOCK]
        top = np.float32(-1.0)
        for k in range(f.size):
            g = vmax(np.float32((f[k] + w[k] - f_i) * span), zero)
            a = (own + np.float32(d[k] * unit)) - two * np.float32(ki[k] * small)
            a = vmax(a, floor)
            top = vmax(top, g * g / a)
        if top > best_gain:
            best_gain, where = top, start
    f, ki = F[where : where + _BLOCK], row_i[where : where + _BLOCK]
    d, w = diagonal[where : where + _BLOCK], low[where : where + _BLOCK]
    best, gain = 0, np.float32(-1.0)
    for k in range(f.size):
        g = vmax(np.float32((f[k] + w[k] - f_i) * span), zero)
        a = (own + np.float32(d[k] * unit)) - two * np.float32(ki[k] * small)
        a = vmax(a, floor)
        if g * g / a > gain:
            best, gain = k, g * g / a
    return where + best


_set_masks = njit(_set_masks)
_floor = njit(_floor)
_sweep = njit(_sweep, fastmath=_FAST)
_partner = njit(_partner, fastmath=_FAST)


def _move_pairs(
    K, q, F, beta, lower, upper, diagonal, noise, stop_at, limit, space, done
):
    """At most ``limit`` pair steps on the leading q×q block of K, in place.

    ``noise`` is the relative rounding error of K's values, ``space`` scratch of 2q + 2
    numbers; ``done[0]`` returns the number of steps, and the result is a code.
    """
    up, low, found = space[:q], space[q : 2 * q], space[2 * q : 2 * q + 2]
    _set_masks(beta, lower, upper, up, low)
    floor = _floor(diagonal, noise)
    i = _sweep(F, 0.0, K[0][:q], K[0][:q], up, low, found)
    done[0] = 0
    while True:
        # A side without a point leaves its ±1e30: nothing can move, all is optimal.
        if found[1] - found[0] <= stop_at:
            return CONVERGED
        if done[0] >= limit:
            return PAUSED
        row_i = K[i][:q]
        span = 1.0 / (found[1] - found[0])
        j = _partner(
            F, F[i], span, row_i, diagonal, diagonal[i], noise, noise / floor, low
        )
        curvature = max(diagonal[i] + diagonal[j] - 2.0 * np.float64(row_i[j]), floor)
        room_i, room_j = upper[i] - beta[i], beta[j] - lower[j]
        t = min((F[j] - F[i]) / curvature, room_i, room_j)
        if not np.isfinite(t):
            return UNBOUNDED
        new_i = upper[i] if t == room_i else beta[i] + t
        new_j = lower[j] if t == room_j else beta[j] - t
        if new_i == beta[i] and new_j == beta[j]:
            return STUCK
        beta[i], beta[j] = new_i, new_j
        up[i] = 0.0 if new_i < upper[i] else 1e30
        low[i] = 0.0 if new_i > lower[i] else -1e30
        up[j] = 0.0 if new_j < upper[j] else 1e30
        low[j] = 0.0 if new_j > lower[j] else -1e30
        i = _sweep(F, t, row_i, K[j][:q], up, low, found)
        done[0] += 1


def _sweep_single(F, t, row, diagonal, floor, up, low, found):
    """F += t·K_i; returns the point of largest gain; found[0] = worst violation."""
    worst, best_gain, where = 0.0, -1.0, 0
    for start in range(0, F.size, _BLOCK):
        f, k_i = F[start : start + _BLOCK], row[start : start + _BLOCK]
        u, w, d = (
            up[start : start + _BLOCK],
            low[start : start + _BLOCK],
            diagonal[start : start + _BLOCK],
        )
        top, large = -1.0, 0.0
        for k in range(f.size):
            value = f[k] + t * np.float64(k_i[k])
            f[k] = value
            v = vmax(vmax(-(value + u[k]), value + w[k]), 0.0)
            large = vmax(large, v)
            top = vmax(top, v * v / vmax(d[k], floor))
        worst = vmax(worst, large)
        if top > best_gain:
            best_gain, where = top, start
    f, d = F[where : where + _BLOCK], diagonal[where : where + _BLOCK]
    u, w = up[where : where + _BLOCK], low[where : where + _BLOCK]
    best, gain = 0, -1.0
    for k in range(f.size):
        v = vmax(vmax(-(f[k] + u[k]), f[k] + w[k]), 0.0)
        v = v * v / vmax(d[k], floor)
        if v > gain:
            best, gain = k, v
    found[0] = worst
    return where + best


_sweep_single = njit(_sweep_single, fastmath=_FAST)


def _move_singles(
    K, q, F, beta, lower, upper, diagonal, noise, stop_at, limit, space, done
):
    """As ``move_pairs`` for a problem without the constraint: one point a step."""
    up, low, found = space[:q], space[q : 2 * q], space[2 * q : 2 * q + 1]
    _set_masks(beta, lower, upper, up, low)
    floor = _floor(diagonal, noise)
    i = _sweep_single(F, 0.0, K[0][:q], diagonal, floor, up, low, found)
    done[0] = 0
    while True:
        if found[0] <= stop_at:
            return CONVERGED
        if done[0] >= limit:
            return PAUSED
        t = max(
            min(-F[i] / max(diagonal[i], floor), upper[i] - beta[i]), lower[i] - beta[i]
        )
        if not np.isfinite(t):
            return UNBOUNDED
        new = beta[i] + t
        new = upper[i] if t == upper[i] - beta[i] else new
        new = lower[i] if t == lower[i] - beta[i] else new
        if new == beta[i]:
            return STUCK
        beta[i] = new
        up[i] = 0.0 if new < upper[i] else 1e30
        low[i] = 0.0 if new > lower[i] else -1e30
        i = _sweep_single(F, t, K[i][:q], diagonal, floor, up, low, found)
        done[0] += 1


move_pairs = njit(_move_pairs)
move_singles = njit(_move_singles)
