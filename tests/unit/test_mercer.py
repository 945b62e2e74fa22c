"""Mercer's condition on rows, and the features that eigenvectors give."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin import SVC
from maxmargin.errors import InputError, InputTypeError, NumericalError
from maxmargin.kernels import (
    RBF,
    ChiSquared,
    Laplacian,
    Linear,
    Polynomial,
    Precomputed,
    Sigmoid,
    eigenvector_map,
    kernel,
    mercer,
)


def rows(n=40, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


@kernel
def negative_distance(x, z):
    total = 0.0
    for k in range(x.size):
        total -= (x[k] - z[k]) ** 2
    return total


@kernel
def first_of_the_left(x, z):
    return x[0]


# --- the verdict ------------------------------------------------------------------------


def test_the_sigmoid_is_caught():
    X = rows()
    verdict = mercer(Sigmoid(1.0, -1.0), X)
    K = np.tanh(X @ X.T - 1.0)
    c = verdict.direction
    assert verdict.semidefinite is False
    assert verdict.smallest < -1.0
    assert np.linalg.norm(c) == pytest.approx(1.0, rel=1e-14)
    assert c @ K @ c == pytest.approx(verdict.smallest, rel=1e-12)
    np.testing.assert_allclose(verdict.eigenvalues, np.linalg.eigvalsh(K), atol=1e-12)
    assert c[np.abs(c).argmax()] > 0.0
    assert verdict.asymmetry <= 1e-15


def test_two_rows_by_hand():
    """K = [[0, 1], [1, 0]]: eigenvalues ±1, and c = (1, −1)/√2."""
    verdict = mercer("precomputed", [[0.0, 1.0], [1.0, 0.0]])
    np.testing.assert_allclose(verdict.eigenvalues, [-1.0, 1.0], rtol=1e-15)
    c = verdict.direction
    np.testing.assert_allclose(np.abs(c), np.sqrt(0.5))
    assert c[0] * c[1] < 0.0
    assert verdict.threshold == pytest.approx(8 * 2 * np.finfo(float).eps)


@pytest.mark.parametrize(
    "k",
    [
        Linear(), Polynomial(6), Polynomial(3, coef0=0), RBF(gamma=0.5), RBF(gamma=1e-6),
        Laplacian(0.3), ChiSquared(1.0), RBF(gamma=1) * Linear() + 2 * Polynomial(2),
    ],
    ids=repr,
)  # fmt: skip
@pytest.mark.parametrize("n", [1, 2, 3, 60])
def test_kernels_pass_whatever_their_rank(k, n):
    """Rank-deficient matrices have eigenvalues of either sign around 0."""
    X = np.abs(rows(n, 2))
    for some in (X, np.vstack([X, X]), sp.csr_matrix(X), X.astype(np.float32)):
        verdict = mercer(k, some)
        assert verdict.semidefinite, str(verdict)
        assert verdict.symmetric


@settings(max_examples=50, deadline=None)
@given(
    n=st.integers(2, 12),
    negative=st.floats(1e-9, 10.0),
    seed=st.integers(0, 2**32 - 1),
    scale=st.sampled_from([1e-200, 1.0, 1e200]),
)
def test_one_negative_eigenvalue_is_found_with_its_direction(n, negative, seed, scale):
    rng = np.random.default_rng(seed)
    Q, _ = np.linalg.qr(rng.normal(size=(n, n)))
    values = np.sort(rng.uniform(0.1, 1.0, n))
    values[0] = -negative
    K = scale * ((Q * values) @ Q.T)
    verdict = mercer("precomputed", K)
    assert not verdict.semidefinite
    assert verdict.smallest == pytest.approx(-negative * scale, rel=1e-5)
    assert abs(verdict.direction @ Q[:, 0]) == pytest.approx(1.0, abs=1e-9)


def test_polynomials_with_negative_coef0_and_functions_are_caught():
    X = rows()
    assert not mercer(Polynomial(2, coef0=-1.0), X).semidefinite
    verdict = mercer(negative_distance, X)
    assert not verdict.semidefinite
    assert verdict.kernel == "negative_distance"
    assert verdict.smallest == pytest.approx(
        np.linalg.eigvalsh(-((X[:, None] - X[None]) ** 2).sum(axis=2))[0]
    )


def test_asymmetry_is_seen_in_functions_of_either_kind():
    X = np.abs(rows(10))
    verdict = mercer(first_of_the_left, X)
    assert not verdict.symmetric
    assert not verdict.semidefinite
    assert verdict.asymmetry == pytest.approx(np.ptp(X[:, 0]))
    assert "not symmetric" in str(verdict)

    def lopsided(A, B):
        return A @ B.T + 20.0 * np.eye(len(A)) + A[:, :1]

    verdict = mercer(lopsided, X)
    assert verdict.smallest > 0.0
    assert not verdict.semidefinite
    assert "features" not in str(verdict)


def test_rounding_of_asymmetric_products_is_noise():
    K = rows(30) @ rows(30).T
    K[3, 5] *= 1.0 + 1e-12
    verdict = mercer(Precomputed(), K)
    assert 0.0 < verdict.asymmetry < 1e-11
    assert verdict.symmetric


# --- what a kernel may be ---------------------------------------------------------------


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("gamma", ["scale", "auto", 0.3])
@pytest.mark.parametrize("name", ["linear", "poly", "rbf", "sigmoid"])
def test_names_mean_what_they_mean_in_a_machine(name, gamma, sparse):
    X = rows(30) * (rows(30, seed=1) > 0)
    width = {"scale": 1 / (3 * X.var()), "auto": 1 / 3}.get(gamma, gamma)
    g, apart = X @ X.T, ((X[:, None] - X[None]) ** 2).sum(axis=2)
    K = {
        "linear": g,
        "poly": (width * g + 0.5) ** 2,
        "rbf": np.exp(-width * apart),
        "sigmoid": np.tanh(width * g + 0.5),
    }[name]
    given_rows = sp.csr_matrix(X) if sparse else X
    verdict = mercer(name, given_rows, degree=2, gamma=gamma, coef0=0.5)
    np.testing.assert_allclose(verdict.eigenvalues, np.linalg.eigvalsh(K), atol=1e-12)


def test_functions_of_blocks_see_copies_and_their_precision_counts():
    X = rows()
    before = X.copy()

    def writing(A, B):
        K = np.exp(-((A[:, None] - B[None]) ** 2).sum(axis=2))
        A[:] = B[:] = 0.0
        return K

    verdict = mercer(writing, X)
    assert verdict.semidefinite
    assert verdict.kernel == "writing"
    np.testing.assert_array_equal(X, before)

    def single(A, B):
        return (A.astype(np.float32) @ B.T.astype(np.float32)).astype(np.float32)

    rough = mercer(single, X)
    assert rough.smallest < -1e-9  # more than float64 would explain, less than float32
    assert rough.semidefinite
    assert mercer("precomputed", single(X, X)).semidefinite
    assert not mercer("precomputed", single(X, X).astype(np.float64)).semidefinite


def test_in_words():
    X = rows(20)
    said = str(mercer(RBF(gamma=0.5), X))
    assert said.startswith("RBF(gamma=0.5) on 20 rows: positive semi-definite.")
    assert "other rows may show otherwise" in said
    verdict = mercer(Sigmoid(1.0, -1.0), X)
    said = str(verdict)
    assert "on 20 rows: not semi-definite." in said
    assert f"{verdict.smallest:.3g}" in said
    assert f"{verdict.direction.max():+.3f} at row {verdict.direction.argmax()}" in said
    assert str(mercer(Linear(), [[1.0]])).startswith("Linear() on 1 row: positive")


@pytest.mark.parametrize(
    ("k", "X", "kind", "words"),
    [
        ("cosine", [[1.0]], InputError, "'rbf'"),
        (RBF, [[1.0]], InputTypeError, "kernel object such as RBF"),
        (3, [[1.0]], InputTypeError, "kernel object"),
        ("rbf", np.zeros((5001, 1)), InputError, "pass fewer"),
        ("rbf", np.zeros((0, 1)), InputError, "X has 0 rows"),
        ("precomputed", [[1.0, 2.0]], InputError, "must be square"),
        (ChiSquared(1), [[-1.0]], InputError, "ChiSquared"),
        (lambda A, B: A, [[1.0, 2.0]], InputError, "one value for each pair"),
        (lambda A, B: np.full((1, 1), np.nan), [[1.0]], InputError, "NaN"),
        (Polynomial(9), [[1e200]], NumericalError, "overflows"),
        (Linear(), [[np.inf]], InputError, "infinity"),
    ],
)
def test_refusals(k, X, kind, words):
    with pytest.raises(kind, match=words):
        mercer(k, X)


def test_gamma_is_a_number_or_a_rule():
    with pytest.raises(InputError, match="'scale', 'auto' or a number"):
        mercer("rbf", [[1.0]], gamma="wide")
    with pytest.raises(InputError, match="gamma must be positive"):
        mercer("rbf", [[1.0]], gamma=-1.0)


# --- the eigenvector map ----------------------------------------------------------------


@pytest.mark.parametrize("k", [Linear(), Polynomial(3), RBF(gamma=0.3)], ids=repr)
def test_dot_products_of_the_features_are_the_kernel(k):
    X = rows(30, 2)
    K = k(X)
    for V in (
        eigenvector_map(K),
        eigenvector_map(k, X),
        eigenvector_map(k, sp.csr_matrix(X)),
    ):
        np.testing.assert_allclose(V @ V.T, K, atol=1e-12 * np.abs(K).max())
    lengths = (V**2).sum(axis=0)  # the eigenvalues, falling
    np.testing.assert_allclose(
        lengths, np.linalg.eigvalsh(K)[::-1][: lengths.size], rtol=1e-4
    )
    assert (V[np.abs(V).argmax(axis=0), np.arange(V.shape[1])] > 0.0).all()


def test_it_has_as_many_columns_as_the_rank():
    X = rows(30, 2)
    assert eigenvector_map(Linear(), X).shape == (30, 2)
    assert eigenvector_map("poly", X, degree=3, gamma=1.0, coef0=1.0).shape == (30, 10)
    assert eigenvector_map(np.zeros((4, 4))).shape == (4, 0)
    single = (X @ X.T).astype(np.float32)
    assert eigenvector_map(single).shape == (30, 2)


def test_a_negative_eigenvalue_is_named():
    with pytest.raises(InputError, match=r"precomputed has the eigenvalue -1 .*mercer"):
        eigenvector_map([[0.0, 1.0], [1.0, 0.0]])
    X = rows()
    smallest = mercer(Sigmoid(1.0, -1.0), X).smallest
    with pytest.raises(InputError, match=f"eigenvalue {smallest:.6g}"):
        eigenvector_map(Sigmoid(1.0, -1.0), X)


def test_what_is_no_matrix():
    with pytest.raises(InputError, match=r"not symmetric.*0\.5"):
        eigenvector_map([[1.0, 0.5], [0.0, 1.0]])
    with pytest.raises(InputTypeError, match="needs rows"):
        eigenvector_map(RBF(gamma=1))
    with pytest.raises(InputTypeError, match="needs rows"):
        eigenvector_map("rbf")
    with pytest.raises(InputError, match="must be square"):
        eigenvector_map(rows())


@pytest.mark.parametrize(
    "X", [np.full((10, 3), 0.1), np.random.default_rng(0).normal(size=(12, 3)) * 1e-150]
)
def test_gamma_scale_is_that_of_svc(X):
    y = np.arange(len(X)) % 2
    gamma = SVC().fit(X, y).gamma_
    named, made = mercer("rbf", X), mercer(RBF(gamma=gamma), X)
    np.testing.assert_array_equal(named.eigenvalues, made.eigenvalues)
