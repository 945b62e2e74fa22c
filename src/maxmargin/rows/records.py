"""Rows of data as compiled code reads them: dense or compressed sparse (CSR).

Both kinds are NamedTuples, so that one algorithm body serves both and Numba's disk
cache is hit. A row is read through an affine map, ``(x − shift)·scale`` in float64,
then rounded to the working precision: centring costs nothing and keeps digits in
float32, and a power-of-two scale keeps squares of huge or tiny features in range. Here
nothing is copied.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from maxmargin._jit import is_record, njit, overload
from maxmargin._jit.simd import fma

if TYPE_CHECKING:
    from numpy.typing import NDArray


class DenseRows(NamedTuple):
    """A C-contiguous (n, d) array."""

    data: NDArray[np.floating[Any]]
    shift: NDArray[np.float64]
    scale: float


class CsrRows(NamedTuple):
    """A CSR matrix with d columns and sorted indices, its longest row that long.

    A column whose shift is not 0 must be stored in every row: what is not stored is 0.
    """

    data: NDArray[np.floating[Any]]
    indices: NDArray[np.signedinteger[Any]]
    indptr: NDArray[np.signedinteger[Any]]
    shift: NDArray[np.float64]
    scale: float
    longest: int
    d: int


Rows = DenseRows | CsrRows

_REMOTE = 1e6  # squared distance from the origin, in squared ranges: six digits lost
_LEAST, _MOST = 2.0**-20, 2.0**20  # magnitudes that are left as they are
_FEW_VALUES = 1 << 16  # whose squares any order of adding sums well, in float32 too
_NO_MEANS = np.empty(0)


def rows_of(X: Any, shift: NDArray[np.float64] | None = None, scale: float = 1.0) -> Rows:
    """Wrap a validated dense array or CSR matrix (see there what may be shifted)."""
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
    """The same rows with read-only arrays, which unpickling makes writable."""
    kind: Any = type(rows)
    values = (read_only(one) if isinstance(one, np.ndarray) else one for one in rows)
    same: Rows = kind(*values)
    return same


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """A read-only view: one compiled version serves writable and read-only arrays."""
    view = array.view()
    view.flags.writeable = False
    return view


class Spread(NamedTuple):
    """Where the values of an array lie."""

    means: NDArray[np.float64]  # of the columns, or 0 where one is not to be centred;
    # empty where they were not asked for
    remote: bool  # whether the columns lie far from 0 against their own ranges
    scale: float  # power of two that brings the largest value near 1


def spread_of(X: Any) -> Spread:
    """Measure a dense array (or the values of a sparse matrix, which is never remote)."""
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
    """The same where a look tells what float64 asks: neither remote nor to be scaled.

    Then there are no means in it: one pass instead of four over a small dense array.
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
    """Max |x| without the copy that ``abs`` would make; 0 for an empty array."""
    return max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))


def unit_scale(largest: float) -> float:
    """Power of two that brings ``largest`` near 1; 1 where that is not needed."""
    if largest == 0.0 or _LEAST <= largest <= _MOST:
        return 1.0
    return float(2.0 ** -np.clip(np.floor(np.log2(largest)), -1022.0, 1022.0))


def fill_lanes(
    rows: Any, index: Any, start: int, stop: int, width: int, lanes: Any, at: int
) -> None:
    """Interleave rows ``index[start:stop]`` into ``lanes[at + k·width + lane]``.

    Lanes without a row are left as they are; sparse rows expect zeros on entry. Of
    sparse rows with ``width`` 0 what is stored is packed, ``longest`` for each row. (One
    function for panels and rows of tiles, so that it is compiled once.)
    """
    raise TypeError(f"no lanes for {type(rows).__name__}: compiled code only")  # noqa: EM102


def clear_lanes(
    rows: Any, index: Any, start: int, stop: int, width: int, lanes: Any, at: int
) -> None:
    """Set back to zero what ``fill_lanes`` scattered (nothing to do for dense rows)."""
    raise TypeError(f"no lanes for {type(rows).__name__}: compiled code only")  # noqa: EM102


@overload(fill_lanes)
def _fill_lanes(rows, index, start, stop, width, lanes, at):
    if is_record(rows, DenseRows):
        return _fill_dense
    if is_record(rows, CsrRows):
        return _fill_csr
    return None


@overload(clear_lanes)
def _clear_lanes(rows, index, start, stop, width, lanes, at):
    if is_record(rows, DenseRows):
        return lambda rows, index, start, stop, width, lanes, at: None
    if is_record(rows, CsrRows):
        return _clear_csr
    return None


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


def _clear_csr(rows, index, start, stop, width, lanes, at):
    work = lanes.dtype.type
    for lane in range(stop - start):
        i = index[start + lane]
        for e in range(rows.indptr[i], rows.indptr[i + 1]):
            lanes[at + rows.indices[e] * width + lane] = work(0.0)


def _norm2(rows: Any, i: int, zero: Any) -> Any:
    """Squared norm of row i in the precision of ``zero``."""


@overload(_norm2)
def _overload_norm2(rows, i, zero):
    return _norm2_dense if is_record(rows, DenseRows) else _norm2_csr


def _norm2_dense(rows, i, zero):
    total = zero
    row = rows.data[i]
    for k in range(row.size):
        x = type(zero)((np.float64(row[k]) - rows.shift[k]) * rows.scale)
        total = fma(x, x, total)
    return total


def _norm2_csr(rows, i, zero):
    total = zero
    for e in range(rows.indptr[i], rows.indptr[i + 1]):
        x = np.float64(rows.data[e]) - rows.shift[rows.indices[e]]
        x = type(zero)(x * rows.scale)
        total = fma(x, x, total)
    return total


def _squared_norms(rows, start, stop, zero, out):
    """Squared norms of rows start … stop−1, in the precision of ``zero`` and ``out``.

    Each is one chain of fused operations in the order of the features, as a tile's dot
    product is, so that equal rows are at distance exactly 0.
    """
    for i in range(start, stop):
        out[i] = _norm2(rows, i, zero)


squared_norms = njit(_squared_norms, allocates=False)


def repeats(X: Any) -> bool:
    """Whether a row of a CSR matrix has a column twice."""
    return bool(_repeats(X.indices, X.indptr, np.full(X.shape[1], -1, np.int64)))


def _repeats(indices, indptr, seen):
    for i in range(indptr.size - 1):
        for e in range(indptr[i], indptr[i + 1]):
            column = indices[e]
            if seen[column] == i:
                return True
            seen[column] = i
    return False


_repeats = njit(_repeats, allocates=False)
