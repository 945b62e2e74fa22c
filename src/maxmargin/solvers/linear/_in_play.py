"""Rows in play of the interior point: what they remember, and what is summed over them.

Work is cut into parts that depend on counts alone, and their sums are added up in order:
the same bits for every number of threads.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.linalg import lapack

from maxmargin.solvers.linear import _barrier

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from maxmargin._arrays import Index, Matrix, Vector
    from maxmargin.problem import LinearProblem

_PARTS = 8  # sums over rows are cut into so many
_WORTH = 1 << 17  # numbers below which a second thread does not pay
_TILE = 1 << 17  # numbers of the rows whose product X'WX is made at a time
_AWAY = 2.0  # first prices of the ends, in means of |v|
_WIDE = 192  # columns from which X'WX is made of rows that are drawn:
_DRAWN, _SHARE = 8, 16  # so many for every column, and at least one of so many
_MOST = 30  # conjugate gradients for one right side
_RIDGE = 1e-14  # of the diagonal of X'WX, against rounding


@dataclass(slots=True)
class Play:
    """The first ``m`` entries are rows in play, named as in ``_barrier``."""

    m: int
    at: Index
    p: Vector
    low: Matrix
    width: Matrix
    f: Vector
    df: Vector
    inner: NDArray[np.float64]
    turn: NDArray[np.float64]
    q: Matrix
    sums: Matrix
    price: Vector

    @classmethod
    def of(cls, problem: LinearProblem) -> Play:
        """All rows that have a box, in its middle, and f = 0."""
        rows = np.flatnonzero(problem.lower < problem.upper)
        m, pieces = rows.size, 1 if problem.epsilon == 0.0 else 2
        play = cls(
            0, np.empty(m, np.intp), np.empty(m), np.empty((pieces, m)),
            np.empty((pieces, m)), np.empty(m), np.zeros(m), np.empty((pieces, 4, m)),
            np.zeros((pieces, 3, m)), np.empty((pieces, m)), np.empty((3, m)),
            _prices(problem),
        )  # fmt: skip
        play.enter(problem, rows, np.zeros(m), 1.0)
        v = play.p + play.price[:, None]
        # Prices that are right for f = 0, and well away from 0 compared with v.
        away = (_AWAY * float(np.abs(v).mean()) if m else 0.0) or 1.0
        play.inner[:, :2] = 0.5
        play.inner[:, 3] = np.maximum(-v, 0.0) + away
        play.inner[:, 2] = play.inner[:, 3] + v
        return play

    def beta(self) -> Vector:
        """β of the rows in play, to full precision at both ends."""
        a, t = self.inner[:, 0, : self.m], self.inner[:, 1, : self.m]
        low, h = self.low[:, : self.m], self.width[:, : self.m]
        one: Vector = np.where(a < t, low + h * a, low + h - h * t).sum(axis=0)
        return one

    def ends(self, near: float) -> Vector:
        """β with pieces put to the end that v asks for, where that is ``near``."""
        a, t = self.inner[:, 0, : self.m].copy(), self.inner[:, 1, : self.m].copy()
        v = self.f[: self.m] + self.p[: self.m] + self.price[:, None]
        a[(a < near) & (v > 0.0)] = 0.0
        t[(t < near) & (v < 0.0)] = 0.0
        low, h = self.low[:, : self.m], self.width[:, : self.m]
        one: Vector = np.where(a < t, low + h * a, low + h - h * t).sum(axis=0)
        return one

    def enter(self, problem: LinearProblem, rows: Index, f: Vector, mu: float) -> None:
        """Rows come into play, where as = tx = μ for their f."""
        new = slice(self.m, self.m + rows.size)
        lower, upper = problem.lower[rows], problem.upper[rows]
        self.at[new], self.p[new], self.f[new] = rows, problem.p[rows], f
        if self.price.size == 1:
            self.low[0, new], self.width[0, new] = lower, upper - lower
        else:
            self.low[0, new], self.width[0, new] = 0.0, upper
            self.low[1, new], self.width[1, new] = lower, -lower
        v = f + problem.p[rows] + self.price[:, None]
        root = np.hypot(v, 2.0 * mu)
        # v·a(1 − a) = μ(1 − 2a), without cancellation for v of either sign
        self.inner[:, 0, new] = 2.0 * mu / (2.0 * mu + root + v)
        self.inner[:, 1, new] = 2.0 * mu / (2.0 * mu + root - v)
        self.inner[:, 2, new] = mu / self.inner[:, 0, new]
        self.inner[:, 3, new] = mu / self.inner[:, 1, new]
        self.m += rows.size


def _prices(problem: LinearProblem) -> Vector:
    """Of |β| in every piece."""
    epsilon = problem.epsilon
    return np.array([epsilon, -epsilon]) if epsilon > 0.0 else np.zeros(1)


class Figures(NamedTuple):
    """Sums over the rows in play; see ``_barrier``."""

    gap: float
    linear: float
    products: float
    speed: float


class Passes:
    """The passes over the rows in play."""

    def __init__(self, problem: LinearProblem, play: Play) -> None:
        design = problem.design
        self.play, self.rows, self.map = play, design.rows, design.workers.map
        self.constant = 1.0 if problem.free else design.scaling
        self.width = design.width + problem.free
        self._each = max(1, design.stored // max(1, design.n))

    def _parts(self, m: int) -> list[tuple[int, int]]:
        count = _PARTS if m * self._each >= _WORTH else 1
        edges = [m * part // count for part in range(count + 1)]
        return list(pairwise(edges))

    def _added(
        self, m: int, task: Callable[[int, int, Vector, Vector], object]
    ) -> tuple[Vector, Matrix]:
        """The sum of the vectors that the parts make, and what each of them found."""
        parts = self._parts(m)
        sums, found = np.zeros((len(parts), self.width)), np.zeros((len(parts), 4))
        self.map(lambda k: task(*parts[k], sums[k], found[k]), range(len(parts)))
        return sums.sum(axis=0), found

    def step(self, by: float) -> Figures:
        """Go so far along the direction, or nowhere; and figures of where that is."""
        g = self.play
        _, found = self._added(
            g.m,
            lambda start, stop, _, found: _barrier.step(
                start, stop, g.inner, g.turn, by, g.p, g.f, g.df, g.low, g.width, g.price,
                found,
            ),
        )  # fmt: skip
        return Figures(*found.sum(axis=0).tolist())

    def system(self) -> tuple[Matrix, Vector, Vector]:
        """X'WX, and the right sides X'Whg of μ = 0 and of a unit of μ."""
        g, d = self.play, self.width
        whole = self._square(g.at, self._parts(g.m), g.sums, self._weigh)
        return whole[:d, :d], whole[:d, d], whole[:d, d + 1]

    def drawn(
        self, norms: Vector, count: int, seed: int
    ) -> tuple[Matrix, Vector, Vector]:
        """The same, with X'WX of about ``count`` rows at most that stand for all."""
        g, d = self.play, self.width
        parts = self._parts(g.m)
        slope, centre = np.zeros((2, len(parts), d))

        def right(k: int) -> None:
            self._weigh(*parts[k])
            _barrier.sides(
                self.rows, g.at, *parts[k], g.sums, self.constant, slope[k], centre[k]
            )

        self.map(right, range(len(parts)))
        unit = float(g.sums[0, : g.m] @ norms[g.at[: g.m]]) / count
        chosen, sums = np.empty_like(g.at), np.zeros_like(g.sums)

        def draw(k: int) -> tuple[int, int]:
            start, stop = parts[k]
            return start, start + _barrier.draw(
                start, stop, g.at, norms, g.sums, unit, seed, chosen, sums
            )

        some = self.map(draw, range(len(parts)))
        whole = self._square(chosen, some, sums, None)
        return whole[:d, :d], slope.sum(axis=0), centre.sum(axis=0)

    def _weigh(self, start: int, stop: int) -> None:
        g = self.play
        _barrier.weigh(start, stop, g.inner, g.q, g.width, g.p, g.f, g.price, g.sums)

    def _square(
        self,
        at: Index,
        parts: list[tuple[int, int]],
        sums: Matrix,
        before: Callable[[int, int], None] | None,
    ) -> Matrix:
        """Σ W·x̃x̃' over parts of the rows ``at``, x̃ with two columns for right sides."""
        d = self.width + 2
        size = max(64, _TILE // d)
        total = np.zeros((len(parts), d, d))

        def one(k: int) -> None:
            start, stop = parts[k]
            block, square = np.empty((min(size, stop - start), d)), np.empty((d, d))
            for begin in range(start, stop, size):
                end = min(stop, begin + size)
                if before is not None:
                    before(begin, end)
                part = block[: end - begin]
                _barrier.fill(self.rows, at, begin, end, sums, self.constant, part)
                total[k] += np.matmul(part.T, part, out=square)

        self.map(one, range(len(parts)))
        whole: Matrix = total.sum(axis=0)
        return whole

    def curve(self, v: Vector) -> Vector:
        """X'WXv."""
        g = self.play
        return self._added(
            g.m,
            lambda start, stop, out, _: _barrier.curve(
                self.rows, g.at, start, stop, g.sums, v, self.constant, out
            ),
        )[0]

    def back(self, at: Index, u: Vector) -> Vector:
        """X'u over some rows, in play or not."""
        return self._added(
            at.size,
            lambda start, stop, out, _: _barrier.back(
                self.rows, at, start, stop, u, self.constant, out
            ),
        )[0]

    def predict(self, dw: Vector) -> tuple[Vector, float, float]:
        """Second-order terms as a right side, the largest step, and their sum."""
        g = self.play
        out, found = self._added(
            g.m,
            lambda start, stop, out, found: _barrier.predict(
                self.rows, g.at, start, stop, g.inner, g.q, g.width, g.p, g.f, g.price,
                dw, self.constant, g.df, out, found,
            ),
        )  # fmt: skip
        return out, 1.0 / float(found[:, 0].max()), float(found[:, 1].sum())

    def correct(self, dw: Vector, mu: float, trust: float) -> tuple[Vector, float]:
        """X'Δβ of the direction, and the largest step along it."""
        g = self.play
        out, found = self._added(
            g.m,
            lambda start, stop, out, found: _barrier.correct(
                self.rows, g.at, start, stop, g.inner, g.turn, g.q, g.width, g.p, g.f,
                g.price, dw, mu, trust, self.constant, g.df, out, found,
            ),
        )  # fmt: skip
        worst = float(found[:, 0].max())
        return out, 1.0 / worst if worst > 0.0 else np.inf


class System:
    """I + X'WX and its right sides, ``slope`` with ``start`` added for μ = 0.

    Of few columns it is factored. Of many, the factor of rows that are drawn serves as
    preconditioner of conjugate gradients with all rows: X'WX of 60,000 × 785 takes as
    long as 40 passes over the rows, and 10 are enough.
    """

    def __init__(
        self,
        problem: LinearProblem,
        passes: Passes,
        counted: Vector,
        start: Vector,
        seed: int,
    ) -> None:
        self._passes, self._counted = passes, counted
        m, d = passes.play.m, counted.size
        few = max(_DRAWN * d, m // _SHARE)
        self.exact = d < _WIDE or m <= 2 * few
        if self.exact:
            matrix, slope, self.centre = passes.system()
        else:
            matrix, slope, self.centre = passes.drawn(problem.design.norms, few, seed)
        self.slope = slope + start
        corner = np.diag_indices(d)
        matrix[corner] += counted + _RIDGE * matrix[corner]
        self._factor, self.failed = lapack.dpotrf(matrix, lower=1)
        self._found = self._image = np.zeros(d)  # the last solution, and what it solves

    def _solve(self, right: Vector) -> Vector:
        found: Vector = lapack.dpotrs(self._factor, right, lower=1)[0]
        return found

    def solve(self, right: Vector, accuracy: float) -> Vector:
        """Exactly, or by conjugate gradients from the last solution on."""
        found = self._solve(right)
        if self.exact:
            return found
        enough = accuracy * accuracy * float(right @ found)
        found, rest = self._found, right - self._image
        near = self._solve(rest)
        way, size = near, float(rest @ near)
        for _ in range(_MOST):
            if not size > enough:
                break
            image = self._counted * way + self._passes.curve(way)
            length = size / float(way @ image)
            found, rest = found + length * way, rest - length * image
            near = self._solve(rest)
            before, size = size, float(rest @ near)
            way = near + (size / before) * way
        self._found, self._image = found, right - rest
        return found
