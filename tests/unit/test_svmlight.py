"""Reading LIBSVM's text: what is accepted, what is refused, and with which line."""

import io
import math
import tracemalloc
from decimal import Context, Decimal, localcontext

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from sklearn.datasets import load_svmlight_file
from tests import data
from tests.fuzz.fuzz_svmlight import SEEDS, one_input

from maxmargin.data_files import svmlight
from maxmargin.data_files.svmlight import read_svmlight, write_svmlight
from maxmargin.errors import DataFileError, InputError


def rows(text: bytes, **options):
    X, y, _ = read_svmlight(text, **options)
    return X.toarray().tolist(), y.tolist()


def same(a, b) -> bool:
    """Whether two answers agree to the bit, types included."""
    pairs = [
        (getattr(a.X, part), getattr(b.X, part)) for part in ("data", "indices", "indptr")
    ]
    return (a.X.shape, a.max_index) == (b.X.shape, b.max_index) and all(
        one.dtype == other.dtype and one.tobytes() == other.tobytes()
        for one, other in [*pairs, (a.y, b.y)]
    )


# --- accepted ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        b"+1 1:0.5 3:2\n-1 2:1e-3\n",
        b"1 1:.5 3:2.\n-1.0e0 2:0.001",  # no line feed at the end
        b"1 1:0.5 3:2\r\n-1 2:0.001\r\n",
        b"1 1:0.5 3:2\r\n-1 2:0.001\r",
        b"  1\t1:0.5   3:+2  \n\n \t \n-1 2:1E-03 \n\n",
        b"# a: comment\n1 1:0.5 3:2 # 7:8\n#\n-1 2:0.001#9:9\n",
        b"1 qid:3 1:0.5 3:2\n-1 qid:44444444444444444444 2:0.001\n",
        b"1 001:0.5 00000000000000000000000003:2\n-1 2:0.001\n",
    ],
)
def test_ways_to_write_the_same(text):
    assert rows(text) == ([[0.5, 0.0, 2.0], [0.0, 0.001, 0.0]], [1.0, -1.0])


def test_what_comes_back():
    X, y, max_index = read_svmlight(b"3 2:0 5:-0\n4\n")
    assert isinstance(X, sp.csr_matrix)
    assert X.shape == (2, 5)
    assert max_index == 5
    assert X.nnz == 2  # zeros that are written are stored, with their sign
    assert np.signbit(X.data).tolist() == [False, True]
    assert X.indices.dtype == X.indptr.dtype == np.int32
    assert X.has_canonical_format
    assert X.data.dtype == y.dtype == np.float64
    assert X.data.flags.writeable
    assert y.tolist() == [3.0, 4.0]


def test_zero_based_and_n_features():
    text = b"1 0:5 2:6\n"
    assert rows(text, zero_based=True) == ([[5.0, 0.0, 6.0]], [1.0])
    assert read_svmlight(text, zero_based=True).max_index == 2
    assert rows(text, zero_based=True, n_features=4) == ([[5.0, 0.0, 6.0, 0.0]], [1.0])
    assert rows(b"1 3:1\n", n_features=3) == ([[0.0, 0.0, 1.0]], [1.0])
    with pytest.raises(DataFileError, match="above what 2 features allow"):
        read_svmlight(text, zero_based=True, n_features=2)


def test_rows_without_features():
    X, _, max_index = read_svmlight(b"1\n2\n")
    assert (X.shape, max_index) == ((2, 0), 0)
    assert read_svmlight(b"1\n2\n", n_features=7).X.shape == (2, 7)


@pytest.mark.parametrize("index", [2**31 - 1, 2**31, 2**31 + 1, 2**63 - 1])
def test_large_indices(index):
    # The small index comes first: what was parsed with 32 bits is parsed again.
    X, y, max_index = read_svmlight(b"1 1:1 7:2\n" + b"2 3:4 %d:5\n" % index)
    assert max_index == index
    assert X.shape == (2, index)
    width = np.int32 if index < 2**31 else np.int64
    assert X.indices.dtype == X.indptr.dtype == width
    assert X.indices.tolist() == [0, 6, 2, index - 1]
    assert X.data.tolist() == [1.0, 2.0, 4.0, 5.0]
    assert y.tolist() == [1.0, 2.0]


