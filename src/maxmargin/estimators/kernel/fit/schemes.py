"""Schemes for several classes: their binary problems, and one table of the solutions.

One against one (:class:`OneVsOne`): one problem for each pair of classes i < j, in the
order (0, 1), (0, 2), …, (1, 2), …; its decision is positive for class i, as in LIBSVM.
The class with the most won pairs is predicted; a tie goes to the lowest class, or with
``break_ties`` to the larger sum of decisions.

One against the rest (:class:`OneVsRest`): one problem for each class, whose decision is
positive for it. The class with the largest decision is predicted; a tie goes to the
lowest.

With two classes both schemes have one problem, positive for class 1, as in every binary
classifier of scikit-learn.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from maxmargin._arrays import Index, Vector
    from maxmargin.estimators.kernel.fit.parts import Expansion, Part

    # Name, rows, and y = +1 or −1 of a binary problem; for Crammer and Singer's, codes.
    Labelled = tuple[str, Index, Vector]


class Duals(NamedTuple):
    """The solutions of all problems, in the layout of scikit-learn's attributes."""

    support: Index  # grouped by class
    n_support: NDArray[np.int32]
    dual_coef: Vector  # (n_classes − 1, n_support), or a line for every problem
    intercept: Vector  # one for each problem


@dataclass(frozen=True, eq=False)
class Scheme:
    """Base of the schemes for several classes.

    Parameters
    ----------
    classes : ndarray of shape (k,)
        Labels, sorted.
    codes : ndarray of int of shape (n,)
        Class of every row of X; −1: left out.
    """

    classes: NDArray[Any]
    codes: Index
    solver: ClassVar[str] = ""  # the class of solver that it needs; empty: any

    @property
    def lines(self) -> int:
        """Number of lines of the table of coefficients."""
        raise NotImplementedError

    def problems(self) -> list[Labelled]:
        """Return the problems that are to be solved."""
        raise NotImplementedError

    def gather(self, parts: Sequence[tuple[Part, Expansion]]) -> Duals:
        """Return the decision functions of all problems in one table."""
        raise NotImplementedError

    def restarts(
        self, parts: Sequence[Part], support: Index, dual_coef: Vector
    ) -> list[Vector]:
        """Return the coefficients of every part from a table: ``gather`` inverted."""
        raise NotImplementedError


def grouped(rows: Index, codes: Index) -> Index:
    """Return these rows without repetition, class by class."""
    used = np.zeros(codes.size, dtype=bool)
    used[rows] = True
    once = used.nonzero()[0]
    return once[codes[once].argsort(kind="stable")]


class OneVsOne(Scheme):
    """One problem for each pair of classes."""

    @property
    def lines(self) -> int:
        """One for every other class."""
        return len(self.classes) - 1

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Classes of every problem, in LIBSVM's order."""
        return list(combinations(range(len(self.classes)), 2))

    @cached_property
    def members(self) -> list[Index]:
        """Rows of every class."""
        return [(self.codes == k).nonzero()[0] for k in range(len(self.classes))]

    def problems(self) -> list[Labelled]:
        """Return the pairs, the rows of the first class first; two classes in order."""
        names = [str(label) for label in self.classes]
        if len(names) == 2:
            rows = np.flatnonzero(self.codes >= 0)
            y = np.where(self.codes[rows] == 1, 1.0, -1.0)
            return [(f"{names[0]} against {names[1]}", rows, y)]
        members, made = self.members, []
        for i, j in self.pairs:
            rows = np.concatenate([members[i], members[j]])
            y = np.ones(rows.size)
            y[members[i].size :] = -1.0
            made.append((f"{names[i]} against {names[j]}", rows, y))
        return made

    def gather(self, parts: Sequence[tuple[Part, Expansion]]) -> Duals:
        """Return LIBSVM's table: a row has a coefficient against each other class.

        The coefficient against class j is in line j − 1 of ``dual_coef`` when j is
        above the row's class, else in line j.
        """
        support, pieces = [], []
        for own, table in zip(self.members, self._tables(parts), strict=True):
            used = np.logical_or.reduce(table).nonzero()[0]
            support.append(own[used])
            pieces.append(table.take(used, axis=1))
        return Duals(
            support=np.concatenate(support),
            n_support=np.array([own.size for own in support], np.int32),
            # Adding 0.0 turns −0.0 into 0.0.
            dual_coef=np.concatenate(pieces, axis=1) + 0.0,
            intercept=np.array([found.intercept for _, found in parts]),
        )

    def _tables(self, parts: Sequence[tuple[Part, Expansion]]) -> Iterator[Vector]:
        """Yield for each class the coefficients of its rows, a line per other class."""
        k = len(self.classes)
        if k == 2:
            ((part, found),) = parts
            coef = found.coef[self.codes[part.rows].argsort(kind="stable")][None]
            border = self.members[0].size
            yield coef[:, :border]
            yield coef[:, border:]
            return
        pairs = zip(self.pairs, parts, strict=True)
        coefs = {pair: found.coef for pair, (_, found) in pairs}
        for own, members in enumerate(self.members):
            table = np.empty((k - 1, members.size))
            for other in range(own):  # the first class of the pair
                coef = coefs[other, own]
                table[other] = coef[coef.size - members.size :]
            for other in range(own + 1, k):
                table[other - 1] = coefs[own, other][: members.size]
            yield table

    def restarts(
        self, parts: Sequence[Part], support: Index, dual_coef: Vector
    ) -> list[Vector]:
        """Return the coefficients of every pair; rows now left out are dropped."""
        found = []
        for (i, j), part in zip(self.pairs, parts, strict=True):
            coef = np.zeros(self.codes.size)
            for own, line in ((i, j - 1), (j, i)):
                mine = self.codes[support] == own
                coef[support[mine]] = dual_coef[line, mine]
            found.append(coef[part.rows])
        return found


