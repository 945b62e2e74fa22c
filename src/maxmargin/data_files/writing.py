"""A :class:`~maxmargin.data_files.table.Table` → a file of any format, atomically."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from maxmargin.data_files.arrays import write_npz
from maxmargin.data_files.arrow import write_arrow
from maxmargin.data_files.columns.cells import shortest, show
from maxmargin.data_files.formats import TITLES, format_of
from maxmargin.data_files.opened import opened_for_writing
from maxmargin.data_files.svmlight import write_svmlight
from maxmargin.data_files.table import Table, is_words
from maxmargin.errors import InputError

if TYPE_CHECKING:
    from typing import BinaryIO

    from numpy.typing import NDArray

BLOCK = 8192  # policy: rows that are text at a time


def write_table(
    table: Table,
    target: str | os.PathLike[str] | BinaryIO,
    *,
    format: str | None = None,  # noqa: A002 - what the option is called
) -> None:
    """Write a table; reading it again gives the same numbers, to the bit.

    Parameters
    ----------
    table : Table
        Rows; for LIBSVM text all features and the target must be numbers.
    target : str, path or binary stream
        Where to; text is compressed if the name ends in .bz2, .gz or .xz.
    format : str or None
        One of :data:`~maxmargin.data_files.formats.FORMATS`; None goes by the name.
    """
    name = os.fspath(target) if isinstance(target, str | os.PathLike) else "-"
    kind = format_of(name, format)
    with opened_for_writing(target) as stream:
        _write(table, stream, kind)


def _write(table: Table, stream: Any, kind: str) -> None:
    if kind == "libsvm":
        _write_libsvm(table, stream)
    elif kind == "npz":
        names = list(table.columns) if table.named else None
        write_npz(stream, numeric_matrix(table, kind), table.y, names)
    elif kind in ("csv", "tsv"):
        _write_delimited(named_columns(table), stream, "\t" if kind == "tsv" else ",")
    else:
        write_arrow(stream, named_columns(table), format=kind)


def _write_libsvm(table: Table, stream: Any) -> None:
    X = sparse.csr_matrix(numeric_matrix(table, "libsvm"))
    y = table.y
    if y is None:
        y = np.zeros(table.n_rows)  # the customary label of rows without one
    if is_words(y):
        msg = (
            "LIBSVM text holds numbers for labels, and the target is text; "
            "write CSV, npz or Parquet, or code the classes as numbers"
        )
        raise InputError(msg)
    write_svmlight(stream, X, y)


def numeric_matrix(table: Table, kind: str) -> Any:
    """The features as one matrix; columns of words are refused."""
    if not table.named:
        return table.matrix
    for name, column in table.columns.items():
        if is_words(column):
            msg = (
                f"{TITLES[kind]} holds numbers, and column {name!r} is text; "
                "write CSV or Parquet, or encode it first"
            )
            raise InputError(msg)
    return np.column_stack(list(table.columns.values()))


def named_columns(table: Table) -> dict[str, NDArray[Any]]:
    """Every feature and the target as a column; x1, x2, … where there are no names."""
    columns = dict(table.in_columns().columns)
    if table.y is not None:
        name = table.target_name or "target"
        if name in columns:
            msg = (
                f"{table.source}: the target and a feature are both named {show(name)}, "
                "and columns of a table need different names; rename the feature"
            )
            raise InputError(msg)
        columns[name] = table.y
    return columns


def _write_delimited(columns: dict[str, Any], stream: Any, delimiter: str) -> None:
    head = delimiter.join(_quoted(name, delimiter) for name in columns)
    stream.write(f"{head}\n".encode())
    rows = len(next(iter(columns.values())))
    for start in range(0, rows, BLOCK):
        block = [
            _cells(column[start : start + BLOCK], delimiter)
            for column in columns.values()
        ]
        lines = map(delimiter.join, zip(*block, strict=True))
        stream.write("".join(f"{line}\n" for line in lines).encode())


def _quoted(word: str, delimiter: str) -> str:
    """A word in quotes where it needs them; the csv module forgets carriage returns."""
    if any(sign in word for sign in (delimiter, '"', "\r", "\n")):
        return '"' + word.replace('"', '""') + '"'
    return word


def _cells(column: NDArray[Any], delimiter: str) -> list[str]:
    """Text from which the same values are read: whole numbers without a fraction."""
    if is_words(column) or column.dtype.kind in "US":
        known = {
            one: "" if one is None else _quoted(str(one), delimiter)
            for one in set(column.tolist())
        }
        return [known[one] for one in column.tolist()]
    if column.dtype == np.float32:  # the digits that tell it from its neighbours
        shown = [str(one).removesuffix(".0") for one in column]
    else:
        shown = [shortest(one) for one in column.tolist()]
    return ["" if one == "nan" else one for one in shown]
