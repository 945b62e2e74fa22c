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
from maxmargin.design.row import add_row, dot_row, fetch_row

# counters of a walk, which goes on when the rows change
STEP, DRAWN, SEED, BEGAN, TAIL, NEXT_TAIL = range(6)
SHARE, MASS, NORM2, PENALTY = range(4)  # q, A, ‖v‖² and λ
DONE, EVEN = range(2)  # of the run on these rows: its steps, whether all weigh the same
# of the last step: a row, its margin, rows and errors in the batch, factor of projection
ROW, MARGIN, SIZE, ERRORS, FACTOR = range(5)
OLD, NEW, SETTLED = range(3)  # sums of iterates where tails began, and what is settled
# of a row: errors and visits since the next tail began, and before
WRONG, SEEN, WRONG_BEFORE, SEEN_BEFORE = range(4)
AHEAD = 3  # draws by which rows are fetched into the cache before they are read
GOLDEN = 0.6180339887498949
SMALLEST = 1e-2  # of q, before it is multiplied into v


@njit
def _shuffle(order, seed, first):
    """Another order for every epoch, from the number of its first draw."""
    for k in range(order.size):
        order[k] = k
    for k in range(order.size - 1, 0, -1):
        other = int(uniform(seed + 1, first + k) * (k + 1))
        order[k], order[other] = order[other], order[k]


@njit
def _owner(odds, even, share):
    """The row that owns this share of the total weight."""
    n = odds.size
    if even:
        return min(n - 1, int(share * n))
    return min(n - 1, np.searchsorted(odds, share * odds[-1], side="right"))


@njit
def _moved(seed, epoch):
    """Where in each of n equal shares of the weight the row of an epoch is taken.

    Moved by the golden ratio from epoch to epoch, so that every row soon has its part
    however small its weight is; off the edges, where rounding would decide.
    """
    return 0.001 + 0.998 * ((uniform(seed, 0) + epoch * GOLDEN) % 1.0)


@njit
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


@njit
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


@njit
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


@njit
def steps(  # noqa: PLR0912, PLR0915 - a call costs as much as a sparse row
    rows, scaling, y, alive, odds, norms, per_epoch, batch, anew, projected, v, u, sums,
    reals, counters, order, counts, drawn, wrong, run, told, last,
):  # fmt: skip
    """Steps of this run up to ``last``.

    ``alive`` are the rows with weight, ``odds`` their cumulative weights; an epoch has
    ``per_epoch`` steps, of ``batch`` draws if ``anew``, and otherwise of equal parts of a
    new order of all.
    """
    n, seed, even = alive.size, counters[SEED], run[EVEN] == 1
    epoch, place = divmod(run[DONE], per_epoch)
    moved = _moved(seed, epoch)
    for done in range(run[DONE], last):
        if place == per_epoch:
            epoch, place = epoch + 1, 0
            moved = _moved(seed, epoch)
        if place == 0 and not anew:
            _shuffle(order, seed, counters[DRAWN])
        first, stop = place, place + batch
        if batch > 1 and not anew:
            first, stop = place * n // per_epoch, (place + 1) * n // per_epoch
        size = stop - first
        for k in range(size):
            if anew:
                drawn[k] = _owner(odds, even, uniform(seed, counters[DRAWN] + k + 1))
            elif even:
                drawn[k] = order[first + k]
            else:
                drawn[k] = _owner(odds, even, (order[first + k] + moved) / n)
        if even and batch == 1:  # of the rows that come soon, bring one near
            soon = order[min(place + AHEAD, n - 1)]
            if anew:
                soon = _owner(odds, even, uniform(seed, counters[DRAWN] + 1 + AHEAD))
            fetch_row(rows, alive[soon])
        counters[DRAWN] += size
        t = counters[STEP] + 1
        rate = reals[SHARE] / (reals[PENALTY] * (t - 1)) if t > 1 else 0.0
        found = 0
        for k in range(size):
            if k + AHEAD < size:
                fetch_row(rows, alive[drawn[k + AHEAD]])
            at = drawn[k]
            i = alive[at]
            margin = y[i] * rate * dot_row(rows, i, v, scaling)
            wrong[k] = margin < 1.0
            counts[at, SEEN] += 1
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
            if u.size > 0:
                add_row(rows, i, gain * reals[MASS], u, scaling)
        counters[STEP] = t
        told[SIZE], told[ERRORS], told[FACTOR] = size, found, 1.0
        if projected:
            told[FACTOR] = _project(v, u, sums, reals, t)
        place += 1
        if t & (t - 1) == 0:
            seen = done + 1 >= per_epoch
            _begin_tail(v, u, sums, reals, counters, counts, seen)
    run[DONE] = max(run[DONE], last)
