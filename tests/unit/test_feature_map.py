"""Feature maps written out: φ·φ = K, what they are called, and what truncation costs."""

import math
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin.errors import InputError, InputTypeError, NumericalError
from maxmargin.kernels import (
    RBF,
    ChiSquared,
    Laplacian,
    Linear,
    Polynomial,
    Precomputed,
    Sigmoid,
    feature_map,
)


def rows(n, d, seed=0, scale=1.0):
    return scale * np.random.default_rng(seed).normal(size=(n, d))


def polynomial(X, Z, degree, coef0, gamma):
    return (gamma * X @ Z.T + coef0) ** degree


def gaussian(X, Z, gamma):
    return np.exp(-gamma * ((X[:, None] - Z[None]) ** 2).sum(axis=2))


def relative(found, expected):
    """Largest error, in √(k(x, x)·k(z, z)): what Cauchy and Schwarz allow |k| to be."""
    size = np.sqrt(np.outer(expected.diagonal(), expected.diagonal()))
    return float((np.abs(found - expected) / size).max())


# --- exact maps -------------------------------------------------------------------------


def test_the_map_of_the_lesson():
    """S0: (1 + x·z)² in the plane, written as it is there."""
    X = rows(9, 2)
    x1, x2 = X.T
    root = np.sqrt(2.0)
    lesson = {
        "1": np.ones(9),
        "x1²": x1**2,
        "√2·x1·x2": root * x1 * x2,
        "x2²": x2**2,
        "√2·x1": root * x1,
        "√2·x2": root * x2,
    }
    phi = feature_map(Polynomial(2, coef0=1.0, gamma=1.0), 2)
    assert set(phi.names) == set(lesson)
    Z = phi(X)
    for column, name in enumerate(phi.names):
        np.testing.assert_allclose(Z[:, column], lesson[name], rtol=1e-15)


@pytest.mark.parametrize("d", range(1, 6))
@pytest.mark.parametrize("degree", range(1, 7))
@pytest.mark.parametrize(("coef0", "gamma"), [(1.0, 1.0), (0.0, 0.7), (2.5, 0.3)])
def test_polynomials_of_any_degree(d, degree, coef0, gamma):
    X = rows(20, d, seed=degree)
    phi = feature_map(Polynomial(degree, coef0=coef0, gamma=gamma), d)
    Z = phi(X)
    count = math.comb(d + degree, degree) if coef0 else math.comb(d + degree - 1, degree)
    assert phi.exact
    assert (
        phi.n_components == Z.shape[1] == len(phi.names) == len(set(phi.names)) == count
    )
    assert relative(Z @ Z.T, polynomial(X, X, degree, coef0, gamma)) < 1e-12


@settings(max_examples=60, deadline=None)
@given(
    d=st.integers(1, 5),
    degree=st.integers(1, 6),
    coef0=st.one_of(st.just(0.0), st.floats(1e-3, 1e3)),
    gamma=st.floats(1e-3, 1e3),
    seed=st.integers(0, 2**32 - 1),
    size=st.floats(1e-3, 1e3),
)
def test_polynomials_of_any_size(d, degree, coef0, gamma, seed, size):
    X = rows(6, d, seed, size)
    Z = feature_map(Polynomial(degree, coef0=coef0, gamma=gamma), d)(X)
    assert relative(Z @ Z.T, polynomial(X, X, degree, coef0, gamma)) < 1e-12


def test_the_linear_map_is_the_row_itself():
    X = rows(5, 3)
    phi = feature_map(Linear(), 3)
    np.testing.assert_array_equal(phi(X), X)
    assert phi.names == ("x1", "x2", "x3")


def test_a_high_degree_in_one_feature():
    X = rows(8, 1)
    phi = feature_map(Polynomial(170, gamma=0.01), 1)
    Z = phi(X)
    assert Z.shape == (8, 171)
    assert relative(Z @ Z.T, polynomial(X, X, 170, 1.0, 0.01)) < 1e-12


def test_the_pixels_of_the_notes():
    """S1: 100 pixels up to degree 3 are C(103, 3) features, 176 850 and the constant."""
    phi = feature_map(Polynomial(3), 100)
    X = rows(3, 100, scale=0.1)
    Z = phi(X)
    assert Z.shape == (3, 176_851)
    assert relative(Z @ Z.T, polynomial(X, X, 3, 1.0, 1.0)) < 1e-12


def test_any_gamma_of_a_polynomial():
    X = 1e100 * rows(5, 2)
    kernel = Polynomial(3, gamma=1e-200)
    phi = feature_map(kernel, 2)
    assert relative(phi(X) @ phi(X).T, polynomial(X, X, 3, 1.0, 1e-200)) < 1e-12
    assert phi.names[-1] == "1e-300·x2³"


