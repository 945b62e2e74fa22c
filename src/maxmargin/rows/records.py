"""Rows of data as compiled code reads them: dense or compressed sparse (CSR).

Both kinds are NamedTuples (records), so that one algorithm serves both and Numba's disk
cache is hit. A function that raises ``COMPILED`` is a name only: :func:`body` gives it
code for each kind of rows. Kernels read a row through an affine map, ``(x −
shift)·scale`` in float64, then rounded to the working precision: centring costs nothing
and keeps digits in float32, and a power-of-two scale keeps squares of huge or tiny
features in range. Nothing is copied here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
import scipy.sparse as sp

from maxmargin._jit import is_record, njit, overload
from maxmargin._jit.simd import fma

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

COMPILED = "dense or CSR rows in compiled code only"

Function = TypeVar("Function", bound="Callable[..., Any]")


class DenseRows(NamedTuple):
    """A C-contiguous (n, d) array."""

    data: NDArray[np.floating[Any]]
    shift: NDArray[np.float64]
    scale: float


class CsrRows(NamedTuple):
    """A CSR matrix with d columns; its longest row stores ``longest`` values.

    A column with a shift must be stored in every row: a value that is not stored is 0.
    """

    data: NDArray[np.floating[Any]]
    indices: NDArray[np.signedinteger[Any]]
    indptr: NDArray[np.signedinteger[Any]]
    shift: NDArray[np.float64]
    scale: float
    longest: int
    d: int


Rows = DenseRows | CsrRows

# Rounding: squared distance from the origin, in squared ranges; beyond, 6 digits are lost
_REMOTE = 1e6
_LEAST, _MOST = 2.0**-20, 2.0**20  # rounding: magnitudes between need no scale
_FEW_VALUES = 1 << 16  # rounding: so many squares have an exact enough sum in any order
_NO_MEANS = np.empty(0)


def body(
    name: Callable[..., Any], record: type, flags: frozenset[str] = frozenset()
) -> Callable[[Function], Function]:
    """Decorate the code that runs for ``name`` where its first argument is a ``record``.

    ``flags`` are the liberties that the compiler may take with floats.
    """
    options = {"fastmath": set(flags)} if flags else {}

    def register(function: Function) -> Function:
        @overload(name, strict=False, jit_options=options)
        def _chosen(rows, *_):
            return function if is_record(rows, record) else None

        return function

    return register


def rows_of(X: Any, shift: NDArray[np.float64] | None = None, scale: float = 1.0) -> Rows:
    """Wrap a validated dense array or CSR matrix, without a copy."""
    if shift is None:
        shift = np.zeros(X.shape[1])
    if sp.issparse(X):
        counts = np.diff(X.indptr)
        longest = int(counts.max()) if counts.size else 0
        return CsrRows(
            read_only(X.data),
            read_only(X.indices),
            read_only(X.indptr),
            read_only(shift),
            scale,
            longest,
            X.shape[1],
        )
    return DenseRows(read_only(X), read_only(shift), scale)


def frozen(rows: Rows) -> Rows:
    """Return the same rows with read-only arrays, which unpickling makes writable."""
    kind: Any = type(rows)
    values = (read_only(one) if isinstance(one, np.ndarray) else one for one in rows)
    same: Rows = kind(*values)
    return same


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return a read-only view: one compiled version serves all arrays."""
    view = array.view()
    view.flags.writeable = False
    return view


class Spread(NamedTuple):
    """Where the values of an array lie."""

    # of the columns; 0 for columns that are not centred; empty if they are not needed
    means: NDArray[np.float64]
    remote: bool  # whether the columns lie far from 0 against their own ranges
    scale: float  # power of two that brings the largest value near 1


def spread_of(X: Any) -> Spread:
    """Measure a dense array, or the values of a sparse matrix, which is never remote."""
    if sp.issparse(X):
        return Spread(np.zeros(X.shape[1]), False, unit_scale(largest_magnitude(X.data)))
    if X.shape[0] == 0:
        return Spread(np.zeros(X.shape[1]), False, 1.0)
    # Methods of arrays take twice as long where a fit takes half a millisecond.
    low = np.minimum.reduce(X, axis=0).astype(np.float64, copy=False)
    high = np.maximum.reduce(X, axis=0).astype(np.float64, copy=False)
    scale = unit_scale(max(float(high.max(initial=0.0)), -float(low.min(initial=0.0))))
    if scale == 1.0:
        means = np.add.reduce(X, axis=0, dtype=np.float64) / X.shape[0]
    else:
        means = 0.5 * low + 0.5 * high
    ranges = (high * scale - low * scale) ** 2
    remote = bool(((means * scale) ** 2).sum() > _REMOTE * ranges.sum())
    return Spread(means, remote, scale)


