r"""The compiled steps of stochastic sub-gradient descent on the hinge loss.

With the rate 1/(λt) the iterate is :math:`w_{t+1} = \frac{1}{\lambda t}\theta_{t+1}`,
where θ gains :math:`\frac{1}{|A_t|}\sum yx` over the margin errors of the rows
:math:`A_t` of step t, and nothing else happens: shrinking w costs nothing. A projection
multiplies θ; its factors are kept apart, :math:`\theta = qv`, so that v changes only
where a row is not 0.

The sum of the iterates is kept in the same way: :math:`\sum_{s\le t} w_s = A_tv - u` with
the sum A of the factors of v, where u gains :math:`A_s` times what v gains at step s.
Where projections shrink q, v and A·v grow until the difference would lose digits: then it
is settled (written out), and both begin anew. The sum of a tail is the difference from
the sum at its beginning. Tails begin at powers of two, and the last but one is used: the
tail has between a half and three quarters of all steps, however many there will be.

For the dual, errors and visits of every row are counted in the same tail.
"""

from __future__ import annotations

import numpy as np

from maxmargin._jit import inlined, njit
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
AHEAD = 3  # policy: draws by which rows are fetched into the cache before they are read
GOLDEN = 0.6180339887498949
SMALLEST = 1e-2  # policy: a smaller q is multiplied into v


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
def _settle(walk):
    """Multiply q into v; the sum of iterates so far is written out."""
    v, u, sums, reals = walk.v, walk.u, walk.sums, walk.reals
    mass, q = reals[MASS], reals[SHARE]
    for k in range(u.size):
        sums[SETTLED, k] += mass * v[k] - u[k]
        u[k] = 0.0
    for k in range(v.size):
        v[k] *= q
    reals[NORM2] *= q * q
    reals[SHARE], reals[MASS] = 1.0, 0.0


@njit
def _project(walk, t):
    """Shorten w = q/(λt)·v to the radius 1/√λ; returns the factor."""
    v, reals = walk.v, walk.reals
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
        _settle(walk)
    return factor


@njit
def _begin_tail(walk, counts, counted):
    """Remember the sum of the iterates; counts of rows move on."""
    v, u, sums, reals, counters = walk.v, walk.u, walk.sums, walk.reals, walk.counters
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


@inlined
def _draw(rows, state, place, per_epoch, batch, anew, moved):
    """Draw the rows of a step; returns how many."""
    n, even = state.alive.size, state.run[EVEN] == 1
    odds, order, drawn, counters = (
        state.odds,
        state.order,
        state.drawn,
        state.walk.counters,
    )
    seed = counters[SEED]
    first, stop = place, place + batch
    if batch > 1 and not anew:
        first, stop = place * n // per_epoch, (place + 1) * n // per_epoch
    for k in range(stop - first):
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
        fetch_row(rows, state.alive[soon])
    counters[DRAWN] += stop - first
    return stop - first


@inlined
def _count_errors(rows, scaling, y, state, size, rate):
    """Find and count the margin errors among the rows of a step at w = rate·v."""
    alive, drawn, wrong, counts = state.alive, state.drawn, state.wrong, state.counts
    found = 0
    for k in range(size):
        if k + AHEAD < size:
            fetch_row(rows, alive[drawn[k + AHEAD]])
        at = drawn[k]
        i = alive[at]
        margin = y[i] * rate * dot_row(rows, i, state.walk.v, scaling)
        wrong[k] = margin < 1.0
        counts[at, SEEN] += 1
        if wrong[k]:
            counts[at, WRONG] += 1
            found += 1
        if k == 0:
            state.report[ROW], state.report[MARGIN] = i, margin
    state.report[SIZE], state.report[ERRORS] = size, found


@inlined
def _add_errors(rows, scaling, y, state, size, norms, projected):
    """Add the margin errors of a step to v, and to u what the sum of iterates needs."""
    v, u, reals = state.walk.v, state.walk.u, state.walk.reals
    for k in range(size):
        if not state.wrong[k]:
            continue
        i = state.alive[state.drawn[k]]
        gain = y[i] / (size * reals[SHARE])
        if projected:
            inner = dot_row(rows, i, v, scaling)
            reals[NORM2] += gain * (2.0 * inner + gain * norms[i])
        add_row(rows, i, gain, v, scaling)
        if u.size > 0:
            add_row(rows, i, gain * reals[MASS], u, scaling)


@njit(allocates=False)
def steps(rows, scaling, y, state, norms, per_epoch, batch, anew, projected, last):
    """Steps of this run up to ``last``: draw rows, find margin errors, add them.

    An epoch has ``per_epoch`` steps, of ``batch`` draws if ``anew``, and otherwise of
    equal parts of a new order of all. One function compiled as a whole: a call costs as
    much as a sparse row.
    """
    walk, run = state.walk, state.run
    reals, counters, seed = walk.reals, walk.counters, walk.counters[SEED]
    epoch, place = divmod(run[DONE], per_epoch)
    moved = _moved(seed, epoch)
    for done in range(run[DONE], last):
        if place == per_epoch:
            epoch, place = epoch + 1, 0
            moved = _moved(seed, epoch)
        if place == 0 and not anew:
            _shuffle(state.order, seed, counters[DRAWN])
        size = _draw(rows, state, place, per_epoch, batch, anew, moved)
        t = counters[STEP] + 1
        rate = reals[SHARE] / (reals[PENALTY] * (t - 1)) if t > 1 else 0.0
        _count_errors(rows, scaling, y, state, size, rate)
        reals[MASS] += rate  # of w_t in the sum of all
        _add_errors(rows, scaling, y, state, size, norms, projected)
        counters[STEP] = t
        state.report[FACTOR] = _project(walk, t) if projected else 1.0
        place += 1
        if t & (t - 1) == 0:
            _begin_tail(walk, state.counts, done + 1 >= per_epoch)
    run[DONE] = max(run[DONE], last)
