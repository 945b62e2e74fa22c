"""The visits of dual coordinate descent: one β after the other, compiled.

A loop takes the arrays out of the record of its rows once, before it begins: each time
counts a reference by an atomic addition, and the threads of several classes count in the
same place, which took a fifth of an epoch for rows of 50 numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin._jit import AS_WRITTEN, ASSOCIATIVE, is_record, njit, overload
from maxmargin._jit.prefetch import prefetch
from maxmargin.design.row import dense_dot, fetch_csr, fetch_dense, sparse_dot
from maxmargin.rows.records import CsrRows, DenseRows

GRAIN = 1e-12  # rounding: a smaller violation moves no β
_AHEAD = 4  # policy: rows that are fetched while one is visited


@njit
def _best(old, F, q, epsilon, lower, upper):
    """The best β of a row for the dual, the others as they are."""
    if q <= 0.0:  # an empty row: its F never changes
        return upper if F < -epsilon else lower if F > epsilon else 0.0
    new = old - (F + epsilon) / q
    if new < 0.0:
        new = min(0.0, old - (F - epsilon) / q)
    return min(max(new, lower), upper)


@njit
def _judged(old, F, epsilon, lower, upper):
    """The violation of a row; if it is 0, by how much the row is satisfied."""
    up = F + (epsilon if old >= 0.0 else -epsilon)
    down = F + (epsilon if old > 0.0 else -epsilon)
    if up < 0.0 and old < upper:
        return -up, 0.0
    if down > 0.0 and old > lower:
        return down, 0.0
    # Satisfied by this much on every side it could go to.
    slack = np.inf
    if old < upper:
        slack = up
    if old > lower:
        slack = min(slack, -down)
    return 0.0, slack


@njit
def _excess(old, plain, ridge, epsilon, lower, upper):
    """A row's part of the gap: its loss less its part of the dual. No branches."""
    left = max(-plain - epsilon, 0.0) + min(epsilon - plain, 0.0)
    if ridge > 0.0:
        wish = min(max(left / ridge, lower), upper)
        loss = wish * (left - 0.5 * ridge * wish)
    else:
        loss = max(left * lower, left * upper)
    return loss + old * (plain + 0.5 * ridge * old) + epsilon * abs(old)


@njit
def _settled(i, plain, at, order, place, figures, table, epsilon):
    """Move the β of the row, or leave the row out; return the change."""
    old, lower, upper = table[i, 0], table[i, 2], table[i, 3]
    F = plain + table[i, 4] * old
    wrong, slack = _judged(old, F, epsilon, lower, upper)
    if wrong == 0.0 and slack > figures[0]:
        place[1] -= 1
        order[at], order[place[1]] = order[place[1]], i
        return 0.0
    place[0] = at + 1
    figures[1] = max(figures[1], wrong)
    if wrong <= GRAIN:
        return 0.0
    new = _best(old, F, table[i, 5], epsilon, lower, upper)
    table[i, 0] = new
    figures[2], figures[3], figures[4], figures[5] = i, old, new, F
    return new - old


def _dense_visits(rows, scaling, table, epsilon, w, order, place, figures, visits):
    data = rows.data
    d, met = data.shape[1], 0.0
    while visits > 0 and place[0] < place[1]:
        visits -= 1
        place[2] += 1
        at = place[0]
        if at + 2 * _AHEAD < place[1]:
            prefetch(table, order[at + 2 * _AHEAD] * 6)
            fetch_dense(data, order[at + _AHEAD])
        i = order[at]
        total = dense_dot(data, i, w)
        if scaling != 0.0:
            total += scaling * w[d]
        total += table[i, 1]
        met += _excess(table[i, 0], total, table[i, 4], epsilon, table[i, 2], table[i, 3])
        move = _settled(i, total, at, order, place, figures, table, epsilon)
        if move != 0.0:
            for k in range(d):
                w[k] += move * data[i, k]
            if scaling != 0.0:
                w[d] += move * scaling
    figures[6] += met


def _csr_visits(rows, scaling, table, epsilon, w, order, place, figures, visits):
    data, indices, indptr, d = rows.data, rows.indices, rows.indptr, rows.d
    met = 0.0
    while visits > 0 and place[0] < place[1]:
        visits -= 1
        place[2] += 1
        at = place[0]
        if at + 2 * _AHEAD < place[1]:
            later = order[at + 2 * _AHEAD]
            prefetch(table, later * 6)
            prefetch(indptr, later)
            fetch_csr(data, indices, indptr, order[at + _AHEAD])
        i = order[at]
        # Unsigned, for an index that may be negative is tested before it is used.
        start, stop = np.uint64(indptr[i]), np.uint64(indptr[i + 1])
        total = sparse_dot(data, indices, start, stop, w)
        if scaling != 0.0:
            total += scaling * w[d]
        total += table[i, 1]
        met += _excess(table[i, 0], total, table[i, 4], epsilon, table[i, 2], table[i, 3])
        move = _settled(i, total, at, order, place, figures, table, epsilon)
        if move != 0.0:
            for e in range(start, stop):
                w[np.uint64(indices[e])] += move * data[e]
            if scaling != 0.0:
                w[d] += move * scaling
    figures[6] += met


def _visits(
    rows: Any, scaling: float, table: Any, epsilon: float, w: Any, order: Any,
    place: Any, figures: Any, visits: int,
) -> None:  # fmt: skip
    """The same for either kind of rows."""


@overload(_visits, jit_options={"fastmath": set(ASSOCIATIVE)})
def _overload_dense(rows, scaling, table, epsilon, w, order, place, figures, visits):
    return _dense_visits if is_record(rows, DenseRows) else None


@overload(_visits, jit_options={"fastmath": set(AS_WRITTEN)})
def _overload_csr(rows, scaling, table, epsilon, w, order, place, figures, visits):
    return _csr_visits if is_record(rows, CsrRows) else None


@njit
def visit(rows, scaling, table, epsilon, w, order, place, figures, visits):
    """At most ``visits`` rows of an epoch.

    A line of ``table`` has β, p, lower, upper, ridge and q of a row, side by side in
    memory, for rows come in random order. ``place`` = (next row in the
    order, how many are left in it, visits so far); ``figures`` = (limit beyond which a
    satisfied row is left out, worst violation so far, of the last visit row, β before
    and after, F; and the gaps that the visits met, added up).
    """
    _visits(rows, scaling, table, epsilon, w, order, place, figures, visits)


@njit(allocates=False)
def unsettled(outputs, table, epsilon, limit, order):
    """Write violated rows, and those satisfied by ``limit`` at most, into ``order``.

    Returns their number. Rows with equal bounds cannot move.
    """
    count = 0
    for i in range(outputs.size):
        old, lower, upper = table[i, 0], table[i, 2], table[i, 3]
        if lower < upper:
            F = outputs[i] + table[i, 1] + table[i, 4] * old
            wrong, slack = _judged(old, F, epsilon, lower, upper)
            if wrong > 0.0 or slack <= limit:
                order[count] = i
                count += 1
    return count
