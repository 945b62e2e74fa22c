"""Rows as compiled code reads them, against NumPy."""

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin._jit import njit
from maxmargin.rows.records import (
    CsrRows,
    DenseRows,
    clear_lanes,
    fill_lanes,
    largest_magnitude,
    rows_of,
    spread_of,
    spread_without_means,
    squared_norms,
    unit_scale,
)

PRECISIONS = [np.float32, np.float64]


@njit
def fill(rows, index, start, stop, width, lanes, at):
    fill_lanes(rows, index, start, stop, width, lanes, at)


@njit
def clear(rows, index, start, stop, width, lanes, at):
    clear_lanes(rows, index, start, stop, width, lanes, at)


def data(dtype, n=9, d=70):
    """Wider than the strips of 64 features in which dense rows are read."""
    X = np.random.default_rng(0).normal(size=(n, d))
    X[X < 0.4] = 0.0
    X[3] = 0.0
    return X.astype(dtype)


INDEX = np.array([8, 0, 3, 3, 5, 1], np.intp)


@pytest.mark.parametrize(
    ("kept", "work"), [(np.float32, np.float64), (np.float64, np.float32)]
)
def test_dense_lanes(kept, work):
    X = data(kept)
    shift = np.random.default_rng(1).normal(size=X.shape[1])
    rows = rows_of(X, shift, 0.25)
    lanes = np.full(2 + X.shape[1] * 6 + 2, -7.0, work)
    fill(rows, INDEX, 1, 5, 6, lanes, 2)
    table = lanes[2:-2].reshape(-1, 6)
    expected = ((X[INDEX[1:5]].astype(np.float64) - shift) * 0.25).astype(work)
    assert np.array_equal(table[:, :4].T, expected)
    np.testing.assert_array_equal(table[:, 4:], -7.0)  # lanes without a row
    np.testing.assert_array_equal(lanes[[0, 1, -2, -1]], -7.0)
    before = lanes.copy()
    clear(rows, INDEX, 1, 5, 6, lanes, 2)
    np.testing.assert_array_equal(lanes, before)  # dense rows overwrite; nothing to clear


@pytest.mark.parametrize(
    ("kept", "kind"), [(np.float32, np.int64), (np.float64, np.int32)]
)
def test_sparse_lanes(kept, kind):
    X = data(kept)
    S = sp.csr_matrix(X)
    S.indices, S.indptr = S.indices.astype(kind), S.indptr.astype(kind)
    rows = rows_of(S, scale=4.0)
    lanes = np.zeros(3 + X.shape[1] * 6)
    fill(rows, INDEX, 0, 6, 6, lanes, 3)
    expected = 4.0 * X[INDEX].astype(np.float64)
    assert np.array_equal(lanes[3:].reshape(-1, 6).T, expected)
    clear(rows, INDEX, 0, 6, 6, lanes, 3)
    assert not lanes.any()


def test_nothing_is_copied_or_writable():
    X, S = data(np.float64), sp.csr_matrix(data(np.float32))
    dense, sparse = rows_of(X), rows_of(S)
    assert isinstance(dense, DenseRows)
    assert isinstance(sparse, CsrRows)
    assert np.shares_memory(dense.data, X)
    assert np.shares_memory(sparse.data, S.data)
    assert np.shares_memory(sparse.indices, S.indices)
    arrays = [dense.data, dense.shift, sparse.data, sparse.indices, sparse.indptr]
    assert not any(array.flags.writeable for array in arrays)
    assert X.flags.writeable  # the caller's own view is left alone
    assert S.data.flags.writeable
    assert not dense.shift.any()


def test_shape_of_sparse_rows():
    rows = rows_of(sp.csr_matrix(data(np.float64)))
    assert rows.d == 70
    assert rows.longest == np.count_nonzero(data(np.float64), axis=1).max()
    empty = rows_of(sp.csr_matrix((0, 5)))
    assert (empty.longest, empty.d) == (0, 5)


@pytest.mark.parametrize("work", PRECISIONS)
def test_squared_norms(work):
    X = data(np.float64)
    shift = np.linspace(-1, 1, X.shape[1])
    out = np.full(X.shape[0], -7.0, work)
    squared_norms(rows_of(X, shift, 0.5), 1, 8, work(0.0), out)
    expected = (((X - shift) * 0.5) ** 2).sum(axis=1)
    np.testing.assert_allclose(out[1:8], expected[1:8], rtol=20 * np.finfo(work).eps)
    np.testing.assert_array_equal(out[[0, 8]], -7.0)


