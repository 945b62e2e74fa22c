"""LIBSVM's and SVMlight's text: ``label index:value index:value … # comment``.

One line is one row; features that are not named are 0. The format is that of LIBSVM's
README ("The format of training and testing data files is …") and of SVMlight
(T. Joachims, svmlight.joachims.org, "How to use").

Text is checked in full: no silent repair, no guess. It is cut at ends of lines into
chunks of a fixed size, which threads parse into their places of the same arrays.
"""

from __future__ import annotations

import math
import operator
import re
from decimal import Decimal
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from maxmargin.data_files.libsvm_text import parse
from maxmargin.data_files.libsvm_text.reasons import reason_of
from maxmargin.data_files.libsvm_text.write import write_svmlight
from maxmargin.data_files.opened import name_of, open_bytes
from maxmargin.errors import DataFileError, InputError
from maxmargin.parallel import Workers

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

    from maxmargin.data_files.opened import Source

__all__ = ["SvmlightData", "read_svmlight", "write_svmlight"]

_CHUNK = 2 << 20  # policy: bytes, some milliseconds of work
_NARROW = 2**31 - 2  # the last column whose number, and the columns' count, fit 32 bits
_LARGEST_SINGLE = float(np.finfo(np.float32).max)
_ROOM = 256  # policy: numbers of a chunk that are left to Python, at first
_SHORTEST_PAIR = 4  # bytes, as in " 1:2"
_NUMBER = re.compile(rb"[-+.0-9eE]+")


class SvmlightData(NamedTuple):
    """The content of a file."""

    X: sp.csr_matrix
    y: NDArray[np.float64]
    max_index: int  # the largest as it is written; base − 1 where no feature is named


class _Chunk(NamedTuple):
    """Lines ``text[start:stop]``, and the first places their rows and pairs may take."""

    text: NDArray[np.uint8]
    start: int
    stop: int
    shift: int  # place in the file of text[0]
    row: int
    at: int


class _Parsed(NamedTuple):
    """The end of a chunk (see ``parse_lines``)."""

    code: int
    place: int
    row: int
    at: int
    largest: int


def read_svmlight(
    source: Source,
    *,
    n_features: int | None = None,
    dtype: DTypeLike = np.float64,
    zero_based: bool = False,
    name: str | None = None,
    limit: int | None = None,
    n_jobs: int | None = None,
) -> SvmlightData:
    r"""Read LIBSVM's text format, strictly.

    A line is ``label index:value index:value …``, separated by spaces or tabs. The label
    is any finite number; indices ascend, from 1 on (from 0 with ``zero_based``); values
    are finite decimal numbers, rounded correctly, as Python's ``float`` does. A value of
    0 that is written is stored. ``# …`` at the end of a line is a comment; blank lines
    and lines of comment only are skipped. ``qid:3`` behind the label, SVMlight's number
    of a query, is accepted and ignored. Lines end with LF or CR LF, the last one may end
    with the file.

    Parameters
    ----------
    source : path, binary file or bytes
        Packed with gzip, bzip2 or xz if a path says so by its extension (.gz, .bz2, .xz),
        or other sources by their first bytes.
    n_features : int or None
        Columns of X; a larger index is an error. None: as many as the largest index asks.
    dtype : float64 or float32
        Type of the values of X. Labels are float64.
    zero_based : bool
        Whether indices count from 0.
    name : str or None
        The name of the source in errors; None: its path.
    limit : int or None
        Most bytes, unpacked; None: 64 GiB or the available memory.
    n_jobs : int or None
        Threads; None: every core. The result does not depend on it.

    Returns
    -------
    SvmlightData
        ``X`` (CSR with sorted indices, of 32 bits if they and all counts fit, else 64),
        ``y`` and ``max_index``.

    Raises
    ------
    DataFileError
        With the first line that is wrong (0: the file as a whole), and why.

    Examples
    --------
    >>> from maxmargin.data_files.svmlight import read_svmlight
    >>> X, y, _ = read_svmlight(b"+1 1:0.5 3:2\n-1 2:1e-3\n")
    >>> X.toarray().tolist(), y.tolist()
    ([[0.5, 0.0, 2.0], [0.0, 0.001, 0.0]], [1.0, -1.0])
    >>> read_svmlight(b"+1 1:0.5\n-1 2:1 2:3\n", name="mine.txt")
    Traceback (most recent call last):
    maxmargin.errors.DataFileError: mine.txt:2: index '2' follows index '2': ...
    """
    values = _checked_dtype(dtype)
    columns = _checked_columns(n_features)
    content = open_bytes(source, limit=limit, name=name)
    reader = _Reader(content, name_of(source, name), columns, values, zero_based)
    # Asking how many cores there are takes longer than a short file.
    with Workers(n_jobs if len(content) > _CHUNK else 1) as workers:
        return reader.read(workers)


