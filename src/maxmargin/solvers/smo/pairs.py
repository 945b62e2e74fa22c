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

With a price ε of |β| the gradients are F↑ and F↓ of :mod:`maxmargin.problem.template`,
and a step ends where β meets 0, the kink. With one sum for each sign (the ν-machines)
both points are of one side, the one with the larger violation (LIBSVM's Solver_NU; C.-C.
Chang and C.-J. Lin, "Training ν-support vector classifiers", Neural Computation 13,
2001).

Cost: two sweeps over q an iteration, 0.25 ns a point each; three with two sides. "β
may rise" and "β may fall" are additive masks (±ε, or ±1e30 where it may not) rather than
branches, so that sweeps vectorise. With float32 kernel values the gradients are float32
too: they are written relative to a ``centre`` near those that decide, so that rounding
is relative to the violation, not to the size of F.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from maxmargin._jit import inlined, njit
from maxmargin._jit.lanes import LANES, partner_lanes, sweep_lanes
from maxmargin._jit.simd import vmax

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin._arrays import Index, Vector
    from maxmargin.problem import Problem

CONVERGED, PAUSED, STUCK, UNBOUNDED = 0, 1, 2, 3
# rounding: relative error of kernel values
SINGLE_NOISE, DOUBLE_NOISE = 1e-7, 1e-12

SCRATCH = 3 * LANES + 4  # numbers of working memory, above four for every point
_BLOCK = 64  # policy: points of a block; a sweep keeps the best block, then searches it
_FAST = {"nnan", "nsz", "reassoc", "contract", "arcp"}


class Block(NamedTuple):
    """Some points whose kernel values are stored; arrays of shape (q,) but for K."""

    K: NDArray[Any]  # (at least q, at least q), with the ridge on the diagonal
    F: Vector
    beta: Vector
    lower: Vector
    upper: Vector
    epsilon: float
    sums: tuple[float, ...]
    side: NDArray[np.uint8]
    diagonal: NDArray[Any]
    noise: float  # relative rounding error of K's values


@inlined
def _set_mask(k, beta, lower, upper, epsilon, up, low):
    up[k] = (epsilon if beta[k] >= 0.0 else -epsilon) if beta[k] < upper[k] else 1e30
    low[k] = (epsilon if beta[k] > 0.0 else -epsilon) if beta[k] > lower[k] else -1e30


@inlined
def _ceiling(beta, upper, epsilon):
    """How high a step may bring β: to the kink of |β|, or to the bound."""
    return 0.0 if epsilon > 0.0 and beta < 0.0 else upper


@inlined
def _ground(beta, lower, epsilon):
    return 0.0 if epsilon > 0.0 and beta > 0.0 else lower


@inlined
def _floor(diagonal, noise):
    """Least curvature that is not mere rounding.

    Between equal points it is zero, under an indefinite kernel it may be negative: the
    step then goes as far as the box allows.
    """
    largest = 0.0
    for k in range(diagonal.size):
        largest = max(largest, abs(diagonal[k]))
    return noise * largest if largest > 0.0 else noise


@njit(allocates=False)
def _sweep(F, t, row_i, row_j, up, low, found, lanes):
    """F += t(K_i − K_j); returns the argmin of F over up, the first one.

    found = (min of F over up, max of F over low).
    """
    step = F.dtype.type(t)
    blocks = F.size // LANES
    sweep_lanes(F, step, row_i, row_j, up, low, blocks, lanes)
    lowest, where, highest = lanes[0], int(lanes[LANES]) * LANES, lanes[2 * LANES]
    for k in range(1, LANES):
        at = int(lanes[LANES + k]) * LANES + k
        if lanes[k] < lowest or (lanes[k] == lowest and at < where):
            lowest, where = lanes[k], at
        highest = max(highest, lanes[2 * LANES + k])
    for k in range(blocks * LANES, F.size):
        F[k] += step * (row_i[k] - row_j[k])
        if F[k] + up[k] < lowest:
            lowest, where = F[k] + up[k], k
        highest = max(highest, F[k] + low[k])
    found[0], found[1] = lowest, highest
    return where


@njit(allocates=False)
def _partner(F, f_i, span, row_i, diagonal, d_i, noise, unit, low, lanes):
    """The j of largest gain, the first one.

    Gradients are divided by the violation, curvatures by the largest diagonal value
    (``span`` and ``unit`` are the inverses), so that every number is near 1.
    """
    work, short = F.dtype.type, np.float32
    own, floor = short(d_i * unit), short(noise)
    span, unit, f_i = work(span), work(unit), work(f_i)
    blocks = F.size // LANES
    partner_lanes(
        F, f_i, span, row_i, diagonal, own, unit, floor, low, blocks, lanes
    )  # fmt: skip
    best, where = short(lanes[0] / lanes[LANES]), int(lanes[2 * LANES]) * LANES
    for k in range(1, LANES):
        gain = short(lanes[k] / lanes[LANES + k])
        at = int(lanes[2 * LANES + k]) * LANES + k
        if gain > best or (gain == best and at < where):
            best, where = gain, at
    for k in range(blocks * LANES, F.size):
        g = max(short((F[k] + low[k] - f_i) * span), short(0.0))
        twice = short(2.0) * short(row_i[k] * unit)
        a = max((own + short(diagonal[k] * unit)) - twice, floor)
        if g * g / a > best:
            best, where = g * g / a, k
    return where


