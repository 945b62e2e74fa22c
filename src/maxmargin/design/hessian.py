"""X'DX over some of the rows: the matrix of Newton's method, dense or sparse.

Dense rows (and sparse ones that are not very sparse) are gathered in blocks that stay in
the cache, and multiplied by the BLAS; for few columns, which are no work for it, by dot
products of the gathered columns. A sparse row with few entries adds its own outer
product. Work is cut by counts alone: the same bits for every number of threads.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin._jit import ASSOCIATIVE, is_record, njit, overload
from maxmargin.parallel import one_blas_thread
from maxmargin.rows.records import DenseRows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin._arrays import Index, Matrix, Vector
    from maxmargin.design.operator import Design
    from maxmargin.problem import LinearProblem

WIDE = 1500  # columns up to which a matrix of their products is made

_ANEW = 10  # steps after which X'DX is made anew
_STRANDS = 8  # sums over rows are cut into so many
_ENTRIES = 1 << 23  # in all their matrices
_WORTH = 1 << 20  # multiplications below which a second thread does not pay
_BLOCK_BYTES = 1 << 20  # of gathered rows: they are read twice, from the cache
_LEAST = 512  # rows in a block: what is added up afterwards is a whole matrix
_NARROW = 32  # columns up to which our own loop beats the BLAS: at 8 columns by 2.7
_PIECE = 128  # rows of which it gathers the columns
_SCATTER = 32  # what an addition of the outer product costs, in those of the BLAS


def _gather(rows: Any, i: int, root: float, out: Any) -> None:
    """Out = root·x_i; zeros are expected on entry."""
    raise TypeError(f"no gathering for {type(rows).__name__}: compiled code only")  # noqa: EM102


@overload(_gather)
def _overload_gather(rows, i, root, out):
    return _gather_dense if is_record(rows, DenseRows) else _gather_csr


def _gather_dense(rows, i, root, out):
    row = rows.data[i]
    for k in range(row.size):
        out[k] = root * row[k]


def _gather_csr(rows, i, root, out):
    for e in range(rows.indptr[i], rows.indptr[i + 1]):
        out[rows.indices[e]] += root * rows.data[e]


def _block(rows, some, weight, constant, clear, out):
    """The rows ``some``, times the roots of their weights."""
    for k in range(some.size):
        root = np.sqrt(weight[k])
        line = out[k]
        if clear:
            line[:] = 0.0
        _gather(rows, some[k], root, line)
        if constant != 0.0:
            line[-1] = constant * root


def _outer(indptr, indices, data, some, weight, constant, out):
    """Out += Σ weight·x·x', its lower triangle; whether something fell above it.

    That is where a pair of columns falls that a row has in the wrong order.
    """
    last, above = out.shape[0] - 1, False
    for k in range(some.size):
        # Unsigned: an index that may be negative is tested before it is used.
        begin, end = np.uint64(indptr[some[k]]), np.uint64(indptr[some[k] + 1])
        for e in range(begin, end):
            if e > begin and indices[e] < indices[e - np.uint64(1)]:
                above = True
            line = out[np.uint64(indices[e])]
            x = weight[k] * data[e]
            for g in range(begin, e + np.uint64(1)):
                line[np.uint64(indices[g])] += x * data[g]
        if constant != 0.0:
            line = out[last]
            x = weight[k] * constant
            for g in range(begin, end):
                line[np.uint64(indices[g])] += x * data[g]
            line[last] += x * constant
    return above


def _narrow(data, some, weight, constant, out):
    """Out += Σ weight·x·x', its lower triangle, of dense rows with few columns."""
    size, d = out.shape[0], data.shape[1]
    columns, weighted = np.empty((size, _PIECE)), np.empty(_PIECE)
    columns[size - 1] = constant  # behind the others, if it is not 0
    for start in range(0, some.size, _PIECE):
        count = min(_PIECE, some.size - start)
        for k in range(count):
            row = data[some[start + k]]
            for c in range(d):
                columns[c, k] = row[c]
        for a in range(size):
            for k in range(count):
                weighted[k] = weight[start + k] * columns[a, k]
            for b in range(a + 1):
                other, total = columns[b], 0.0
                for k in range(count):
                    total += weighted[k] * other[k]
                out[a, b] += total


