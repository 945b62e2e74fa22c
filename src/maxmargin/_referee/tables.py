"""Tables of the user read in blocks, and attributes read with care."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse

from maxmargin.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from maxmargin._arrays import Vector

TILE = 1024  # rows and columns of kernel values alive at a time: 8 MB


def as_table(name: str, X: Any) -> Any:
    """X as an array or CSR matrix of numbers; its dtype is kept."""
    if issparse(X):
        _check_structure(name, X)
    table = X.tocsr() if issparse(X) else np.asarray(X)
    if not is_numeric(table):
        table = as_numbers(name, table)
    require(
        table.ndim == 2, f"{name} has shape {table.shape}: it must have rows and columns"
    )
    return table


def as_objects(X: Any) -> Any:
    """Rows of any kind, for a kernel that is a function; a table of numbers stays one."""
    if issparse(X):
        return as_table("X", X)
    if hasattr(X, "dtype") or hasattr(X, "columns"):
        rows = np.asarray(X)
    else:
        require(
            hasattr(X, "__len__") and not isinstance(X, str), "X is no sequence of rows"
        )
        rows = np.empty(len(X), dtype=object)
        for position, item in enumerate(X):
            rows[position] = item
        lists = all(isinstance(item, (list, tuple, np.ndarray)) for item in X)
        numbers = _table_of_numbers(X) if lists else None
        rows = rows if numbers is None else numbers
    require(rows.ndim > 0, "X is no sequence of rows")
    return rows


def _table_of_numbers(X: Any) -> Any:
    try:
        table = np.asarray(X)
    except ValueError:  # rows of different lengths
        return None
    return table if table.ndim == 2 and is_numeric(table) else None


def is_numeric(table: Any) -> bool:
    """Tell whether a table holds numbers."""
    return table.dtype.kind in "fiub"


def _check_structure(name: str, X: Any) -> None:
    """Refuse altered compressed matrices: SciPy's own routines trust them, and crash."""
    if X.format not in ("csr", "csc"):
        return
    lines, width = X.shape if X.format == "csr" else X.shape[::-1]
    pointer, indices = np.asarray(X.indptr), np.asarray(X.indices)
    sound = (
        pointer.shape == (lines + 1,)
        and pointer[0] == 0
        and bool((pointer[1:] >= pointer[:-1]).all())
        and pointer[-1] <= min(indices.size, np.asarray(X.data).size)
        and indices.min(initial=0) >= 0
        and indices.max(initial=-1) < width
    )
    require(
        sound, f"{name} is not a sound {X.format} matrix: its index arrays were altered"
    )


def take(table: Any, rows: Any, *, dense: bool = False) -> Any:
    """Read some rows, in float64, and refuse what is not finite."""
    block = table[rows]
    if issparse(block):
        block = block.astype(np.float64)  # a copy: the user's matrix stays as it is
        block.sum_duplicates()
        block = block.toarray() if dense else block
    else:
        block = np.asarray(block, dtype=np.float64)
    entries = block.data if issparse(block) else block
    require(
        np.isfinite(entries).all(), "X contains NaN or infinity: pass that of the fit"
    )
    return block


def tiles(n: int, width: int) -> Iterator[slice]:
    """Cut n rows so that a block of them stays within 4 MB when dense."""
    size = max(8, min(TILE, TILE * TILE // (2 * max(1, width))))
    return (slice(start, min(n, start + size)) for start in range(0, n, size))


def narrow(width: int) -> bool:
    """Tell whether sparse rows are better written out: one product of dense tiles."""
    return width <= TILE


def moments(table: Any) -> tuple[Vector, float]:
    """Mean of each column, and the variance of all entries together."""
    n, width = table.shape
    parts = list(tiles(n, 1 if issparse(table) else width))
    with np.errstate(over="ignore"):  # an infinite variance makes γ = 0, as it should
        centre = (
            sum(np.asarray(take(table, part).sum(axis=0)).ravel() for part in parts) / n
        )
        mean, squares = centre.mean(), 0.0
        for part in parts:
            block = take(table, part)
            entries = block.data if issparse(block) else block
            zeros = block.shape[0] * width - entries.size
            squares += float(np.square(entries - mean).sum() + zeros * mean**2)
    return centre, squares / (n * width)


def as_numbers(name: str, value: Any) -> Vector:
    """Convert an attribute to finite float64 numbers."""
    if issparse(value):
        _check_structure(name, value)
    try:
        numbers = np.asarray(value.toarray() if issparse(value) else value, np.float64)
    except (TypeError, ValueError) as error:
        msg = f"{name} must hold numbers: {error}"
        raise InputError(msg) from error
    require(np.isfinite(numbers).all(), f"{name} contains NaN or infinity")
    return numbers


def number_of(estimator: Any, name: str, default: float) -> float:
    value = getattr(estimator, name, default)
    require(isinstance(value, Real), f"{name}={value!r}: it must be a number")
    return float(value)


def require(holds: Any, sentence: str) -> None:
    if not holds:
        raise InputError(sentence)