def test_the_largest_columns():
    assert read_svmlight(b"1 1:1\n", n_features=2**62).X.shape == (1, 2**62)
    X = read_svmlight(b"1 %d:1\n" % (2**63 - 2), zero_based=True).X
    assert X.shape == (1, 2**63 - 1)


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
@pytest.mark.parametrize("chunk", [1, 17, 1000])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_chunks_and_threads_change_nothing(monkeypatch, n_jobs, chunk, dtype):
    rng = np.random.default_rng(0)
    lines = []
    for k in range(300):
        lines += [b"", b"# 1:2 :::", b" \r"] * (k % 7 == 0)
        pairs = [b"%d:%r" % (j + 1, v) for j, v in enumerate(rng.normal(size=5).tolist())]
        lines.append(b"%d " % k + b"qid:1 " * (k % 3 == 0) + b" ".join(pairs[: k % 6]))
    text = b"\n".join(lines)
    whole = read_svmlight(text, dtype=dtype)
    assert whole.X.shape == (300, 5)
    monkeypatch.setattr(svmlight, "_CHUNK", chunk)
    assert same(read_svmlight(text, dtype=dtype, n_jobs=n_jobs), whole)


@pytest.mark.parametrize(
    "name", ["heart_scale", "housing_scale", "a1a", "svmguide1", "w8a", "letter.scale"]
)
def test_real_files_as_scikit_learn_reads_them(name):
    path = data.find(f"libsvm/{name}")
    ours = read_svmlight(path)
    X, y = load_svmlight_file(str(path), zero_based=False)
    assert ours.X.shape == X.shape
    assert (ours.X != X).nnz == 0
    assert_array_equal(ours.y, y)


def test_sources(tmp_path):
    text = b"1 1:2\n"
    path = tmp_path / "some.txt"
    path.write_bytes(text)
    whole = read_svmlight(text)
    with open(path, "rb") as file:
        for source in (path, str(path), file, io.BytesIO(text), bytearray(text)):
            assert same(read_svmlight(source), whole)
    with open(path) as file, pytest.raises(InputError, match="mode 'rb'"):
        read_svmlight(file)
    with pytest.raises(InputError, match="neither a path"):
        read_svmlight(5)


def test_memory_is_that_of_input_and_output(tmp_path):
    path = tmp_path / "large.txt"
    line = b"1 " + b" ".join(b"%d:0.%d" % (j, j * 12345) for j in range(1, 21)) + b"\n"
    path.write_bytes(line * 20_000)
    read_svmlight(path)
    tracemalloc.start()
    try:
        X, y, _ = read_svmlight(path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    output = sum(one.nbytes for one in (X.data, X.indices, X.indptr, y))
    assert peak < path.stat().st_size + output + 500_000


def test_colons_in_comments_ask_for_no_memory():
    text = b"1 1:2 #" + b":" * 4_000_000 + b"\n"
    tracemalloc.start()
    try:
        assert rows(text) == ([[2.0]], [1.0])
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4 * len(text)


# --- numbers ----------------------------------------------------------------------------

NUMBERS = [
    "0", "-0", "1", "+1", "1.", ".5", "-.5e-1", "00012.500", "1e22", "1e23", "1e-22",
    "9007199254740993", "9007199254740992.9999999999", "1.7976931348623157e308",
    "1.7976931348623158e308", "2.2250738585072014e-308", "2.2250738585072011e-308",
    "4.9e-324", "2.4703282292062327e-324", "2.4703282292062328e-324", "1e-999",
    "0e999999999999999999999", "1e-99999999999999999999999", "0." + "0" * 400 + "1e401",
    "1" + "0" * 400 + "e-400", "1234567890123456789", "12345678901234567890123",
    "0.1000000000000000055511151231257827021181583404541015625",
    "0.10000000000000000555111512312578270211815834045410156250000000001",
    "1.00000000000000011102230246251565404236316680908203125",
    "1.00000000000000011102230246251565404236316680908203124",
    "1.00000000000000011102230246251565404236316680908203126",
    "8.5", "7.2057594037927933e16", "3.0540412e5", "6.8985864317777e-320",
]  # fmt: skip


@pytest.mark.parametrize("number", NUMBERS)
def test_numbers_as_python_reads_them(number):
    read = read_svmlight(f"{number} 1:{number} 2:-{number.lstrip('+-')}\n".encode())
    expected = [float(number), -float(number.lstrip("+-"))]
    assert read.X.data.tobytes() == np.array(expected).tobytes()
    assert read.y.tobytes() == np.array(expected[:1]).tobytes()


def decimals(rng, count: int) -> list[str]:
    """Numbers of all lengths and sizes, and those at and next to halfway."""
    found = []
    for _ in range(count):
        digits = str(rng.integers(10**18)) + str(rng.integers(10**18))
        size = int(rng.integers(1, 30))
        found.append(f"{digits[0]}.{digits[1:size]}e{rng.integers(-330, 308)}")
        found.append(f"{digits[:size]}e{rng.integers(-30, 30)}")
        value = float(rng.integers(2**52, 2**53)) * 2.0 ** int(rng.integers(-120, 60))
        halfway = (Decimal(value) + Decimal(math.nextafter(value, math.inf))) / 2
        found += [str(halfway), f"{halfway:.{size}e}", str(halfway.next_plus())]
    return found


def test_many_numbers_as_python_reads_them():
    with localcontext(Context(prec=200)):  # enough for every sum to be exact
        texts = decimals(np.random.default_rng(5), 8000)
    expected = np.array([float(text) for text in texts])
    found = read_svmlight("\n".join(f"1 1:{text}" for text in texts).encode()).X.data
    assert np.isfinite(expected).all()
    wrong = np.flatnonzero(found.view(np.int64) != expected.view(np.int64))
    assert [texts[k] for k in wrong] == []


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        ("16777217", 16777216.0),
        ("16777217.0000000000000001", 16777218.0),  # halfway as float64, not as written
        ("16777216.9999999999999999", 16777216.0),
        ("16777219.0000000000000001", 16777220.0),
        ("16777218.9999999999999999", 16777218.0),
        ("-16777217.0000000000000001", -16777218.0),
        (
            "3.4028235677973367e38",
            None,
        ),  # above halfway to the float32 that would be next
        ("3.40282356779733661637539395458142568447e38", float(np.finfo("f4").max)),
        ("3.4028235e38", float(np.finfo("f4").max)),
        ("7e-46", 0.0),
        ("7.1e-46", float(np.float32(1e-45))),
        ("0.1", float(np.float32(0.1))),
    ],
)
def test_single_precision_is_rounded_once(number, expected):
    text = f"1 1:{number}\n".encode()
    if expected is None:
        with pytest.raises(DataFileError, match="too large for its type"):
            read_svmlight(text, dtype=np.float32)
        return
    X = read_svmlight(text, dtype=np.float32).X
    assert X.dtype == np.float32
    assert X.data.tolist() == [expected]


