"""Sums of kernel values: many outputs at once, in which precision, with which bits."""

import numpy as np
import pytest
import scipy.sparse as sp
from tests.conformance.problems import laplacian, plain_kernel

import maxmargin
from maxmargin.kernels import RBF, Linear
from maxmargin.kernels.factory import Group, expansion, grouped_expansion
from maxmargin.kernels.gram.dot_products import VectorCross
from maxmargin.kernels.naming import as_kernel
from maxmargin.parallel import Workers

SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)
ALONE = Workers(1)


def points(n, seed, d=9, dtype=DOUBLE):
    return (2.0 + np.random.default_rng(seed).normal(size=(n, d))).astype(dtype)


def mostly_zero(n, seed, d=300, dtype=DOUBLE):
    """Sparse enough to be compressed, with one column that is centred nevertheless."""
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((n, d)) < 0.1, rng.normal(size=(n, d)), 0.0)
    X[:, 7] = 30.0 + rng.random(n)
    return X.astype(dtype)


def precision(kernel, A, B, weight=None):
    """The dtype of the values, for coefficients of this norm, if they are known."""
    groups = ()
    if weight is not None:
        coef = np.full((1, B.shape[0]), weight / np.sqrt(B.shape[0]))
        groups = [Group(0, coef, np.zeros(1, np.intp))]
    return VectorCross(kernel, A, B, ALONE, groups)._left[1].dtype


# --- many outputs -----------------------------------------------------------------------


@pytest.mark.parametrize("lines", [1, 2, 3, 4, 5, 9])
def test_any_number_of_outputs(lines):
    X, B = points(77, 0), points(600, 1)  # more columns than one block has
    coef = np.random.default_rng(2).normal(size=(lines, 600))
    got = expansion(RBF(gamma=0.1), X, B, coef, workers=ALONE)
    expected = plain_kernel(RBF(gamma=0.1), X, B) @ coef.T
    np.testing.assert_allclose(got, expected, atol=1e-11)


@pytest.mark.parametrize("dtype", [SINGLE, DOUBLE], ids=str)
@pytest.mark.parametrize("lines", [1, 6])
def test_bits_do_not_depend_on_neighbours_or_threads(dtype, lines):
    X, B = points(701, 0, dtype=dtype), points(530, 1, dtype=dtype)
    coef = np.random.default_rng(2).normal(size=(lines, 530))
    assert precision(RBF(gamma=0.1), X, B, np.sqrt(530)) == dtype
    whole = expansion(RBF(gamma=0.1), X, B, coef, workers=ALONE)
    with Workers(3) as three:
        assert (
            expansion(RBF(gamma=0.1), X, B, coef, workers=three).tobytes()
            == whole.tobytes()
        )
    for a, b in [(0, 1), (1, 2), (5, 6), (3, 12), (700, 701)]:
        part = expansion(RBF(gamma=0.1), X[a:b], B, coef, workers=ALONE)
        assert part.tobytes() == whole[a:b].tobytes()


@pytest.mark.parametrize(
    "kernel", [RBF(gamma=0.1), laplacian], ids=["compiled", "function"]
)
def test_groups(kernel):
    X, B, rng = points(30, 0), points(50, 1), np.random.default_rng(2)
    coef = np.zeros((3, 50))  # every output, and vectors without a coefficient for it
    groups = []
    for start, stop, places in [(0, 20, [2, 0]), (20, 20, [0, 1]), (20, 50, [1])]:
        some = rng.normal(size=(len(places), stop - start))
        groups.append(Group(start, some, np.array(places, np.intp)))
        coef[places, start:stop] = some
    got = grouped_expansion(as_kernel(kernel), X, B, groups, workers=ALONE)
    np.testing.assert_allclose(got, plain_kernel(kernel, X, B) @ coef.T, atol=1e-12)


# --- float32 ----------------------------------------------------------------------------


def test_when_values_are_float32():
    A, B = points(20, 0, dtype=SINGLE), points(30, 1, dtype=SINGLE)
    assert precision(RBF(gamma=0.1), A, B, 10.0) == SINGLE
    # nobody said that the coefficients are small, or they are not
    assert precision(RBF(gamma=0.1), A, B, np.inf) == DOUBLE
    assert precision(RBF(gamma=0.1), A, B, 5000.0) == DOUBLE
    # rounding of distances is multiplied by gamma
    assert precision(RBF(gamma=400.0), A, B, 10.0) == DOUBLE
    # float64 on either side, or kinds that cannot be centred alike
    assert precision(RBF(gamma=0.1), A.astype(DOUBLE), B, 10.0) == DOUBLE
    assert precision(RBF(gamma=0.1), A, B.astype(DOUBLE), 10.0) == DOUBLE
    assert precision(RBF(gamma=0.1), sp.csr_array(A), B, 10.0) == DOUBLE
    assert precision(RBF(gamma=0.1), sp.csr_array(A), sp.csr_array(B), 10.0) == SINGLE
    # not bounded by 1
    assert precision(Linear(), A, B, 10.0) == DOUBLE


