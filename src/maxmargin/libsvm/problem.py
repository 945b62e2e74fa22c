"""The user's x and y, as matrices.

``x`` is a list of dicts {index: value}, a list of lists, a matrix, or the rows of a file;
indices count from 1. Rows of a precomputed kernel (``-t 4``) have one more index, 0: its
value is the row's number in the kernel matrix, from 1; the values behind it are those of
the kernel with rows 1, 2, … (README of LIBSVM, "Precomputed Kernels").
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from maxmargin.errors import InputError, InputTypeError
from maxmargin.persist.libsvm_model import LARGEST_INT, widened

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin._arrays import Vector

    Index = NDArray[np.int64]

_DENSE = 0.25  # policy: with this share of entries other than 0 rows become dense, …
_LARGEST_DENSE = 1 << 27  # … unless they would have more numbers than this: 1 GB
WIDE = 1 << 20  # policy: in wider matrices columns without entries are left out


class Rows(NamedTuple):
    """Rows with index 1 in column 0; of a precomputed kernel, its values."""

    X: Any
    max_index: int  # the largest that is used
    serial: Index | None = None  # of a precomputed kernel: numbers of the rows


def rows_of(x: Any, *, is_kernel: bool) -> Rows:
    """Any x that ``libsvm.svmutil`` takes.

    Parameters
    ----------
    x : list of dict, list of list, ndarray or sparse matrix
        Rows.
    is_kernel : bool
        Whether they hold kernel values, and their number in front.
    """
    if sparse.issparse(x):
        table = sparse.csr_matrix(x, dtype=np.float64)
        table.sum_duplicates()
        max_index = table.shape[1]
    elif isinstance(x, np.ndarray):
        table = _array(x)
        used = np.flatnonzero(table.any(axis=0))
        max_index = int(used[-1]) + 1 if used.size else 0
    elif isinstance(x, list | tuple):
        table, max_index = _listed(x, is_kernel=is_kernel)
    else:
        msg = (
            f"x is of type {type(x).__name__}: give a list of dicts {{index: value}}, a "
            "list of lists, an array or a sparse matrix"
        )
        raise InputTypeError(msg)
    values = table.data if sparse.issparse(table) else table
    if not np.isfinite(values).all():
        msg = "x holds a value that is not finite: leave such rows out, or fill them in"
        raise InputError(msg)
    if is_kernel:
        return split_table(table)
    return Rows(table, max_index)


def _array(x: NDArray[Any]) -> Vector:
    try:
        table = np.ascontiguousarray(x, dtype=np.float64)
    except (TypeError, ValueError) as error:
        msg = f"x of dtype {x.dtype} is no table of numbers: {error}"
        raise InputTypeError(msg) from error
    if table.ndim != 2:
        msg = f"x has {table.ndim} dimensions: rows and features are two"
        raise InputError(msg)
    return table


def _listed(x: Any, *, is_kernel: bool) -> tuple[Any, int]:
    base = 0 if is_kernel else 1
    rows = [
        row if isinstance(row, dict) else dict(enumerate(row, start=base)) for row in x
    ]
    sizes = [len(row) for row in rows]
    total = sum(sizes)
    try:
        index = np.fromiter(chain.from_iterable(rows), np.int64, total)
        values = np.fromiter(
            chain.from_iterable(row.values() for row in rows), np.float64, total
        )
    except (TypeError, ValueError, OverflowError) as error:
        msg = f"x must hold whole indices and numbers: {error}"
        raise InputTypeError(msg) from error
    if index.size and not (index.min() >= base and index.max() <= LARGEST_INT):
        worst = index.min() if index.min() < base else index.max()
        msg = f"index {worst} in x: indices lie between {base} and {LARGEST_INT}"
        raise InputError(msg)
    kept = values != 0.0
    max_index = int(index[kept].max(initial=0)) if not is_kernel else int(index.max())
    width = int(index.max(initial=base - 1)) + 1 - base
    indptr = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    table = sparse.csr_matrix((values, index - base, indptr), shape=(len(rows), width))
    table.sort_indices()
    return table, max_index


def split_table(table: Any) -> Rows:
    """Kernel values and the numbers in front of them."""
    if table.shape[1] < 2:
        msg = "a row of a precomputed kernel is 0:number 1:k 2:k ..., and x has no values"
        raise InputError(msg)
    dense = table.toarray() if sparse.issparse(table) else table
    return Rows(
        np.ascontiguousarray(dense[:, 1:]), dense.shape[1] - 1, dense[:, 0].copy()
    )


def serials_of(rows: Rows) -> Index:
    """Numbers of training rows in their kernel matrix, checked."""
    given = np.asarray(rows.serial, np.float64)
    wrong = (given != np.rint(given)) | (given < 1) | (given > rows.X.shape[1])
    if wrong.any():
        worst = int(np.flatnonzero(wrong)[0])
        msg = (
            f"Wrong input format: the first column must be 0:sample_serial_number, a "
            f"whole number from 1 to {rows.X.shape[1]}; row {worst + 1} has "
            f"{given[worst]:g}"
        )
        raise InputError(msg)
    return given.astype(np.int64)


def suited(X: Any) -> Any:
    """The rows in the form that machines are fastest with: dense if few are 0."""
    if not sparse.issparse(X):
        return X
    size = X.shape[0] * X.shape[1]
    return X.toarray() if X.nnz >= _DENSE * size and size <= _LARGEST_DENSE else X


def narrowed(*tables: Any) -> tuple[NDArray[Any], list[Any]]:
    """CSR matrices without the columns that none of them uses; kernels do not change.

    Returns
    -------
    used : ndarray of int
        The columns that are left, ascending.
    narrow : list of CSR matrix
        The matrices, at least one column wide.
    """
    used = np.unique(np.concatenate([table.indices for table in tables]))
    numbers = [np.searchsorted(used, table.indices).astype(np.int32) for table in tables]
    pairs = zip(tables, numbers, strict=True)
    return used, [widened(table, max(1, used.size), columns) for table, columns in pairs]


def targets_of(y: Any, n: int) -> Vector:
    """Labels or numbers as float64, one a row."""
    try:
        targets = np.asarray(y, dtype=np.float64).reshape(-1)
    except (TypeError, ValueError) as error:
        msg = f"y must be a list of numbers: {error}"
        raise InputTypeError(msg) from error
    if targets.size != n:
        msg = f"len(y) != len(x): {targets.size} labels for {n} rows"
        raise InputError(msg)
    return targets


def labels_of(y: Vector) -> Index:
    """Labels of classes as whole numbers.

    LIBSVM cuts 1.5 to 1 without a word, and so joins classes; here it is refused.
    """
    wrong = ~((y == np.rint(y)) & (np.abs(y) <= LARGEST_INT))
    if wrong.any():
        raise WrongLabelError(int(np.flatnonzero(wrong)[0]), float(y[wrong][0]))
    return y.astype(np.int64)


class WrongLabelError(InputError):
    """A label of a class is no whole number; arguments: the row (from 0), the label."""

    def __init__(self, row: int, label: float) -> None:
        super().__init__(row, label)

    @property
    def row(self) -> int:
        """Which row, from 0."""
        return int(self.args[0])

    @property
    def reason(self) -> str:
        """The fault, and advice."""
        return (
            f"label {self.args[1]:g} is not a whole number of 32 bits, and classes are; "
            "for numbers use a regression (-s 3 or -s 4)"
        )

    def __str__(self) -> str:
        return f"row {self.row + 1}: {self.reason}"