@inlined
def _pair_step(i, j, gain, curvature, beta, lower, upper, epsilon):
    """Move β_i up and β_j down; returns by how much: 0 if nowhere, inf if without end."""
    ceiling = _ceiling(beta[i], upper[i], epsilon)
    ground = _ground(beta[j], lower[j], epsilon)
    room_i, room_j = ceiling - beta[i], beta[j] - ground
    t = min(gain / curvature, room_i, room_j)
    if not np.isfinite(t):
        return np.inf
    new_i = ceiling if t == room_i else beta[i] + t
    new_j = ground if t == room_j else beta[j] - t
    if new_i == beta[i] and new_j == beta[j]:
        return 0.0
    beta[i], beta[j] = new_i, new_j
    return t


@inlined
def _note_step(last, i, j, t, price, gain, curvature):
    """Note a step: points, length, gain of the dual, and the slope at its start."""
    last[0], last[1], last[2], last[3] = i, j, t, t * (gain - 0.5 * curvature * t)
    last[4], last[5], last[6] = price, gain, curvature
    last[7] += last[3]


@inlined
def _curvature(diagonal, i, j, value, floor):
    twice = 2.0 * np.float64(value)
    return max((np.float64(diagonal[i]) + np.float64(diagonal[j])) - twice, floor)


@njit(allocates=False)
def move_pairs(block, stop_at, limit, space, done, last):
    """At most ``limit`` pair steps on a :class:`Block`, in place.

    With two sums each side has masks of its own, in which the points of the other may not
    move. ``space`` is scratch; ``done[0]`` returns the number of steps, ``last`` what
    :func:`_note_step` noted of the last one, and the result is a code.
    """
    K, F, beta, lower, upper, epsilon, sums, side, diagonal, noise = block
    n_sums, q = len(sums), beta.size  # the first is a constant: compiled for each
    lanes, space = space[: 3 * LANES], space[3 * LANES :]
    masks = space[: 2 * n_sums * q].reshape(n_sums, 2, q)
    found = space[2 * n_sums * q : 2 * n_sums * (q + 1)].reshape(n_sums, 2)
    for k in range(q):
        s = 0
        if n_sums == 2:
            s = side[k]
            masks[1 - s, 0, k], masks[1 - s, 1, k] = 1e30, -1e30
        _set_mask(k, beta, lower, upper, epsilon, masks[s, 0], masks[s, 1])
    floor = _floor(diagonal, noise)
    none, second = K[0][:q], 0
    first = _sweep(F, 0.0, none, none, masks[0, 0], masks[0, 1], found[0], lanes)
    done[0] = 0
    while True:
        s, i, worst = 0, first, found[0, 1] - found[0, 0]
        if n_sums == 2:
            second = _sweep(F, 0.0, none, none, masks[1, 0], masks[1, 1], found[1], lanes)
            other = found[1, 1] - found[1, 0]
            if not worst >= other:
                s, i, worst = 1, second, other
        # A side without a point leaves its ±1e30: nothing can move, all is optimal.
        if worst <= stop_at:
            return CONVERGED
        if done[0] >= limit:
            return PAUSED
        up, low = masks[s, 0], masks[s, 1]
        row_i = K[i][:q]
        price = np.float64(F[i] + up[i])
        j = _partner(
            F, price, 1.0 / worst, row_i, diagonal, diagonal[i], noise, noise / floor,
            low, lanes,
        )  # fmt: skip
        curvature = _curvature(diagonal, i, j, row_i[j], floor)
        gain = np.float64(F[j] + low[j]) - price
        t = _pair_step(i, j, gain, curvature, beta, lower, upper, epsilon)
        if t == 0.0:
            return STUCK
        if t == np.inf:
            return UNBOUNDED
        _note_step(last, i, j, t, price, gain, curvature)
        _set_mask(i, beta, lower, upper, epsilon, up, low)
        _set_mask(j, beta, lower, upper, epsilon, up, low)
        first = _sweep(F, t, row_i, K[j][:q], masks[0, 0], masks[0, 1], found[0], lanes)
        done[0] += 1


