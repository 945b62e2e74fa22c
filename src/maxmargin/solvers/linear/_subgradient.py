r"""The compiled steps of stochastic sub-gradient descent on the hinge loss.

With the rate 1/(λt) the iterate is :math:`w_{t+1} = \frac{1}{\lambda t}\theta_{t+1}`,
where θ gains :math:`\frac{1}{|A_t|}\sum yx` over the margin errors of the rows
:math:`A_t` of step t, and nothing else happens: shrinking w costs nothing. A projection
multiplies θ; its factors are kept apart, :math:`\theta = qv`, so that v changes where a
row is not 0, and nowhere else.

The sum of the iterates is kept in the same way: :math:`\sum_{s\le t} w_s = A_tv - u` with
the sum A of the factors of v, where u gains :math:`A_s` times what v gains at step s.
Where projections shrink q, v and A·v grow until the difference would lose digits: then it
is settled, and both begin anew. A tail of the sum is its difference from what it was at
the tail's beginning. Tails begin at powers of two, the last but one of which is used: the
tail has between a half and three quarters of all steps, and nobody has to know
beforehand how many there will be.

For the dual, errors and visits of every row are counted in the same tail.
"""

from __future__ import annotations

import numpy as np

from maxmargin._jit import njit
from maxmargin._jit.random import uniform
from maxmargin.design import add_row, dot_row

__all__ = ["steps"]

# counters of a walk, which goes on when the rows change
STEP, DRAWN, SEED, BEGAN, TAIL, NEXT_TAIL = range(6)
SHARE, MASS, NORM2, PENALTY = range(4)  # q, A, ‖v‖² and λ
DONE, EVEN = range(2)  # of the run on these rows: its steps, whether all weigh the same
# of the last step: a row, its margin, rows and errors in the batch, factor of projection
ROW, MARGIN, SIZE, ERRORS, FACTOR = range(5)
OLD, NEW, SETTLED = range(3)  # sums of iterates where tails began, and what is settled
# of a row: errors and visits since the next tail began, and before
WRONG, SEEN, WRONG_BEFORE, SEEN_BEFORE = range(4)
GOLDEN = 0.6180339887498949
SMALLEST = 1e-2  # of q, before it is multiplied into v


def _shuffle(order, seed, first):
    """Another order for every epoch, from the number of its first draw."""
    for k in range(order.size):
        order[k] = k
    for k in range(order.size - 1, 0, -1):
        other = int(uniform(seed + 1, first + k) * (k + 1))
        order[k], order[other] = order[other], order[k]


_shuffle = njit(_shuffle)


def _owner(odds, even, share):
    """The row that owns this share of the total weight."""
    n = odds.size
    if even:
        return min(n - 1, int(share * n))
    return min(n - 1, np.searchsorted(odds, share * odds[-1], side="right"))


_owner = njit(_owner)


def _draw(odds, even, anew, order, epoch, first, stop, counters, drawn):
    """The rows of a step: draws ``first`` to ``stop`` of this epoch."""
    n, seed = odds.size, counters[SEED]
    # A grid of n shares, moved by another fraction in every epoch: by the golden ratio,
    # so that every row soon has its part however small its weight is. Off the edges of
    # the shares, where rounding would decide who is drawn.
    moved = (uniform(seed, 0) + epoch * GOLDEN) % 1.0
    for k in range(stop - first):
        if anew:
            counters[DRAWN] += 1
            drawn[k] = _owner(odds, even, uniform(seed, counters[DRAWN]))
        elif even:
            drawn[k] = order[first + k]
        else:
            share = (order[first + k] + 0.001 + 0.998 * moved) / n
            drawn[k] = _owner(odds, even, share)
    if not anew:
        counters[DRAWN] += stop - first


_draw = njit(_draw)


def _settle(v, u, sums, reals):
    """Multiply q into v; the sum of iterates so far is written out."""
    mass, q = reals[MASS], reals[SHARE]
    for k in range(u.size):
        sums[SETTLED, k] += mass * v[k] - u[k]
        u[k] = 0.0
    for k in range(v.size):
        v[k] *= q
    reals[NORM2] *= q * q
    reals[SHARE], reals[MASS] = 1.0, 0.0


