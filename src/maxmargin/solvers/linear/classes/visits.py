r"""Visits to rows: all classes of one row solved exactly, the weights kept beside β.

With :math:`A = \|x_i\|^2` and :math:`B_m = G_{im} - A\beta_{im}` the best β of row i is
:math:`\min(C_i1[m=y_i], (\lambda - B_m)/A)` with the level λ at which it sums to 0.

Most classes do not matter to most rows (shrinking). A line of ``watched`` lists the
classes of a row that are visited: how many, then its own class, then the others, and
behind them the classes left out. A class is left out when its β is at the bound and its
gradient is below those of all classes that may rise by more than a limit; a row is left
out when that holds for all classes but one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from maxmargin._jit import njit
from maxmargin._jit.prefetch import prefetch
from maxmargin._jit.random import shuffle
from maxmargin.design.row import add_classes, dot_classes, fetch_row

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin._arrays import Index, Table, Vector

# places: next in the order, number left, whether it is shuffled; visits and epochs so
# far; the epoch and the visits that end a run of epochs; steps since the last look; row
# of the last step, and number of its classes that moved
NEXT, LEFT, SHUFFLED, VISITS, EPOCH, EVENT, MOST, STEPS, ROW, MOVED = range(10)
# figures: the limit, and its share of the worst violation of an epoch; that violation so
# far, and the one that ends a run of epochs; violation before the last step, and β of the
# own class before and after it
LIMIT, SHARE, WORST, ENOUGH, VIOLATION, BEFORE, AFTER = range(7)

_AHEAD = 4  # policy: rows that are fetched while one is visited
_GRAIN = 1e-12  # rounding: a smaller violation moves no β
_FLAT = 1e-12  # rounding: A·C relative to G; a smaller one counts as A = 0


class Epoch(NamedTuple):
    """The arrays that visits read and change."""

    table: Table  # of every row the price C and ‖x‖²
    beta: Table
    watched: NDArray[np.int32]  # of every row how many classes, and which
    W: Table
    work: Table  # room for a few numbers of every class
    some: NDArray[np.int32]  # and for its name
    order: Index
    place: Index
    figures: Vector


@njit
def _survey(G, names, at, count, beta, of, C):
    """The largest G, the least that may rise, the largest other; how many may rise."""
    top, low, other, rising = G[0], np.inf, -np.inf, 0
    for t in range(count):
        top = max(top, G[t])
        if beta[of + names[at + t]] < (C if t == 0 else 0.0):
            low = min(low, G[t])
            rising += 1
        else:
            other = max(other, G[t])
    return top, low, other, rising


@njit
def _leave_out(G, names, at, count, beta, of, least):
    """Leave out classes with β = 0 and G below ``least``; return how many stay."""
    t = 1
    while t < count:
        if G[t] < least and beta[of + names[at + t]] == 0.0:
            count -= 1
            names[at + t], names[at + count] = names[at + count], names[at + t]
            G[t], G[count] = G[count], G[t]
        else:
            t += 1
    return count


@njit
def solve_classes(A, C, B, count, new):
    """New = the minimiser of ½A‖β‖² + B·β, Σβ = 0, β ≤ 0 but for the first, β₀ ≤ C.

    The others enter in the order of falling B, while it is above the level λ of the
    classes inside; λ is the larger of two where β₀ is at its bound. Few enter: searching
    for the largest takes half the time of Michelot's rounds over all.
    """
    for t in range(count):
        new[t] = 0.0
    inside, total, level, bound = 0, 0.0, B[0], -np.inf
    while True:
        best = 0
        for t in range(1, count):
            if new[t] == 0.0 and (best == 0 or B[t] > B[best]):
                best = t
        if best == 0 or not B[best] > max(level, bound):
            break
        new[best] = 1.0
        inside, total = inside + 1, total + B[best]
        level, bound = (B[0] + total) / (inside + 1), (total - A * C) / inside
    level, weight, first = max(level, bound), 0.0, 0
    for t in range(1, count):
        if new[t] > 0.0:
            new[t] = min(0.0, (level - B[t]) / A) if A > 0.0 else 0.0
            weight -= new[t]
            if first == 0 or B[t] > B[first]:
                first = t
    if inside == 0 or (level > bound and weight < C):
        new[0] = weight
    elif weight > 0.0:
        for t in range(1, count):
            new[t] *= C / weight  # 1 but for rounding
        new[0] = C
    else:  # A·C is lost beside B: all of it against the largest
        new[0], new[first] = C, -C


@njit
def _solve(A, C, G, names, at, count, beta, of, B, new):
    """New = the best β of the watched classes."""
    if count == 2 and A * C > _FLAT * max(abs(G[0]), abs(G[1])):
        # by far the most frequent
        own = beta[of + names[at]] + 0.5 * (G[1] - G[0]) / A
        new[0] = min(max(own, 0.0), C)
        new[1] = -new[0]
        return
    largest = 0.0
    for t in range(count):
        largest = max(largest, abs(G[t]))
        B[t] = G[t] - A * beta[of + names[at + t]]
    if A * C > _FLAT * largest:
        solve_classes(A, C, B, count, new)
    else:
        solve_classes(0.0, C, G, count, new)


@njit
def _turn_over(place, figures):
    """Begin the next epoch; True if a look or conjugate gradients are due before."""
    worst = figures[WORST]
    figures[LIMIT] = figures[SHARE] * worst if worst > 0.0 else np.inf
    figures[WORST] = 0.0
    place[NEXT], place[SHUFFLED] = 0, 0
    place[EPOCH] += 1
    over = place[EPOCH] >= place[EVENT] or place[VISITS] > place[MOST]
    return over or place[LEFT] == 0 or worst <= figures[ENOUGH]


@njit
def visit(rows, scaling, epoch, seed, visits):
    """At most ``visits`` visits; True once a look or conjugate gradients are due."""
    table, beta, watched, W, work, some, order, place, figures = epoch
    G, B, new, change = work[0], work[1], work[2], work[3]
    whole = work[4]
    K, betas, names = beta.shape[1], beta.ravel(), watched.ravel()
    while visits > 0:
        if place[NEXT] >= place[LEFT] and _turn_over(place, figures):
            return True
        if place[SHUFFLED] == 0:
            shuffle(order, place[LEFT], seed, place[EPOCH])
            place[SHUFFLED] = 1
        visits -= 1
        place[VISITS] += 1
        here = place[NEXT]
        if here + 2 * _AHEAD < place[LEFT]:
            later = order[here + 2 * _AHEAD]
            prefetch(table, later * 2)
            prefetch(watched, later * (K + 1))
            for m in range(0, min(K, 64), 8):
                prefetch(beta, later * K + m)
            fetch_row(rows, order[here + _AHEAD])
        i = order[here]
        C, A = table[i, 0], table[i, 1]
        count, at, of = watched[i, 0], i * (K + 1) + 1, i * K
        dot_classes(rows, i, W, scaling, names, at, count, G, 0, whole)
        for t in range(1, count):
            G[t] += 1.0
        top, low, other, rising = _survey(G, names, at, count, betas, of, C)
        if rising == 1 and low - other > figures[LIMIT]:
            place[LEFT] -= 1
            order[here], order[place[LEFT]] = order[place[LEFT]], i
            continue
        place[NEXT] = here + 1
        figures[WORST] = max(figures[WORST], top - low)
        count = _leave_out(G, names, at, count, betas, of, low - figures[LIMIT])
        watched[i, 0] = count
        if not top - low > _GRAIN:
            continue
        _solve(A, C, G, names, at, count, betas, of, B, new)
        own = of + names[at]
        place[ROW], figures[VIOLATION], figures[BEFORE] = i, top - low, betas[own]
        moved = 0
        for t in range(count):
            m = names[at + t]
            if new[t] != betas[of + m]:
                some[moved], change[moved] = m, new[t] - betas[of + m]
                betas[of + m] = new[t]
                moved += 1
        add_classes(rows, i, W, scaling, some, 0, moved, change, 0)
        place[STEPS] += moved > 0
        place[MOVED], figures[AFTER] = moved, betas[own]
    return False


@njit
def choose(outputs, codes, table, beta, watched, limit, order):
    """Choose the rows to visit and their watched classes; return how many rows."""
    K = beta.shape[1]
    left = 0
    for i in range(codes.size):
        C, y, f, mine = table[i, 0], codes[i], outputs[i], beta[i]
        if C == 0.0:
            continue
        low, rising = np.inf, 0
        for m in range(K):
            if mine[m] < (C if m == y else 0.0):
                low = min(low, f[m] + (0.0 if m == y else 1.0))
                rising += 1
        count, end = 1, K
        settled = rising == 1 and (mine[y] < C or low - f[y] > limit)
        line = watched[i, 1:]
        line[0] = y
        for m in range(K):
            if m == y:
                continue
            if mine[m] == 0.0 and low - (f[m] + 1.0) > limit:
                end -= 1
                line[end] = m
            else:
                settled = settled and mine[m] < 0.0
                line[count] = m
                count += 1
        watched[i, 0] = count
        if not settled:
            order[left] = i
            left += 1
    return left
