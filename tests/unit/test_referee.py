"""The referee against closed forms, a naive formula, and scikit-learn's own machines."""

import pickle
import tracemalloc
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVR

from maxmargin._referee import Certification, certify, tables
from maxmargin.certificate import Certificate
from maxmargin.errors import InputError, NumericalError
from maxmargin.kernels.gram.contract import Unkept
from maxmargin.problem import Model, c_svc, model_of, objective, violation

KERNELS = ["linear", "poly", "rbf", "sigmoid", "precomputed", "callable"]


def iris():
    return load_iris(return_X_y=True)


def laplacian(A, B):
    A, B = (Z.toarray() if sp.issparse(Z) else Z for Z in (A, B))
    return np.exp(-0.1 * np.abs(A[:, None, :] - B[None, :, :]).sum(axis=2))


def stub(X, y, alpha, b, C, **more):
    """A fitted binary classifier made by hand; y is ±1, its labels are -1 and 1."""
    X, y, alpha = np.atleast_2d(X), np.asarray(y, float), np.asarray(alpha, float)
    support = np.flatnonzero(alpha)
    support = support[np.argsort(y[support], kind="stable")]
    settings = {
        "C": C,
        "kernel": "linear",
        "tol": 1e-3,
        "classes_": np.array([-1, 1]),
        "class_weight_": np.ones(2),
        "support_": support,
        "support_vectors_": X[support],
        "n_support_": np.array([(y[support] < 0).sum(), (y[support] > 0).sum()]),
        "dual_coef_": (alpha * y)[support][None],
        "intercept_": np.array([b]),
        "shape_fit_": X.shape,
    }
    return SimpleNamespace(**settings | more)


TWO = np.array([[0.0, -1.0], [0.0, 1.0]])
SIGNS = np.array([-1, 1])


# Closed forms


def test_two_points_of_the_lecture():
    # C = ¼: α = C on both sides, w = [0, ½], and every b in [−½, ½] is optimal.
    verdict = certify(stub(TWO, SIGNS, [0.25, 0.25], 0.0, 0.25), TWO, SIGNS)
    assert verdict.primal == verdict.dual == 0.375
    assert verdict.gap == verdict.relative_gap == verdict.violation == 0.0
    assert verdict.bias_interval == (-0.5, 0.5)
    assert (verdict.n_support, verdict.n_free, verdict.n_bound) == (2, 0, 2)
    assert verdict.margin == 4.0
    assert verdict.label.tolist() == ["violating", "violating"]
    np.testing.assert_array_equal(verdict.slack, [0.5, 0.5])
    np.testing.assert_array_equal(verdict.residual, [0.0, 0.0])
    assert verdict.ok
    assert verdict.problems == ()
    assert verdict.name == "-1 against 1"


@pytest.mark.parametrize(
    ("b", "gap"), [(-0.5, 0.0), (0.3, 0.0), (0.5, 0.0), (0.75, 1 / 16)]
)
def test_a_wrong_intercept_shows_in_the_gap(b, gap):
    verdict = certify(stub(TWO, SIGNS, [0.25, 0.25], b, 0.25), TWO, SIGNS)
    assert verdict.gap == pytest.approx(gap, abs=1e-15)
    assert verdict.violation == 0.0  # β is optimal whatever b is
    assert verdict.stray == max(0.0, b - 0.5)
    assert verdict.ok == (b <= 0.5)
    assert verdict.residual.max() == pytest.approx(max(0.0, b - 0.5), abs=1e-15)


THREE, LABELS = np.array([[-1.0], [1.0], [3.0]]), np.array([-1, 1, 1])


def test_three_points_free():
    verdict = certify(stub(THREE, LABELS, [0.5, 0.5, 0.0], 0.0, 10.0), THREE, LABELS)
    assert verdict.primal == verdict.dual == 0.5
    assert verdict.bias_interval == (0.0, 0.0)
    assert (verdict.n_free, verdict.n_bound) == (2, 0)
    assert verdict.label.tolist() == ["on the margin", "on the margin", "outside"]
    assert verdict.margin == 2.0


