r"""The Hessian of all classes at once, for Newton's method.

:math:`\sum_i C_i(I_{S_i} - 11^\top/|S_i|)\otimes x_ix_i^\top` has a block for every pair
of classes, X'DX of the rows with both in S. With many such rows a block is a product of
matrices. With few, as in the end, or with many small blocks, rows are added one by one,
which saves the time to begin a product. Counts alone decide: the same bits for every
number of threads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from maxmargin._jit import ASSOCIATIVE, njit
from maxmargin.design.hessian import curvature, dense_rows

if TYPE_CHECKING:
    from maxmargin._arrays import Flags, Table
    from maxmargin.problem import LinearJointProblem

_BEGIN = 200_000  # policy: least cost of a product, in multiplications one by one
_CHUNK = 256  # policy: rows that are made dense at a time


@njit(fastmath=set(ASSOCIATIVE))
def _scatter(lines, inside, out):
    """Out += (I_S − 11'/|S|) ⊗ xx' of every line x, the lower triangle of its blocks."""
    D = lines.shape[1]
    names = np.empty(inside.shape[1], np.intp)
    for k in range(len(lines)):
        count, x = 0, lines[k]
        for m in range(inside.shape[1]):
            if inside[k, m]:
                names[count] = m
                count += 1
        for s in range(count):
            for r in range(s + 1):
                factor = -1.0 / count if r < s else 1.0 - 1.0 / count
                for p in range(D):
                    line = out[names[s] * D + p, names[r] * D : (names[r] + 1) * D]
                    one = factor * x[p]
                    for q in range(D):
                        line[q] += one * x[q]


def joint_curvature(problem: LinearJointProblem, inside: Flags) -> Table:
    """Its lower triangle; the upper is not set. ``inside`` are S, none of one class."""
    K, D = problem.n_classes, problem.design.width
    square = np.zeros((K * D, K * D))
    flags = inside.astype(np.float64)
    both = np.tril(flags.T @ flags)  # how many rows have both of two classes
    if both.sum() * D * D < _BEGIN * np.count_nonzero(both):
        _by_rows(problem, inside, square)
    else:
        _by_blocks(problem, inside, square)
    return square


def _by_rows(problem: LinearJointProblem, inside: Flags, square: Table) -> None:
    some = np.flatnonzero(inside.any(axis=1))
    for start in range(0, some.size, _CHUNK):
        at = some[start : start + _CHUNK]
        lines = dense_rows(problem.design, problem.C[at], at)
        _scatter(lines, inside[at], square)


def _by_blocks(problem: LinearJointProblem, inside: Flags, square: Table) -> None:
    design, K, D = problem.design, problem.n_classes, problem.design.width
    each = inside.sum(axis=1)
    for a in range(K):
        with_a = np.flatnonzero(inside[:, a])
        for b in range(a + 1):
            some = with_a[inside[with_a, b]]
            if some.size == 0:
                continue
            share = 1.0 / each[some]
            weight = problem.C[some] * (1.0 - share if a == b else share)
            block = np.tril(curvature(design, design.scaling, weight, some))
            at = slice(a * D, (a + 1) * D), slice(b * D, (b + 1) * D)
            square[at] = block if a == b else -(block + np.tril(block, -1).T)
