"""Duplicates: for every row, the first row that equals it.

Equal rows have equal kernel values. Where their targets are equal too, a machine cannot
tell them apart: they are one point that counts several times.

Rows are hashed to one number each, their product with a random vector. Equal rows have
equal numbers, since every row is summed in the same order; rows with equal numbers are
compared value by value. Cost: one pass over X, and a sort of n numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from maxmargin.rows.compress import used_columns

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin._arrays import Index

_WORTH = 0.1  # policy: smallest share of copies among the rows for merging to pay
_SMALL, _SMALL_WORTH = 2560, 0.25  # policy: up to so many rows, this share
_BLOCK = 1 << 20  # policy: values that are compared at a time


def first_alike(X: Any, target: NDArray[Any]) -> Index | None:
    """Return for every row the first one that equals it, target included.

    Parameters
    ----------
    X : ndarray or CSR of shape (n, d)
        The rows. Sparse rows are equal if they store the same values.
    target : ndarray of shape (n,)
        Must be equal, too.

    Returns
    -------
    first : ndarray of shape (n,) or None
        ``first[i] ≤ i``; None where fewer than a tenth of the rows are copies (of up to
        2,560 rows, a quarter). Copies may be missed if one value of a row is so large
        that its number does not depend on the others.
    """
    n = X.shape[0]
    least = n * (_SMALL_WORTH if n <= _SMALL else _WORTH)
    numbers = _numbers(X)
    # Most data end here: sorting numbers is a fifth of sorting their places.
    if _copies(np.sort(numbers)) < least:
        return None
    order = np.lexsort((target, numbers))  # stable: the first of a kind comes first
    numbers, sorted_target = numbers[order], target[order]
    new = np.ones(n, dtype=bool)
    new[1:] = (numbers[1:] != numbers[:-1]) | (sorted_target[1:] != sorted_target[:-1])
    leader = order[np.flatnonzero(new)[np.cumsum(new) - 1]]
    first = np.arange(n, dtype=np.intp)
    suspects = ~new
    copy, original = order[suspects], leader[suspects]
    same = _equal(X, copy, original)
    if np.count_nonzero(same) < least:
        return None
    first[copy[same]] = original[same]
    return first


def _numbers(X: Any) -> NDArray[Any]:
    """Return one number a row; equal rows have the same."""
    (X,) = used_columns(X)  # of hashed features there may be billions
    # Drawn at random: with multiples of one number, say, many rows of zeros and ones have
    # equal sums without being equal.
    direction = np.random.default_rng(0).uniform(0.5, 1.5, X.shape[1])
    if sparse.issparse(X):
        numbers: NDArray[Any] = X @ direction
        return numbers
    # Not BLAS, whose sums depend on where in a block a row stands.
    with np.errstate(over="ignore", invalid="ignore"):  # rows that overflow are compared
        numbers = np.einsum("ij,j->i", X, direction.astype(X.dtype))
    return numbers  # noqa: RET504 - whose type is known


def _copies(ascending: NDArray[Any]) -> int:
    """Count the sorted numbers that equal the one before."""
    return int(np.count_nonzero(ascending[1:] == ascending[:-1]))


def _equal(X: Any, left: Index, right: Index) -> NDArray[np.bool_]:
    """Tell pair by pair whether rows are equal."""
    same = np.empty(left.size, dtype=bool)
    step = max(1, _BLOCK // max(1, X.shape[1]))
    if sparse.issparse(X):
        step = max(1, _BLOCK * X.shape[0] // max(1, X.nnz))
    for start in range(0, left.size, step):
        some = slice(start, start + step)
        if sparse.issparse(X):
            same[some] = _equal_stored(X, left[some], right[some])
        else:
            same[some] = (X[left[some]] == X[right[some]]).all(axis=1)
    return same


def _equal_stored(X: Any, left: Index, right: Index) -> NDArray[np.bool_]:
    """Compare sparse rows: as many values, the same columns, the same values."""
    length = np.diff(X.indptr)
    same: NDArray[np.bool_] = length[left] == length[right]
    pairs = np.flatnonzero(same)
    sizes = length[left[pairs]]
    owner = np.repeat(pairs, sizes)
    within = np.arange(owner.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    a, b = X.indptr[left[owner]] + within, X.indptr[right[owner]] + within
    differ = (X.indices[a] != X.indices[b]) | (X.data[a] != X.data[b])
    same[owner[differ]] = False
    return same