def test_three_points_at_bound():
    # w = 0.4; y·f ≤ 1 at −1 and 1 and f(3) ≥ 1 leave b in [−0.2, 0.6].
    verdict = certify(stub(THREE, LABELS, [0.2, 0.2, 0.0], 0.1, 0.2), THREE, LABELS)
    assert verdict.primal == pytest.approx(0.32)
    assert verdict.dual == pytest.approx(0.32)
    np.testing.assert_allclose(verdict.bias_interval, (-0.2, 0.6))
    np.testing.assert_allclose(verdict.slack, [0.7, 0.5, 0.0])
    assert verdict.label.tolist() == ["violating", "violating", "outside"]


def test_three_points_not_optimal():
    # α = (0.3, 0.3, 0), C = 1: w = 0.6, F = (0.4, −0.4, 0.8) and both may rise and fall,
    # so the violation is 0.4 − (−0.4); f(3) is far out and cannot fall.
    model = stub(THREE, LABELS, [0.3, 0.3, 0.0], 0.1, 1.0)
    verdict = certify(model, THREE, LABELS)
    assert verdict.violation == pytest.approx(0.8)
    assert not verdict.ok
    np.testing.assert_allclose(verdict.bias_interval, (-0.4, 0.4))
    np.testing.assert_allclose(verdict.residual, [0.5, 0.3, 0.0])
    assert verdict.primal == pytest.approx(0.18 + 0.5 + 0.3)
    assert verdict.dual == pytest.approx(0.6 - 0.18)


def test_squared_hinge():
    # max 2α − 2α² − α²/2 gives α = 0.4, w = 0.8, ξ = 0.2 = α/(2C).
    model = stub(TWO, SIGNS, [0.4, 0.4], 0.0, 1.0, loss="squared_hinge")
    verdict = certify(model, TWO, SIGNS)
    assert verdict.primal == pytest.approx(0.4)
    assert verdict.dual == pytest.approx(0.4)
    assert verdict.violation == pytest.approx(0.0, abs=1e-15)
    np.testing.assert_allclose(verdict.slack, 0.2)
    np.testing.assert_allclose(verdict.residual, 0.0, atol=1e-15)
    assert (verdict.n_free, verdict.n_bound) == (2, 0)
    assert verdict.label.tolist() == ["violating", "violating"]


def test_no_intercept():
    # f = wx, w = ½: the point 2 lies on the margin (α = ⅛), −1 violates it (α = C = ¼).
    X, y = np.array([[-1.0], [2.0]]), np.array([-1, 1])
    model = stub(X, y, [0.25, 0.125], 0.0, 0.25, fit_intercept=False)
    verdict = certify(model, X, y)
    assert verdict.primal == verdict.dual == 0.25
    assert verdict.violation == 0.0
    assert verdict.bias_interval == (0.0, 0.0)
    assert verdict.balance == 0.0
    assert verdict.feasible
    model.dual_coef_ = np.array([[-0.25, 0.25]])
    # now w = ¾: at the point 2, F = 2w − 1 = ½ though its α may fall
    assert certify(model, X, y).violation == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("b", "primal"), [(0.0, 0.5), (0.25, 0.5 / 0.5625), (2.0, np.inf)]
)
def test_hard_margin_is_rescaled(b, primal):
    verdict = certify(stub(TWO, SIGNS, [0.5, 0.5], b, np.inf), TWO, SIGNS)
    assert verdict.primal == pytest.approx(primal)
    assert verdict.dual == 0.5
    assert verdict.label.tolist() == ["on the margin", "on the margin"]
    assert verdict.feasible
    expected = np.inf if np.isinf(primal) else (primal - 0.5) / primal
    assert verdict.relative_gap == pytest.approx(expected)