def _checked_dtype(dtype: DTypeLike) -> np.dtype[Any]:
    checked = np.dtype(dtype)
    if checked not in (np.float64, np.float32):
        msg = f"dtype={checked.name}: values can be float64 or float32"
        raise InputError(msg)
    return checked


def _checked_columns(n_features: int | None) -> int | None:
    if n_features is None:
        return None
    try:
        columns = operator.index(n_features)
    except TypeError:
        columns = 0
    if not 1 <= columns < 2**63:
        msg = (
            f"n_features={n_features!r}: the number of columns must be a whole number "
            "from 1 on, or None to count them"
        )
        raise InputError(msg)
    return columns


class _Reader:
    """One file on its way to a matrix."""

    def __init__(
        self,
        content: bytes,
        name: str,
        n_features: int | None,
        dtype: np.dtype[Any],
        zero_based: bool,
    ) -> None:
        self.content = content
        self.name = name
        self.n_features = n_features
        self.dtype = dtype
        self.base = 0 if zero_based else 1
        most = 2**63 - 1 if n_features is None else n_features
        self.most = most - 1 + self.base  # the largest index that is allowed

    def read(self, workers: Workers) -> SvmlightData:
        """Parse with 32-bit indices, and again with 64 if one of them does not fit."""
        chunks, rows, pairs = self._planned(workers)
        narrow = max(rows, pairs) < 2**31 and (self.n_features or 0) < 2**31
        if narrow:
            found = self._parsed(workers, chunks, rows, pairs, np.int32)
            if found is not None:
                return found
        found = self._parsed(workers, chunks, rows, pairs, np.int64)
        assert found is not None  # nothing is wider
        return found

    def _planned(self, workers: Workers) -> tuple[list[_Chunk], int, int]:
        """Chunks that end with a line feed, and bounds on all rows and pairs."""
        content = self.content
        whole = np.frombuffer(content, np.uint8)
        end = content.rfind(b"\n") + 1
        edges = [0]
        while edges[-1] < end:
            edges.append(content.find(b"\n", min(edges[-1] + _CHUNK, end) - 1) + 1)
        pieces = [(whole, start, stop, 0) for start, stop in pairwise(edges)]
        if end < len(content):  # the last line, with the line feed that it lacks
            last = np.frombuffer(content[end:] + b"\n", np.uint8)
            pieces.append((last, 0, len(last), end))
        counts = workers.map(lambda piece: parse.count_marks(*piece[:3]), pieces)
        chunks = []
        row = at = 0
        for piece, (lines, colons) in zip(pieces, counts, strict=True):
            chunks.append(_Chunk(*piece, row, at))
            row += lines
            # Colons in a long comment must not ask for memory.
            at += min(colons, (piece[2] - piece[1]) // _SHORTEST_PAIR)
        return chunks, row, at

    def _parsed(
        self,
        workers: Workers,
        chunks: list[_Chunk],
        rows: int,
        pairs: int,
        index_dtype: type[np.signedinteger[Any]],
    ) -> SvmlightData | None:
        """The matrix, or None where an index asks for a wider type."""
        widest = (_NARROW if index_dtype is np.int32 else 2**63 - 2) + self.base
        arrays = parse.Arrays(
            np.empty(rows),
            np.empty(rows, index_dtype),
            np.empty(pairs, index_dtype),
            np.empty(pairs, self.dtype),
        )

        def parsed(chunk: _Chunk) -> _Parsed:
            return self._parse_chunk(chunk, arrays, widest)

        results = workers.map(parsed, chunks)
        if any(one.code == parse.WIDE for one in results):
            return None
        for one in results:
            if one.code != parse.FINE:
                raise self._error(one.code, one.place)
        row, at = _packed(arrays, chunks, results)
        if row == 0:
            raise DataFileError(self.name, 0, "holds no rows; write label index:value …")
        largest = max(one.largest for one in results)
        return self._matrix(arrays, row, at, largest)

    def _parse_chunk(self, chunk: _Chunk, arrays: parse.Arrays, widest: int) -> _Parsed:
        code, room = parse.CROWDED, _ROOM
        while code == parse.CROWDED:
            hard = np.empty((room, 2), np.int64)
            code, place, row, at, largest, count = parse.parse_lines(
                chunk.text, chunk.start, chunk.stop, self.base, self.most, widest,
                arrays, chunk.row, chunk.at, hard,
            )  # fmt: skip
            room *= 16
        for slot, where in hard[:count].tolist():
            number = self._converted(where + chunk.shift, label=slot < 0)
            if math.isinf(number):  # it stands before the place where parsing ended
                code = parse.BAD_LABEL if slot < 0 else parse.BAD_VALUE
                place = where
                break
            if slot < 0:
                arrays.labels[-1 - slot] = number
            else:
                arrays.values[slot] = number
        return _Parsed(code, place + chunk.shift, row, at, largest)

    def _converted(self, place: int, *, label: bool) -> float:
        """The grammatical number at a place of the file, by Python's own conversion."""
        found = _NUMBER.match(self.content, place)
        assert found is not None
        number = float(found.group())
        if label or self.dtype == np.float64:
            return number
        return _single(found.group().decode(), number)

    def _error(self, code: int, place: int) -> DataFileError:
        if code == parse.BAD_VALUE:  # a value is complained about with its index
            start = self.content.rfind(b"\n", 0, place) + 1
            place = 1 + max(self.content.rfind(c, start, place) for c in (b" ", b"\t"))
        reason = reason_of(code, self.content, place, self.n_features)
        line = self.content.count(b"\n", 0, place) + 1
        return DataFileError(self.name, line, reason)

    def _matrix(
        self, arrays: parse.Arrays, rows: int, pairs: int, largest: int
    ) -> SvmlightData:
        indptr = np.zeros(rows + 1, arrays.ends.dtype)
        indptr[1:] = arrays.ends[:rows]
        for array, size in zip(
            (arrays.labels, arrays.indices, arrays.values),
            (rows, pairs, pairs),
            strict=True,
        ):
            # The surplus is given back: nothing else refers to these arrays any more.
            array.resize(size, refcheck=False)
        columns = self.n_features
        if columns is None:
            columns = largest + 1 - self.base
        X = sp.csr_matrix(
            (arrays.values, arrays.indices, indptr), shape=(rows, columns), copy=False
        )
        X.has_canonical_format = True  # checked while it was read
        return SvmlightData(X, arrays.labels, largest)


def _packed(
    arrays: parse.Arrays, chunks: list[_Chunk], results: list[_Parsed]
) -> tuple[int, int]:
    """Close the gaps that comments, blank lines and queries left; rows and pairs."""
    row = at = 0
    for chunk, one in zip(chunks, results, strict=True):
        rows, pairs = one.row - chunk.row, one.at - chunk.at
        if chunk.row != row:
            _moved(arrays.labels, chunk.row, row, rows)
            _moved(arrays.ends, chunk.row, row, rows)
        if chunk.at != at:
            arrays.ends[row : row + rows] -= chunk.at - at
            _moved(arrays.indices, chunk.at, at, pairs)
            _moved(arrays.values, chunk.at, at, pairs)
        row += rows
        at += pairs
    return row, at


def _moved(array: NDArray[Any], old: int, new: int, count: int) -> None:
    array[new : new + count] = array[old : old + count]


def _single(digits: str, number: float) -> float:
    """The float32 nearest to a decimal number whose nearest float64 is ``number``.

    Rounding twice is wrong only where ``number`` is halfway between two float32 and the
    digits are not: then these decide.
    """
    with np.errstate(over="ignore"):
        single = float(np.float32(number))
        if math.isinf(single):  # halfway between the largest and what would be 2^128
            halfway = abs(number) == 2.0**128 - 2.0**103
            other = math.copysign(_LARGEST_SINGLE, number)
        else:
            other = 2.0 * number - single
            halfway = other != single and float(np.float32(other)) == other
    if not halfway or Decimal(digits) == Decimal(number):
        return single
    low, high = sorted((single, other))
    return high if Decimal(digits) > Decimal(number) else low
