r"""Active-set step: conjugate gradients for all free β of all rows at a time.

Visits soon find which β are at a bound, and then zigzag for long among the free ones. For
these (the active set) the dual is a quadratic, :math:`\tfrac12\|W\|^2 + \sum e\beta` with
:math:`\sum_m\beta_{im}` kept for every row. Conjugate gradients, preconditioned by
:math:`\|x_i\|^2`, compute a direction until an iteration gains little against the best
one. β then goes along it, projected on the bounds, by 1, ¼ or ¹⁄₁₆ of its length: the
first that raises the dual. If none does, β goes as far as all bounds allow, which always
raises it.

An iteration is two passes over the rows of the set, as a visit to each of them is.

Reference: J. Moré and G. Toraldo, "On the solution of large quadratic programming
problems with bound constraints", SIAM J. Optim. 1, 1991.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from maxmargin._jit import njit
from maxmargin.design.products import dot, turn
from maxmargin.design.row import add_classes, dot_classes
from maxmargin.solvers.linear.classes.visits import solve_classes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin._arrays import Index, Table, Vector
    from maxmargin.design.operator import Design

_MOST = 100  # iterations
_PAYS = 0.1  # of the gain of the best iteration: less ends the search for a direction
_DIGITS = 1e-12  # by which the squared residual may fall
_MANY = 2  # dimensions against those of W: an answer has at most as many as W
_LARGE, _SMALL = 0.125, 1000  # W against what is read of the rows, but for a small W
_LENGTHS = (1.0, 0.25, 0.0625)

# figures: residual·preconditioned residual now and at first, gain of the best iteration
NOW, FIRST, BEST = range(3)


class ActiveSet(NamedTuple):
    """The free classes of some rows, and a direction under construction.

    The classes of the k-th row are ``classes[starts[k]:starts[k + 1]]``, its own one
    first, be it free or not.
    """

    rows: Index
    starts: Index
    classes: NDArray[np.int32]
    residual: Vector
    heading: Vector  # where this iteration goes
    image: Vector  # what that does to the gradient
    way: Vector  # where all of them went
    W_heading: Table
    W_way: Table
    figures: Vector
    iterations: NDArray[np.intp]  # done, at most


def _gather(table, beta, watched, order, left, rows, starts, classes):
    """Rows with at least two free classes; returns how many."""
    size, at = 0, 0
    starts[0] = 0
    for k in range(left):
        i = order[k]
        mine = beta[i]
        classes[at] = watched[i, 1]
        end, free = at + 1, int(mine[watched[i, 1]] < table[i, 0])
        for t in range(2, watched[i, 0] + 1):
            if mine[watched[i, t]] < 0.0:
                classes[end] = watched[i, t]
                end, free = end + 1, free + 1
        if free >= 2 and table[i, 1] > 0.0:
            rows[size], at = i, end
            size += 1
            starts[size] = at
    return size


def _centre(values, a, b, own_is_free):
    """Take their mean off the values of the free classes of a row, a ≤ place < b."""
    first = a if own_is_free else a + 1
    total = 0.0
    for s in range(first, b):
        total += values[s]
    mean = total / (b - first)
    for s in range(first, b):
        values[s] -= mean
    if not own_is_free:
        values[a] = 0.0


_gather, _centre = njit(_gather), njit(_centre)


def _begin(rows, scaling, table, beta, W, active, whole):
    """Residual of the active set and the first heading; returns their product."""
    members, starts, classes = active.rows, active.starts, active.classes
    residual, heading = active.residual, active.heading
    product = 0.0
    for k in range(members.size):
        i, a, b = members[k], starts[k], starts[k + 1]
        dot_classes(rows, i, W, scaling, classes, a, b - a, residual, a, whole)
        for s in range(a + 1, b):
            residual[s] += 1.0
        _centre(residual, a, b, beta[i, classes[a]] < table[i, 0])
        for s in range(a, b):
            residual[s] = -residual[s]
            heading[s] = residual[s] / table[i, 1]
            product += residual[s] * heading[s]
    return product


def _put(rows, scaling, active, values, W):
    """W = β'X of the ``values`` of the active set."""
    members, starts, classes = active.rows, active.starts, active.classes
    W[:] = 0.0
    for k in range(members.size):
        a, b = starts[k], starts[k + 1]
        add_classes(rows, members[k], W, scaling, classes, a, b - a, values, a)


def _respond(rows, scaling, table, beta, active, length, whole):
    """Go ``length`` along the heading; returns the new residual's product.

    Afterwards ``image`` is the preconditioned residual.
    """
    members, starts, classes = active.rows, active.starts, active.classes
    residual, image, way = active.residual, active.image, active.way
    W = active.W_heading
    product = 0.0
    for k in range(members.size):
        i, a, b = members[k], starts[k], starts[k + 1]
        dot_classes(rows, i, W, scaling, classes, a, b - a, image, a, whole)
        _centre(image, a, b, beta[i, classes[a]] < table[i, 0])
        for s in range(a, b):
            way[s] += length * active.heading[s]
            residual[s] -= length * image[s]
            image[s] = residual[s] / table[i, 1]
            product += residual[s] * image[s]
    return product


def _add(W, factor, other):
    for k in range(W.size):
        W[k] += factor * other[k]


_begin, _put, _respond, _add = njit(_begin), njit(_put), njit(_respond), njit(_add)