def test_many_numbers_that_are_left_to_python():
    number = "9007199254740993." + "0" * 20
    text = "\n".join(f"{number} 1:{number} 2:5e-324" for _ in range(500)).encode()
    read = read_svmlight(text)
    assert read.X.data.tolist() == [9007199254740992.0, 5e-324] * 500
    assert read.y.tolist() == [9007199254740992.0] * 500


# --- refused ----------------------------------------------------------------------------

REFUSED = {
    b"1:0.5 2:3": "the label is missing before '1:0.5'; write label index:value …",
    b":3": "the label is missing before ':3'",
    b"abc 1:2": "the label 'abc' is not a decimal number",
    b"1,2 1:0.5": "the label '1,2' has a comma: several labels",
    b"nan 1:2": "the label 'nan' is not finite",
    b"-Infinity 1:2": "the label '-Infinity' is not finite",
    b"1e999 1:2": "the label '1e999' is too large",
    b"0x10 1:2": "the label '0x10' is not a decimal number",
    b"1_0 1:2": "the label '1_0' is not a decimal number",
    b"+ 1:2": "the label '+' is not a decimal number",
    b"\x89PNG 1:2": r"the label '\x89PNG' is not a decimal number",
    b"1\x00 1:2": r"the label '1\x00' holds a zero byte: this is no text file",
    b"1\x0c1:2": r"the label is missing before '1\x0c1:2'",
    b"1 3:": "'3:' has no value; write index:value",
    b"1 3: 4": "'3:' has no value; write index:value",
    b"1 :4": "':4' is no pair; write index:value",
    b"1 3": "'3' is no pair",
    b"1 3:4:5": "the value of '3:4:5' holds a second colon",
    b"1 a:1": "the index of 'a:1' is not a whole number",
    b"1 1.5:1": "the index of '1.5:1' is not a whole number",
    b"1 0:1": "index 0: indices count from 1; add 1 to all of them",
    b"1 -3:1": "index '-3' is negative",
    b"1 +3:1": "index '+3' has a sign",
    b"1 2:1 1:1": "index '1' follows index '2': indices must ascend",
    b"1 2:1   2:1": "index '2' follows index '2': indices must ascend",
    b"1 9223372036854775808:1": "index '9223372036854775808' is too large for 64 bits",
    b"1 99999999999999999999999:1": "is too large for 64 bits",
    b"1 18446744073709551617:1": "is too large for 64 bits",
    b"1 1:nan": "the value of '1:nan' is not finite; remove or replace it",
    b"1 1:1 2:-inf": "the value of '2:-inf' is not finite",
    b"1 1:1\t2:1e999": "the value of '2:1e999' is too large for its type",
    b"1 1:1 2:" + b"9" * 400: "is too large for its type",
    b"1 1:0x1p3": "the value of '1:0x1p3' is not a decimal number",
    b"1 1:1_000": "the value of '1:1_000' is not a decimal number",
    b"1 1:1e": "the value of '1:1e' is not a decimal number",
    b"1 1:1e+": "the value of '1:1e+' is not a decimal number",
    b"1 1:.": "the value of '1:.' is not a decimal number",
    b"1 1:--1": "the value of '1:--1' is not a decimal number",
    b"1 1:1,2": "the value of '1:1,2' is not a decimal number",
    b"1 1:1\x0b": r"the value of '1:1\x0b' is not a decimal number",
    b"1 1:1\xc2\xa02:1": r"'1:1\xc2\xa02:1' holds a second colon",
    b"1 1:\xd9\xa1": r"the value of '1:\xd9\xa1' is not a decimal number",
    b"1 1:1\r2:1": "a carriage return inside a line",
    b"1 1:1\r\r": "a carriage return inside a line",
    b"1 1:1 # \x00": "byte 0x00 in a comment: this is no text file",
    b"1 1:1 qid:3": "'qid:3': a query is written qid:3, once",
    b"1 qid:1 qid:2 1:1": "'qid:2': a query is written qid:3, once",
    b"1 qid:x 1:1": "'qid:x': a query is written",
    b"1 qid: 1:1": "'qid:': a query is written",
    b"1 q": "'q': a query is written",
    b"1 " + b"9" * 100: "'" + "9" * 39 + "…' is no pair",
}