def test_a_model_without_support_vectors():
    verdict = certify(stub(TWO, SIGNS, [0.0, 0.0], 0.0, 1.0), TWO, SIGNS)
    assert (verdict.primal, verdict.dual, verdict.violation) == (2.0, 0.0, 2.0)
    assert verdict.margin == np.inf
    assert verdict.label.tolist() == ["outside", "outside"]


# scikit-learn's machines


def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)[:200, :8]
    X[np.abs(X) < 0.3] = 0.0  # so that the sparse form is really sparse
    return X, np.where(y[:200] == 0, "malignant", "benign")


def naive(K, y, C, beta, b):
    """Violation, primal and dual in four lines, K as a whole."""
    F, alpha = K @ beta - y, y * beta
    up = np.where(y > 0, alpha < C * (1 - 1e-12), alpha > 0)
    low = np.where(y > 0, alpha > 0, alpha < C * (1 - 1e-12))
    slack = np.maximum(0, 1 - y * (K @ beta + b))
    half = 0.5 * beta @ K @ beta
    return F[low].max() - F[up].min(), half + C @ slack, alpha.sum() - half


def parameters(kernel, X):
    scale = 1.0 / (X.shape[1] * X.var())
    known = {
        "linear": {},
        "poly": {"gamma": scale, "degree": 2, "coef0": 1.0},
        "rbf": {"gamma": scale},
        "sigmoid": {"gamma": scale, "coef0": -0.5},
    }
    return known.get(kernel, {})


def gram(kernel, X):
    if kernel == "callable":
        return laplacian(X, X)
    if kernel == "precomputed":
        return X @ X.T + 1.0
    return pairwise_kernels(X, metric=kernel, **parameters(kernel, X))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("kernel", KERNELS)
def test_scikit_learn(kernel, sparse, weighted):
    if sparse and kernel == "precomputed":
        pytest.skip("scikit-learn refuses sparse precomputed kernels")
    X, y = cancer()
    K = gram(kernel, X)
    settings = {**parameters(kernel, X), "C": 0.7, "tol": 1e-8}
    if kernel in {"poly", "rbf", "sigmoid"}:
        settings["gamma"] = "scale"
    weight = None
    if weighted:
        settings["class_weight"] = {"benign": 2.0, "malignant": 0.5}
        weight = np.random.default_rng(0).uniform(0.2, 3.0, len(y))
        weight[::7] = 0.0
        weight[3] = -1.0
    data = K if kernel == "precomputed" else sp.csr_matrix(X) if sparse else X
    model = SVC(kernel=laplacian if kernel == "callable" else kernel, **settings)
    model.fit(data, y, weight)
    verdict = certify(model, data, y, weight)

    kept = np.ones(len(y), bool) if weight is None else weight > 0
    sign = np.where(y == model.classes_[1], 1.0, -1.0)
    C = 0.7 * np.ones(len(y))
    if weighted:
        C = 0.7 * np.where(y == "benign", 2.0, 0.5) * weight
    beta = np.zeros(len(y))
    coef = model.dual_coef_
    # scikit-learn's support_ counts only the rows that were kept
    rows = np.flatnonzero(kept)[model.support_]
    beta[rows] = (coef.toarray() if sp.issparse(coef) else coef)[0]
    worst, primal, dual = naive(
        K[np.ix_(kept, kept)], sign[kept], C[kept], beta[kept], model.intercept_[0]
    )
    assert verdict.violation == pytest.approx(max(0.0, worst), abs=1e-9)
    assert verdict.primal == pytest.approx(primal, rel=1e-11)
    assert verdict.dual == pytest.approx(dual, rel=1e-11)
    assert verdict.violation <= 1e-5  # LIBSVM keeps its kernel rows in float32
    assert verdict.relative_gap <= 1e-6
    assert verdict.feasible
    assert verdict.n_support == len(model.support_)
    f = K @ beta + model.intercept_[0]
    if not (weighted and kernel in {"precomputed", "callable"}):
        # there scikit-learn 1.9 predicts from the wrong columns, see _located
        np.testing.assert_allclose(f, model.decision_function(data), atol=1e-9)
    np.testing.assert_allclose(
        verdict.slack, np.where(kept, np.maximum(0, 1 - sign * f), 0), atol=1e-9
    )
    assert (verdict.label[~kept] == "left out").all()
    assert (verdict.label != "outside").sum() == verdict.n_support + (~kept).sum()
    assert (verdict.label == "violating").sum() == verdict.n_bound