@pytest.mark.parametrize("make", [points, mostly_zero])
@pytest.mark.parametrize("size", [1.0, 100.0])
def test_float32_decisions_are_accurate(make, size):
    X, B = make(400, 0, dtype=SINGLE), make(900, 1, dtype=SINGLE)
    coef = size * np.random.default_rng(2).normal(size=(2, 900))
    got = expansion(RBF(gamma=0.05), X, B, coef, workers=ALONE)
    exact = expansion(RBF(gamma=0.05), X.astype(DOUBLE), B, coef, workers=ALONE)
    assert np.abs(got - exact).max() < 5e-4
    assert (got.tobytes() == exact.tobytes()) == (size == 100.0)  # then it is float64


def test_float32_rows_have_the_same_bits_compressed_and_not():
    X, B = mostly_zero(600, 0, dtype=SINGLE), mostly_zero(900, 1, dtype=SINGLE)
    coef = np.random.default_rng(2).normal(size=(5, 900))
    assert precision(RBF(gamma=0.05), X, B, np.sqrt(900)) == SINGLE
    whole = expansion(RBF(gamma=0.05), X, B, coef, workers=ALONE)
    parts = [
        expansion(RBF(gamma=0.05), X[a : a + 100], B, coef, workers=ALONE)
        for a in range(0, 600, 100)
    ]
    assert np.vstack(parts).tobytes() == whole.tobytes()


def test_float32_rows_far_beyond_the_support_vectors():
    X, B = points(20, 0, dtype=SINGLE), points(30, 1, dtype=SINGLE)
    X[3], X[4, 0], X[5] = 1e20, 3e38, -3e38
    coef = np.random.default_rng(2).normal(size=(3, 30))
    assert precision(RBF(gamma=0.1), X, B, 10.0) == SINGLE
    got = expansion(RBF(gamma=0.1), X, B, coef, workers=ALONE)
    np.testing.assert_allclose(got[3:6], 0.0, atol=1e-30)
    others = np.r_[0:3, 6:20]
    alone = expansion(RBF(gamma=0.1), X[others], B, coef, workers=ALONE)
    assert got[others].tobytes() == alone.tobytes()


def test_classes_decide_as_their_support_vectors_say():
    X = points(400, 0)
    y = np.digitize(X[:, 0], [1.2, 2.0, 2.7])
    model = maxmargin.SVC(gamma=0.1, decision_function_shape="ovo").fit(X, y)
    K = plain_kernel(RBF(gamma=0.1), X, model.support_vectors_)
    ends = np.concatenate([[0], np.cumsum(model.n_support_)])
    at = 0
    for i in range(4):
        for j in range(i + 1, 4):
            own, other = slice(ends[i], ends[i + 1]), slice(ends[j], ends[j + 1])
            f = K[:, own] @ model.dual_coef_[j - 1, own]
            f += K[:, other] @ model.dual_coef_[i, other] + model.intercept_[at]
            np.testing.assert_allclose(model.decision_function(X)[:, at], f, atol=1e-10)
            at += 1


def test_far_vectors_are_not_hidden_by_the_many_near_ones():
    """The rounding of a value grows with the distance of its vector from the centre."""
    rng = np.random.default_rng(0)
    near = rng.normal(scale=0.3, size=(3960, 9)).astype(SINGLE)
    far = (20.0 + rng.normal(scale=0.1, size=(40, 9))).astype(SINGLE)
    B = np.vstack([near, far])
    coef = np.where(rng.random((1, 4000)) < 0.5, -1.0, 1.0)
    X = (20.0 + rng.normal(scale=0.1, size=(50, 9))).astype(SINGLE)
    got = expansion(RBF(gamma=1.0), X, B, coef, workers=ALONE)
    exact = expansion(RBF(gamma=1.0), X.astype(DOUBLE), B, coef, workers=ALONE)
    assert np.abs(got - exact).max() < 5e-4
