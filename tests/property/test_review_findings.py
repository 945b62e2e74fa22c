"""What a reviewer broke once, and must stay mended."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import svm

from maxmargin import SVC, InputError, certify

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("shrinking", [True, False])
def test_a_linear_kernel_far_from_the_origin(shrinking):
    """float32 cannot tell such points apart; the dual must never fall below 0."""
    X = np.random.default_rng(0).normal(size=(1024, 30)) + 1000.0
    y = np.sign(X[:, 0] - 1000.0 + 0.1 * RNG.normal(size=1024))
    machine = SVC(C=0.1, kernel="linear", shrinking=shrinking).fit(X, y)
    near = SVC(C=0.1, kernel="linear").fit(X - 1000.0, y)
    assert machine.certificate_.ok
    assert machine.certificate_.dual == pytest.approx(near.certificate_.dual, rel=1e-4)


@pytest.mark.parametrize("degree", [0, 1, 2, 3, 7, 10])
def test_powers(degree):
    X, y = RNG.normal(size=(60, 3)), np.arange(60) % 2
    ours = SVC(kernel="poly", degree=degree, coef0=1.0, gamma=0.1, tol=1e-6).fit(X, y)
    theirs = svm.SVC(kernel="poly", degree=degree, coef0=1.0, gamma=0.1, tol=1e-6)
    expected = theirs.fit(X, y).decision_function(X)
    np.testing.assert_allclose(ours.decision_function(X), expected, atol=1e-3)


def test_a_huge_degree_takes_no_longer():
    X, y = 0.1 * RNG.normal(size=(40, 3)), np.arange(40) % 2
    machine = SVC(kernel="poly", degree=10**9, gamma=1e-3).fit(X, y)
    assert np.isfinite(machine.decision_function(X)).all()


@pytest.mark.parametrize(
    ("X", "y", "options"),
    [
        ([[0.0], [0.0], [1.0]], [0, 1, 1], {}),
        ([[1.0], [2.0]], [0, 1], {"kernel": "linear", "fit_intercept": False}),
    ],
)
def test_a_hard_margin_on_few_inseparable_points_ends_soon(X, y, options):
    with pytest.raises(InputError, match="overlap"):
        SVC(C=float("inf"), **options).fit(X, y)


@pytest.mark.parametrize("name", ["dual_coef_", "support_vectors_"])
@pytest.mark.parametrize(
    ("array", "place", "value"),
    [("indices", 0, 10**9), ("indptr", -1, 10**9), ("indptr", 1, -(10**9))],
)
def test_the_referee_survives_altered_matrices(name, array, place, value):
    X, y = sp.csr_matrix(RNG.normal(size=(60, 3))), np.arange(60) % 2
    machine = SVC().fit(X, y)
    getattr(getattr(machine, name), array)[place] = value
    with pytest.raises(InputError, match="altered"):
        certify(machine, X, y)


def test_an_asymmetric_function_is_refused():
    X, y = RNG.normal(size=(50, 4)), np.arange(50) % 2
    with pytest.raises(InputError, match="asymmetric"):
        SVC(kernel=lambda A, B: A @ B.T + np.arange(len(A))[:, None]).fit(X, y)


def test_a_function_cannot_change_what_it_is_given():
    X, y = RNG.normal(size=(50, 4)), np.arange(50) % 2

    def greedy(A, B):
        A *= 2.0
        return A @ B.T

    machine = SVC(kernel=lambda A, B: A @ B.T).fit(X, y)
    machine.kernel = greedy
    before = X.copy()
    machine.decision_function(X)
    np.testing.assert_array_equal(X, before)


def test_huge_weights_do_not_spoil_gamma():
    X, y = RNG.normal(size=(50, 4)), np.arange(50) % 2
    machine = SVC(C=1e-149).fit(X, y, sample_weight=np.full(50, 1e149))
    assert machine.gamma_ == pytest.approx(SVC().fit(X, y).gamma_)


@pytest.mark.parametrize("name", ["C", "gamma", "time_limit"])
def test_integers_beyond_float64(name):
    with pytest.raises(InputError, match=name):
        SVC(**{name: 10**400}).fit([[0.0], [1.0]], [0, 1])
