"""A fingerprint of data: it tells whether a model was learnt from these rows."""

from __future__ import annotations

import hashlib
import math
from typing import Any

import numpy as np
from scipy import sparse

from maxmargin.data_files.table import Table
from maxmargin.errors import InputError, InputTypeError

_BLOCK = 1 << 20  # policy: values of dense rows that are hashed at a time


def data_hash(X: Any, y: Any = None) -> str:
    """Return the SHA-256 of rows and labels; it does not depend on how they are stored.

    The hash covers the number of rows and columns; then, as float64, all values other
    than 0, row by row, with their columns; and the labels. So dense and sparse matrices,
    float32 and float64, C and Fortran order of the same numbers have the same hash;
    another number, row, order of rows or label has another one. NaN is one value.
    Integers beyond 2⁵³ count as the nearest float64. docs/format.md has the bytes.

    A table (pandas, polars, Arrow) is hashed by columns, each with its name: numbers as
    above, all other values as text; missing values are marked. A table of
    :func:`maxmargin.data_files.read_table` is hashed with its target, so that the hash in
    a model of ``maxmargin train`` can be recomputed from the file.

    Parameters
    ----------
    X : array-like, sparse matrix or table of shape (n_samples, n_columns)
        Rows.
    y : array-like of shape (n_samples,) or None
        Numbers or labels of any type, compared as text unless they are numbers; None is
        the target of a :class:`~maxmargin.data_files.Table`, if it has one.

    Returns
    -------
    str
        64 digits of base 16.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.persist import data_hash
    >>> X = np.array([[0.0, 1.0], [2.0, 0.0]])
    >>> data_hash(X, [0, 1])[:16]
    'd6160ea1344c673a'
    >>> data_hash(X, [0, 1]) == data_hash(X.astype(np.float32), [0.0, 1.0])
    True
    """
    if isinstance(X, Table):
        y = X.y if y is None else y
        X = X.columns if X.named else X.matrix
    whole = hashlib.sha256(b"maxmargin data 1\n")
    whole.update(_of_table(X) if _is_table(X) else _of_matrix(X))
    whole.update(b"none" if y is None else _of_column(y, "y"))
    return whole.hexdigest()


def _of_matrix(X: Any) -> bytes:
    """Shape, then hashes of the counts in rows, the columns and values other than 0."""
    if sparse.issparse(X):
        rows = X.tocsr()
    else:
        rows = np.asarray(X)
        if rows.ndim == 1 and rows.dtype.kind not in "biuf":
            return b"objects" + _of_column(rows, "X")
    if rows.ndim != 2 or rows.dtype.kind not in "biuf":
        msg = (
            f"X has {rows.ndim} axes and dtype {rows.dtype}: give rows of numbers, or a "
            "table with named columns"
        )
        raise InputTypeError(msg)
    counts, columns, values = hashlib.sha256(), hashlib.sha256(), hashlib.sha256()
    n, d = rows.shape
    step = max(1, _BLOCK // max(1, d)) if not sparse.issparse(rows) else max(1, n)
    for start in range(0, n, step):
        block = sparse.csr_array(rows[start : start + step], dtype=np.float64)
        if block.nnz and not block.has_canonical_format:
            block = block.copy()
            block.sum_duplicates()
        if not block.data.all():
            block = block.copy()
            block.eliminate_zeros()
        counts.update(np.diff(block.indptr).astype("<i8").tobytes())
        columns.update(block.indices.astype("<i8").tobytes())
        values.update(_as_float64(block.data))
    parts = (counts.digest(), columns.digest(), values.digest())
    return b"".join([b"rows", _bytes_of(n), _bytes_of(d), *parts])


def _as_float64(values: Any) -> bytes:
    """Numbers as little-endian float64, with one NaN and one zero."""
    found = np.array(values, dtype="<f8")
    found[np.isnan(found)] = np.nan
    found += 0.0  # −0.0 becomes 0.0
    raw: bytes = found.tobytes()
    return raw


def _of_column(values: Any, name: str) -> bytes:
    """Numbers as float64; other values as text, length first, missing values marked."""
    given = values.to_numpy() if hasattr(values, "to_numpy") else values
    column = np.asarray(given)
    if column.ndim == 2 and column.shape[1] == 1:
        column = column[:, 0]
    if column.ndim != 1:
        msg = f"{name} has shape {column.shape}: give one value a row"
        raise InputError(msg)
    size = _bytes_of(column.size)
    if column.dtype.kind in "biuf":
        return b"numbers" + size + hashlib.sha256(_as_float64(column)).digest()
    texts = hashlib.sha256()
    for value in column.tolist():
        if (
            value is None
            or (isinstance(value, float) and math.isnan(value))
            or type(value).__name__ in ("NAType", "NaTType")
        ):
            texts.update(_bytes_of(2**64 - 1))
        else:
            texts.update(_text(value))
    return b"texts" + size + texts.digest()


def _bytes_of(count: int) -> bytes:
    return int(count).to_bytes(8, "little")


def _text(value: Any) -> bytes:
    letters = str(value).encode("utf-8", "surrogatepass")
    return _bytes_of(len(letters)) + letters


def _is_table(X: Any) -> bool:
    if isinstance(X, dict):
        return True
    return hasattr(X, "column_names") or (hasattr(X, "columns") and hasattr(X, "shape"))


def _of_table(X: Any) -> bytes:
    if isinstance(X, dict):
        names = list(X)
    else:
        names = X.column_names if hasattr(X, "column_names") else list(X.columns)
    whole = hashlib.sha256()
    for name in names:
        whole.update(_text(name) + _of_column(X[name], str(name)))
    return b"table" + _bytes_of(len(names)) + whole.digest()
