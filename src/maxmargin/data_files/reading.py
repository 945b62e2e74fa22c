"""A file of data in any format → :class:`~maxmargin.data_files.table.Table`."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from itertools import chain, count
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.data_files.arrays import read_npz
from maxmargin.data_files.arrow import read_arrow
from maxmargin.data_files.columns.cells import show
from maxmargin.data_files.columns.target import Wanted, chosen_column
from maxmargin.data_files.delimited import read_delimited
from maxmargin.data_files.formats import STDIN, format_of
from maxmargin.data_files.opened import available_memory, open_bytes
from maxmargin.data_files.svmlight import read_svmlight
from maxmargin.data_files.table import Table
from maxmargin.errors import DataFileError, InputError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from numpy.typing import NDArray

    from maxmargin.data_files.delimited import Report

LARGEST = 64 << 30  # policy: bytes that the arrays of one file may take
MOST_FEATURES = 2**31 - 2  # LIBSVM's own programs have 32-bit indices
BLOCK = 1 << 16  # policy: bytes of LIBSVM text that are read again if a line is wrong
MOST_FAULTS = 100_000  # policy: lines that are reported, which takes some seconds


def read_table(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 - what the option is called
    target: str | None = None,
    guess: str = "last",
    required: bool = True,
    n_features: int | None = None,
    words: Collection[str] = (),
    report: Report = None,
) -> Table:
    r"""Read a file of data.

    Parameters
    ----------
    path : str or path
        The file; ``"-"`` is standard input. Text may be compressed (.bz2, .gz, .xz).
    format : str or None
        One of :data:`~maxmargin.data_files.formats.FORMATS`; None goes by the name, and
        is LIBSVM text where that says nothing.
    target : str or None
        Column to predict, where columns have names.
    guess : {"last", "name", "none"}
        Which column is the target if none was named: one that is called target, label,
        class or y, else the last; only one that is called so; none.
    required : bool
        Whether a file without ``target`` is refused.
    n_features : int or None
        Features that LIBSVM text is to have at least; None is its largest index.
    words : collection of str
        Columns of CSV and TSV that hold words, even if all of them look like numbers.
    report : function or None
        Called with every line that cannot be used, which is then left out; None raises
        the first.

    Returns
    -------
    Table
        Its rows, finite or missing.

    Raises
    ------
    DataFileError
        With file, line and reason.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from maxmargin.data_files import read_table
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "fruit.csv"
    >>> _ = path.write_text("weight,colour,label\n150,red,apple\n120,yellow,lemon\n")
    >>> table = read_table(path)
    >>> list(table.columns), table.target_name, table.y.tolist()
    (['weight', 'colour'], 'label', ['apple', 'lemon'])
    """
    path = os.fspath(path)
    kind = format_of(path, format)
    name = "<stdin>" if path == STDIN else path
    content = content_of(path)
    if kind == "libsvm":
        return _from_libsvm(content, name, n_features, report)
    wanted = Wanted(target, guess, required)
    if kind in ("csv", "tsv"):
        delimiter = "\t" if kind == "tsv" else None
        found = read_delimited(
            content, name=name, delimiter=delimiter, words=words, report=report
        )
        return _named(name, kind, found.columns, found.lines, wanted)
    if kind == "npz":
        return _from_npz(content, name, wanted)
    return _named(name, kind, read_arrow(content, format=kind, name=name), None, wanted)


def content_of(path: str) -> bytes:
    """The bytes of a file, decompressed; or of standard input."""
    if path == STDIN:
        if sys.stdin is None:
            msg = "standard input is closed; name a file"
            raise InputError(msg)
        return open_bytes(sys.stdin.buffer, name="<stdin>")
    return open_bytes(path)


def _from_libsvm(
    content: bytes, name: str, n_features: int | None, report: Report
) -> Table:
    try:
        data = _readable(content, name, report)
    except DataFileError as error:
        first = content[:1000].split(b"\n", 1)[0]
        if error.line == 1 and b":" not in first and (b"," in first or b"\t" in first):
            hint = f"{error.reason}; if this is a table, its format is csv or tsv"
            raise DataFileError(name, 1, hint) from None
        raise
    X = data.X
    if X.shape[1] > MOST_FEATURES:
        # Once more, for the line of the index at fault.
        read_svmlight(content, name=name, n_features=MOST_FEATURES)
    if n_features is not None and n_features > X.shape[1]:
        X.resize((X.shape[0], n_features))
    return Table(name, "libsvm", matrix=X, y=data.y)


def _readable(content: bytes, name: str, report: Report) -> Any:
    """All rows; with ``report`` without the lines at fault, which are reported."""
    try:
        return read_svmlight(content, name=name)
    except DataFileError as error:
        if report is None or not error.line:
            raise
    kept: list[bytes] = []
    passed = faults = 0
    for block in _blocks_of_lines(content):
        try:
            read_svmlight(block, name=name)
        except DataFileError:
            lines = block.split(b"\n")
        else:
            lines = []
            kept.append(block)
        for number, line in enumerate(lines, start=passed + 1):
            reason = _fault_of(line)
            if not reason:
                kept += (line, b"\n")
                continue
            faults += 1
            report(DataFileError(name, number, reason))
            if faults == MOST_FAULTS:
                more = f"{faults:,} lines cannot be used; what follows was not looked at"
                report(DataFileError(name, number, more))
                break
        if faults == MOST_FAULTS:
            break
        passed += block.count(b"\n")
    good = b"".join(kept)
    if not good.strip():
        raise DataFileError(name, 0, "no line of the file can be used")
    return read_svmlight(good, name=name)


def _blocks_of_lines(content: bytes) -> Iterator[bytes]:
    """Blocks of whole lines."""
    start = 0
    while start < len(content):
        end = content.find(b"\n", start + BLOCK) + 1 or len(content)
        yield content[start:end]
        start = end


def _fault_of(line: bytes) -> str:
    """The fault of a line of LIBSVM text; empty if it has none, or no row."""
    try:
        # Asking the system for a limit would take longer than the line.
        read_svmlight(line, limit=len(line) + 1)
    except DataFileError as error:
        return error.reason if error.line else ""
    return ""


def _from_npz(content: bytes, name: str, wanted: Wanted) -> Table:
    limit = min(LARGEST, available_memory())
    X, y, columns = read_npz(content, name=name, limit=limit)
    if columns is not None and isinstance(X, np.ndarray):
        named = {one: X[:, place].astype(np.float64) for place, one in enumerate(columns)}
        if y is not None:
            return _beside(name, named, y, wanted)
        return _named(name, "npz", named, None, wanted)
    return Table(name, "npz", matrix=X, y=y)


def _beside(
    name: str, columns: dict[str, NDArray[Any]], y: NDArray[Any], wanted: Wanted
) -> Table:
    """Named columns, and beside them a target without a name."""
    if wanted.target in columns:
        table = _named(name, "npz", columns, None, wanted)
        return replace(table, notes=("the array y of the file is not used",))
    names = chain(["y"], (f"y{number}" for number in count(1)))
    label = wanted.target or next(one for one in names if one not in columns)
    note = f"target: the array y, named {show(label)} as there is a column 'y'"
    notes = () if wanted.target or label == "y" else (note,)
    return Table(name, "npz", columns=columns, y=y, target_name=label, notes=notes)


def _named(
    name: str,
    kind: str,
    columns: dict[str, NDArray[Any]],
    lines: NDArray[np.int64] | None,
    wanted: Wanted,
) -> Table:
    choice = chosen_column(list(columns), wanted, source=name)
    features = {one: column for one, column in columns.items() if one != choice.name}
    if not features:
        reason = f"the target {choice.name!r} is the only column: there are no features"
        raise DataFileError(name, 1 if lines is not None else 0, reason)
    return Table(
        name,
        kind,
        columns=features,
        y=None if choice.name is None else columns[choice.name],
        target_name=choice.name,
        lines=lines,
        notes=(choice.note,) if choice.note else (),
    )