def spread_without_means(X: Any) -> Spread:
    """Measure without the means if float64 needs none: neither remote nor to be scaled.

    One pass over a small dense array decides it, instead of four for everything.
    S = Σx² bounds the largest value, S/n the squared means, and two rows bound the ranges
    from below; a factor of 4 is more than rounding takes from a sum of so few terms.
    """
    if isinstance(X, np.ndarray) and 0 < X.size <= _FEW_VALUES:
        total = float(np.einsum("ij,ij->", X, X))  # which never warns
        if 4.0 * X.size * _LEAST**2 <= total <= _MOST**2 / 4.0:
            between = X[0] - X[-1]
            if 4.0 * total / X.shape[0] <= _REMOTE * float(between @ between):
                return Spread(_NO_MEANS, False, 1.0)
    return spread_of(X)


def largest_magnitude(values: NDArray[np.floating[Any]]) -> float:
    """Return max |x| without the copy that ``abs`` would make; 0 for an empty array."""
    return max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))


def unit_scale(largest: float) -> float:
    """Return the power of two that brings ``largest`` near 1; 1 if none is needed."""
    if largest == 0.0 or _LEAST <= largest <= _MOST:
        return 1.0
    return float(2.0 ** -np.clip(np.floor(np.log2(largest)), -1022.0, 1022.0))


def fill_lanes(
    rows: Any, index: Any, start: int, stop: int, width: int, lanes: Any, at: int
) -> None:
    """Interleave rows ``index[start:stop]`` into ``lanes[at + k·width + lane]``.

    Lanes without a row are left as they are; sparse rows expect zeros on entry. With
    ``width`` 0 the stored values of sparse rows are packed, ``longest`` for each row.
    (One function for panels and rows of tiles, so that it is compiled once.)
    """
    raise TypeError(COMPILED)


def clear_lanes(
    rows: Any, index: Any, start: int, stop: int, width: int, lanes: Any, at: int
) -> None:
    """Set back to zero what ``fill_lanes`` scattered (nothing to do for dense rows)."""
    raise TypeError(COMPILED)


@body(fill_lanes, DenseRows)
def _fill_dense(rows, index, start, stop, width, lanes, at):
    work = lanes.dtype.type
    d = rows.data.shape[1]
    # In strips of 64 features, so that the cache lines being interleaved stay in L1.
    for first in range(0, d, 64):
        shift = rows.shift[first : first + 64]
        for lane in range(stop - start):
            row = rows.data[index[start + lane]][first : first + 64]
            base = at + first * width + lane
            for k in range(row.size):
                x = (np.float64(row[k]) - shift[k]) * rows.scale
                lanes[base + k * width] = work(x)


@body(fill_lanes, CsrRows)
def _fill_csr(rows, index, start, stop, width, lanes, at):
    work = lanes.dtype.type
    for lane in range(stop - start):
        i = index[start + lane]
        first = rows.indptr[i]
        for e in range(rows.indptr[i + 1] - first):
            k = rows.indices[first + e]
            x = (np.float64(rows.data[first + e]) - rows.shift[k]) * rows.scale
            place = k * width + lane if width else lane * rows.longest + e
            lanes[at + place] = work(x)


@body(clear_lanes, DenseRows)
def _clear_dense(rows, index, start, stop, width, lanes, at):
    pass


@body(clear_lanes, CsrRows)
def _clear_csr(rows, index, start, stop, width, lanes, at):
    work = lanes.dtype.type
    for lane in range(stop - start):
        i = index[start + lane]
        for e in range(rows.indptr[i], rows.indptr[i + 1]):
            lanes[at + rows.indices[e] * width + lane] = work(0.0)


def _norm2(rows: Any, i: int, zero: Any) -> Any:
    """Return the squared norm of row i in the precision of ``zero``."""
    raise TypeError(COMPILED)


@body(_norm2, DenseRows)
def _norm2_dense(rows, i, zero):
    total = zero
    row = rows.data[i]
    for k in range(row.size):
        x = type(zero)((np.float64(row[k]) - rows.shift[k]) * rows.scale)
        total = fma(x, x, total)
    return total


@body(_norm2, CsrRows)
def _norm2_csr(rows, i, zero):
    total = zero
    for e in range(rows.indptr[i], rows.indptr[i + 1]):
        x = np.float64(rows.data[e]) - rows.shift[rows.indices[e]]
        x = type(zero)(x * rows.scale)
        total = fma(x, x, total)
    return total


@njit(allocates=False)
def squared_norms(rows, start, stop, zero, out):
    """Compute the squared norms of rows start … stop−1, in the precision of ``out``.

    Each is one chain of fused operations in the order of the features, as a tile's dot
    product is, so that equal rows are at distance exactly 0.
    """
    for i in range(start, stop):
        out[i] = _norm2(rows, i, zero)


def repeats(X: Any) -> bool:
    """Whether a row of a CSR matrix has a column twice."""
    return bool(_repeats(X.indices, X.indptr, np.full(X.shape[1], -1, np.int64)))


@njit(allocates=False)
def _repeats(indices, indptr, seen):
    for i in range(indptr.size - 1):
        for e in range(indptr[i], indptr[i + 1]):
            column = indices[e]
            if seen[column] == i:
                return True
            seen[column] = i
    return False
