"""Several small classification problems on one stored matrix, in one compiled call.

Problem: C-SVC with a sum (:func:`maxmargin.problem.c_svc`), once for each group of rows.

Update: what :class:`~maxmargin.solvers.WorkingSetSmo` does when its working set is
everything, with the same compiled steps: second-order pairs in float64 from β = 0, then F
summed anew from β, and the figures of optimality and objective from that F.

Stop: violation ≤ tol. Problems that miss it within ``limit`` pairs in all are left to the
solver itself, which can be watched and stopped.

Cost: the same arithmetic; but a fit of some hundred rows, which takes a tenth of a
millisecond of it, is spared the calls in between, which take ten times as long.
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from maxmargin._jit import njit
from maxmargin.problem import prices, worth
from maxmargin.solvers.smo.pairs import (
    CONVERGED,
    DOUBLE_NOISE,
    SCRATCH,
    Block,
    fresh_gradient,
    move_pairs,
)
from maxmargin.solvers.smo.turns import pairs_of_a_slice
from maxmargin.solvers.smo.working_set import SOLVED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from maxmargin._arrays import Index, Vector


class Group(NamedTuple):
    """One problem: its rows of the matrix, their labels ±1 and prices."""

    rows: Index
    y: Vector
    C: Vector


class Answer(NamedTuple):
    """β, F = Kβ − y, and their figures."""

    beta: Vector
    gradient: Vector
    n_iter: int
    n_support: int
    n_bound: int
    fmin: float  # of F where β can rise
    fmax: float  # of F where β can fall
    bias: float
    norm2: float
    linear: float  # p'β
    size: float  # Σ|β|
    cost: float  # of all slacks
    balance: float  # |Σβ|


@njit
def _solve_each(K, diagonal, rows, starts, y, C, digits, tol, limit, beta, F, found):
    """Solve the problems of ``rows[starts[t] : starts[t + 1]]``; how many were solved.

    ``y``, ``C``, ``beta`` and ``F`` go with ``rows``; ``found`` has a line for each
    problem, what :class:`Answer` has behind the gradient; ``digits`` is the share of the
    first violation that is solved to. The first that is not solved ends the call. K gets
    its diagonal, and a problem of all rows in their order is solved on K itself.
    """
    most = 0
    for t in range(starts.size - 1):
        most = max(most, starts[t + 1] - starts[t])
    for k in range(diagonal.size):
        K[k, k] = diagonal[k]
    space = np.empty(4 * most + SCRATCH)
    lowest, highest, ridge = np.empty(most), np.empty(most), np.zeros(most)
    own, linear, gradient = np.empty(most), np.empty(most), np.empty(most)
    side = np.zeros(most, np.uint8)
    ends, sums = np.empty((1, 4)), np.empty(6)
    done, last = np.zeros(1, np.int64), np.zeros(8)
    for t in range(starts.size - 1):
        at = rows[starts[t] : starts[t + 1]]
        q = at.size
        b, f = beta[starts[t] : starts[t + 1]], F[starts[t] : starts[t + 1]]
        whole = q == diagonal.size
        for k in range(q):
            whole = whole and at[k] == k
            label, price = y[starts[t] + k], C[starts[t] + k]
            b[k], own[k], linear[k], gradient[k] = 0.0, diagonal[at[k]], -label, -label
            lowest[k] = 0.0 if label > 0.0 else -price
            highest[k] = price if label > 0.0 else 0.0
        values = K
        if not whole:
            values = np.empty((q, q))
            for k in range(q):
                line, source = values[k], K[at[k]]
                for j in range(q):
                    line[j] = source[at[j]]
        lower, upper, p = lowest[:q], highest[:q], linear[:q]
        prices(gradient[:q], b, lower, upper, 0.0, side[:q], ends)
        stop_at = max(digits * (ends[0, 1] - ends[0, 0]), 0.5 * tol)
        block = Block(
            values, gradient[:q], b, lower, upper, 0.0, (0.0,), side[:q], own[:q],
            DOUBLE_NOISE,
        )  # fmt: skip
        code = move_pairs(block, stop_at, limit, space, done, last)
        limit -= done[0]
        if code != CONVERGED:
            return t
        fresh_gradient(values, q, b, p, f)
        prices(f, b, lower, upper, 0.0, side[:q], ends)
        fmin, fmax, total, free = ends[0, 0], ends[0, 1], ends[0, 2], ends[0, 3]
        if not (np.isfinite(fmin) and np.isfinite(fmax) and fmax - fmin <= tol):
            return t
        bias = -total / free if free > 0.0 else -0.5 * (fmin + fmax)
        worth(f, b, p, lower, upper, ridge[:q], 0.0, side[:q], (bias, bias), sums)
        balance, support, bound = 0.0, 0, 0
        for k in range(q):
            balance += b[k]
            if b[k] != 0.0:
                support += 1
                bound += b[k] == lower[k] or b[k] == upper[k]
        found[t, 0], found[t, 1], found[t, 2] = done[0], support, bound
        found[t, 3], found[t, 4], found[t, 5] = fmin, fmax, bias
        found[t, 6], found[t, 7], found[t, 8] = sums[0], sums[2], sums[3]
        found[t, 9], found[t, 10] = sums[4], abs(balance)
    return starts.size - 1


def solve_together(
    K: Vector, diagonal: Vector, groups: Sequence[Group], tol: float
) -> list[Answer] | None:
    """The answers of all problems; None where they are not found within 50 ms or so.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Kernel values of all rows; ``diagonal`` is written into it.
    diagonal : ndarray of shape (n,)
        K[i, i] as the solver takes it.
    groups : sequence of Group
        The problems.
    tol : float
        Largest violation accepted.
    """
    rows, y, C = (np.concatenate(pieces) for pieces in zip(*groups, strict=True))
    starts = np.array([0, *accumulate(group.rows.size for group in groups)])
    beta, F = np.empty(rows.size), np.empty(rows.size)
    found = np.empty((len(groups), 11))
    limit = pairs_of_a_slice(len(K))
    solved = _solve_each(
        K, diagonal, rows, starts, y, C, SOLVED, tol, limit, beta, F, found
    )
    if solved < len(groups):
        return None
    edges = starts.tolist()
    return [
        Answer(beta[a:b], F[a:b], *map(int, line[:3]), *line[3:])
        for a, b, line in zip(edges, edges[1:], found.tolist(), strict=False)
    ]