@pytest.mark.parametrize("gamma", ["scale", "auto", 0.3])
@pytest.mark.parametrize("sparse", [False, True])
def test_gamma_is_recomputed(gamma, sparse):
    X, y = cancer()
    X = X + 3.0 if not sparse else sp.csr_array(X)
    model = SVC(gamma=gamma, tol=1e-6).fit(X, y)
    assert certify(model, X, y).violation <= 1e-5


def test_gamma_of_constant_features():
    X, y = np.ones((4, 2)), [0, 1, 0, 1]
    model = SVC(kernel="poly").fit(X, y)
    verdict = certify(model, X, y)
    assert verdict.violation <= 1e-12
    assert verdict.margin == np.inf  # w = 0: γ = 1 and every kernel value is 8


def digits():
    X, y = load_digits(n_class=5, return_X_y=True)
    return X[:250] / 16.0, y[:250]


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf"])
@pytest.mark.parametrize("load", [digits, iris])
def test_one_against_one(load, kernel, sparse):
    X, y = load()
    data = sp.csr_matrix(X) if sparse else X
    model = SVC(kernel=kernel, tol=1e-7, decision_function_shape="ovo", C=0.5)
    weight = np.random.default_rng(1).choice([0.0, 1.0, 2.0], len(y))
    verdict = certify(model.fit(data, y, weight), data, y, weight)
    f = model.decision_function(data)
    pairs = [(i, j) for i in model.classes_ for j in model.classes_ if i < j]
    assert [one.name for one in verdict.problems] == [
        f"{i} against {j}" for i, j in pairs
    ]
    for number, ((i, j), one) in enumerate(zip(pairs, verdict.problems, strict=True)):
        rows = np.flatnonzero(np.isin(y, [i, j]) & (weight > 0))
        np.testing.assert_array_equal(np.sort(one.index), rows)
        sign = np.where(y[one.index] == i, 1.0, -1.0)
        np.testing.assert_allclose(
            one.slack, np.maximum(0, 1 - sign * f[one.index, number]), atol=1e-9
        )
        assert one.violation <= 5e-5  # LIBSVM keeps its kernel rows in float32
        assert one.relative_gap <= 1e-5
        assert one.feasible
        alone = SVC(kernel=kernel, tol=1e-7, C=0.5, gamma=1 / (X.shape[1] * X.var()))
        alone.fit(X[rows], y[rows], weight[rows])
        same = certify(alone, X[rows], y[rows], weight[rows])
        assert one.dual == pytest.approx(same.dual, rel=1e-6)
        assert one.n_support == same.n_support


def test_the_whole_is_the_worst_of_its_problems():
    X, y = iris()
    model = SVC(tol=1e-2, C=100.0).fit(X, y)
    verdict = certify(model, X, y)
    worst = max(verdict.problems, key=lambda one: one.violation)
    fields = ("primal", "dual", "gap", "violation", "bias_interval", "name", "margin")
    assert [getattr(verdict, f) for f in fields] == [getattr(worst, f) for f in fields]
    assert verdict.n_support == len(model.support_)
    np.testing.assert_array_equal(verdict.index, np.arange(150))
    for array in ("slack", "residual"):
        spread = np.zeros((150, 3))
        for number, one in enumerate(verdict.problems):
            spread[one.index, number] = getattr(one, array)
        np.testing.assert_array_equal(getattr(verdict, array), spread.max(axis=1))
    bad = np.zeros(150, bool)
    for one in verdict.problems:
        bad[one.index] |= one.label == "violating"
    np.testing.assert_array_equal(verdict.label == "violating", bad)


