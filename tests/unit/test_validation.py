"""What reaches the compiled code, and what the user's objects look like afterwards."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn import svm
from sklearn.datasets import load_iris

from maxmargin import SVC, InputError
from maxmargin.estimators.magnitude import check_precomputed
from maxmargin.kernels.scale import scale_gamma
from maxmargin.validation import (
    checked_csr,
    encode_labels,
    sample_weights,
    training_rows,
)

X, Y = load_iris(return_X_y=True)


def rows(X, kernel="rbf"):
    estimator = SVC(kernel=kernel)
    return training_rows(estimator, X, np.arange(len(Y)) % 2)[0]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_contiguous_floats_are_not_copied(dtype):
    given = np.ascontiguousarray(X, dtype=dtype)
    assert rows(given) is given or np.shares_memory(rows(given), given)
    assert rows(given).dtype == dtype


@pytest.mark.parametrize("dtype", [np.int32, np.float16, ">f8", bool, object])
def test_other_numbers_become_float64(dtype):
    got = rows((10 * X).astype(dtype))
    assert got.dtype == np.float64
    assert got.dtype.isnative
    np.testing.assert_array_equal(got, (10 * X).astype(dtype).astype(np.float64))


def test_fortran_order_read_only_and_memmap(tmp_path):
    fortran = np.asfortranarray(X)
    assert rows(fortran).flags.c_contiguous
    frozen = X.copy()
    frozen.flags.writeable = False
    assert np.shares_memory(rows(frozen), frozen)
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    got = rows(mapped)
    assert type(got) is np.ndarray
    assert np.shares_memory(got, mapped)


def test_unaligned_rows_are_aligned():
    buffer = bytearray(X.nbytes + 1)
    odd = np.frombuffer(buffer, dtype=np.float64, offset=1, count=X.size).reshape(X.shape)
    assert not odd.flags.aligned
    assert rows(odd).flags.aligned


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_keep_float32_and_names(frame):
    columns = {name: X[:, at].astype(np.float32) for at, name in enumerate("abcd")}
    estimator = SVC()
    got, _ = training_rows(estimator, frame(columns), Y)
    assert got.dtype == np.float32
    assert got.flags.c_contiguous
    np.testing.assert_array_equal(got, X.astype(np.float32))
    if frame is pd.DataFrame:
        assert estimator.feature_names_in_.tolist() == list("abcd")


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csr_matrix])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_sorted_csr_is_not_copied(kind, index):
    given = kind(X)
    given.indices = given.indices.astype(index)
    given.indptr = given.indptr.astype(index)
    got = rows(given)
    assert type(got) is kind
    assert got.indices.dtype == index
    assert np.shares_memory(got.data, given.data)


def unsorted_with_duplicates():
    data = np.array([1.0, 2.0, 3.0, 4.0])
    return sp.csr_array((data, [2, 0, 0, 1], [0, 3, 4]), shape=(2, 3))


@pytest.mark.parametrize("lying", [False, True])
def test_unsorted_csr_is_sorted_in_a_copy(lying):
    given = unsorted_with_duplicates()
    if lying:  # flags can be set, or go stale
        given.has_sorted_indices = True
        given.has_canonical_format = True
    data, indices = given.data.copy(), given.indices.copy()
    got = checked_csr(given)
    assert got.indices.tolist() == [0, 2, 1]
    assert got.data.tolist() == [5.0, 1.0, 4.0]
    np.testing.assert_array_equal(given.data, data)
    np.testing.assert_array_equal(given.indices, indices)


def test_mixed_index_types_are_unified():
    given = sp.csr_array(X)
    given.indices = given.indices.astype(np.int64)
    got = checked_csr(given)
    assert got.indices.dtype == got.indptr.dtype
    np.testing.assert_array_equal(got.toarray(), X)


def tampered(what):
    bad = sp.csr_array(X)
    if what == "index beyond":
        bad.indices = bad.indices.copy()
        bad.indices[3] = 4
    elif what == "negative index":
        bad.indices = bad.indices.copy()
        bad.indices[0] = -1
    elif what == "falling indptr":
        bad.indptr = bad.indptr.copy()
        bad.indptr[5] = 10**6
    elif what == "short indptr":
        bad.indptr = bad.indptr[:-1]
    elif what == "missing values":
        bad.data = bad.data[:-5]
    elif what == "csc":
        bad = sp.csc_array(X)
        bad.indices = bad.indices.copy()
        bad.indices[0] = 10**9
    elif what == "coo":
        bad = sp.coo_array(X)
        bad.row[0] = 10**9
    return bad


@pytest.mark.parametrize(
    "what",
    [
        "index beyond",
        "negative index",
        "falling indptr",
        "short indptr",
        "missing values",
        "csc",
        "coo",
    ],
)
def test_malformed_sparse_is_refused(what):
    with pytest.raises(InputError, match="malformed"):
        SVC().fit(tampered(what), Y)
    fitted = SVC().fit(X, Y)
    with pytest.raises(InputError, match="malformed"):
        fitted.predict(tampered(what))


# --- gamma --------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scale_gamma_is_that_of_sklearn(kind, dtype):
    sample = np.where(X > 1.5, X, 0.0).astype(dtype)
    theirs = svm.SVC().fit(kind(sample), Y)._gamma
    assert scale_gamma(kind(sample)) == pytest.approx(theirs, rel=1e-12)


def test_scale_gamma_of_float32_is_computed_in_float64():
    sample = np.full((10**5, 3), 1000.0, dtype=np.float32)
    sample[::2] += 0.25
    exact = 1.0 / (3 * sample.astype(np.float64).var())
    assert scale_gamma(sample) == pytest.approx(exact, rel=1e-10)


@pytest.mark.parametrize("value", [0.0, 0.1, -3e5])
def test_scale_gamma_of_constant_rows_is_one(value):
    assert scale_gamma(np.full((7, 3), value)) == 1.0


@pytest.mark.parametrize("factor", [1e140, 1e-140])
def test_scale_gamma_scales(factor):
    exact = scale_gamma(X)
    assert scale_gamma(X * factor) * factor * factor == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize(("factor", "word"), [(1e200, "large"), (1e-200, "small")])
def test_scale_gamma_out_of_range_is_refused(factor, word):
    with pytest.raises(InputError, match=f"too {word}.*StandardScaler"):
        scale_gamma(X * factor)


# --- labels and weights -------------------------------------------------------------


def test_encode_labels_leaves_weightless_rows_and_classes_out():
    y = np.array(["b", "a", "c", "b", "a"])
    labels = encode_labels(y, np.array([1.0, 2.0, 0.0, -1.0, 1.0]), None)
    assert labels.classes.tolist() == ["a", "b"]
    assert labels.codes.tolist() == [1, 0, -1, -1, 0]


@pytest.mark.parametrize("weight", [None, np.ones(4)])
def test_balanced_is_that_of_sklearn(weight):
    labels = encode_labels(np.array([0, 0, 0, 1]), weight, "balanced")
    np.testing.assert_allclose(labels.class_weight, [4 / 6, 4 / 2])


def test_balanced_counts_weights_as_rows():
    weighted = encode_labels(np.array([0, 0, 0, 1]), np.array([2.0, 1, 0, 1]), "balanced")
    repeated = encode_labels(np.array([0, 0, 0, 1]), None, "balanced")
    np.testing.assert_allclose(weighted.class_weight, repeated.class_weight)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_scale_gamma_counts_weights_as_rows(kind):
    often = np.arange(X.shape[0]) % 3
    repeated = kind(np.repeat(np.asarray(X), often, axis=0))
    weighted = scale_gamma(kind(np.asarray(X)), often.astype(float))
    assert weighted == pytest.approx(scale_gamma(repeated), rel=1e-12)


@pytest.mark.parametrize("weight", [0.0, -1.0, np.nan, np.inf])
def test_class_weights_are_positive(weight):
    with pytest.raises(InputError, match="class_weight gives class"):
        encode_labels(np.array([0, 1]), None, {0: weight, 1: 1.0})


@pytest.mark.parametrize(
    ("weight", "text"),
    [
        ([1.0, 2.0], "incompatible shapes"),
        ([[1.0, 2.0, 3.0]], "incompatible shapes"),
        (2.0, "incompatible shapes"),
        ([1.0, np.nan, 1.0], "NaN or infinity"),
        ([1.0, np.inf, 1.0], "NaN or infinity"),
        (["a", "b", "c"], "could not convert"),
    ],
)
def test_sample_weights_are_checked(weight, text):
    with pytest.raises(InputError, match=text):
        sample_weights(weight, 3, (3, 2))


# --- kernel matrices ----------------------------------------------------------------


def test_precomputed_must_be_square_and_symmetric():
    K = X @ X.T
    check_precomputed(K)
    check_precomputed(K.astype(np.float32))
    with pytest.raises(InputError, match=r"square matrix\. Input is a 150x149 matrix"):
        check_precomputed(K[:, :-1])
    K[3, 5] *= 1.001
    with pytest.raises(InputError, match=r"asymmetric: K\[(3, 5|5, 3)\]"):
        check_precomputed(K)


class OwnDefaults(SVC):
    """A subclass whose defaults its own rules do not know to be good."""

    def __init__(self, *, C=-1.0, class_weight={0: 1.0}):  # noqa: B006
        super().__init__(C=C, class_weight=class_weight)


def test_defaults_of_subclasses_are_no_better_than_other_values():
    X, y = np.array([[0.0], [1.0]]), [0, 1]
    with pytest.raises(InputError, match="'C' parameter of OwnDefaults"):
        OwnDefaults().fit(X, y)
    machine = OwnDefaults(C=1.0).fit(X, y)
    machine.class_weight[0] = "heavy"  # the default itself, which anybody may change
    with pytest.raises(InputError, match="'class_weight' parameter of OwnDefaults"):
        machine.fit(X, y)
