"""Whatever bytes a table consists of: columns that make sense, or a DataFileError."""

import csv
import io
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin.data_files.arrays import read_npz
from maxmargin.data_files.arrow import read_arrow
from maxmargin.data_files.columns.cells import is_missing
from maxmargin.data_files.delimited import read_delimited
from maxmargin.errors import DataFileError

pieces = st.sampled_from(
    [b"a", b"b", b"y", b"1", b"-2.5", b"1e999", b"nan", b"?", b"", b",", b",", b";",
     b"\t", b"\n", b"\n", b"\r\n", b"\r", b'"', b'""', b" ", b"\0", b"\xff", "ä".encode(),
     b"inf", b"\xef\xbb\xbf", b"1_0"]
)  # fmt: skip
texts = st.one_of(st.binary(max_size=200), st.lists(pieces, max_size=40).map(b"".join))


def attempt(content, **options):
    """The table, or the error."""
    try:
        return read_delimited(content, name="t", **options), None
    except DataFileError as error:
        return None, error


@given(texts)
@settings(max_examples=500, deadline=None)
def test_any_text_is_a_table_or_is_refused(content):
    found, error = attempt(content)
    if error is not None:
        lines = content.decode("latin-1").replace("\r\n", "\n").replace("\r", "\n")
        assert 0 <= error.line <= lines.count("\n") + 1
        return
    rows = found.lines.size
    assert rows > 0
    assert (np.diff(found.lines) > 0).all()
    for column in found.columns.values():
        assert column.shape == (rows,)
        if column.dtype != object:
            assert not np.isinf(column).any()


@given(texts)
@settings(max_examples=300, deadline=None)
def test_reports_never_raise_for_a_row(content):
    told = []
    found, error = attempt(content, report=told.append)
    strict, first = attempt(content)
    if error is not None:  # of the file as a whole, or its header
        assert first is not None
    elif first is not None:
        assert first.line in [one.line for one in told]
    else:
        assert told == []
        assert (strict.lines == found.lines).all()


cells = st.text(
    st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), max_size=12
)


@given(st.lists(st.tuples(cells, cells), min_size=1, max_size=20))
@settings(max_examples=200, deadline=None)
def test_what_the_csv_module_writes_is_read(rows):
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\r\n")
    writer.writerow(["first", "second"])
    writer.writerows(rows)
    found, error = attempt(stream.getvalue().encode())
    if error is not None:
        assert "infinite" in error.reason
        return
    expected = [row[0] for row in rows]
    column = found.columns["first"]
    if column.dtype == object:
        assert column.tolist() == [
            None if is_missing(cell) else cell.strip() for cell in expected
        ]
    else:
        numbers = [np.nan if is_missing(cell) else float(cell) for cell in expected]
        assert column.tobytes() == np.array(numbers).tobytes()


def valid_npz():
    stream = io.BytesIO()
    np.savez(stream, X=np.arange(12.0).reshape(4, 3), y=np.array(["a", "b", "a", "b"]))
    return stream.getvalue()


@given(st.lists(st.tuples(st.integers(0, 10**4), st.integers(0, 255)), max_size=8),
       st.integers(0, 10**4))  # fmt: skip
@settings(max_examples=300, deadline=None)
def test_damaged_npz(changes, length):
    content = bytearray(valid_npz())
    for place, byte in changes:
        content[place % len(content)] = byte
    content = bytes(content[: length % len(content)] if length % 3 == 0 else content)
    try:
        X, y, _ = read_npz(content, name="t", limit=1 << 20)
    except DataFileError:
        return
    assert X.ndim == 2
    assert y is None or y.shape == X.shape[:1]


def test_an_npz_that_unpacks_to_more_than_there_may_be():
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("X.npy", bytes(1 << 24))
    with pytest.raises(DataFileError, match="more than the 1,048,576 allowed"):
        read_npz(stream.getvalue(), name="t", limit=1 << 20)


@given(st.binary(max_size=300), st.booleans(), st.sampled_from(["parquet", "arrow"]))
@settings(max_examples=200, deadline=None)
def test_rubbish_instead_of_arrow(content, dressed, kind):
    if dressed:
        mark = b"PAR1" if kind == "parquet" else b"ARROW1\0\0"
        content = mark + content + mark
    with pytest.raises(DataFileError):
        read_arrow(content, format=kind, name="t")