@njit(allocates=False, fastmath=_FAST)
def _sweep_single(F, t, row, diagonal, floor, up, low, found):
    """F += t·K_i; returns the point of largest gain; found[0] = worst violation."""
    work = F.dtype.type
    zero, step, least = work(0.0), work(t), work(floor)
    worst, best_gain, where = zero, work(-1.0), 0
    for start in range(0, F.size, _BLOCK):
        f, k_i = F[start : start + _BLOCK], row[start : start + _BLOCK]
        u, w, d = (
            up[start : start + _BLOCK],
            low[start : start + _BLOCK],
            diagonal[start : start + _BLOCK],
        )
        top, large = work(-1.0), zero
        for k in range(f.size):
            value = f[k] + step * work(k_i[k])
            f[k] = value
            v = vmax(vmax(-(value + u[k]), value + w[k]), zero)
            large = vmax(large, v)
            top = vmax(top, v * (v / vmax(d[k], least)))
        worst = vmax(worst, large)
        if top > best_gain:
            best_gain, where = top, start
    f, d = F[where : where + _BLOCK], diagonal[where : where + _BLOCK]
    u, w = up[where : where + _BLOCK], low[where : where + _BLOCK]
    best, gain = 0, work(-1.0)
    for k in range(f.size):
        v = vmax(vmax(-(f[k] + u[k]), f[k] + w[k]), zero)
        v = v * (v / vmax(d[k], least))
        if v > gain:
            best, gain = k, v
    found[0] = worst
    return where + best


@njit(allocates=False)
def _move_singles(block, stop_at, limit, space, done, last):
    """As :func:`move_pairs` for a problem without a sum: one point a step."""
    K, F, beta, lower, upper, epsilon, _, _, diagonal, noise = block
    q = beta.size
    up, low, found = space[:q], space[q : 2 * q], space[2 * q : 2 * q + 1]
    for k in range(q):
        _set_mask(k, beta, lower, upper, epsilon, up, low)
    floor = _floor(diagonal, noise)
    i = _sweep_single(F, 0.0, K[0][:q], diagonal, floor, up, low, found)
    done[0] = 0
    while True:
        if found[0] <= stop_at:
            return CONVERGED
        if done[0] >= limit:
            return PAUSED
        curvature = max(np.float64(diagonal[i]), floor)
        rise, fall = np.float64(F[i] + up[i]), np.float64(F[i] + low[i])
        if -rise > fall:
            end = _ceiling(beta[i], upper[i], epsilon)
            t = min(-rise / curvature, end - beta[i])
        else:
            end = _ground(beta[i], lower[i], epsilon)
            t = max(-fall / curvature, end - beta[i])
        if not np.isfinite(t):
            return UNBOUNDED
        new = end if t == end - beta[i] else beta[i] + t
        if new == beta[i]:
            return STUCK
        price = rise if t > 0.0 else fall
        _note_step(last, i, -1, t, price, -price, curvature)
        beta[i] = new
        _set_mask(i, beta, lower, upper, epsilon, up, low)
        i = _sweep_single(F, t, K[i][:q], diagonal, floor, up, low, found)
        done[0] += 1


@njit(allocates=False)
def fresh_gradient(K, q, beta, p, out):
    """Out = Kβ + p on the leading q×q block: what steps have added up, without drift.

    p comes last: where it cancels Kβ, values of next to nothing would be left of it.
    """
    for k in range(q):
        out[k] = 0.0
    for i in range(q):
        if beta[i] != 0.0:
            row, step = K[i][:q], beta[i]
            for k in range(q):
                out[k] += step * row[k]
    for k in range(q):
        out[k] += p[k]


def move(
    problem: Problem,
    members: Index,
    K: NDArray[Any],
    F: Vector,
    beta: Vector,
    diagonal: Vector,
    *,
    noise: float,
    stop_at: float,
    limit: int,
    centre: Any = 0.0,
    last: Vector | None = None,
) -> tuple[int, int]:
    """At most ``limit`` steps on some points, in place: (how it ended, steps done).

    Parameters
    ----------
    problem : Problem
        The problem.
    members : ndarray of int of shape (q,)
        The points.
    K : ndarray of shape (at least q, at least q)
        Their kernel values, with the ridge on the diagonal.
    F, beta, diagonal : ndarray of shape (q,)
        Their gradients, coefficients and K[i, i].
    noise : float
        Relative rounding error of K's values.
    stop_at : float
        Violation at which to stop.
    limit : int
        Steps at most.
    centre : float or ndarray of shape (q,)
        Value near the gradients that decide, at most one number for each sum.
    last : ndarray of shape (8,) or None
        Written to if any step was done: the points i, j of the last one (j = −1 where
        single points move), how far they moved, what the dual gained, the price F_i of
        rising, the slope F_j − F_i, the curvature, and what all steps together gained.
    """
    report = np.zeros(8)
    done = np.zeros(1, np.int64)
    single = K.dtype == np.float32
    local = (F - centre).astype(np.float32) if single else F
    block = Block(
        K, local, beta, problem.lower[members], problem.upper[members], problem.epsilon,
        problem.sums, problem.side[members], diagonal.astype(K.dtype, copy=False), noise,
    )  # fmt: skip
    space = np.empty(4 * members.size + SCRATCH, K.dtype)
    run = move_pairs if problem.sums else _move_singles
    code = run(block, stop_at, limit, space, done, report)
    if single:
        F[:] = local + centre
    if last is not None and done[0]:
        i, j = int(report[0]), int(report[1])
        last[:] = report
        if single:
            last[4] += np.broadcast_to(centre, F.shape)[i]
        last[:2] = members[i], members[j] if j >= 0 else -1
    return int(code), int(done[0])
