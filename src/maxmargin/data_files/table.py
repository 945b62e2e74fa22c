"""The result of every reader: rows with a target, in named columns or in one matrix.

Rows without names become columns x1, x2, … if these are few enough and fit into memory.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from maxmargin.data_files.opened import available_memory
from maxmargin.errors import DataFileError, InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray


MOST_COLUMNS = 100_000  # policy: columns that may become Python objects, one each


def is_words(column: NDArray[Any]) -> bool:
    """Whether a column holds words (or None), rather than numbers (or NaN)."""
    return column.dtype == object


def absent_in(column: NDArray[Any]) -> NDArray[np.bool_]:
    """Where a column has no value."""
    if is_words(column):
        return np.fromiter((one is None for one in column), np.bool_, column.size)
    absent: NDArray[np.bool_] = np.isnan(column)
    return absent


@dataclass(frozen=True, eq=False)
class Table:
    """Rows of a file.

    Attributes
    ----------
    source : str
        The name of the file in errors.
    format : str
        One of :data:`~maxmargin.data_files.formats.FORMATS`.
    matrix : ndarray, csr_matrix or None
        Rows without names, float64 or float32; or None, and there are ``columns``.
    columns : dict from str to ndarray
        The features by name: float64 with NaN where a value is missing, or objects: str,
        None where missing.
    y : ndarray or None
        The target, as a column; None if the file has none.
    target_name : str or None
        The name of its column.
    lines : ndarray of int or None
        The line of the file that each row begins in; None where there are no lines.
    notes : tuple of str
        Decisions of the reader that people should know of.
    """

    source: str
    format: str
    matrix: Any = None
    columns: dict[str, NDArray[Any]] = field(default_factory=dict)
    y: NDArray[Any] | None = None
    target_name: str | None = None
    lines: NDArray[np.int64] | None = None
    notes: tuple[str, ...] = ()

    @property
    def named(self) -> bool:
        """Whether the features have names."""
        return self.matrix is None

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        if self.matrix is not None:
            return int(self.matrix.shape[0])
        first = next(iter(self.columns.values()), self.y)
        return 0 if first is None else int(first.shape[0])

    @property
    def n_columns(self) -> int:
        """How many features there are."""
        return len(self.columns) if self.matrix is None else int(self.matrix.shape[1])

    def __len__(self) -> int:
        return self.n_rows

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and features."""
        return self.n_rows, self.n_columns

    def in_columns(self) -> Table:
        """The same rows in named columns: x1, x2, … where there are no names."""
        if self.named:
            return self
        columns = columns_of(self.matrix, source=self.source)
        return replace(self, matrix=None, columns=columns)

    def line_of(self, row: int) -> int:
        """The line of a row, for messages; 0 where the file has none."""
        return 0 if self.lines is None else int(self.lines[row])

    def take(self, rows: NDArray[np.intp]) -> Table:
        """The same table with some of its rows."""
        return replace(
            self,
            matrix=None if self.matrix is None else self.matrix[rows],
            columns={name: column[rows] for name, column in self.columns.items()},
            y=None if self.y is None else self.y[rows],
            lines=None if self.lines is None else self.lines[rows],
        )

    def refuse(self, row: int, reason: str) -> DataFileError:
        """The error for a row, which is named by its line or its number."""
        line = self.line_of(row)
        return DataFileError(
            self.source, line, reason if line else f"row {row + 1}: {reason}"
        )

    def target(self) -> NDArray[Any]:
        """The target; every value must be there and finite."""
        if self.y is None:
            msg = f"{self.source}: there is no target to learn from"
            raise InputError(msg)
        words = is_words(self.y)
        absent = absent_in(self.y) if words else ~np.isfinite(self.y)
        if absent.any():
            row = int(np.argmax(absent))
            name = f"the target {self.target_name!r}" if self.target_name else "y"
            what = "is missing" if words or np.isnan(self.y[row]) else "is infinite"
            reason = f"{name} {what}: every row to learn from needs a finite one"
            raise self.refuse(row, reason)
        return self.y


def dense_rows(X: Any, *, source: str) -> NDArray[Any]:
    """The rows as an ndarray; InputError if their zeros would not fit into memory.

    One index of a few digits in LIBSVM text can ask for any number of zeros.
    """
    if not sparse.issparse(X):
        return X  # type: ignore[no-any-return]
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