@pytest.mark.parametrize("work", PRECISIONS)
def test_squared_norms_have_the_same_bits_dense_and_sparse(work):
    X = data(np.float64)
    dense, sparse = np.empty(9, work), np.empty(9, work)
    squared_norms(rows_of(X, scale=2.0), 0, 9, work(0.0), dense)
    squared_norms(rows_of(sp.csr_matrix(X), scale=2.0), 0, 9, work(0.0), sparse)
    assert dense.tobytes() == sparse.tobytes()
    np.testing.assert_allclose(dense, (2.0 * X**2 * 2.0).sum(axis=1), rtol=1e-5)


@pytest.mark.parametrize(
    ("largest", "scale"),
    [(0.0, 1.0), (1.0, 1.0), (2.0**20, 1.0), (2.0**21, 2.0**-21), (2.0**-21, 2.0**21)],
)
def test_unit_scale(largest, scale):
    assert unit_scale(largest) == scale


@pytest.mark.parametrize("largest", [1e200, 1e-200, 5e-324, 1.7e308, 3.3e6])
def test_unit_scale_is_a_power_of_two_that_brings_it_near_one(largest):
    scale = unit_scale(largest)
    assert np.frexp(scale)[0] == 0.5
    assert np.isfinite(largest * scale)
    if largest > 1e-300:
        assert 1.0 <= largest * scale <= 2.0**24  # the exponent is kept within ±1000


def test_where_values_lie():
    X = np.random.default_rng(0).normal(loc=[0.0, 100.0, -7.0], size=(50, 3))
    spread = spread_of(X)
    np.testing.assert_allclose(spread.means, X.mean(axis=0), rtol=1e-13)
    assert spread.scale == 1.0
    assert not spread.remote
    assert spread_of(X + 1e6).remote
    # the means of float32 data are taken in float64
    single = spread_of(X.astype(np.float32))
    assert single.means.dtype == np.float64
    np.testing.assert_allclose(single.means, X.mean(axis=0), rtol=1e-6)


def test_where_large_values_lie():
    X = np.random.default_rng(0).normal(loc=[0.0, 100.0, -7.0], size=(50, 3))
    spread = spread_of(X * 2.0**40)
    assert spread.scale == 2.0**-46  # 100·2⁴⁰ lies between 2⁴⁶ and 2⁴⁷
    assert not spread.remote
    low, high = (X * 2.0**40).min(axis=0), (X * 2.0**40).max(axis=0)
    assert (low <= spread.means).all()
    assert (spread.means <= high).all()


def test_where_values_lie_that_cannot_be_summed():
    X = np.array([[1.7e308, -1.7e308], [1.6e308, 1.7e308]])
    spread = spread_of(X)
    assert np.isfinite(spread.means).all()
    assert np.isfinite(X * spread.scale).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("factor", [0.0, 2.0**-60, 2.0**-21, 1.0, 2.0**19, 2.0**40, 1e30])
@pytest.mark.parametrize("offset", [0.0, 100.0, 900.0, 1100.0, 1e5])
def test_a_quick_look_tells_the_same_but_for_means(dtype, factor, offset):
    X = np.random.default_rng(0).uniform(offset, offset + 1.0, size=(50, 3))
    X = (X * factor).astype(dtype)
    whole, quick = spread_of(X), spread_without_means(X)
    assert (quick.remote, quick.scale) == (whole.remote, whole.scale)
    if quick.means.size:
        np.testing.assert_array_equal(quick.means, whole.means)
    if (factor, offset) == (1.0, 0.0):  # as standardised rows are
        assert quick.means.size == 0


def test_where_sparse_values_lie():
    spread = spread_of(sp.csr_matrix(data(np.float64) * 2.0**30))
    assert not spread.remote
    assert spread.scale == unit_scale(2.0**30 * data(np.float64).max())


def test_largest_magnitude():
    assert largest_magnitude(np.array([1.0, -3.0, 2.0])) == 3.0
    assert largest_magnitude(np.array([1.0, 4.0])) == 4.0
    assert largest_magnitude(np.empty(0)) == 0.0


@pytest.mark.parametrize("function", [fill_lanes, clear_lanes])
def test_lanes_are_for_compiled_code(function):
    with pytest.raises(TypeError, match="compiled code only"):
        function(rows_of(data(np.float64)), INDEX, 0, 1, 6, np.zeros(420), 0)