def test_intercept_is_in_the_interval():
    X, y = cancer()
    model = SVC(tol=1e-8).fit(X, y)
    lo, hi = certify(model, X, y).bias_interval
    assert lo - 1e-6 <= model.intercept_[0] <= hi + 1e-6


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_sklearnex(dtype):
    svm = pytest.importorskip("sklearnex.svm", exc_type=ImportError)
    X, y = cancer()
    X = X.astype(dtype)
    verdict = certify(svm.SVC(C=0.1, tol=1e-3).fit(X, y), X, y)
    assert verdict.violation <= 2e-3
    assert verdict.feasible
    assert verdict.n_bound > 0  # float32(0.1) counts as C = 0.1
    assert verdict.relative_gap <= 1e-3


# Inputs as they are


@pytest.mark.parametrize(
    "form",
    [
        np.asfortranarray,
        pd.DataFrame,
        pl.DataFrame,
        sp.csr_array,
        sp.csc_matrix,
        sp.coo_array,
        lambda X: X.astype(object),
        lambda X: X.tolist(),
    ],
)
def test_containers_agree(form):
    X, y = cancer()
    model = SVC(tol=1e-6).fit(X, y)
    one, two = certify(model, X, y), certify(model, form(X), y)
    assert two.primal == pytest.approx(one.primal, rel=1e-12)
    assert two.violation == pytest.approx(one.violation, abs=1e-12)


def test_wide_indices_unsorted_and_duplicated():
    X, y = cancer()
    model = SVC(tol=1e-6).fit(X, y)
    expected = certify(model, X, y)
    rows = sp.csr_matrix(X)
    data, indices, indptr = [], [], [0]
    for i in range(X.shape[0]):
        part = slice(rows.indptr[i], rows.indptr[i + 1])
        data += [*rows.data[part][::-1] / 2, *rows.data[part] / 2]
        indices += [*rows.indices[part][::-1], *rows.indices[part]]
        indptr.append(len(data))
    messy = sp.csr_matrix(X.shape)
    messy.data, messy.indices = np.array(data), np.array(indices, np.int64)
    messy.indptr = np.array(indptr, np.int64)
    kept = messy.data.copy(), messy.indices.copy()
    found = certify(model, messy, y)
    assert found.primal == pytest.approx(expected.primal, rel=1e-12)
    assert found.violation == pytest.approx(expected.violation, abs=1e-12)
    np.testing.assert_array_equal(messy.data, kept[0])
    np.testing.assert_array_equal(messy.indices, kept[1])


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf"])
def test_sparse_rows_too_wide_to_write_out(kernel, monkeypatch):
    X, y = cancer()
    model = SVC(kernel=kernel, tol=1e-6).fit(sp.csr_matrix(X), y)
    expected = certify(model, X, y)
    monkeypatch.setattr(tables, "TILE", 7)  # fewer than the eight columns
    for data in (sp.csr_matrix(X), X):
        found = certify(model, data, y)
        assert found.primal == pytest.approx(expected.primal, rel=1e-12)
        np.testing.assert_allclose(found.slack, expected.slack, atol=1e-12)


@pytest.mark.parametrize("kernel", [k for k in KERNELS if k != "callable"] + [laplacian])
def test_tiles_change_nothing(kernel, monkeypatch):
    X, y = digits()
    X = X @ X.T if kernel == "precomputed" else X
    model = SVC(kernel=kernel, tol=1e-6).fit(X, y)
    expected = certify(model, X, y)
    monkeypatch.setattr(tables, "TILE", 30)
    found = certify(model, X, y)
    assert found.violation == pytest.approx(expected.violation, abs=1e-12)
    assert found.dual == pytest.approx(expected.dual, rel=1e-12)
    np.testing.assert_allclose(found.residual, expected.residual, atol=1e-12)


def test_float32_is_judged_in_float64():
    X, y = cancer()
    X32 = X.astype(np.float32)
    model = SVC(tol=1e-8).fit(X32, y)
    one, two = certify(model, X32, y), certify(model, X32.astype(np.float64), y)
    assert (one.primal, one.violation) == (two.primal, two.violation)
    assert certify(model, X, y).violation <= 1e-5  # the float64 X it was rounded from


