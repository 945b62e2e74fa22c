"""Sums, products, multiples and powers of kernels.

A composite is a tree of NamedTuples whose leaves are the forms of
:mod:`~maxmargin.kernels.dot_products` and :mod:`~maxmargin.kernels.row_pairs`. Its values
are made in chunks: each leaf fills a block, the blocks are combined element by element,
and the result is stored or used up. Elementwise arithmetic is correctly rounded, so a
value's bits are fixed by those of the leaves, whatever the chunk; a leaf that occurs
twice is computed once.

Cost: that of the leaves, and about half a nanosecond for each operation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from maxmargin._jit import njit
from maxmargin.errors import NumericalError
from maxmargin.kernels.gram.dot_products import VectorCross, VectorGram, vector_diagonal
from maxmargin.kernels.gram.row_pairs import PairCross, PairGram, pair_diagonal
from maxmargin.kernels.gram.tiles import weighted
from maxmargin.kernels.row_pairs import ChiSquared, Function, Laplacian
from maxmargin.parallel import Tally, Workers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from maxmargin._arrays import Index, Vector

SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)
_SEGMENT = 256  # columns that are summed at a time: fixed, so that bits are
_ROWS = 512  # of a chunk; more than columns, so that leaves need not turn their blocks
_VALUES = 1 << 20  # in all blocks of a chunk: 8 MB
_GRAIN = 128  # rows below which a second thread costs more than it brings
_SMALL = 1000  # up to this many points float64 costs next to nothing
_DROWNED = 1e-4  # error of a float32 value, in squared distances of points
_LARGEST_SINGLE = 1e30


class Sum(NamedTuple):
    """k(x, z) = left(x, z) + right(x, z)."""

    left: Any
    right: Any


class Product(NamedTuple):
    """k(x, z) = left(x, z)·right(x, z)."""

    left: Any
    right: Any


class Scaled(NamedTuple):
    """k(x, z) = factor·part(x, z)."""

    factor: float
    part: Any


class Power(NamedTuple):
    """k(x, z) = part(x, z)^exponent."""

    part: Any
    exponent: int


Composite = Sum | Product | Scaled | Power
Key = tuple[type, Any]  # NamedTuples of different classes compare equal by their values


class _Blocks(Protocol):
    """What the leaves of a composite can do."""

    def block(self, rows: Index, cols: Index, out: NDArray[Any]) -> None: ...


# --- trees ------------------------------------------------------------------------------


def leaves_of(form: Any) -> list[Any]:
    """The leaves of a tree, from left to right, as often as they occur."""
    if isinstance(form, Sum | Product):
        return leaves_of(form.left) + leaves_of(form.right)
    return leaves_of(form.part) if isinstance(form, Scaled | Power) else [form]


def is_pairwise(form: Any) -> bool:
    """Whether a leaf is a kernel of pairs of rows, rather than of dot products."""
    return isinstance(form, Laplacian | ChiSquared | Function)


def _key(leaf: Any) -> Key:
    return type(leaf), leaf


def _operations(form: Any) -> int:
    if isinstance(form, Sum | Product):
        return 1 + _operations(form.left) + _operations(form.right)
    if isinstance(form, Scaled):
        return 1 + _operations(form.part)
    if isinstance(form, Power):
        return form.exponent.bit_length() + _operations(form.part)
    return 0


class _Combination:
    """A tree, ready to combine the values of its distinct leaves."""

    def __init__(self, form: Any) -> None:
        self.form = form
        every = leaves_of(form)
        self.leaves = list({_key(leaf): leaf for leaf in every}.values())
        self._places = {_key(leaf): place for place, leaf in enumerate(self.leaves)}
        count = [0] * len(self.leaves)
        for leaf in every:
            count[self._places[_key(leaf)]] += 1
        self._once = [times == 1 for times in count]
        self._values = min(_ROWS * _SEGMENT, _VALUES // len(self.leaves))
        self.operations = _operations(form)

    def of(self, values: Sequence[NDArray[Any]]) -> NDArray[Any]:
        """The tree's values from those of its leaves, which may be overwritten."""
        with np.errstate(over="ignore", invalid="ignore"):  # callers look for overflow
            return self._combine(self.form, values)[0]

    def _combine(
        self, form: Any, values: Sequence[NDArray[Any]]
    ) -> tuple[NDArray[Any], bool]:
        """Values of a node, and whether their memory may be written to."""
        if isinstance(form, Sum | Product):
            operation = np.add if isinstance(form, Sum) else np.multiply
            left, mine = self._combine(form.left, values)
            right, also_mine = self._combine(form.right, values)
            out = left if mine else right if also_mine else None
            return operation(left, right, out=out), True
        if isinstance(form, Scaled):
            part, mine = self._combine(form.part, values)
            factor = part.dtype.type(form.factor)
            return np.multiply(part, factor, out=part if mine else None), True
        if isinstance(form, Power):
            part, _ = self._combine(form.part, values)
            return _raised(part, form.exponent), True
        place = self._places[_key(form)]
        return values[place], self._once[place]

    def chunk(
        self,
        blocks: Sequence[_Blocks],
        rows: Index,
        cols: Index,
        memory: Sequence[NDArray[Any]],
    ) -> NDArray[Any]:
        """The values of one chunk that fits into ``memory``."""
        values = []
        for one, space in zip(blocks, memory, strict=True):
            part = space[: rows.size * cols.size].reshape(rows.size, cols.size)
            one.block(rows, cols, part)
            values.append(part)
        return self.of(values)

    def shape(self, rows: int, cols: int) -> tuple[int, int]:
        """Rows and columns of a chunk; columns are whole segments."""
        height = max(1, min(rows, _ROWS, self._values // _SEGMENT))
        width = max(1, self._values // (height * _SEGMENT)) * _SEGMENT
        return height, min(width, max(1, cols))

    def memory(self, shape: tuple[int, int], dtype: np.dtype[Any]) -> list[NDArray[Any]]:
        """A block for each leaf."""
        return [np.empty(shape[0] * shape[1], dtype) for _ in self.leaves]


def _raised(part: NDArray[Any], exponent: int) -> NDArray[Any]:
    """part^exponent by squaring: the order of the products is fixed by the exponent."""
    square, power = part, None
    while True:
        if exponent & 1:
            power = square.copy() if power is None else np.multiply(power, square, power)
        exponent >>= 1
        if exponent == 0:
            assert power is not None
            return power
        square = square * square


def combined_diagonal(form: Any, X: Any) -> Vector:
    """k(x, x) of every row."""
    tree = _Combination(form)
    return tree.of(
        [
            pair_diagonal(leaf, X) if is_pairwise(leaf) else vector_diagonal(leaf, X)
            for leaf in tree.leaves
        ]
    )


# --- values in chunks -------------------------------------------------------------------


def _add_products(values, coef, sums):
    for first in range(0, values.shape[1], _SEGMENT):
        last = min(first + _SEGMENT, values.shape[1])
        for t in range(values.shape[0]):
            for m in range(coef.shape[0]):
                sums[t, m] += weighted(values[t][first:last], coef[m][first:last])


_add_products = njit(_add_products)


def _store(
    tree: _Combination,
    blocks: Sequence[_Blocks],
    rows: Index,
    cols: Index,
    out: NDArray[Any],
    workers: Workers,
) -> None:
    """All values into the top left corner of ``out``."""

    def rectangle(top: int, bottom: int, left: int, right: int) -> None:
        height, width = shape = tree.shape(bottom - top, right - left)
        memory = tree.memory(shape, out.dtype)
        for c in range(left, right, width):
            some = cols[c : min(c + width, right)]
            for t in range(top, bottom, height):
                these = rows[t : min(t + height, bottom)]
                values = tree.chunk(blocks, these, some, memory)
                out[t : t + these.size, c : c + some.size] = values

    if rows.size < cols.size:
        workers.spread(lambda a, b: rectangle(0, rows.size, a, b), cols.size, _GRAIN)
    else:
        workers.spread(lambda a, b: rectangle(a, b, 0, cols.size), rows.size, _GRAIN)


def _expand(
    tree: _Combination,
    blocks: Sequence[_Blocks],
    rows: Index,
    cols: Index,
    coef: Vector,
    out: Vector,
    dtype: np.dtype[Any],
    workers: Workers,
) -> None:
    """``out[t, m] += Σ_j K[rows[t], cols[j]]·coef[m, j]``."""

    def slab(a: int, b: int) -> None:
        height, width = shape = tree.shape(b - a, cols.size)
        memory = tree.memory(shape, dtype)
        for c in range(0, cols.size, width):
            some, factors = cols[c : c + width], coef[:, c : c + width]
            for t in range(a, b, height):
                these = rows[t : min(t + height, b)]
                values = tree.chunk(blocks, these, some, memory)
                _add_products(values, factors, out[t : t + these.size])

    workers.spread(slab, rows.size, _GRAIN)


class CompositeGram:
    """K over the rows of X, or over some of them (``subset``).

    Parameters
    ----------
    form : Composite
        The kernel.
    X : ndarray (C order) or CSR matrix
        The points; kept, not copied.
    workers : Workers
        Threads for large requests: chunks are spread over them, leaves are not.
    """

    def __init__(self, form: Composite, X: Any, workers: Workers) -> None:
        self.kernel, self.n = form, int(X.shape[0])
        self._workers, self._count = workers, Tally()
        self._tree = _Combination(form)
        alone = Workers(1)
        self._grams: list[Any] = [
            PairGram(leaf, X, alone) if is_pairwise(leaf) else VectorGram(leaf, X, alone)
            for leaf in self._tree.leaves
        ]
        if not np.isfinite(self.diagonal()).all():
            msg = (
                "the combined kernel overflows float64 on this data; scale the features "
                "(StandardScaler) or reduce gamma, degree and exponents"
            )
            raise NumericalError(msg)
        self._single = self._single_is_safe()
        self.precisions = self.precisions_for(self.n)

    def _single_is_safe(self) -> bool:
        """Whether float32 can hold the values, and tells points apart.

        K[i, i] + K[j, j] − 2K[i, j] is what a step divides by: on a sample of points,
        float32 values must not be off by more than a small part of it.
        """
        if any(SINGLE not in gram.precisions_for(self.n) for gram in self._grams):
            return False
        singles = [gram.diagonal().astype(SINGLE) for gram in self._grams]
        if not bool((np.abs(self._tree.of(singles)) < _LARGEST_SINGLE).all()):
            return False
        some = np.linspace(0, self.n - 1, min(self.n, 64)).astype(np.intp)
        exact, short = (np.empty((some.size, some.size), t) for t in (DOUBLE, SINGLE))
        for out in (exact, short):
            _store(self._tree, self._grams, some, some, out, Workers(1))
        diagonal = np.diagonal(exact)
        apart = diagonal[:, None] + diagonal - 2.0 * exact
        apart = apart[apart > 0.0]
        error = float(np.abs(short - exact).max())
        return apart.size == 0 or error < _DROWNED * float(np.median(apart))

    @property
    def cost(self) -> float:
        """Work of one kernel value, in units of about one nanosecond."""
        leaves = sum(float(gram.cost) for gram in self._grams)
        return leaves + 0.5 * self._tree.operations

    @property
    def n_kernel(self) -> int:
        """Kernel values computed so far, one for each pair of points asked for."""
        return self._count.total

    def precisions_for(self, n: int) -> tuple[np.dtype[Any], ...]:
        """Float32 first where it is safe and n points make it worth compiling."""
        return (SINGLE, DOUBLE) if self._single and n > _SMALL else (DOUBLE,)

    def subset(self, index: Index, dtype: np.dtype[Any] | None = None) -> CompositeGram:
        """The kernel matrix of the points ``index``, in one thread."""
        part = self.narrowed(index)
        part._workers = Workers(1)
        first = self.precisions_for(index.size)[0] if dtype is None else dtype
        part.precisions = (DOUBLE,) if first == DOUBLE else (SINGLE, DOUBLE)
        return part

    def narrowed(self, index: Index) -> CompositeGram:
        """The kernel matrix of the points ``index``, with the same threads."""
        part = object.__new__(CompositeGram)
        part.__dict__.update(self.__dict__)
        part.n, part._count = index.size, Tally()
        part._grams = [gram.narrowed(index) for gram in self._grams]
        part.precisions = self.precisions_for(index.size)
        return part

    def diagonal(self) -> Vector:
        """K[i, i] in float64."""
        return self._tree.of([gram.diagonal() for gram in self._grams])

    def block(self, rows: Index, cols: Index, out: NDArray[Any]) -> None:
        """K[rows, cols] into the top left corner of ``out``, in its dtype."""
        _store(self._tree, self._grams, rows, cols, out, self._workers)
        self._count.add(rows.size * cols.size)

    def apply(
        self, rows: Index, cols: Index, coef: Vector, out: Vector, dtype: np.dtype[Any]
    ) -> None:
        """``out[t] += Σ_j K[rows[t], cols[j]]·coef[j]``, values made in ``dtype``."""
        factors, sums = coef.reshape(1, -1), out.reshape(-1, 1)
        dtype = np.dtype(dtype)
        _expand(self._tree, self._grams, rows, cols, factors, sums, dtype, self._workers)
        self._count.add(rows.size * cols.size)


class CompositeCross:
    """The values between the rows of A and those of B, in float64."""

    def __init__(self, form: Composite, A: Any, B: Any, workers: Workers) -> None:
        self._tree, self._workers = _Combination(form), workers
        alone = Workers(1)
        self._blocks: list[Any] = [
            (PairCross if is_pairwise(leaf) else VectorCross)(leaf, A, B, alone)
            for leaf in self._tree.leaves
        ]

    def block(self, rows: Index, cols: Index, out: NDArray[Any]) -> None:
        """k(A[rows], B[cols]) into the top left corner of ``out``."""
        _store(self._tree, self._blocks, rows, cols, out, self._workers)

    def expand(self, rows: Index, cols: Index, coef: Vector, out: NDArray[Any]) -> None:
        """``out[t, m] += Σ_j k(A[rows[t]], B[cols[j]])·coef[m, j]``."""
        tree, blocks = self._tree, self._blocks
        _expand(tree, blocks, rows, cols, coef, out, DOUBLE, self._workers)