@njit
def climb(rows, scaling, table, beta, active, whole, iterations):
    """At most so many iterations; True when there is no need for more."""
    figures, done = active.figures, active.iterations
    W_heading, W_way = active.W_heading.ravel(), active.W_way.ravel()
    while iterations > 0:
        now = figures[NOW]
        if done[0] >= done[1] or now <= _DIGITS * figures[FIRST]:
            return True
        iterations -= 1
        _put(rows, scaling, active, active.heading, active.W_heading)
        bend = dot(W_heading, W_heading)
        if not bend > 0.0:
            return True
        done[0] += 1
        length = now / bend
        _add(W_way, length, W_heading)
        figures[NOW] = _respond(rows, scaling, table, beta, active, length, whole)
        turn(active.heading, active.image, figures[NOW] / now)
        gain = 0.5 * length * now
        if gain < _PAYS * figures[BEST]:
            return True
        figures[BEST] = max(figures[BEST], gain)
    return False


def _farthest(table, beta, active):
    """How far along the way all bounds are kept; at most 1."""
    far = 1.0
    for k in range(active.rows.size):
        i = active.rows[k]
        for s in range(active.starts[k], active.starts[k + 1]):
            upper = table[i, 0] if s == active.starts[k] else 0.0
            room = upper - beta[i, active.classes[s]]
            if active.way[s] > 0.0 and room < far * active.way[s]:
                far = room / active.way[s]
    return far


def _project(table, beta, active, length, new, change, work):
    """New = β that far along the way, projected on its bounds; change = new − β.

    Returns the sum of the changes of own classes, and how many rows met a bound.
    """
    B, mine = work[0], work[1]
    linear, met = 0.0, 0
    for k in range(active.rows.size):
        i, a, b = active.rows[k], active.starts[k], active.starts[k + 1]
        classes, count, C = active.classes[a:b], b - a, table[i, 0]
        inside, total = True, 0.0
        for t in range(count):
            mine[t] = beta[i, classes[t]] + length * active.way[a + t]
            inside = inside and not mine[t] > (C if t == 0 else 0.0)
            total += mine[t]
        if inside and beta[i, classes[0]] < C:  # rounding must not add up
            mine[0] -= total
            inside = mine[0] <= C
        if not inside:
            met += 1
            for t in range(count):
                B[t] = -mine[t]
            solve_classes(1.0, C, B, count, mine)
        for t in range(count):
            new[a + t] = mine[t]
            change[a + t] = mine[t] - beta[i, classes[t]]
        linear += change[a]
    return linear, met


def _accept(beta, active, new):
    for k in range(active.rows.size):
        for s in range(active.starts[k], active.starts[k + 1]):
            beta[active.rows[k], active.classes[s]] = new[s]


_farthest, _project, _accept = njit(_farthest), njit(_project), njit(_accept)


def active_set_of(
    design: Design, table: Table, beta: Table, watched: NDArray[np.int32], W: Table,
    order: Index, work: Table,
) -> ActiveSet | None:  # fmt: skip
    """The free β of the rows ``order``, and the first direction.

    None if it has many more dimensions than W: the dual then has no curvature in most of
    its directions, and an answer far fewer free β. None also if W is so large against
    what is read of the rows that visits are cheaper.
    """
    most = int(watched[order, 0].sum())
    rows, starts = np.empty(order.size, np.intp), np.empty(order.size + 1, np.intp)
    classes = np.empty(most + 1, np.int32)
    size = _gather(table, beta, watched, order, order.size, rows, starts, classes)
    count = int(starts[size])
    read = count * design.stored // max(1, design.n)
    if size == 0 or count - size > _MANY * W.size or W.size > max(_SMALL, _LARGE * read):
        return None
    active = ActiveSet(
        rows=rows[:size].copy(),
        starts=starts[: size + 1].copy(),
        classes=classes[:count].copy(),
        residual=np.empty(count),
        heading=np.empty(count),
        image=np.empty(count),
        way=np.zeros(count),
        W_heading=np.empty_like(W),
        W_way=np.zeros_like(W),
        figures=np.zeros(3),
        iterations=np.array([0, _MOST], np.intp),
    )
    product = _begin(design.rows, design.scaling, table, beta, W, active, work[4])
    active.figures[[NOW, FIRST]] = product
    return active


def take(
    design: Design, table: Table, beta: Table, W: Table, active: ActiveSet, work: Table
) -> tuple[float, bool]:
    """Go along the way; returns what the dual gains, and whether it was a long way."""
    new, change, step = active.residual, active.image, active.W_heading
    far = float(_farthest(table, beta, active))
    # A little too far, so that the bound is met and not missed by rounding.
    for length in (*(one for one in _LENGTHS if one > far), far * (1.0 + 1e-12)):
        linear, met = _project(table, beta, active, length, new, change, work)
        if met == 0:
            np.multiply(active.W_way, length, out=step)
        else:
            _put(design.rows, design.scaling, active, change, step)
        flat, old = step.ravel(), W.ravel()
        gain = float(linear - dot(old, flat) - 0.5 * dot(flat, flat))
        if gain > 0.0:
            _accept(beta, active, new)
            W += step
            # A step to the first bound is a gain, but a poor one.
            return gain, length >= _LENGTHS[-1]
    return 0.0, False