def test_memory_stays_far_below_the_kernel_matrix():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4000, 5))
    y = np.where(rng.random(4000) < 0.5, -1, 1)
    half = int((y > 0).sum())
    alpha = np.where(y > 0, 0.5, 0.5 * half / (4000 - half))
    model = stub(X, y, alpha, 0.0, 1.0, kernel="rbf", gamma=0.5)
    tracemalloc.start()
    verdict = certify(model, X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 48e6  # the matrix would take 128 MB
    assert verdict.n_free == 4000


def test_read_only_input_and_column_of_labels():
    X, y = cancer()
    model = SVC().fit(X, y)
    X.setflags(write=False)
    assert certify(model, X, y[:, None]).ok
    assert certify(model, X, pd.Series(y, index=range(200, 400))).ok
    assert certify(model, X, y, 1.0).ok


def test_far_away_clusters_keep_their_distances():
    # γ‖x‖² = 1e18: ‖a‖²+‖b‖²−2ab would lose every digit of distances of about 1.
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 2))
    X[20:] += 1e9
    y = np.tile([-1, 1], 20)
    alpha = np.full(40, 0.5)
    verdict = certify(stub(X, y, alpha, 0.0, 1.0, kernel="rbf", gamma=1.0), X, y)
    distance = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    beta = y * alpha
    expected = 20.0 - 0.5 * beta @ np.exp(-distance) @ beta
    assert verdict.dual == pytest.approx(expected, rel=1e-12)


def test_overflow_is_an_error():
    X = np.array([[-1e200], [1e200]])
    model = stub(X, SIGNS, [0.5, 0.5], 0.0, 1.0)
    with pytest.raises(NumericalError, match="overflow"):
        certify(model, X, SIGNS)


# Tampering


def test_wrong_coefficients_raise_the_violation():
    X, y = cancer()
    model = SVC(tol=1e-6).fit(X, y)
    before = certify(model, X, y)
    changed = model.dual_coef_.copy()
    changed[0, np.flatnonzero(np.abs(changed[0]) < 1.0 - 1e-9)[0]] *= 0.5
    model.dual_coef_ = changed
    after = certify(model, X, y)
    assert before.violation < 1e-5
    assert after.violation > 1e-3
    assert after.balance > 1e-6
    assert not after.feasible
    assert "infeasible" in str(after)


def test_coefficients_beyond_their_bound_are_infeasible():
    verdict = certify(stub(TWO, SIGNS, [0.5, 0.5], 0.0, 0.25), TWO, SIGNS)
    assert verdict.excess == pytest.approx(1.0)
    assert verdict.violation == 0.0  # the conditions of α ≥ C hold, the box does not
    assert not verdict.feasible
    assert not verdict.ok


def test_rounded_coefficients_count_as_bound():
    for off, n_bound in ((1e-13, 2), (1e-9, 0)):
        alpha = np.full(2, 0.25 * (1 - off))
        assert certify(stub(TWO, SIGNS, alpha, 0.0, 0.25), TWO, SIGNS).n_bound == n_bound
    model = stub(TWO, SIGNS, [0.1, 0.1], 0.0, 0.1)
    model.dual_coef_ = model.dual_coef_.astype(np.float32)
    verdict = certify(model, TWO, SIGNS)
    assert verdict.n_bound == 2
    assert verdict.feasible


IRIS = SVC().fit(*iris())
FITTED = (
    "C", "kernel", "gamma", "degree", "coef0", "tol", "support_", "support_vectors_",
    "n_support_", "dual_coef_", "intercept_", "classes_", "class_weight_", "shape_fit_",
)  # fmt: skip


def tampered(**changes):
    return SimpleNamespace(**{name: getattr(IRIS, name) for name in FITTED} | changes)