_settle = njit(_settle)


def _project(v, u, sums, reals, t):
    """Shorten w = q/(λt)·v to the radius 1/√λ; returns the factor."""
    if t % max(1024, v.size) == 0:  # what rounding did to the running sum
        total = 0.0
        for k in range(v.size):
            total += v[k] * v[k]
        reals[NORM2] = total
    length = reals[SHARE] * np.sqrt(max(0.0, reals[NORM2])) / (reals[PENALTY] * t)
    factor = 1.0 / (length * np.sqrt(reals[PENALTY])) if length > 0.0 else 1.0
    if factor >= 1.0:
        return 1.0
    reals[SHARE] *= factor
    if reals[SHARE] < SMALLEST:
        _settle(v, u, sums, reals)
    return factor


_project = njit(_project)


def _begin_tail(v, u, sums, reals, counters, counts, counted):
    """Remember where the sum of iterates stands; counts of rows move on."""
    for k in range(u.size):
        sums[OLD, k] = sums[NEW, k]
        sums[NEW, k] = sums[SETTLED, k] + (reals[MASS] * v[k] - u[k])
    counters[TAIL], counters[NEXT_TAIL] = counters[NEXT_TAIL], counters[STEP]
    if not counted:
        return
    for i in range(counts.shape[0]):
        if counts[i, SEEN] > 0:  # otherwise the old ones are the newest that there are
            counts[i, WRONG_BEFORE] = counts[i, WRONG]
            counts[i, SEEN_BEFORE] = counts[i, SEEN]
            counts[i, WRONG], counts[i, SEEN] = 0, 0


_begin_tail = njit(_begin_tail)


def _steps(
    rows, scaling, y, alive, odds, norms, per_epoch, batch, anew, projected, v, u, sums,
    reals, counters, order, counts, drawn, wrong, run, told, last,
):  # fmt: skip
    """Steps of this run up to ``last``.

    ``alive`` are the rows with weight, ``odds`` their cumulative weights; an epoch has
    ``per_epoch`` steps, of ``batch`` draws if ``anew``, and otherwise of equal parts of a
    new order of all.
    """
    n, even, averaged = alive.size, run[EVEN] == 1, u.size > 0
    while run[DONE] < last:
        epoch, place = divmod(run[DONE], per_epoch)
        if place == 0 and not anew:
            _shuffle(order, counters[SEED], counters[DRAWN])
        first, stop = place * n // per_epoch, (place + 1) * n // per_epoch
        if anew:
            stop = first + batch
        size = stop - first
        _draw(odds, even, anew, order, epoch, first, stop, counters, drawn)
        t = counters[STEP] + 1
        rate = reals[SHARE] / (reals[PENALTY] * (t - 1)) if t > 1 else 0.0
        found = 0
        for k in range(size):
            at = drawn[k]
            i = alive[at]
            margin = y[i] * rate * dot_row(rows, i, v, scaling)
            counts[at, SEEN] += 1
            wrong[k] = margin < 1.0
            if wrong[k]:
                counts[at, WRONG] += 1
                found += 1
            if k == 0:
                told[ROW], told[MARGIN] = i, margin
        reals[MASS] += rate  # of w_t in the sum of all
        for k in range(size):
            if not wrong[k]:
                continue
            i = alive[drawn[k]]
            gain = y[i] / (size * reals[SHARE])
            if projected:
                inner = dot_row(rows, i, v, scaling)
                reals[NORM2] += gain * (2.0 * inner + gain * norms[i])
            add_row(rows, i, gain, v, scaling)
            if averaged:
                add_row(rows, i, gain * reals[MASS], u, scaling)
        counters[STEP] = t
        told[SIZE], told[ERRORS], told[FACTOR] = size, found, 1.0
        if projected:
            told[FACTOR] = _project(v, u, sums, reals, t)
        run[DONE] += 1
        if t & (t - 1) == 0:
            seen = run[DONE] >= per_epoch
            _begin_tail(v, u, sums, reals, counters, counts, seen)


steps = njit(_steps)
