"""Files of data: LIBSVM text, CSV and TSV, npz, Parquet and Arrow, read into tables.

Readers are strict: what they hand on is finite and consistent, and everything else is a
:class:`~maxmargin.errors.DataFileError` with the file, the line and the reason.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from maxmargin._lazy import exports

if TYPE_CHECKING:
    from maxmargin.data_files.columns.encoder import TableEncoder
    from maxmargin.data_files.reading import read_table
    from maxmargin.data_files.svmlight import read_svmlight, write_svmlight
    from maxmargin.data_files.table import Table
    from maxmargin.data_files.writing import write_table

_HOME = {
    "Table": "table",
    "TableEncoder": "columns.encoder",
    "read_svmlight": "svmlight",
    "read_table": "reading",
    "write_svmlight": "svmlight",
    "write_table": "writing",
}

__all__ = [
    "Table",
    "TableEncoder",
    "read_svmlight",
    "read_table",
    "write_svmlight",
    "write_table",
]

__getattr__, __dir__ = exports(__name__, _HOME)
