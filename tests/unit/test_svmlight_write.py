"""Writing LIBSVM's text: the fewest digits, exactly, and at once."""

import bz2
import gzip
import io
import lzma
import os
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

from maxmargin.data_files.libsvm_text import write as _svmlight_write
from maxmargin.data_files.svmlight import read_svmlight, write_svmlight
from maxmargin.errors import InputError


def written(X, y, **options) -> bytes:
    out = io.BytesIO()
    write_svmlight(out, X, y, **options)
    return out.getvalue()


def numbers_of(values: np.ndarray) -> list[str]:
    """What is written for each of these values."""
    X = sp.csr_matrix(values[:, None])
    X = sp.csr_matrix(
        (values, np.zeros(values.size, int), np.arange(values.size + 1)), shape=X.shape
    )
    lines = written(X, np.zeros(values.size)).decode().splitlines()
    return [line.removeprefix("0 1:") for line in lines]


def all_kinds(dtype) -> np.ndarray:
    """Floats of every kind: random bits, short decimals, powers, ends of the range."""
    rng = np.random.default_rng(0)
    integer = np.uint64 if dtype == np.float64 else np.uint32
    bits = rng.integers(0, 2 ** (8 * integer().itemsize), 40_000, dtype=integer)
    info = np.finfo(dtype)
    whole = rng.integers(-(10**6), 10**6, 10_000)
    parts = [
        bits.view(dtype),
        rng.normal(size=20_000),
        whole,
        whole / 1000,
        whole * 1e17,
        [0.0, -0.0, 1.0, info.max, info.min, info.tiny, info.smallest_subnormal],
        [1e15, 1e16, 1e17, 123456789012345680.0, 1e-4, 1e-5, 0.00012345, 5e-324, 9.5e-3],
        np.ldexp(1.0, np.arange(info.minexp - info.nmant, info.maxexp)),
        np.nextafter(np.ldexp(1.0, np.arange(-60, 60)).astype(dtype), dtype(0)),
        10.0 ** np.arange(-37, 38),
    ]
    values = np.concatenate([np.asarray(part, dtype) for part in parts])
    return values[np.isfinite(values)]


def test_digits_of_float64_are_those_of_repr():
    values = all_kinds(np.float64)
    assert numbers_of(values) == [repr(v).removesuffix(".0") for v in values.tolist()]


def test_digits_of_float32_are_the_fewest_that_restore_them():
    values = all_kinds(np.float32)
    texts = numbers_of(values)
    for value, text in zip(values, texts, strict=True):
        shortest = np.format_float_scientific(value, unique=True, trim="-")
        assert float(text) == float(shortest)
    text = "\n".join(f"1 1:{text}" for text in texts).encode()
    assert read_svmlight(text, dtype=np.float32).X.data.tobytes() == values.tobytes()


def test_lines():
    X = np.array([[0.5, 0.0, -2.0], [0.0, 1e-7, 1e22], [0.0, 0.0, 0.0]])
    expected = b"1 1:0.5 3:-2\n-1 2:1e-07 3:1e+22\n2.5\n"
    assert written(X, [1, -1, 2.5]) == expected
    assert written(sp.csr_matrix(X), [1, -1, 2.5]) == expected
    assert written(sp.coo_array(X), np.array([1, -1, 2.5])) == expected
    assert written(X, [1, -1, 2.5], zero_based=True).startswith(b"1 0:0.5 2:-2\n")
    assert written(np.eye(2, dtype=bool), [True, False]) == b"1 1:1\n0 2:1\n"
    assert written(np.arange(4).reshape(2, 2), [0, 1]) == b"0 2:1\n1 1:2 2:3\n"
    assert written(np.float16([[0.1]]), [1]) == b"1 1:0.099975586\n"


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("wide", [False, True])
def test_round_trip_to_the_bit(dtype, wide):
    rng = np.random.default_rng(1)
    X = sp.random(500, 40, 0.2, "csr", dtype, rng)
    X.data[:] = rng.normal(size=X.nnz) * 10.0 ** rng.integers(-30, 30, X.nnz)
    X.data[::17] = 0.0
    X.data[5::17] = -0.0
    if wide:
        X.indices = X.indices.astype(np.int64) * 2**40
        X.indptr = X.indptr.astype(np.int64)
        X = sp.csr_matrix((X.data, X.indices, X.indptr), shape=(500, 40 * 2**40))
    y = rng.normal(size=500)
    again = read_svmlight(written(X, y), dtype=dtype, n_features=X.shape[1])
    assert again.X.data.tobytes() == X.data.tobytes()
    assert again.X.indices.tolist() == X.indices.tolist()
    assert again.X.indptr.tolist() == X.indptr.tolist()
    assert again.y.tobytes() == y.tobytes()


def test_dense_arrays_keep_the_sign_of_zero():
    X = np.array([[0.0, -0.0, 1.0]])
    assert written(X, [1]) == b"1 2:-0 3:1\n"
    assert np.signbit(read_svmlight(written(X, [1])).X.data).tolist() == [True, False]


def test_labels_of_float32_keep_their_value():
    y = np.float32([0.1, 0.2])
    again = read_svmlight(written(np.eye(2), y)).y
    assert again.tolist() == y.astype(float).tolist()