@pytest.mark.parametrize(
    ("before", "line"),
    [(b"", 1), (b"1 1:1\n\n# nothing\r\n1\r\n", 5), (b"\n" * 40, 41)],
    ids=["first", "later", "behind blank lines"],
)
@pytest.mark.parametrize("text", REFUSED)
def test_refused(text, before, line, monkeypatch):
    # A second bad line: the first wins, also where threads see both at once.
    for content in (before + text, before + text + b"\n1 1:1\nwrong\n"):
        for chunk, n_jobs in ((2 << 20, 1), (1, 3)):
            monkeypatch.setattr(svmlight, "_CHUNK", chunk)
            with pytest.raises(DataFileError) as caught:
                read_svmlight(content, name="mine.txt", n_jobs=n_jobs)
            assert (caught.value.path, caught.value.line) == ("mine.txt", line)
            assert REFUSED[text] in caught.value.reason


def test_a_byte_order_mark_is_named():
    with pytest.raises(DataFileError, match="mine:1: a byte-order mark"):
        read_svmlight("\ufeff1 1:1\n".encode(), name="mine")


@pytest.mark.parametrize("text", [b"", b"\n\n", b"# only words\n \t\n", b"\r\n"])
def test_nothing_in_it(text):
    with pytest.raises(DataFileError, match=r"^<bytes>: holds no rows") as caught:
        read_svmlight(text)
    assert caught.value.line == 0


def test_a_wide_index_does_not_hide_an_earlier_mistake(monkeypatch):
    monkeypatch.setattr(svmlight, "_CHUNK", 1)
    with pytest.raises(DataFileError, match=":2: "):
        read_svmlight(b"1 1:1\n1 x\n1 3000000000:1\n")
    with pytest.raises(DataFileError, match=":3: "):
        read_svmlight(b"1 1:1\n1 3000000000:1\n1 x\n")
    with pytest.raises(DataFileError, match=r":1: .*above what 3 features"):
        read_svmlight(b"1 3000000000:1\n1 x\n", n_features=3)
    with pytest.raises(DataFileError, match="too large for 64 bits"):
        read_svmlight(b"1 %d:1\n" % (2**63 - 1), zero_based=True)


@pytest.mark.parametrize("n_features", [0, -1, 2.0, "3", 2**63])
def test_bad_n_features(n_features):
    with pytest.raises(InputError, match="n_features="):
        read_svmlight(b"1 1:1\n", n_features=n_features)


@pytest.mark.parametrize("dtype", [np.int64, np.float16, str, complex])
def test_bad_dtype(dtype):
    with pytest.raises(InputError, match="float64 or float32"):
        read_svmlight(b"1 1:1\n", dtype=dtype)


def test_paths_are_named(tmp_path):
    path = tmp_path / "mine.txt"
    write_svmlight(path, np.eye(2), [1, 2])
    path.write_bytes(path.read_bytes() + b"3 2:1 x\n")
    with pytest.raises(DataFileError) as caught:
        read_svmlight(path)
    assert str(caught.value) == f"{path}:3: 'x' is no pair; write index:value"


def test_the_inputs_that_fuzzing_begins_with(monkeypatch):
    monkeypatch.setattr(svmlight, "_CHUNK", svmlight._CHUNK)  # each sets its own
    for seed in SEEDS:
        one_input(seed)
