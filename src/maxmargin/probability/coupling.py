"""From probabilities of pairs of classes to probabilities of classes.

The second method of Wu, Lin and Weng, "Probability estimates for multi-class
classification by pairwise coupling", JMLR 5, 2004: given rᵢⱼ ≈ P(i | i or j, x),

    min over p of Σᵢ Σⱼ≠ᵢ (rⱼᵢ pᵢ − rᵢⱼ pⱼ)²,   Σ pᵢ = 1,

which is pᵀQp with Qᵢᵢ = Σₛ≠ᵢ rₛᵢ² and Qᵢⱼ = −rⱼᵢ rᵢⱼ. Its solution is not negative, as
they prove. The conditions Qp + b e = 0, eᵀp = 1 are those of Q + eeᵀ too, as eᵀp is
fixed, and that matrix is positive definite where 0 < r < 1. So p is the solution z of
(Q + eeᵀ) z = e, divided by its sum: one small linear system a row, exact, where LIBSVM
iterates until its residual is below 0.005/k.
"""

from __future__ import annotations

from math import isqrt
from typing import TYPE_CHECKING

import numpy as np

from maxmargin.errors import InputError
from maxmargin.probability._checks import checked_table

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from maxmargin._arrays import Table

LEAST = 1e-7  # LIBSVM's least r: nothing is certain, and Q + eeᵀ stays regular
BLOCK = 1 << 19  # policy: numbers in the systems of one block of rows, 4 MB


def couple(pairwise: ArrayLike) -> Table:
    """Return probabilities of k classes from those of their pairs.

    Parameters
    ----------
    pairwise : array-like of shape (n, k (k − 1)/2)
        P(first | first or second, x) of the pairs in LIBSVM's order: (0, 1), (0, 2), …,
        (1, 2), …; clipped to [1e-7, 1 − 1e-7].

    Returns
    -------
    ndarray of shape (n, k)
        Rows sum to 1.

    Examples
    --------
    >>> p = np.array([0.5, 0.3, 0.2])
    >>> r = [[p[0] / (p[0] + p[1]), p[0] / (p[0] + p[2]), p[1] / (p[1] + p[2])]]
    >>> couple(r).round(12)
    array([[0.5, 0.3, 0.2]])
    """
    r = np.clip(checked_table("pairwise", pairwise, 0.0, 1.0), LEAST, 1.0 - LEAST)
    n, n_pairs = r.shape
    k = (1 + isqrt(1 + 8 * n_pairs)) // 2
    if n_pairs == 0 or k * (k - 1) // 2 != n_pairs:
        msg = (
            f"pairwise has {n_pairs} columns; k classes have k (k − 1)/2 pairs: "
            "1, 3, 6, 10, …; give one column for every pair of classes"
        )
        raise InputError(msg)
    if k == 2:
        return np.column_stack([r[:, 0], 1.0 - r[:, 0]])
    p = np.empty((n, k))
    # Blocks bound the memory. Each row's system is solved by itself, so that no bit of p
    # depends on the blocks.
    rows = max(1, BLOCK // (k * k))
    for begin in range(0, n, rows):
        p[begin : begin + rows] = _solve(r[begin : begin + rows], k)
    return p


def _solve(r: Table, k: int) -> Table:
    first, second = np.triu_indices(k, 1)
    won = np.zeros((len(r), k, k))  # won[:, i, j] = r_ij
    won[:, first, second] = r
    won[:, second, first] = 1.0 - r
    Q = 1.0 - won * won.transpose(0, 2, 1)
    i = np.arange(k)
    Q[:, i, i] = 1.0 + (won * won).sum(axis=1)
    z = np.linalg.solve(Q, np.ones((k, 1)))[:, :, 0]
    return _divided(np.maximum(z, 0.0))  # −1e-17 is rounding


def normalise(scores: ArrayLike) -> Table:
    """Divide rows by their sums: probabilities of classes from one-vs-rest.

    Parameters
    ----------
    scores : array-like of shape (n, k)
        Independent probabilities of k classes, from 0 to 1.

    Returns
    -------
    ndarray of shape (n, k)
        Rows sum to 1. A row of zeros, where every class was refused, gives 1/k to each.

    Examples
    --------
    >>> normalise([[0.5, 0.25, 0.25], [0.9, 0.9, 0.0], [0.0, 0.0, 0.0]]).round(3)
    array([[0.5  , 0.25 , 0.25 ],
           [0.5  , 0.5  , 0.   ],
           [0.333, 0.333, 0.333]])
    """
    p = checked_table("scores", scores, 0.0, 1.0)
    if p.shape[1] == 0:
        msg = "scores has no columns; give one column for every class"
        raise InputError(msg)
    p = np.where(p.any(axis=1, keepdims=True), p, 1.0)
    # In two divisions, since sums of subnormal numbers have few digits.
    return _divided(p / p.max(axis=1, keepdims=True))


def _divided(p: Table) -> Table:
    return np.asarray(p / p.sum(axis=1, keepdims=True))
