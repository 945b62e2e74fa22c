"""X'DX over some of the rows, and Cholesky's factor: the matrix of Newton's method.

Dense rows (and sparse ones that are not very sparse) are gathered in blocks that stay in
the cache, and multiplied by the BLAS; for few columns, which are no work for it, by dot
products of the gathered columns. A sparse row with few entries adds its own outer
product. Work is cut by counts alone: the same bits for every number of threads.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from maxmargin.design import products
from maxmargin.errors import OVERFLOW, NumericalError
from maxmargin.parallel import one_blas_thread

if TYPE_CHECKING:
    from collections.abc import Callable

    from maxmargin._arrays import Flags, Index, Matrix, Vector
    from maxmargin.design.operator import Design
    from maxmargin.problem import LinearProblem

WIDE = 1500  # policy: columns up to which a matrix of their products is made

_ANEW = 10  # policy: steps after which X'DX is made anew
_PARTS = 8  # sums over rows are cut into so many at most
_ENTRIES = 1 << 23  # policy: numbers in the matrices of all parts
_WORTH = 1 << 20  # policy: multiplications below which a second thread does not pay
_BLOCK_BYTES = 1 << 20  # policy: of gathered rows: they are read twice, from the cache
_LEAST = 512  # policy: rows in a block: for each block a whole matrix is added up
_NARROW = 32  # policy: columns up to which our own loop beats the BLAS: at 8 by 2.7
_SCATTER = 32  # policy: what an addition of an outer product costs, in those of the BLAS


def curvature(design: Design, constant: float, weight: Vector, some: Index) -> Matrix:
    """Return the lower triangle of Σ weight_i·x̃_i·x̃_i' over ``some``; above is junk.

    x̃ is x, and behind it ``constant`` if that is not 0; ``weight`` has an entry for each
    of ``some``, negative for rows that are taken away.
    """
    size = int(design.X.shape[1]) + (constant != 0.0)
    if design.sparse:
        counts = np.diff(design.X.indptr)[some] + (constant != 0.0)
        pairs = int(counts @ counts) // 2
        if _SCATTER * pairs < some.size * size * size:
            return _scattered(design, constant, weight, some, pairs, size)
    elif size <= _NARROW:
        return _by_columns(design, constant, weight, some, size)
    less = weight < 0.0
    if not less.any():
        return _gathered(design, constant, weight, some, size)
    more = _gathered(design, constant, weight[~less], some[~less], size)
    more -= _gathered(design, constant, -weight[less], some[less], size)
    return more


def dense_rows(design: Design, weight: Vector, some: Index) -> Matrix:
    """Return the rows ``some`` with their constant, each times the root of its weight."""
    out = np.zeros((some.size, design.width))
    products.gather(design.rows, some, weight, design.scaling, out)
    return out


def _parts(size: int) -> int:
    """Return how many matrices of that size may be made side by side."""
    return max(2, min(_PARTS, _ENTRIES // size**2))


def _scattered(
    design: Design, constant: float, weight: Vector, some: Index, pairs: int, size: int
) -> Matrix:
    # Every part has a matrix of its own, which must be worth filling.
    parts = max(1, min(_parts(size), pairs // (_WORTH + 4 * size * size)))
    add = partial(products.outer, design.rows, some, weight, constant)
    return _summed(design, size, parts, add)


def _by_columns(
    design: Design, constant: float, weight: Vector, some: Index, size: int
) -> Matrix:
    parts = max(1, min(_PARTS, some.size * size**2 // _WORTH))
    add = partial(products.narrow, design.rows, some, weight, constant)
    return _summed(design, size, parts, add)


def _gathered(
    design: Design, constant: float, weight: Vector, some: Index, size: int
) -> Matrix:
    block = max(_LEAST, _BLOCK_BYTES // (8 * size))
    starts = range(0, some.size, block)
    parts = max(1, min(_parts(size), len(starts), some.size * size**2 // _WORTH))

    def add(total: Matrix, part: int, parts: int) -> None:
        one, room = np.empty((size, size)), np.zeros((min(block, some.size), size))
        for start in starts[part::parts]:
            at = slice(start, start + block)
            rows = room[: some[at].size]
            products.gather(design.rows, some[at], weight[at], constant, rows)
            np.matmul(rows.T, rows, out=one)
            total += one

    with one_blas_thread():
        return _summed(design, size, parts, add)


def _summed(
    design: Design, size: int, parts: int, add: Callable[[Matrix, int, int], Any]
) -> Matrix:
    """Return the sum of the matrices that ``add(total, part, parts)`` fills, in order.

    ``add`` may return True: numbers above the diagonal then belong below it.
    """

    def one(part: int) -> Matrix:
        total = np.zeros((size, size))
        if add(total, part, parts):
            total += np.triu(total, 1).T
        return total

    if parts == 1:
        return one(0)
    total, *others = design.workers.map(one, range(parts))
    for other in others:
        total += other
    return total


@dataclass(slots=True)
class Kept:
    """X'DX of the active rows, its lower triangle, from step to step.

    It changes only by rows that became active or inactive: they are added and subtracted
    where they are fewer than the active ones, and every tenth time it is made anew, so
    that rounding does not pile up.
    """

    square: Matrix = field(default_factory=lambda: np.zeros((0, 0)))
    inside: Flags = field(default_factory=lambda: np.zeros(0, bool))
    age: int = _ANEW  # steps since it was made anew

    def forget(self) -> None:
        """Begin anew, as other rows are in play."""
        self.inside, self.age = np.zeros(0, bool), _ANEW

    def follow(
        self, problem: LinearProblem, rows: Index, weight: Vector, now: Flags
    ) -> None:
        """Update it to the rows among ``rows`` that are active ``now``."""
        design = problem.design
        constant = 1.0 if problem.free else design.scaling
        active = np.flatnonzero(now)
        moved = active
        if self.age < _ANEW:
            moved = np.flatnonzero(now != self.inside)
        if self.age >= _ANEW or moved.size >= active.size:
            self.square = curvature(design, constant, weight[active], rows[active])
            self.age = 0
        else:
            # Minus for the rows that are taken away.
            signed = np.where(now[moved], weight[moved], -weight[moved])
            self.square = self.square + curvature(design, constant, signed, rows[moved])
            self.age += 1
        self.inside = now


class Factor(NamedTuple):
    """U with H = U'U, in Fortran's order; below its diagonal is junk."""

    upper: Matrix

    def solve(self, b: Vector) -> Vector:
        """Return H⁻¹b."""
        if not b.size:  # which LAPACK refuses
            return b.copy()
        with one_blas_thread():
            # LAPACK as it is: scipy.linalg takes several times as long for few columns.
            x: Vector = dpotrs(self.upper, b)[0]
        return x


def factor_of(square: Matrix, *, free: bool) -> tuple[Factor, Vector | None]:
    """Return the factor of I + X'DX (lower triangle), and the mean of a free intercept.

    The intercept is then the last row of X̃'DX̃, and eliminated: I + X'D(X − mean).
    """
    width, mean = len(square) - free, None
    H = square[:width, :width].copy()
    if free and square[-1, -1] > 0.0:
        mean = square[-1, :width] / square[-1, -1]
        H -= np.outer(mean, square[-1, :width])
    diagonal = np.einsum("ii->i", H)
    diagonal += 1.0
    return cholesky(H), mean


def cholesky(H: Matrix) -> Factor:
    """Return Cholesky's factor, from the lower triangle of a positive definite matrix.

    If rounding made it indefinite, its diagonal is enlarged, in place.
    """
    diagonal, more = np.einsum("ii->i", H), 0.0
    if not np.isfinite(diagonal).all():  # which bounds what is beside it
        raise NumericalError(OVERFLOW)
    with one_blas_thread():
        while True:
            # The lower triangle by rows is the upper one by columns, as Fortran has it.
            upper, failed = dpotrf(H.T, clean=0)
            if not failed:
                return Factor(upper)
            more = 10.0 * more or 1e-16 * float(diagonal.max())
            diagonal += more