@pytest.mark.parametrize(
    ("kernel", "value"),
    [
        (Linear() + Polynomial(2), lambda g: g + (g + 1) ** 2),
        (3.0 * Polynomial(2, gamma=0.5) + 0.5 * Linear(),
         lambda g: 3 * (0.5 * g + 1) ** 2 + 0.5 * g),
        (Polynomial(2) * Polynomial(3, coef0=0.5),
         lambda g: (g + 1) ** 2 * (g + 0.5) ** 3),
        ((Linear() + 2.0 * Polynomial(2)) ** 2, lambda g: (g + 2 * (g + 1) ** 2) ** 2),
    ],
    ids=["sum", "multiples", "product", "power"],
)  # fmt: skip
def test_sums_products_multiples_and_powers(kernel, value):
    X = rows(15, 3)
    phi = feature_map(kernel, 3)
    Z = phi(X)
    assert phi.exact
    assert relative(Z @ Z.T, value(X @ X.T)) < 1e-12
    assert len(set(phi.names)) == phi.n_components  # equal monomials are one component


def test_a_power_of_linear_is_a_polynomial():
    X = rows(4, 2)
    power, one = feature_map(Linear() ** 3, 2), feature_map(Polynomial(3, coef0=0.0), 2)
    assert power.names == one.names == ("x1³", "√3·x1²·x2", "√3·x1·x2²", "x2³")
    np.testing.assert_array_equal(power(X), one(X))


# --- the Gaussian -----------------------------------------------------------------------


def test_the_gaussian_of_the_notes():
    """S1's components, written as they are there."""
    X, gamma = rows(6, 2), 0.3
    phi = feature_map(RBF(gamma=gamma), 2, order=4)
    expected = []
    for j in range(5):
        for k1 in range(j, -1, -1):
            k2 = j - k1
            root = math.sqrt((2 * gamma) ** j / (math.factorial(k1) * math.factorial(k2)))
            expected.append(root * X[:, 0] ** k1 * X[:, 1] ** k2)
    damping = np.exp(-gamma * (X**2).sum(axis=1))
    np.testing.assert_allclose(phi(X), (np.array(expected) * damping).T, rtol=1e-14)
    assert not phi.exact
    assert phi.n_components == math.comb(2 + 4, 4)


@pytest.mark.parametrize("d", [1, 2, 4])
def test_truncation_stays_within_its_bound_and_converges(d):
    X, Z, gamma = rows(12, d, 1), rows(9, d, 2), 0.4
    K = gaussian(X, Z, gamma)
    errors = []
    for order in (0, 1, 2, 4, 8, 16):
        phi = feature_map(RBF(gamma=gamma), d, order=order)
        error = np.abs(phi(X) @ phi(Z).T - K)
        bound = phi.error_bound(X, Z)
        assert bound.shape == error.shape
        assert (error <= bound + 1e-14).all()
        assert (bound <= 1.0).all()
        # Where x·z ≥ 0 no terms cancel: the bound is the error.
        ahead = X @ Z.T >= 0.0
        np.testing.assert_allclose(error[ahead], bound[ahead], atol=1e-14)
        errors.append(error.max())
    assert errors == sorted(errors, reverse=True)
    assert errors[0] > 0.1
    assert errors[-1] < 0.02
    full = feature_map(RBF(gamma=gamma), 1, order=80)
    assert np.abs(full(X[:, :1]) @ full(Z[:, :1]).T - gaussian(X[:, :1], Z[:, :1], gamma)
                  ).max() < 1e-14  # fmt: skip


def test_the_bound_is_the_sum_that_was_left_out():
    x = np.array([[1.5]])
    terms = [2.25**j / math.factorial(j) for j in range(60)]  # 2γ·x·x, γ = ½
    bound = feature_map(RBF(sigma=1.0), 1, order=3).error_bound(x)
    assert bound[0, 0] == pytest.approx(math.exp(-2.25) * sum(terms[4:]), rel=1e-13)


def test_sums_and_products_with_gaussians():
    X = rows(14, 2, scale=0.7)
    kernel = (Linear() + 2.0 * RBF(gamma=0.1)) * Polynomial(2) + RBF(gamma=0.2) ** 2
    g = X @ X.T
    K = (g + 2.0 * gaussian(X, X, 0.1)) * (g + 1) ** 2 + gaussian(X, X, 0.2) ** 2
    phi = feature_map(kernel, 2, order=3)
    error, bound = np.abs(phi(X) @ phi(X).T - K), phi.error_bound(X)
    assert not phi.exact
    assert error.max() > 1e-6
    assert (error <= bound + 1e-12).all()
    assert (bound <= 50.0 * error.max()).all()
    fine = feature_map(kernel, 2, order=20)
    assert relative(fine(X) @ fine(X).T, K) < 1e-12


def test_rows_far_out_neither_overflow_nor_lose_the_near_ones():
    phi = feature_map(RBF(gamma=1e-6), 1, order=170)
    X = np.array([[1e3], [5e3], [1e6], [1e150]])
    Z = phi(X)
    np.testing.assert_allclose(
        (Z @ Z.T)[:2, :2], gaussian(X, X, 1e-6)[:2, :2], rtol=1e-11
    )
    assert not Z[3].any()
    bound = phi.error_bound(X[:3])
    assert bound[0, 0] < 1e-200
    assert bound[2, 2] == pytest.approx(1.0)


