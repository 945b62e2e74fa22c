"""Parquet and Arrow files (Feather 2), through pyarrow: the extra ``arrow``."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.data_files.columns.cells import show, words_of
from maxmargin.errors import DataFileError, load_extra

if TYPE_CHECKING:
    from numpy.typing import NDArray


def _pyarrow(module: str = "pyarrow") -> Any:
    return load_extra(module, extra="arrow", purpose="reading Parquet and Arrow files")


def read_arrow(content: bytes, *, format: str, name: str) -> dict[str, NDArray[Any]]:  # noqa: A002
    """The columns of a Parquet or Arrow file: float64 with NaN, or objects, str and None.

    ``format`` is ``"parquet"`` or ``"arrow"``, and ``name`` the file's in errors.
    """
    arrow = _pyarrow()
    stream = io.BytesIO(content)
    try:
        if format == "parquet":
            table = _pyarrow("pyarrow.parquet").read_table(stream)
        else:
            table = _pyarrow("pyarrow.feather").read_table(stream)
        table.validate(full=True)
    except (arrow.ArrowException, OSError, ValueError) as error:
        told = str(error).splitlines()[0] if str(error) else type(error).__name__
        title = "Parquet" if format == "parquet" else "Arrow or Feather"
        raise DataFileError(name, 0, f"this is no {title} file: {told}") from error
    names = table.column_names
    if len(set(names)) < len(names):
        twice = next(one for one in names if names.count(one) > 1)
        raise DataFileError(name, 0, f"two columns are named {show(twice)}")
    if not names or table.num_rows == 0:
        raise DataFileError(name, 0, "the table is empty")
    return {
        column: _column(arrow, table.column(column), column, name) for column in names
    }


def _column(arrow: Any, values: Any, column: str, name: str) -> NDArray[Any]:
    kind = values.type
    if arrow.types.is_dictionary(kind):
        values = values.cast(kind.value_type)
        kind = values.type
    types = arrow.types
    if types.is_null(kind):
        return np.full(len(values), np.nan)
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        numbers = values.cast(arrow.float64(), safe=False)
        found: NDArray[np.float64] = numbers.to_numpy().astype(np.float64)
        if np.isinf(found).any():
            row = int(np.argmax(np.isinf(found)))
            raise DataFileError(
                name, 0, f"row {row + 1}: column {show(column)} is infinite"
            )
        return found
    if types.is_boolean(kind) or types.is_string(kind) or types.is_large_string(kind):
        words = np.empty(len(values), dtype=object)
        cells = values.cast(arrow.string()).to_pylist()
        words[:] = words_of(["" if one is None else one for one in cells], {})
        return words
    reason = (
        f"column {show(column)} is of type {kind}: numbers, text, booleans or categories "
        "can be learnt from; convert it, or leave it out"
    )
    raise DataFileError(name, 0, reason)


def write_arrow(stream: Any, columns: dict[str, NDArray[Any]], *, format: str) -> None:  # noqa: A002
    """Write columns; missing values (NaN and None) become nulls."""
    arrow = _pyarrow()
    table = arrow.table(
        {name: arrow.array(column, from_pandas=True) for name, column in columns.items()}
    )
    if format == "parquet":
        _pyarrow("pyarrow.parquet").write_table(table, stream)
    else:
        _pyarrow("pyarrow.feather").write_feather(table, stream)
