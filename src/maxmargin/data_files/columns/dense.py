"""Sparse rows with their zeros filled in, as far as memory and patience allow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scipy import sparse

from maxmargin.data_files.opened import available_memory
from maxmargin.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_COLUMNS = 100_000  # that may become Python objects, one each


def dense_rows(X: Any, *, source: str) -> NDArray[Any]:
    """The rows as an ndarray.

    Raises
    ------
    InputError
        Where their zeros would not fit into memory: one index of a few digits in LIBSVM
        text can ask for any number of them.
    """
    if not sparse.issparse(X):
        dense: NDArray[Any] = X
        return dense
    rows, columns = X.shape
    size, room = rows * columns * X.dtype.itemsize, available_memory()
    if size > room:
        msg = (
            f"{source}: {rows:,} sparse rows × {columns:,} would take {size:,} bytes "
            f"with their zeros, and {room:,} are free; keep them sparse"
        )
        raise InputError(msg)
    return X.toarray()  # type: ignore[no-any-return]


def columns_of(X: Any, *, source: str) -> dict[str, NDArray[Any]]:
    """Columns x1, x2, … of rows that have no names; at most :data:`MOST_COLUMNS`."""
    if X.shape[1] > MOST_COLUMNS:
        msg = (
            f"{source}: {X.shape[1]:,} features are more than the {MOST_COLUMNS:,} "
            "columns that a table may have; keep them a matrix (LIBSVM text or npz)"
        )
        raise InputError(msg)
    dense = dense_rows(X, source=source)
    return {f"x{place + 1}": dense[:, place] for place in range(dense.shape[1])}