class OneVsRest(Scheme):
    """One problem for each of three or more classes, against all others."""

    @property
    def lines(self) -> int:
        """One for every class."""
        return len(self.classes)

    def problems(self) -> list[Labelled]:
        """Return one problem for each class, each with all rows."""
        rows = np.flatnonzero(self.codes >= 0)
        codes = self.codes[rows]
        return [
            (f"{name} against the rest", rows, np.where(codes == k, 1.0, -1.0))
            for k, name in enumerate(self.classes)
        ]

    def gather(self, parts: Sequence[tuple[Part, Expansion]]) -> Duals:
        """Return a table with one line for each class."""
        used = [part.rows[found.coef != 0.0] for part, found in parts]
        support = grouped(np.concatenate(used), self.codes)
        dual_coef = np.zeros((len(parts), support.size))
        for line, (part, found) in enumerate(parts):
            whole = np.zeros(self.codes.size)
            whole[part.rows] = found.coef
            dual_coef[line] = whole[support]
        counts = np.bincount(self.codes[support], minlength=len(self.classes))
        return Duals(
            support=support,
            n_support=counts.astype(np.int32),
            dual_coef=dual_coef,
            intercept=np.array([found.intercept for _, found in parts]),
        )

    def restarts(
        self, parts: Sequence[Part], support: Index, dual_coef: Vector
    ) -> list[Vector]:
        """Return the coefficients of every problem; rows now left out are dropped."""
        found = []
        for line, part in enumerate(parts):
            coef = np.zeros(self.codes.size)
            coef[support] = dual_coef[line]
            found.append(coef[part.rows])
        return found


def votes(decisions: Vector, k: int) -> Index:
    """Return the class with the most won pairs; a tie goes to the lowest class.

    ``decisions`` has one column for each pair, positive for its first class; a decision
    of 0 is a vote for the second class.
    """
    count = np.zeros((decisions.shape[0], k), dtype=np.int32)
    for column, (i, j) in enumerate(combinations(range(k), 2)):
        won = decisions[:, column] > 0.0
        count[:, i] += won
        count[:, j] += ~won
    winner: Index = count.argmax(axis=1)
    return winner


def ovr_scores(decisions: Vector, k: int) -> Vector:
    """Return a score per class: its votes, then among equal votes the summed decisions.

    The sum s of the decisions in favour of a class is squashed to s/(3(|s| + 1)), in
    (−⅓, ⅓), so that it never outweighs a vote. Here a decision of 0 is a vote for
    the first class, as in scikit-learn, whose ``predict`` gives it to the second.
    """
    count = np.zeros((decisions.shape[0], k))
    total = np.zeros_like(count)
    for column, (i, j) in enumerate(combinations(range(k), 2)):
        decision = decisions[:, column]
        lost = decision < 0.0
        count[:, i] += ~lost
        count[:, j] += lost
        total[:, i] += decision
        total[:, j] -= decision
    return count + total / (3.0 * (np.abs(total) + 1.0))
