r"""CSV and TSV: a header that names the columns, then one record a row (RFC 4180).

Fields may be quoted with ``"`` (doubled inside), and a quoted field may hold the
delimiter and line ends; text is UTF-8, with or without a byte order mark; a line may end
in ``\n``, ``\r\n`` or ``\r``; blank lines are skipped. A column holds numbers if all its
cells are numbers or missing, else words.

Records are converted in blocks, so that memory holds the text and the columns, not a
Python object for every cell.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from maxmargin.data_files.columns.cells import numbers_of, show, words_of
from maxmargin.errors import DataFileError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from numpy.typing import NDArray

BLOCK = 1024  # policy: records that are Python objects at a time; fits a core's cache
DELIMITERS = (",", ";", "\t")  # of a .csv: the first of these in the header

Report: TypeAlias = "Callable[[DataFileError], None] | None"
"""Called with every fault; None raises the first."""


class Delimited(NamedTuple):
    """The columns of a file by name, and the line that each row begins in."""

    columns: dict[str, NDArray[Any]]
    lines: NDArray[np.int64]


def read_delimited(
    content: bytes,
    *,
    name: str,
    delimiter: str | None = None,
    words: Collection[str] = (),
    report: Report = None,
) -> Delimited:
    """Read a table with a header.

    Parameters
    ----------
    content : bytes
        The file.
    name : str
        Its name in errors.
    delimiter : str or None
        Between two fields; None is the first of :data:`DELIMITERS` in the header.
    words : collection of str
        Columns that hold words, even if all of them look like numbers.
    report : function or None
        Called with every record that cannot be used, which is then left out; None raises
        the first of them.

    Raises
    ------
    DataFileError
        With the line that the record at fault begins in.
    """
    text = _decoded(content, name)
    if delimiter is None:
        head = text[: text.find("\n") if "\n" in text else len(text)]
        delimiter = next((one for one in DELIMITERS if one in head), ",")
    texts: set[int] = set()
    while True:
        told: list[DataFileError] = []
        records = _Records(text, name, delimiter, told.append if report else None)
        header = records.header()
        texts |= {place for place, one in enumerate(header) if one in words}
        found = _columns(records, len(header), texts)
        if not found.late:
            break
        # Some columns looked like numbers at first, and their text is gone: once more.
        texts = found.words
    for one in told:
        if report is not None:
            report(one)
    if not found.lines:
        raise DataFileError(name, 1, "there are no rows below the header")
    lines = np.array(found.lines, np.int64)
    columns = dict(zip(header, found.columns, strict=True))
    _refuse_infinite(columns, lines, name, report)
    return Delimited(columns, lines)


def _decoded(content: bytes, name: str) -> str:
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise DataFileError(name, 1, "the text is UTF-16; save it as UTF-8")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        byte = content[error.start]
        reason = f"byte 0x{byte:02x} is not UTF-8; save the file as UTF-8"
        raise DataFileError(name, line, reason) from None
    if (at := text.find("\0")) >= 0:
        line = text.count("\n", 0, at) + 1
        raise DataFileError(name, line, "there is a NUL byte: this is no text")
    return text


class _Records:
    """The records of a text, with the line that each begins in."""

    def __init__(self, text: str, name: str, delimiter: str, report: Report) -> None:
        lines = io.StringIO(text, newline="")
        self._reader = csv.reader(lines, delimiter=delimiter, strict=True)
        self._name = name
        self._report = report

    def header(self) -> list[str]:
        """The names of the columns."""
        for line, record in self._all():
            names = [cell.strip() for cell in record]
            self._check_header(names, line)
            return names
        raise DataFileError(self._name, 0, "the file is empty")

    def blocks(self, width: int) -> Iterator[tuple[list[int], list[list[str]]]]:
        """Blocks of records of ``width`` fields, and the lines they begin in."""
        lines: list[int] = []
        rows: list[list[str]] = []
        for line, record in self._all():
            if len(record) != width:
                many = "1 field" if len(record) == 1 else f"{len(record)} fields"
                self._blame(line, f"{many}, but the header names {width} columns")
                continue
            lines.append(line)
            rows.append(record)
            if len(rows) == BLOCK:
                yield lines, rows
                lines, rows = [], []
        if rows:
            yield lines, rows

    def _all(self) -> Iterator[tuple[int, list[str]]]:
        """Records that are not blank."""
        reader = self._reader
        while True:
            before = reader.line_num
            try:
                for record in reader:
                    if record and not (len(record) == 1 and not record[0].strip()):
                        yield before + 1, record
                    before = reader.line_num
                return
            except csv.Error as error:
                self._blame(before + 1, _in_words(str(error)))

    def _blame(self, line: int, reason: str) -> None:
        error = DataFileError(self._name, line, reason)
        if self._report is None:
            raise error
        self._report(error)

    def _check_header(self, names: list[str], line: int) -> None:
        """Columns are found by name, so each needs one of its own."""
        if "" in names:
            reason = (
                f"column {names.index('') + 1} has no name: name it, or leave it out "
                "(pandas: to_csv(..., index=False))"
            )
            raise DataFileError(self._name, line, reason)
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            reason = f"two columns are named {show(twice)}: each needs a name of its own"
            raise DataFileError(self._name, line, reason)
        if numbers_of(names) is not None:
            reason = (
                "the first line must name the columns, and holds only numbers: "
                f"{show(','.join(names))}; put a line of names above it"
            )
            raise DataFileError(self._name, line, reason)


@dataclass
class _Found:
    """Columns while they grow."""

    columns: list[NDArray[Any]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    words: set[int] = field(default_factory=set)  # columns of words
    late: set[int] = field(default_factory=set)  # those that began as numbers


def _columns(records: _Records, width: int, words: set[int]) -> _Found:
    found = _Found(words=set(words))
    parts: list[list[Any]] = [[] for _ in range(width)]
    known: list[dict[str, str]] = [{} for _ in range(width)]
    for lines, rows in records.blocks(width):
        found.lines += lines
        for place, cells in enumerate(zip(*rows, strict=True)):
            if place not in found.words:
                numbers = numbers_of(cells)
                if numbers is not None:
                    parts[place].append(numbers)
                    continue
                found.words.add(place)
                # A missing value reads alike as a number and as a word.
                if not all(np.isnan(part).all() for part in parts[place]):
                    found.late.add(place)
                parts[place] = [[None] * part.size for part in parts[place]]
            parts[place].append(words_of(cells, known[place]))
    if not found.late:
        found.columns = [_joined(part) for part in parts]
    return found


def _joined(parts: list[Any]) -> NDArray[Any]:
    if not parts:
        return np.empty(0)
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    column = np.empty(sum(map(len, parts)), dtype=object)
    column[:] = [word for part in parts for word in part]
    return column


def _refuse_infinite(
    columns: dict[str, NDArray[Any]], lines: NDArray[np.int64], name: str, report: Report
) -> None:
    """No machine can learn from a number that is not finite."""
    for column, values in columns.items():
        if values.dtype == object or not np.isinf(values).any():
            continue
        for row in np.flatnonzero(np.isinf(values)):
            reason = f"column {show(column)} is infinite, or too large for a float64"
            error = DataFileError(name, int(lines[row]), reason)
            if report is None:
                raise error
            report(error)


def _in_words(complaint: str) -> str:
    """A complaint of the csv module, in words for people."""
    if "unexpected end of data" in complaint:
        return "a quoted field that begins here does not end"
    if "field larger than" in complaint:
        return "a field has more than 131,072 characters; is a quote missing?"
    if "expected after" in complaint:
        return "text behind the closing quote of a field; double a quote inside a field"
    return complaint