# --- manners ----------------------------------------------------------------------------


def test_names_give_numbers_where_there_is_no_root():
    assert feature_map(Polynomial(2, coef0=0.5, gamma=0.3), 1).names == (
        "1/2", "0.5477·x1", "0.3·x1²",
    )  # fmt: skip
    assert feature_map(4.0 * Linear(), 1).names == ("2·x1",)
    assert feature_map(RBF(gamma=0.5), 2, order=2).names == (
        "exp(−0.5·‖x‖²)",
        "exp(−0.5·‖x‖²)·x1",
        "exp(−0.5·‖x‖²)·x2",
        "exp(−0.5·‖x‖²)·x1²/√2",
        "exp(−0.5·‖x‖²)·x1·x2",
        "exp(−0.5·‖x‖²)·x2²/√2",
    )
    assert feature_map(Polynomial(12, coef0=0.0), 1).names == ("x1¹²",)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_sparse_and_other_rows(dtype):
    X = (4 * rows(10, 4)).round() * (rows(10, 4, 1) > 0)
    X = X.astype(dtype)
    before = X.copy()
    for kernel, order in ((Polynomial(3), None), (RBF(gamma=0.1), 5)):
        phi = feature_map(kernel, 4, order)
        expected = phi(X.astype(np.float64))
        for given_rows in (X, sp.csr_matrix(X), sp.coo_array(X), X.tolist()):
            np.testing.assert_array_equal(phi(given_rows), expected)
        np.testing.assert_array_equal(
            phi.error_bound(sp.csr_matrix(X)), phi.error_bound(X.astype(np.float64))
        )
    np.testing.assert_array_equal(X, before)


def test_blocks_of_rows_change_nothing():
    """Of 11 480 monomials of degree 3, some 180 rows are worked on at a time."""
    phi = feature_map(Polynomial(3), 40)
    X = rows(400, 40)
    np.testing.assert_array_equal(phi(X)[-3:], phi(X[-3:]))


def test_exact_maps_have_no_error():
    assert not feature_map(Polynomial(2), 2).error_bound(rows(3, 2)).any()


def test_it_can_be_printed_and_pickled():
    phi = feature_map(RBF(gamma=0.5), 2, order=4)
    assert repr(phi) == (
        "<feature map of RBF(gamma=0.5): 2 features → 15 components, truncated at "
        "degree 4>"
    )
    X = rows(3, 2)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(phi))(X), phi(X))


@pytest.mark.parametrize(
    ("kernel", "order", "words"),
    [
        (Sigmoid(1, 0), None, r"Sigmoid.*no feature map.*possible are Linear\(\)"),
        (Laplacian(1), None, "no feature map"),
        (ChiSquared(1) + Linear(), None, "no feature map"),
        (Precomputed(), None, "no feature map"),
        (Polynomial(2, coef0=-1), None, "coef0 must be at least 0"),
        (RBF(gamma=1), None, "order=6"),
        (RBF(gamma=1), -1, "at least 0"),
        (RBF(gamma=1), 171, "beyond 170"),
        (Polynomial(171), None, "beyond 170"),
        (Linear() ** 171, None, "beyond 170"),
        (Polynomial(100) * Polynomial(71), None, "degree 171"),
        (Linear(), 3, "leave it out"),
        (Polynomial(3, gamma=1e-200) + Linear(), None, "range of float64"),
        (Polynomial(3, coef0=1e200), None, "range of float64"),
        (RBF(gamma=1e-300) + RBF(gamma=1), 2, "range of float64"),
    ],
    ids=repr,
)
def test_refusals(kernel, order, words):
    with pytest.raises(InputError, match=words):
        feature_map(kernel, 2, order)


def test_a_name_or_half_an_order_is_the_wrong_kind():
    with pytest.raises(InputTypeError, match="kernel object"):
        feature_map("poly", 2)
    with pytest.raises(InputTypeError, match="integer"):
        feature_map(RBF(gamma=1), 2, order=2.5)
    with pytest.raises(InputTypeError, match="n_features must be an integer"):
        feature_map(Linear(), 2.0)


def test_too_many_components_are_counted_and_refused():
    with pytest.raises(InputError, match=str(math.comb(105, 5))):
        feature_map(Polynomial(5), 100)
    with pytest.raises(InputError, match=r"monomials up to degree 100"):
        feature_map(Polynomial(100, coef0=0.0), 4)
    assert feature_map(Polynomial(2), 1412).n_components == math.comb(1414, 2)


def test_rows_that_do_not_fit():
    phi = feature_map(Polynomial(2), 2)
    with pytest.raises(InputError, match=r"X has 3 features.*made for 2"):
        phi(rows(2, 3))
    with pytest.raises(InputError, match="Z has 3 features"):
        phi.error_bound(rows(2, 2), rows(2, 3))
    with pytest.raises(InputError, match="NaN"):
        phi([[np.nan, 1.0]])
    with pytest.raises(NumericalError, match="overflows"):
        phi([[1e200, 1.0]])
