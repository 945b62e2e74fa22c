"""Files of data: LIBSVM text, CSV and TSV, npz, Parquet and Arrow, read into tables.

Readers are strict: tables are finite and consistent, and everything else is a
:class:`~maxmargin.errors.DataFileError` with the file, the line and the reason.

- :mod:`~maxmargin.data_files.formats`: the format of a file, by its name.
- :mod:`~maxmargin.data_files.opened`: whole files as bytes; files that replace others.
- :mod:`~maxmargin.data_files.table`: the rows of a file, in columns or in one matrix.
- :mod:`~maxmargin.data_files.reading`: a file of any format to a table.
- :mod:`~maxmargin.data_files.writing`: a table to a file of any format.
- :mod:`~maxmargin.data_files.svmlight`: LIBSVM text.
- :mod:`~maxmargin.data_files.libsvm_text`: the parts of that text.
- :mod:`~maxmargin.data_files.delimited`: CSV and TSV.
- :mod:`~maxmargin.data_files.arrays`: NumPy's npz.
- :mod:`~maxmargin.data_files.arrow`: Parquet and Arrow.
- :mod:`~maxmargin.data_files.columns`: columns of a table, as numbers.
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