def test_scikit_learn_reads_it(tmp_path):
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(50, 4)), rng.normal(size=50)
    write_svmlight(tmp_path / "t", X, y)
    theirs = load_svmlight_file(str(tmp_path / "t"), zero_based=False)
    assert theirs[0].toarray().tobytes() == X.tobytes()
    assert theirs[1].tobytes() == y.tobytes()


@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix, sp.csc_array])
@pytest.mark.parametrize("chunk", [1, 7, 50])
def test_chunks_and_threads_change_nothing(monkeypatch, make, chunk):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 5)) * (rng.random((60, 5)) < 0.5)
    X[10:20] = 0.0
    whole = written(make(X), np.arange(60))
    monkeypatch.setattr(_svmlight_write, "_CHUNK", chunk)
    for n_jobs in (1, 2, 3):
        assert written(make(X), np.arange(60), n_jobs=n_jobs) == whole
    assert whole.count(b"\n") == 60


def test_the_matrix_of_the_caller_is_left_alone():
    X = sp.csr_matrix(
        (np.array([1.0, 2.0, 3.0]), np.array([2, 0, 2]), np.array([0, 3])), shape=(1, 3)
    )
    assert written(X, [1]) == b"1 1:2 3:4\n"  # sorted, and what counts twice added
    assert X.indices.tolist() == [2, 0, 2]


@pytest.mark.parametrize(("column", "end"), [(-1, 1), (3, 1), (2, 9)])
def test_broken_sparse_matrices_are_refused(column, end):
    X = sp.csr_matrix(np.eye(1, 3))
    X.indices[0] = column
    X.indptr[1] = end
    with pytest.raises(InputError, match="no valid sparse matrix"):
        written(X, [1])


@pytest.mark.parametrize(
    ("X", "y", "said"),
    [
        ([[np.nan]], [1], "X holds NaN or infinity"),
        (sp.csr_matrix([[np.inf]]), [1], "X holds NaN or infinity"),
        ([[1.0]], [np.nan], "y holds NaN or infinity"),
        ([[1.0]], [1, 2], "X has 1 rows"),
        ([1.0], [1], "X has 1 dimensions"),
        ([[1.0]], ["a"], "y holds <U1; the format holds real numbers"),
        ([["a"]], [1], "the format holds real numbers"),
        ([[1j]], [1], "the format holds real numbers"),
        (np.ones((1, 1), np.longdouble), [1], "up to float64"),
        ([[2**53 + 1]], [1], "is beyond 2\\^53"),
        ([[1]], [2**62 + 1], "is beyond 2\\^53"),
        ([[-(2**53) - 1]], [1], "is beyond 2\\^53"),
        ([[2**64 - 1]], [1], "is beyond 2\\^53"),
        ([[np.iinfo(np.int64).max]], [1], "is beyond 2\\^53"),
    ],
)
def test_refused(X, y, said, tmp_path):
    target = tmp_path / "out.txt"
    target.write_text("old")
    with pytest.raises(InputError, match=said):
        write_svmlight(target, X, y)
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["out.txt"]


# --- files ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("extension", "module"), [(".gz", gzip), (".bz2", bz2), (".xz", lzma)]
)
def test_packed_by_extension(tmp_path, extension, module):
    path = tmp_path / f"out.txt{extension}"
    X = np.eye(3)
    write_svmlight(path, X, [1, 2, 3])
    first = path.read_bytes()
    assert module.decompress(first) == written(X, [1, 2, 3])
    assert read_svmlight(path).X.toarray().tolist() == X.tolist()
    write_svmlight(path, X, [1, 2, 3])
    assert path.read_bytes() == first  # no time, no name inside


def test_a_failure_leaves_the_old_file(tmp_path):
    path = tmp_path / "out.txt"
    path.write_text("old")

    class Broken:
        """Rows of which the last cannot be had."""

        dtype, ndim, shape = np.dtype(float), 2, (200_000, 1)

        def __array__(self, dtype=None, copy=None):
            X = np.ones((200_000, 1))
            X[-1] = np.nan
            return X

    with pytest.raises(InputError):  # when most of the file is already written
        write_svmlight(path, Broken(), np.ones(200_000))
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["out.txt"]


@pytest.mark.skipif(sys.platform == "win32", reason="permissions and links of POSIX")
def test_permissions_and_links_stay(tmp_path):
    path, link = tmp_path / "out.txt", tmp_path / "link.txt"
    old = os.umask(0o027)
    try:
        write_svmlight(path, [[1]], [1])
    finally:
        os.umask(old)
    assert path.stat().st_mode & 0o777 == 0o640
    path.chmod(0o600)
    link.symlink_to(path)
    write_svmlight(link, [[2]], [1])
    assert link.is_symlink()
    assert path.read_text() == "1 1:2\n"
    assert path.stat().st_mode & 0o777 == 0o600
    write_svmlight("/dev/null", [[2]], [1])
    assert not os.path.isfile("/dev/null")


def test_impossible_targets(tmp_path):
    with pytest.raises(InputError, match="is a folder"):
        write_svmlight(tmp_path, [[1]], [1])
    with pytest.raises(InputError, match="there is no folder"):
        write_svmlight(tmp_path / "no" / "out.txt", [[1]], [1])
    with pytest.raises(InputError, match="neither a path nor a binary file"):
        write_svmlight(5, [[1]], [1])