def test_one_infeasible_problem_spoils_the_whole():
    X, y = iris()
    assert certify(tampered(), X, y).ok
    changed = IRIS.dual_coef_.copy()
    changed[0, np.argmax(changed[0])] *= 1.5
    assert not certify(tampered(dual_coef_=changed), X, y).ok


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"dual_coef_": IRIS.dual_coef_[:1]}, "dual_coef_ has shape"),
        ({"dual_coef_": IRIS.dual_coef_[:, :-1]}, "dual_coef_ has shape"),
        ({"dual_coef_": IRIS.dual_coef_ * np.nan}, "dual_coef_ contains NaN"),
        ({"dual_coef_": "none"}, "dual_coef_ must hold numbers"),
        ({"intercept_": IRIS.intercept_[:2]}, "intercept_ has shape"),
        ({"support_": IRIS.support_ + 150}, "distinct rows"),
        ({"support_": IRIS.support_ - 150}, "distinct rows"),
        ({"support_": IRIS.support_ * 0}, "distinct rows"),
        ({"support_": IRIS.support_[::-1]}, "are no rows of this X"),
        (
            {"support_vectors_": IRIS.support_vectors_[:, :3]},
            "support_vectors_ has shape",
        ),
        (
            {"support_vectors_": IRIS.support_vectors_ + 1},
            "are no rows of this X",
        ),
        ({"support_vectors_": None}, "support_vectors_"),
        ({"n_support_": IRIS.n_support_ * 2}, "n_support_ must sum"),
        ({"n_support_": IRIS.n_support_[::-1]}, "are no rows of this X"),
        ({"n_support_": -IRIS.n_support_}, "n_support_ must sum"),
        ({"classes_": IRIS.classes_[:1]}, "at least two classes"),
        ({"classes_": np.array([0, 1, 7])}, "classes_ is"),
        ({"class_weight_": np.ones(2)}, "class_weight_ has shape"),
        ({"shape_fit_": (150, 5)}, "X has shape"),
        ({"shape_fit_": 3}, "X has shape"),
        ({"support_": None}, "no support_"),
        ({"C": -1.0}, "C=-1.0"),
        ({"C": "one"}, "C='one'"),
        ({"gamma": -1.0}, "gamma=-1.0"),
        ({"gamma": "wide"}, "gamma='wide'"),
        ({"kernel": "gauss"}, "kernel='gauss'"),
        ({"kernel": lambda A, B: np.ones(3)}, "the kernel gave"),
    ],
)
def test_contradictions_are_named(changes, message):
    with pytest.raises(InputError, match=message):
        certify(tampered(**changes), *iris())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, y: (X[:, :3], y, None), "X has shape"),
        (lambda X, y: (X[:100], y[:100], None), "X has shape"),
        (lambda X, y: (X[0], y, None), "rows and columns"),
        (lambda X, y: (X[::-1], y[::-1], None), "are no rows of this X"),
        (lambda X, y: (X, y[:100], None), "y has shape"),
        (lambda X, y: (X, y[::-1], None), "are no rows of this X"),
        (lambda X, y: (X, y + 1, None), "classes_ is"),
        (lambda X, y: (X, y, np.ones(3)), "sample_weight has shape"),
        (lambda X, y: (X, y, np.zeros(150)), "pass the X, y and sample_weight"),
        (lambda X, y: (X, y, np.full(150, np.nan)), "sample_weight contains NaN"),
        (lambda X, y: (np.where(X > 5.0, np.nan, X), y, None), "NaN"),
        (lambda X, y: (X.astype(str) + "x", y, None), "X must hold numbers"),
    ],
)
def test_other_data_than_those_of_the_fit(change, message):
    X, y, weight = change(*iris())
    with pytest.raises(InputError, match=message):
        certify(IRIS, X, y, weight)


def test_a_class_without_rows():
    X, y = np.array([[0.0], [1.0], [5.0]]), np.array([-1, 1, 1])
    model = stub(X, y, [0.0, 0.0, 0.0], 0.0, 1.0)
    with pytest.raises(InputError, match="no row with a positive weight"):
        certify(model, X, y, [0.0, 1.0, 1.0])


