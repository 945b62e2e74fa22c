"""Rows in play of the interior point: what they remember, and passes over them in threads.

Work is cut into parts that depend on counts alone, and their sums are added up in order:
the same bits for every number of threads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from maxmargin.solvers.linear import _barrier

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from maxmargin.problem import LinearProblem

    Index = NDArray[np.intp]
    Matrix = NDArray[np.float64]
    Vector = NDArray[np.float64]

__all__ = ["Figures", "Passes", "Play"]

_PARTS = 8  # sums over rows are cut into so many
_WORTH = 1 << 17  # numbers below which a second thread does not pay
_TILE = 1 << 17  # numbers of the rows whose product X'WX is made at a time


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
        """All rows with a box, in its middle, and f = 0."""
        at = np.flatnonzero(problem.lower < problem.upper)
        p, m = problem.p[at], at.size
        price, ends = _pieces(problem, at)
        pieces = price.size
        v = p + price[:, None]
        # Prices that are right for f = 0, and well away from 0 compared with v.
        away = (float(np.abs(v).mean()) if m else 0.0) or 1.0
        inner = np.empty((pieces, 4, m))
        inner[:, :2] = 0.5
        inner[:, 3] = np.maximum(-v, 0.0) + away
        inner[:, 2] = inner[:, 3] + v
        return cls(
            m, at, p, ends[0], ends[1] - ends[0], np.zeros(m), np.zeros(m), inner,
            np.zeros((pieces, 3, m)), np.empty((pieces, m)), np.empty((3, m)), price,
        )  # fmt: skip

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
        price, ends = _pieces(problem, rows)
        self.at[new], self.p[new], self.f[new] = rows, problem.p[rows], f
        self.low[:, new], self.width[:, new] = ends[0], ends[1] - ends[0]
        v = f + problem.p[rows] + price[:, None]
        root = np.hypot(v, 2.0 * mu)
        # v·a(1 − a) = μ(1 − 2a), without cancellation for v of either sign
        self.inner[:, 0, new] = 2.0 * mu / (2.0 * mu + root + v)
        self.inner[:, 1, new] = 2.0 * mu / (2.0 * mu + root - v)
        self.inner[:, 2, new] = mu / self.inner[:, 0, new]
        self.inner[:, 3, new] = mu / self.inner[:, 1, new]
        self.m += rows.size


def _pieces(problem: LinearProblem, at: Index) -> tuple[Vector, NDArray[np.float64]]:
    """Price of |β| in every piece, and its lower and upper end for every row."""
    lower, upper = problem.lower[at], problem.upper[at]
    if problem.epsilon == 0.0:
        return np.zeros(1), np.stack([lower[None], upper[None]])
    price = np.array([problem.epsilon, -problem.epsilon])
    below, above = np.minimum(lower, 0.0), np.maximum(upper, 0.0)
    nothing = np.zeros_like(lower)
    return price, np.array([[nothing, below], [above, nothing]])


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
        self._design = design

    def _parts(self, m: int) -> list[tuple[int, int]]:
        count = _PARTS if m * self._each >= _WORTH else 1
        edges = [m * part // count for part in range(count + 1)]
        return list(zip(edges[:-1], edges[1:], strict=True))

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

        def weigh(start: int, stop: int) -> None:
            _barrier.weigh(
                start, stop, g.inner, g.q, g.width, g.p, g.f, g.price, g.sums
            )

        whole = self._square(g.at, self._parts(g.m), g.sums, weigh)
        return whole[:d, :d], whole[:d, d], whole[:d, d + 1]

    def drawn(self, seed: int, most: int) -> tuple[Matrix, Vector, Vector]:
        """The same, with X'WX of about ``most`` rows that stand for all."""
        g = self.play
        parts = self._parts(g.m)
        slope, centre = np.zeros((2, len(parts), self.width))

        def weigh(k: int) -> None:
            start, stop = parts[k]
            _barrier.weigh(
                start, stop, g.inner, g.q, g.width, g.p, g.f, g.price, g.sums
            )
            _barrier.sides(
                self.rows, g.at, start, stop, g.sums, self.constant, slope[k], centre[k]
            )

        self.map(weigh, range(len(parts)))
        norms = self._design.norms
        unit = float(g.sums[0, : g.m] @ norms[g.at[: g.m]]) / most
        chosen, sums = np.empty_like(g.at), np.zeros_like(g.sums)
        counts = [
            _barrier.draw(start, stop, g.at, norms, g.sums, unit, seed, chosen, sums)
            for start, stop in parts
        ]
        some = [
            (start, start + count) for (start, _), count in zip(parts, counts, strict=True)
        ]
        whole = self._square(chosen, some, sums, None)
        d = self.width
        return whole[:d, :d], slope.sum(axis=0), centre.sum(axis=0)

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

    def correct(self, dw: Vector, mu: float) -> tuple[Vector, float]:
        """X'Δβ of the direction, and the largest step along it."""
        g = self.play
        out, found = self._added(
            g.m,
            lambda start, stop, out, found: _barrier.correct(
                self.rows, g.at, start, stop, g.inner, g.turn, g.q, g.width, g.p, g.f,
                g.price, dw, mu, self.constant, g.df, out, found,
            ),
        )  # fmt: skip
        worst = float(found[:, 0].max())
        return out, 1.0 / worst if worst > 0.0 else np.inf
