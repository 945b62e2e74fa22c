"""Crammer and Singer's machine against three others that share nothing with it.

An interior-point method (Clarabel) on the primal written out with slacks, LIBLINEAR for
the linear kernel, and for two classes a C-SVC without intercept.
"""

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.svm import LinearSVC
from tests import data

from maxmargin import SVC
from maxmargin.errors import Stop
from maxmargin.kernels import RBF, Linear, Polynomial
from maxmargin.kernels.factory import training_gram
from maxmargin.parallel import Workers
from maxmargin.problem import JointProblem, joint_objective
from maxmargin.solvers.base import drive
from maxmargin.solvers.classes.crammer_singer import CrammerSinger

KERNELS = {"linear": Linear(), "poly": Polynomial(3, 1.0, 0.5), "rbf": RBF(gamma=0.5)}


def points(name):
    """At most 30 points of three or four classes."""
    if name == "iris":
        X, y = data.pmlb("iris")
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        return X[::5], y[::5]
    rng = np.random.default_rng(3)
    if name == "repeated":  # points that repeat, with labels that contradict
        return rng.integers(0, 2, (24, 2)).astype(float), rng.integers(0, 4, 24)
    y = np.arange(28) % 4
    return rng.normal(size=(28, 3)) + rng.normal(size=(4, 3))[y], y


def matrix(X, kernel):
    dots = X @ X.T
    if kernel == "linear":
        return dots
    if kernel == "poly":
        return (0.5 * dots + 1.0) ** 3
    norms = np.diag(dots)
    return np.exp(-0.5 * (norms[:, None] + norms - 2.0 * dots))


def solved(X, y, kernel, C, tol):
    """Model and problem; the model's own words about itself are not used below."""
    codes = np.unique(y, return_inverse=True)[1].astype(np.intp)
    gram = training_gram(kernel, np.ascontiguousarray(X), workers=Workers(1))
    problem = JointProblem(gram, codes, C, int(codes.max()) + 1)
    outcome = drive(CrammerSinger(tol=tol), problem)
    assert outcome.stop is Stop.CONVERGED
    return problem, outcome.model


def by_clarabel(K, codes, C):
    """Optimal value and decisions (n, K); β is written out class by class."""
    clarabel = pytest.importorskip("clarabel")
    n, k = len(codes), int(codes.max()) + 1
    own = np.zeros((n, k))
    own[np.arange(n), codes] = 1.0
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    solver = clarabel.DefaultSolver(
        sp.csc_matrix(np.triu(np.kron(np.eye(k), K))),
        (1.0 - own).T.ravel(),
        sp.csc_matrix(np.vstack([np.tile(np.eye(n), k), np.eye(n * k)])),
        np.concatenate([np.zeros(n), (C[:, None] * own).T.ravel()]),
        [clarabel.ZeroConeT(n), clarabel.NonnegativeConeT(n * k)],
        settings,
    )
    solution = solver.solve()
    assert "Solved" in str(solution.status)
    beta = np.array(solution.x).reshape(k, n).T
    return -float(solution.obj_val), K @ beta


CASES = list(
    product(("iris", "clouds", "repeated"), KERNELS, (0.05, 10.0), (False, True))
)


@pytest.mark.parametrize(("name", "kernel", "C", "weighted"), CASES)
def test_optimum_of_an_interior_point_method(name, kernel, C, weighted):
    X, y = points(name)
    weight = 0.25 + np.arange(len(y)) % 4 if weighted else np.ones(len(y))
    problem, model = solved(X, y, KERNELS[kernel], C * weight, tol=1e-8)
    K = matrix(X, kernel)
    value, decisions = by_clarabel(K, problem.codes, C * weight)
    f = K @ model.beta
    own = f[np.arange(len(y)), problem.codes]
    loss = (f + problem.offset).max(axis=1) - own
    primal = 0.5 * np.trace(model.beta.T @ f) + (C * weight) @ loss
    assert primal == pytest.approx(value, rel=1e-6)
    assert joint_objective(problem, model).dual == pytest.approx(value, rel=1e-6)
    # ½‖w − w*‖² is at most the gap: 1e-9 of the value, for both together.
    apart = np.sqrt(2.0 * 1e-9 * value * np.diag(K).max())
    np.testing.assert_allclose(f, decisions, atol=apart)


@pytest.mark.parametrize("C", [0.01, 1.0])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", ["iris", "digits"])
def test_liblinear_with_a_linear_kernel(name, C, weighted):
    if name == "iris":
        X, y = data.pmlb("iris")
    else:
        usps = data.usps()
        X, y = usps.X[:400].astype(np.float64), usps.y[:400]
    weight = 0.5 + np.arange(len(y)) % 3 if weighted else np.ones(len(y))
    theirs = LinearSVC(
        multi_class="crammer_singer", C=C, fit_intercept=False, tol=1e-8,
        max_iter=10**6, random_state=0,
    ).fit(X, y, sample_weight=weight)  # fmt: skip
    _, model = solved(X, y, Linear(), C * weight, tol=1e-6)
    coef = model.beta.T @ X
    scale = np.abs(theirs.coef_).max()
    np.testing.assert_allclose(coef, theirs.coef_, atol=1e-4 * scale)
    f = X @ coef.T
    second, first = np.sort(f, axis=1)[:, -2:].T
    clear = first - second > 1e-3  # decisions of equal size are common at the optimum
    assert clear.mean() > 0.8
    assert (np.argmax(f, axis=1) == np.argmax(X @ theirs.coef_.T, axis=1))[clear].all()


@pytest.mark.parametrize("C", [0.1, 10.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_two_classes_are_a_machine_without_intercept_at_twice_the_price(C, weighted):
    X, y = data.libsvm("heart_scale")
    X = X.toarray()
    weight = 0.5 + np.arange(len(y)) % 3 if weighted else np.ones(len(y))
    problem, model = solved(X, y, RBF(gamma=0.1), C * weight, tol=1e-7)
    binary = SVC(C=2.0 * C, kernel="rbf", gamma=0.1, fit_intercept=False, tol=1e-7)
    binary.fit(X, y, sample_weight=weight)
    f = model.gradient - problem.offset
    np.testing.assert_allclose(f[:, 0], -f[:, 1], atol=1e-12)
    np.testing.assert_allclose(f[:, 1] - f[:, 0], binary.decision_function(X), atol=1e-5)
    half = 0.5 * binary.certificate_.primal
    assert joint_objective(problem, model).primal == pytest.approx(half, rel=1e-6)