@pytest.mark.parametrize(
    ("model", "missing"),
    [
        (SVC(), "after fit"),
        (LinearSVR(), "after fit"),
        (None, "no C"),
    ],
)
def test_no_fitted_kernel_machine(model, missing):
    with pytest.raises(InputError, match=missing):
        certify(model, *iris())


# Two independent formulas: problem.py and the referee


class ArrayGram(Unkept):
    """A kernel matrix that is there as a whole."""

    precisions = (np.dtype(np.float64),)

    def __init__(self, K):
        self.K, self.n, self.n_kernel = K, len(K), 0

    def diagonal(self):
        return self.K.diagonal().copy()

    def block(self, rows, cols, out):
        out[: len(rows), : len(cols)] = self.K[np.ix_(rows, cols)]

    def apply(self, rows, cols, coef, out, dtype):
        out += self.K[np.ix_(rows, cols)] @ coef


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("kind", ["hinge", "squared_hinge", "hard"])
def test_problem_and_referee_agree(kind, fit_intercept, seed):
    rng = np.random.default_rng(seed)
    n = 30
    X = rng.standard_normal((n, 3))
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    X[:, 0] += 3.0 * y  # separable, so that the hard margin has a finite primal
    price = np.inf if kind == "hard" else 0.8
    weight = rng.uniform(0.5, 2.0, n)
    C = price * weight
    top = np.full(n, 0.4) if kind == "hard" else C
    alpha = top * rng.choice([0.0, 0.5, 1.0], n)
    alpha[:2] = top[:2] * 0.5
    if fit_intercept:  # scale one side down until Σyα = 0
        sides = [alpha[y > 0].sum(), alpha[y < 0].sum()]
        alpha[y > 0] *= min(sides) / sides[0]
        alpha[y < 0] *= min(sides) / sides[1]
    beta = y * alpha
    gram = ArrayGram(X @ X.T)
    squared = kind == "squared_hinge"
    problem = c_svc(gram, y, C, squared=squared, fit_intercept=fit_intercept)
    gradient = gram.K @ beta + problem.ridge * beta + problem.p
    _, _, b, interval, _ = model_of(problem, beta, gradient)
    expected = objective(problem, Model(beta, gradient, b, interval))

    loss = "squared_hinge" if squared else "hinge"
    model = stub(X, y, alpha, b, price, loss=loss, fit_intercept=fit_intercept)
    verdict = certify(model, X, y.astype(int), weight)
    assert verdict.primal == pytest.approx(expected.primal, rel=1e-12)
    assert verdict.dual == pytest.approx(expected.dual, rel=1e-12)
    assert verdict.gap == pytest.approx(expected.gap, rel=1e-12)
    assert verdict.relative_gap == pytest.approx(expected.relative_gap, rel=1e-12)
    assert verdict.violation == pytest.approx(
        violation(problem, beta, gradient), rel=1e-12
    )
    np.testing.assert_allclose(verdict.bias_interval, interval, rtol=1e-12)
    assert verdict.gap >= 0.0
    assert verdict.feasible


# What people read


def test_printing():
    X, y = iris()
    weight = np.ones(150)
    weight[0] = 0.0
    text = str(certify(SVC().fit(X, y, weight), X, y, weight))
    assert "problems    3 binary, all within tol" in text
    assert "1 left out" in text
    assert "violating" in text
    assert "largest     slack 1.2" in text
    assert "infeasible" not in text
    assert "left out" not in str(certify(SVC().fit(X, y), X, y))


def test_a_certification_is_a_certificate_that_pickles():
    X, y = iris()
    verdict = certify(IRIS, X, y)
    assert isinstance(verdict, Certificate)
    again = pickle.loads(pickle.dumps(verdict))
    assert isinstance(again, Certification)
    assert again.violation == verdict.violation
    np.testing.assert_array_equal(again.label, verdict.label)
    assert "slack" not in repr(verdict)