_block = njit(_block)
_outer = njit(_outer)
_narrow = njit(_narrow, fastmath=set(ASSOCIATIVE))


def curvature(design: Design, constant: float, weight: Vector, some: Index) -> Matrix:
    """The lower triangle of Σ weight_i·x̃_i·x̃_i' over the rows ``some``; above is junk.

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
    """The rows ``some`` with their constant, each times the root of its weight."""
    out = np.zeros((some.size, design.width))
    _block(design.rows, some, weight, design.scaling, design.sparse, out)
    return out


@dataclass(slots=True)
class Kept:
    """X'DX of the active rows, its lower triangle, from step to step.

    It changes only by rows that became active or inactive: they are added and subtracted
    where they are fewer than the active ones, and every tenth time it is made anew, so
    that rounding does not pile up.
    """

    square: Matrix = field(default_factory=lambda: np.zeros((0, 0)))
    inside: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, bool))
    age: int = _ANEW  # steps since it was made anew

    def forget(self) -> None:
        """Other rows are in play than before."""
        self.inside, self.age = np.zeros(0, bool), _ANEW

    def follow(
        self, problem: LinearProblem, rows: Index, weight: Vector, now: NDArray[np.bool_]
    ) -> None:
        """Make it that of those among ``rows`` that are active ``now``."""
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
            # Minus for those that are to be taken away.
            signed = np.where(now[moved], weight[moved], -weight[moved])
            self.square = self.square + curvature(design, constant, signed, rows[moved])
            self.age += 1
        self.inside = now


def _strands(size: int) -> int:
    """How many matrices of that size may be made side by side."""
    return max(2, min(_STRANDS, _ENTRIES // size**2))


def _scattered(
    design: Design, constant: float, weight: Vector, some: Index, pairs: int, size: int
) -> Matrix:
    X: Any = design.rows
    # Every strand has a matrix of its own, which must be worth filling.
    strands = max(1, min(_strands(size), pairs // (_WORTH + 4 * size * size)))

    def strand(k: int) -> Matrix:
        total = np.zeros((size, size))
        at = slice(some.size * k // strands, some.size * (k + 1) // strands)
        if _outer(X.indptr, X.indices, X.data, some[at], weight[at], constant, total):
            total += np.triu(total, 1).T
        return total

    return _summed(design.workers.map(strand, range(strands)))


def _by_columns(
    design: Design, constant: float, weight: Vector, some: Index, size: int
) -> Matrix:
    strands = max(1, min(_STRANDS, some.size * size**2 // _WORTH))

    def strand(k: int) -> Matrix:
        total = np.zeros((size, size))
        at = slice(some.size * k // strands, some.size * (k + 1) // strands)
        _narrow(design.rows.data, some[at], weight[at], constant, total)
        return total

    return _summed(design.workers.map(strand, range(strands)))


def _summed(parts: list[Matrix]) -> Matrix:
    """Added up in their order, into the first."""
    for other in parts[1:]:
        parts[0] += other
    return parts[0]


def _gathered(
    design: Design, constant: float, weight: Vector, some: Index, size: int
) -> Matrix:
    block = max(_LEAST, _BLOCK_BYTES // (8 * size))
    starts = range(0, some.size, block)
    strands = max(1, min(_strands(size), len(starts), some.size * size**2 // _WORTH))

    def strand(k: int) -> Matrix:
        total, one = np.zeros((size, size)), np.empty((size, size))
        part = np.zeros((min(block, some.size), size))
        for start in starts[k::strands]:
            at = some[start : start + block]
            now = part[: at.size]
            _block(
                design.rows, at, weight[start : start + block], constant, design.sparse,
                now,
            )  # fmt: skip
            np.matmul(now.T, now, out=one)
            total += one
        return total

    with one_blas_thread():
        return _summed(design.workers.map(strand, range(strands)))
