"""One input for the reader of LIBSVM's text: the same rows, or the same bad line."""

from itertools import accumulate

import numpy as np
from tests.fuzz import svmlight_reference as reference

from maxmargin.data_files.opened import open_bytes
from maxmargin.data_files.svmlight import SvmlightData, read_svmlight
from maxmargin.errors import DataFileError

PACKED = (b"\x1f\x8b\x08", b"BZh", b"\xfd7zXZ")
LIMIT = 1 << 24  # bytes; without one, every call asks the system for its memory


def unpacked(text: bytes) -> bytes:
    return open_bytes(text, limit=LIMIT) if text.startswith(PACKED) else text


def found(text: bytes, **options) -> SvmlightData | DataFileError:
    """What the library makes of a text; anything but its own error is a finding."""
    try:
        return read_svmlight(text, **options)
    except DataFileError as error:
        return error


def expected(text: bytes, **options) -> reference.Rows | int:
    """The rows, or the number of the first bad line."""
    try:
        return reference.parse(text, **options)
    except reference.BadLineError as bad:
        return int(bad.args[0])


def check(text: bytes, *, n_features=None, zero_based=False, n_jobs=1) -> bool:
    """Compare with the obvious reader; whether the text was accepted.

    Bytes that begin as a packed stream does may be no such stream: line 0 is to blame.
    """
    options = {"n_features": n_features, "zero_based": zero_based}
    ours = found(text, n_jobs=n_jobs, limit=LIMIT, **options)
    if isinstance(ours, DataFileError):
        assert ours.reason
        assert str(ours).isprintable()
        if ours.line > 0 or not text.startswith(PACKED):
            assert ours.line == expected(unpacked(text), **options), ours
        return False
    rows = expected(unpacked(text), **options)
    assert isinstance(rows, reference.Rows), f"line {rows} is wrong"
    X, y, max_index = ours
    columns = np.array([c for row in rows.columns for c in row], X.indices.dtype)
    values = np.array([v for row in rows.values for v in row])
    base = 0 if zero_based else 1
    largest = max(columns.tolist(), default=-1)
    assert y.tobytes() == np.array(rows.labels).tobytes()
    assert X.data.tobytes() == values.tobytes()
    assert X.indices.tobytes() == columns.tobytes()
    assert X.indptr.tolist() == list(accumulate(map(len, rows.columns), initial=0))
    assert max_index == largest + base
    assert X.shape == (len(rows.labels), n_features or largest + 1)
    assert (X.indices.dtype == np.int32) == (X.shape[1] < 2**31)
    return True
