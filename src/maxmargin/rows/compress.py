"""Compression: dense rows that are mostly zeros become CSR; products skip the zeros.

Where at most a third of the values is not zero, tiles of sparse rows are faster than
dense ones (1.4 to 2.1 times on covtype, mnist and a9a; at one half there is nothing to
gain). In float64 kernel values keep their bits: a skipped zero adds nothing to a sum.

In float32 rows are centred to keep their digits, and centring would fill a compressed
row. Columns that are hardly ever zero can be centred: they are stored whole, with their
zeros. If the means of the other columns are too large to be left out, rows stay dense.
"""

from __future__ import annotations

import mmap
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from maxmargin._jit import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin.parallel import Workers
    from maxmargin.rows.records import Spread

_MOST = 1 / 3  # policy: largest share of values that are not zero; above, rows stay dense
_FULL = 3 / 4  # policy: the same share of a column from which it is stored whole, centred
_SAMPLE = 256  # policy: rows that are sampled before all are read
_WIDE = 1 << 18  # policy: columns above which unused columns are left out
_SMALL = 1000  # policy: rows up to which nothing is gained
_FEW = 1 << 18  # policy: values below which nothing is gained
_GRAIN = 1 << 16  # policy: values below which a second thread costs more than it brings
_ROOM = 1 << 28  # policy: bytes of a copy; rows whose copy is larger stay as they are
_LINEAR_ROOM = 32 * 8  # policy: the same for a linear machine, for each of n + d² numbers


def thinned(
    X: Any, spread: Spread, workers: Workers, *, centred: bool
) -> tuple[Any, Spread]:
    """Return X as CSR, and the spread with the means to subtract; or both as they were.

    Parameters
    ----------
    X : ndarray or CSR matrix
        The points.
    spread : Spread
        The spread of X.
    workers : Workers
        Threads.
    centred : bool
        Whether the kernel wants centred rows in float32.
    """
    if X.shape[0] > _SMALL:
        sparse = sparse_spread(X, spread, centred=centred)
        if sparse is not None:
            found = compressed(X, sparse.means, workers)
            if found is not None:
                return found, sparse
    return X, spread


def both_thinned(
    A: Any, B: Any, shift: NDArray[np.float64], workers: Workers
) -> tuple[Any, Any]:
    """Return A and B as CSR, or both as they were.

    B is compressed anew for every A: for a few rows of A that would not pay.
    """
    if isinstance(A, np.ndarray) and A.shape[0] >= _SAMPLE:
        right = compressed(B, shift, workers)
        left = None if right is None else compressed(A, shift, workers)
        if left is not None:
            return left, right
    return A, B


def sparse_spread(X: Any, spread: Spread, *, centred: bool) -> Spread | None:
    """Return the spread of the compressed rows: means of columns that are stored whole.

    None if a sample of evenly spaced rows says that they had better stay dense.
    """
    if spread.remote or not _may_be_compressed(X):
        return None
    sample = _sample(X)
    filled = (sample != 0.0).mean(axis=0)
    if filled.mean() > _MOST:
        return None
    if not centred:
        return spread._replace(means=np.zeros_like(spread.means))
    whole = filled >= _FULL
    left = ((spread.means[~whole] * spread.scale) ** 2).sum()
    apart = (((sample - spread.means) * spread.scale) ** 2).sum(axis=1).mean()
    if left > apart:  # squared norms would be more than twice the centred ones
        return None
    return spread._replace(means=np.where(whole, spread.means, 0.0))


def used_columns(*matrices: Any) -> tuple[Any, ...]:
    """Return sparse matrices of very many columns without the columns that are empty.

    A block of panels has room for all columns of at least 32 rows: with millions of
    hashed features that would be gigabytes for empty columns.
    """
    d = matrices[0].shape[1]
    if d <= _WIDE or not all(sp.issparse(one) for one in matrices):
        return matrices
    used = np.unique(np.concatenate([one.indices for one in matrices]))
    if 2 * used.size > d:
        return matrices
    width = max(1, used.size)
    return tuple(
        type(one)(
            (one.data, np.searchsorted(used, one.indices).astype(np.int32), one.indptr),
            shape=(one.shape[0], width),
        )
        for one in matrices
    )


def without_zeros(X: Any, workers: Workers) -> Any:
    """Return X as CSR if at most a third of its values is not zero; otherwise X.

    Linear machines need no centring. They promise memory of n + d² numbers beside X: the
    copy has 32 times that at most.
    """
    if X.shape[0] <= _SMALL or not _may_be_compressed(X):
        return X
    if (_sample(X) != 0.0).mean() > _MOST:
        return X
    n, d = X.shape
    found = compressed(X, np.zeros(d), workers, _LINEAR_ROOM * (n + d**2))
    return X if found is None else found


def _may_be_compressed(X: Any) -> bool:
    return isinstance(X, np.ndarray) and X.size >= _FEW and not _on_disk(X)


def _sample(X: NDArray[np.floating[Any]]) -> NDArray[np.floating[Any]]:
    """Return evenly spaced rows."""
    some = np.linspace(0, X.shape[0] - 1, min(X.shape[0], _SAMPLE)).astype(np.intp)
    sample: NDArray[np.floating[Any]] = X[some]
    return sample


def _on_disk(X: Any) -> bool:
    """Whether X is a mapped file, chosen where memory has no room for a copy."""
    while X is not None and not isinstance(X, np.memmap | mmap.mmap):
        X = getattr(X, "base", None)
    return X is not None


def compressed(
    X: NDArray[np.floating[Any]],
    shift: NDArray[np.float64],
    workers: Workers,
    room: float = np.inf,
) -> Any | None:
    """Return X as CSR: values that are not zero, and all values of columns with a shift.

    None if these are more than a third of X, or more bytes than there is room for.
    """
    n, d = X.shape
    source = X.view()
    source.flags.writeable = False  # as rows have it: compiled once for both
    kept = shift != 0.0
    ends = np.zeros(n + 1, np.int64)
    grain = max(1, _GRAIN // max(1, d))
    workers.spread(lambda a, b: _count(source, kept, a, b, ends[1:]), n, grain)
    np.cumsum(ends, out=ends)
    stored = int(ends[-1])
    kind = np.int32 if max(stored, d) <= np.iinfo(np.int32).max else np.int64
    each = X.dtype.itemsize + np.dtype(kind).itemsize
    if stored > _MOST * X.size or stored * each > min(_ROOM, room):
        return None
    indices, values = np.empty(stored, kind), np.empty(stored, X.dtype)
    workers.spread(
        lambda a, b: _fill(source, kept, ends, a, b, indices, values), n, grain
    )
    return sp.csr_array((values, indices, ends.astype(kind)), shape=X.shape)


@njit
def _count(X, kept, start, stop, counts):
    """Count the values that each of the rows start … stop−1 has to store."""
    for i in range(start, stop):
        row = X[i]
        total = 0
        for k in range(row.size):
            total += (row[k] != 0.0) | kept[k]
        counts[i] = total


@njit
def _fill(X, kept, ends, start, stop, indices, values):
    """Store these values, each row from the end of the row before it."""
    for i in range(start, stop):
        row = X[i]
        at = ends[i]
        for k in range(row.size):
            if (row[k] != 0.0) | kept[k]:
                indices[at] = k
                values[at] = row[k]
                at += 1
