"""Whatever the bytes: the rows of the obvious reader, or an error at its line."""

import gzip
import re
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from tests.fuzz import svmlight_reference as reference
from tests.fuzz.svmlight_check import check

from maxmargin.data_files import svmlight
from maxmargin.data_files.svmlight import read_svmlight, write_svmlight
from maxmargin.errors import DataFileError

usual = settings(max_examples=400, deadline=None)

digits = st.text("0123456789", max_size=30)
decimals = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(["", "+", "-"]),
    st.one_of(digits, st.integers(0, 2**70).map(str)),
    st.one_of(st.just(""), digits.map(".{}".format)),
    st.one_of(
        st.just(""),
        st.builds("{}{}".format, st.sampled_from(["e", "E-", "e+"]), st.integers(0, 400)),
    ),
)
finite = st.floats(allow_nan=False, allow_infinity=False)
numbers = st.one_of(
    decimals,
    finite.map(repr),
    finite.map("{:.25e}".format),
    st.integers(-5, 5).map(str),
    st.sampled_from(["nan", "inf", "1e999", "0x1p3", "1_0", "-", ".", "e5"]),
)
indices = st.one_of(
    st.integers(-1, 9),
    st.sampled_from([2**31 - 1, 2**31, 2**63 - 1, 2**63, 2**64 + 1]),
    digits,
)
pairs = st.builds("{}:{}".format, indices, numbers)
blanks = st.sampled_from([" ", "\t", "  "])
lines = st.builds(
    "{}{}{}{}".format,
    st.one_of(numbers, st.just("1")),
    st.sampled_from(["", "", " qid:3", " qid:", "#", "\r"]),
    st.lists(st.builds("{}{}".format, blanks, pairs), max_size=4).map("".join),
    st.sampled_from(["", "", " ", "\r", " # a:b", "#", " # \0", ":", "\x0b", "é"]),
)
texts = st.lists(st.one_of(lines, st.sampled_from(["", " ", "# c"])), max_size=6)
chunks = st.sampled_from([1, 20, 1 << 20])
options = st.fixed_dictionaries(
    {"n_features": st.sampled_from([None, None, 3, 2**40]), "zero_based": st.booleans()}
)


def checked(text: bytes, options: dict, chunk: int) -> bool:
    with patch.object(svmlight, "_CHUNK", chunk):
        return check(text, n_jobs=2 if chunk == 1 else 1, **options)


@usual
@given(st.binary(max_size=60), options, chunks)
@example(b"\x1f\x8b\x08 cut off", {}, 1)
@example(gzip.compress(b"1 1:2\n"), {}, 1)
@example(gzip.compress(b"1 1:2\n")[:-1], {}, 1)
def test_random_bytes(text, options, chunk):
    checked(text, options, chunk)


@usual
@given(st.text("0123456789 :.-+eE#\t\r\n,qid\0naf", max_size=60), options, chunks)
def test_random_words_of_the_alphabet(text, options, chunk):
    checked(text.encode(), options, chunk)


@usual
@given(texts, st.sampled_from(["\n", "\r\n"]), st.booleans(), options, chunks)
def test_nearly_right_files(texts, end, ended, options, chunk):
    text = end.join(texts) + end * ended
    checked(text.encode(), options, chunk)


rows = st.lists(
    st.tuples(finite, st.dictionaries(st.integers(1, 50), finite, max_size=4)),
    min_size=1,
    max_size=5,
)


def as_text(rows) -> bytes:
    return b"".join(
        b"%r %s\n" % (y, b" ".join(b"%d:%r" % pair for pair in sorted(x.items())))
        for y, x in rows
    )


@usual
@given(rows, chunks)
def test_right_files_are_accepted(rows, chunk):
    assert checked(as_text(rows), {}, chunk)


@usual
@given(rows, st.integers(0, 10**6), st.binary(max_size=2), st.integers(0, 3), chunks)
def test_right_files_with_a_wound(rows, place, put, cut, chunk):
    text = as_text(rows)
    place %= len(text)
    checked(text[:place] + put + text[place + cut :], {}, chunk)


@usual
@given(
    decimals.filter(lambda s: re.search("[0-9]", s.partition("e")[0].partition("E")[0]))
)
def test_numbers_are_rounded_as_python_does(text):
    try:
        expected = reference.number(text.encode())
    except ValueError:
        with pytest.raises(DataFileError):
            read_svmlight(f"1 1:{text}".encode())
        return
    found = read_svmlight(f"{text} 1:{text}".encode())
    assert found.X.data.tobytes() == found.y.tobytes() == np.array([expected]).tobytes()


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from([np.float64, np.float32]).flatmap(
        lambda dtype: hnp.arrays(
            dtype,
            hnp.array_shapes(min_dims=2, max_dims=2, max_side=6),
            elements={"allow_nan": False, "allow_infinity": False},
        )
    ),
    st.booleans(),
)
def test_what_is_written_is_read_to_the_bit(tmp_path_factory, X, zero_based):
    path = tmp_path_factory.getbasetemp() / "round_trip.txt"
    y = X[:, 0].astype(np.float64)
    write_svmlight(path, X, y, zero_based=zero_based)
    again = read_svmlight(
        path, dtype=X.dtype, zero_based=zero_based, n_features=X.shape[1]
    )
    written = (X != 0.0) | np.signbit(X)
    assert again.X.data.tobytes() == X[written].tobytes()
    assert again.X.indices.tolist() == written.nonzero()[1].tolist()
    assert again.y.tobytes() == y.tobytes()
    with open(path, "rb") as file:
        for token in re.findall(rb":(\S+)", file.read()) if X.dtype == "f8" else []:
            assert repr(float(token)).removesuffix(".0").encode() == token
