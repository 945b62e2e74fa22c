"""The folds of LIBSVM's cross-validation.

LIBSVM shuffles with C's ``rand()``, which it never seeds. On Linux that is glibc's
additive generator from seed 1,

    r_i = r_{i−3} + r_{i−31} mod 2³²;   it returns the upper 31 bits,

begun with a linear congruence modulo 2³¹ − 1 and 310 numbers thrown away (the GNU C
Library, ``random_r.c``, TYPE_3). So the first cross-validation of a process has the same
folds here, on every system, as in LIBSVM on Linux.
"""

from __future__ import annotations

from collections import deque
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin._arrays import Index


class UnseededRand:
    """glibc's ``rand()`` of a process that has not called ``srand``.

    Examples
    --------
    >>> rand = UnseededRand()
    >>> [rand(), rand(), rand()]
    [1804289383, 846930886, 1681692777]
    """

    def __init__(self) -> None:
        first = [1]
        for _ in range(30):
            first.append(16807 * first[-1] % 2147483647)
        # the first three are counted again behind the 31st
        self._last: deque[int] = deque(first[3:] + first[:3], maxlen=31)
        for _ in range(310):
            self()

    def __call__(self) -> int:
        """The next number, from 0 to 2³¹ − 1."""
        last = self._last
        new = (last[-3] + last[0]) & 0xFFFFFFFF
        last.append(new)
        return new >> 1

    def shuffle(self, order: list[int], begin: int, end: int) -> None:
        """Shuffle ``order[begin:end]``, from the front."""
        for at in range(begin, end):
            other = at + self() % (end - at)
            order[at], order[other] = order[other], order[at]


def labels_in_order(y: NDArray[np.int64]) -> NDArray[np.int64]:
    """Labels in the order of first appearance.

    Of −1 and +1 alone LIBSVM puts +1 first, whichever comes first.
    """
    labels, first = np.unique(y, return_index=True)
    ordered: NDArray[np.int64] = labels[np.argsort(first)]
    if ordered.tolist() == [-1, 1]:
        ordered = ordered[::-1].copy()
    return ordered


def folds_of(
    n: int, n_folds: int, y: NDArray[np.int64] | None, rand: UnseededRand
) -> list[tuple[Index, Index]]:
    """(training rows, held-out rows) of every fold, in LIBSVM's order.

    Parameters
    ----------
    n, n_folds : int
        Rows and folds; more folds than rows are as many as rows, each held out once.
    y : ndarray of int, or None
        Labels: each is spread evenly over the folds, unless every row is a fold. None
        for machines without classes: all rows are shuffled together.
    rand : UnseededRand
        The random numbers.
    """
    n_folds = min(n_folds, n)
    if y is not None and n_folds < n:
        pieces = _stratified(y, n_folds, rand)
    else:
        order = list(range(n))
        rand.shuffle(order, 0, n)
        cuts = [fold * n // n_folds for fold in range(n_folds + 1)]
        pieces = [order[begin:end] for begin, end in pairwise(cuts)]
    found = []
    for held in range(n_folds):
        rest = [row for fold, piece in enumerate(pieces) if fold != held for row in piece]
        found.append((np.array(rest, np.intp), np.array(pieces[held], np.intp)))
    return found


def _stratified(
    y: NDArray[np.int64], n_folds: int, rand: UnseededRand
) -> list[list[int]]:
    """Rows of every fold: the same share of each label, one label after the other."""
    members = [np.flatnonzero(y == label).tolist() for label in labels_in_order(y)]
    for rows in members:
        rand.shuffle(rows, 0, len(rows))
    return [
        [
            row
            for rows in members
            for row in rows[
                fold * len(rows) // n_folds : (fold + 1) * len(rows) // n_folds
            ]
        ]
        for fold in range(n_folds)
    ]
