"""The referee on every machine but C-SVC: closed forms, an interior-point method, peers.

The programmes are written down here from a kernel matrix made by NumPy; nothing is
shared with the referee or with the library's solvers.
"""

import ctypes
import pickle
import re
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM

from maxmargin._referee import certify
from maxmargin.errors import InputError
from maxmargin.kernels.gram.contract import Unkept
from maxmargin.problem import (
    epsilon_svr,
    imbalance,
    model_of,
    nu_svc,
    nu_svr,
    objective,
    one_class,
    svdd,
    violation,
)

MACHINES = [NuSVC, SVR, NuSVR, OneClassSVM]
KERNELS = ["linear", "poly", "rbf", "sigmoid", "precomputed", "callable"]
CURVES = ["linear", "poly", "precomputed"]  # kernels of unbounded values
CHOICES = {
    NuSVC: {"nu": 0.3},
    SVR: {"C": 0.7, "epsilon": 0.2},
    NuSVR: {"C": 0.7, "nu": 0.4},
    OneClassSVM: {"nu": 0.3},
}
WORDS = {
    NuSVC: ("outside", "on the margin", "violating"),
    SVR: ("inside the tube", "on the tube", "outside the tube"),
    NuSVR: ("inside the tube", "on the tube", "outside the tube"),
    OneClassSVM: ("inside", "on the boundary", "outside"),
}


def rows(n=120):
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)[:, :6]
    X[np.abs(X) < 0.3] = 0.0  # so that the sparse form is really sparse
    some = np.sort(np.concatenate([np.flatnonzero(y == c)[: n // 2] for c in (0, 1)]))
    return X[some], y[some]


def answers(machine, X, y):
    """Labels for a classifier, targets for a regression."""
    if machine is NuSVC:
        return y
    noise = np.random.default_rng(5).standard_normal(len(y))
    return X[:, 0] + np.sin(2.0 * X[:, 1]) + 0.2 * noise


def laplacian(A, B):
    A, B = (Z.toarray() if sp.issparse(Z) else Z for Z in (A, B))
    return np.exp(-0.1 * np.abs(A[:, None, :] - B[None, :, :]).sum(axis=2))


def parameters(kernel):
    known = {
        "poly": {"gamma": 0.1, "degree": 2, "coef0": 1.0},
        "rbf": {"gamma": 0.1},
        "sigmoid": {"gamma": 0.02, "coef0": 0.1},
    }
    return known.get(kernel, {})


def gram(kernel, X):
    if kernel == "callable":
        return laplacian(X, X)
    if kernel == "precomputed":
        return X @ X.T + 1.0
    return pairwise_kernels(X, metric=kernel, **parameters(kernel))


def machine_on(cls, kernel, tol=1e-6):
    """LIBSVM keeps float32 kernel values; a sum of many of them never reaches 1e-8."""
    kernel_ = laplacian if kernel == "callable" else kernel
    tol = max(tol, 1e-4) if cls is OneClassSVM and kernel in CURVES else tol
    return cls(kernel=kernel_, tol=tol, **parameters(kernel), **CHOICES[cls])


def stand_in(model, **changes):
    """The public attributes of a fitted machine, some of them changed."""
    names = ["kernel", "gamma", "degree", "coef0", "tol", "support_", "support_vectors_",
             "n_support_", "dual_coef_", "intercept_", "shape_fit_"]  # fmt: skip
    names += {
        NuSVC: ["nu", "classes_", "class_weight_"],
        SVC: ["C", "classes_", "class_weight_"],
        SVR: ["C", "epsilon"],
        NuSVR: ["C", "nu"],
        OneClassSVM: ["nu", "offset_"],
    }[type(model)]
    found = {name: getattr(model, name) for name in names}
    return SimpleNamespace(**found | changes)


# Closed forms


def by_hand(X, beta, **more):
    support = np.flatnonzero(beta)
    told = {
        "kernel": "linear",
        "tol": 1e-3,
        "support_": support,
        "support_vectors_": X[support],
        "n_support_": [support.size],
        "dual_coef_": np.asarray(beta, float)[support][None],
        "intercept_": [0.0],
        "shape_fit_": X.shape,
    }
    return SimpleNamespace(**told | more)


LINE = np.array([[-1.0], [0.0], [1.0]])


def test_svr_of_three_points():
    # z = 2x, ε = ½: the flattest line in the tube has w = 3/2, and touches it at ±1.
    model = by_hand(LINE, [-0.75, 0.0, 0.75], C=10.0, epsilon=0.5)
    verdict = certify(model, LINE, [-2.0, 0.0, 2.0])
    assert verdict.machine == "SVR"
    assert verdict.primal == verdict.dual == 1.125
    assert verdict.violation == verdict.stray == 0.0
    assert verdict.bias_interval == (0.0, 0.0)
    assert verdict.label.tolist() == ["on the tube", "inside the tube", "on the tube"]
    assert (verdict.n_support, verdict.n_free, verdict.n_bound) == (2, 2, 0)
    assert verdict.level == 0.5
    assert verdict.ok


def test_svr_at_bound():
    # C = ½: w = 1, both ends lie ½ outside, and b may move by ½ before one is inside.
    model = by_hand(LINE, [-0.5, 0.0, 0.5], C=0.5, epsilon=0.5)
    verdict = certify(model, LINE, [-2.0, 0.0, 2.0])
    assert verdict.primal == verdict.dual == 1.0
    assert verdict.bias_interval == (-0.5, 0.5)
    np.testing.assert_array_equal(verdict.slack, [0.5, 0.0, 0.5])
    assert verdict.label.tolist() == [
        "outside the tube", "inside the tube", "outside the tube",
    ]  # fmt: skip
    assert verdict.ok


def test_nu_svr_of_three_points():
    # T = 3ν·C = 1, Σ|β| = 1 with β = ±½: w = 1, and the tube reaches the ends: ε = 1.
    model = by_hand(LINE, [-0.5, 0.0, 0.5], C=1.0, nu=1 / 3)
    verdict = certify(model, LINE, [-2.0, 0.0, 2.0])
    assert verdict.machine == "NuSVR"
    assert verdict.level == 1.0
    assert verdict.primal == pytest.approx(1.5)
    assert verdict.dual == pytest.approx(1.5)
    assert verdict.level_interval == (1.0, 1.0)
    assert verdict.ok
    told = by_hand(LINE, [-0.5, 0.0, 0.5], C=1.0, nu=1 / 3, epsilon_=0.9)
    seen = certify(told, LINE, [-2.0, 0.0, 2.0])
    assert seen.stray == pytest.approx(0.1)
    assert seen.primal == pytest.approx(0.5 + 0.9 + 0.2)
    assert not seen.ok


@pytest.mark.parametrize(("nu", "worst"), [(0.5, 1.0), (1.0, 2.0)])
def test_nu_svr_whose_tube_closed(nu, worst):
    # A line through all points: ε = 0 and Σ|β| = 2 < T, the rest is on α and α*.
    model = by_hand(LINE, [-1.0, 0.0, 1.0], C=2.0, nu=nu)
    verdict = certify(model, LINE, [-2.0, 0.0, 2.0])
    assert verdict.primal == verdict.dual == 2.0
    assert verdict.violation == 0.0
    assert verdict.level == 0.0
    assert verdict.level_interval == (0.0, 0.0)
    assert verdict.feasible
    assert verdict.ok
    # half of that w: F = ±1 at the ends, 0 between, where 2 of the rest find room; that
    # is enough for ν = ½ (half of 2), not for ν = 1 (half of 5)
    half = by_hand(LINE, [-0.5, 0.0, 0.5], C=2.0, nu=nu)
    assert certify(half, LINE, [-2.0, 0.0, 2.0]).violation == pytest.approx(worst)


@pytest.mark.parametrize(("z", "worst"), [((-3.0, 0.0, 2.0), 3.0), ((-2.0, 0, 3.0), 3.0)])
def test_nu_svr_without_coefficients(z, worst):
    # F = −z; T = 3 is on α and α* of the point between, 2 and 3 away from the ends.
    verdict = certify(by_hand(LINE, [0.0, 0.0, 0.0], C=2.0, nu=0.5), LINE, z)
    assert verdict.violation == worst
    assert verdict.dual == 0.0
    assert verdict.n_support == 0


@pytest.mark.parametrize("b", [-0.1, 0.1])
def test_intercept_and_tube_that_make_up_for_each_other(b):
    # b + ε and ε − b must both be 1; here one of them is.
    model = by_hand(LINE, [-0.5, 0.0, 0.5], C=1.0, nu=1 / 3, epsilon_=0.9, intercept_=[b])
    verdict = certify(model, LINE, [-2.0, 0.0, 2.0])
    assert verdict.stray == pytest.approx(0.2)
    assert not verdict.ok


def test_a_tube_a_little_below_zero():
    z = [-2.0, 0.0, 2.0]
    model = by_hand(LINE, [-1.0, 0.0, 1.0], C=2.0, nu=0.5, epsilon_=-1e-4)
    verdict = certify(model, LINE, z)
    assert verdict.level == 0.0
    assert verdict.ok
    model.tol = 1e-5
    with pytest.raises(InputError, match="tube is"):
        certify(model, LINE, z)


def test_nu_svr_beyond_its_total():
    model = by_hand(LINE, [-0.75, 0.0, 0.75], C=1.0, nu=1 / 3)
    verdict = certify(model, LINE, [-2.0, 0.0, 2.0])
    assert verdict.balance == pytest.approx(1 / 3)
    assert not verdict.feasible


def test_one_class_of_two_points():
    # ν = 1: every weight at its bound, w = 1 + 3, ρ anywhere above both values.
    X = np.array([[1.0], [3.0]])
    model = by_hand(X, [1.0, 1.0], nu=1.0, offset_=[12.0], intercept_=[-12.0])
    verdict = certify(model, X)
    assert verdict.machine == "OneClassSVM"
    assert verdict.primal == verdict.dual == -8.0
    assert verdict.label.tolist() == ["outside", "outside"]
    assert verdict.level == 12.0
    assert verdict.level_interval == (12.0, np.inf)
    assert verdict.margin == 3.0
    # ν = ½: the point nearer to the origin carries all, ρ = 1.
    model = by_hand(X, [1.0, 0.0], nu=0.5, offset_=[1.0], intercept_=[-1.0])
    verdict = certify(model, X)
    assert verdict.primal == verdict.dual == -0.5
    assert verdict.level_interval == (1.0, 3.0)
    assert verdict.label.tolist() == ["outside", "inside"]
    assert verdict.ok
    model = by_hand(X, [1.0, 0.0], nu=0.5, offset_=[0.5], intercept_=[-0.5])
    verdict = certify(model, X)  # a point at its bound must not lie beyond ρ
    np.testing.assert_array_equal(verdict.residual, [0.5, 0.0])
    assert verdict.stray == 0.5
    model = by_hand(X, [1.0, 0.0], nu=0.5, offset_=[4.0], intercept_=[-4.0])
    np.testing.assert_array_equal(certify(model, X).residual, [0.0, 1.0])


def test_svdd_of_three_points():
    # ν = 2/3: M = 2, α = ½ at either end, centre 0 and radius 1.
    model = by_hand(LINE, [0.5, 0.0, 0.5], nu=2 / 3, radius_=1.0)
    verdict = certify(model, LINE)
    assert verdict.machine == "SVDD"
    assert verdict.primal == pytest.approx(2.0)  # M²/2 · R²
    assert verdict.dual == pytest.approx(2.0)
    assert verdict.label.tolist() == ["outside", "inside", "outside"]
    np.testing.assert_allclose(verdict.level_interval, (0.0, 1.0))
    assert verdict.ok
    large = by_hand(LINE, [0.5, 0.0, 0.5], nu=2 / 3, radius_=2.0)
    seen = certify(large, LINE)
    assert seen.stray == pytest.approx(3.0)  # M/2 · (R² − 1)
    assert seen.gap == pytest.approx(6.0)
    assert not seen.ok


def test_nu_svc_of_two_points():
    # ν = 1: α = 1 on both, w = 2, b = 0, ρ ≤ 2 as far as the points ask; stored /ρ.
    X, y = np.array([[-1.0], [1.0]]), [0, 1]
    model = by_hand(
        X, [-0.5, 0.5], nu=1.0, n_support_=[1, 1], classes_=[0, 1], class_weight_=[1, 1]
    )
    verdict = certify(model, X, y)
    assert verdict.machine == "NuSVC"
    assert verdict.level == 2.0  # νN/Σ|dual_coef_|
    assert verdict.primal == verdict.dual == -2.0
    assert verdict.level_interval == (2.0, np.inf)
    assert verdict.margin == 2.0
    assert verdict.ok
    for b in (-0.1, 0.1):  # b ± ρ must be beyond ±2: one of them is not
        model.intercept_ = [b]
        assert certify(model, X, y).stray == pytest.approx(0.2)
    model.intercept_ = [0.0]
    model.dual_coef_ = model.dual_coef_ * 2.0  # the same plane, f twice as large
    seen = certify(model, X, y)
    assert seen.violation == 0.0
    assert seen.stray == pytest.approx(1.0)
    assert not seen.ok
    model.dual_coef_ = model.dual_coef_ * 0.0
    with pytest.raises(InputError, match="no ν-SVC"):
        certify(model, X, y)


# Two independent formulas: problem/ and the referee


class ArrayGram(Unkept):
    """A kernel matrix that is there as a whole."""

    precisions = (np.dtype(np.float64),)

    def __init__(self, K):
        self.K, self.n, self.n_kernel = K, len(K), 0

    def diagonal(self):
        return self.K.diagonal().copy()


def filled(total, top, rng):
    """Some 0 ≤ α ≤ top of a given sum: full, partly full and empty."""
    alpha, left = np.zeros_like(top), total
    for i in rng.permutation(top.size):
        alpha[i] = min(left, top[i] * rng.choice([1.0, 0.5]))
        left -= alpha[i]
    assert left < 1e-12
    return alpha


def told(problem, X, beta, **more):
    """A stand-in with β, and what the template says of it."""
    gradient = problem.gram.K @ beta + problem.p
    model = model_of(problem, beta, gradient)
    return model, by_hand(X, beta, intercept_=[model.bias], **more)


def same(verdict, problem, model, *, points=None):
    expected = objective(problem, model)
    assert verdict.primal == pytest.approx(expected.primal, rel=1e-11, abs=1e-11)
    assert verdict.dual == pytest.approx(expected.dual, rel=1e-11, abs=1e-11)
    assert verdict.violation == pytest.approx(
        violation(problem, model.beta, model.gradient), rel=1e-11
    )
    assert verdict.balance == pytest.approx(imbalance(problem, model.beta), abs=1e-14)
    np.testing.assert_allclose(verdict.bias_interval, model.interval, rtol=1e-10)
    assert verdict.stray <= 1e-12
    assert verdict.feasible
    assert verdict.gap >= 0.0
    assert points is None or verdict.n_support == points


@pytest.fixture(params=range(4))
def case(request):
    rng = np.random.default_rng(request.param)
    X = rng.standard_normal((24, 3))
    weight = rng.uniform(0.5, 2.0, 24)
    return SimpleNamespace(rng=rng, X=X, weight=weight, z=X[:, 0] + rng.normal(size=24))


def test_svr_of_the_template(case):
    C = 0.8 * case.weight
    half = 0.2 * C.sum()
    beta = filled(half, np.where(np.arange(24) < 12, C, 0.0), case.rng)
    beta -= filled(half, np.where(np.arange(24) < 12, 0.0, C), case.rng)
    problem = epsilon_svr(ArrayGram(case.X @ case.X.T), case.z, C, 0.3)
    model, seen = told(problem, case.X, beta, C=0.8, epsilon=0.3)
    verdict = certify(seen, case.X, case.z, case.weight)
    same(verdict, problem, model, points=np.count_nonzero(beta))


def test_nu_svr_of_the_template(case):
    C = 0.8 * case.weight
    half = 0.5 * 0.4 * C.sum()
    X, high = 0.1 * case.X, case.z > np.median(case.z)  # so that the tube is open
    above = filled(half, np.where(high, C, 0.0), case.rng)
    below = filled(half, np.where(high, 0.0, C), case.rng)
    problem = nu_svr(ArrayGram(np.tile(X @ X.T, (2, 2))), case.z, C, 0.4)
    both = np.concatenate([above, -below])
    model = model_of(problem, both, problem.gram.K @ both + problem.p)
    assert model.split > 0.0
    seen = by_hand(X, above - below, intercept_=[model.bias], C=0.8, nu=0.4)
    seen.epsilon_ = model.split
    verdict = certify(seen, X, case.z, case.weight)
    same(verdict, problem, model)
    del seen.epsilon_  # the best tube can only be cheaper
    best = certify(seen, X, case.z, case.weight)
    assert best.primal <= verdict.primal
    assert best.dual == verdict.dual


def test_one_class_of_the_template(case):
    beta = filled(0.3 * case.weight.sum(), case.weight, case.rng)
    problem = one_class(ArrayGram(case.X @ case.X.T), case.weight, 0.3)
    model, seen = told(problem, case.X, beta, nu=0.3)
    seen.offset_ = -model.bias
    same(certify(seen, case.X, None, case.weight), problem, model)


def test_svdd_of_the_template(case):
    mass = 0.3 * case.weight.sum()
    beta = filled(mass, case.weight, case.rng)
    problem = svdd(ArrayGram(case.X @ case.X.T), case.weight, 0.3)
    model, _ = told(problem, case.X, beta)
    centre2 = beta @ case.X @ case.X.T @ beta / mass**2
    square = centre2 + 2.0 * model.bias / mass
    seen = by_hand(
        case.X,
        beta / mass,
        nu=0.3,
        radius_=square**0.5,
        offset_=-square,
        intercept_=[square - centre2],
    )
    same(certify(seen, case.X, None, case.weight), problem, model)


def test_nu_svc_of_the_template(case):
    y = np.where(np.arange(24) % 2, 1.0, -1.0)
    case.X[:, 0] += 2.0 * y  # apart, so that ρ > 0
    half = 0.5 * 0.3 * case.weight.sum()
    beta = filled(half, np.where(y > 0, case.weight, 0.0), case.rng)
    beta -= filled(half, np.where(y < 0, case.weight, 0.0), case.rng)
    problem = nu_svc(ArrayGram(case.X @ case.X.T), y, case.weight, 0.3)
    model, _ = told(problem, case.X, beta)
    rho = -model.split
    assert rho > 0.0
    support = np.flatnonzero(beta)
    support = support[np.argsort(y[support], kind="stable")]
    seen = by_hand(
        case.X,
        beta / rho,
        nu=0.3,
        support_=support,
        support_vectors_=case.X[support],
        dual_coef_=beta[support][None] / rho,
        n_support_=[(y[support] < 0).sum(), (y[support] > 0).sum()],
        intercept_=[model.bias / rho],
        classes_=[-1, 1],
        class_weight_=[1, 1],
    )
    verdict = certify(seen, case.X, y.astype(int), case.weight)
    assert verdict.level == pytest.approx(rho)
    same(verdict, problem, model)


# An interior-point method


def least(Q, p, box, equal):
    """min ½v'Qv + p'v, box[0] ≤ v ≤ box[1], equal: pairs of a row and its value."""
    clarabel = pytest.importorskip("clarabel")
    n = len(p)
    A = np.vstack([*(row for row, _ in equal), -np.eye(n), np.eye(n)])
    right = np.concatenate([[value for _, value in equal], -box[0], box[1]])
    cones = [clarabel.ZeroConeT(len(equal)), clarabel.NonnegativeConeT(2 * n)]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    solver = clarabel.DefaultSolver(
        sp.csc_matrix(np.triu(Q)), p, sp.csc_matrix(A), right, cones, settings
    )
    solution = solver.solve()
    assert "Solved" in str(solution.status)
    return np.array(solution.x)


def best_dual(cls, K, y, weight):
    """The dual value, from the textbook's programme in α (and α*)."""
    n, chosen = len(K), CHOICES[cls]
    zero, one = np.zeros(n), np.ones(n)
    if cls is OneClassSVM:
        v = least(K, zero, (zero, weight), [(one, chosen["nu"] * weight.sum())])
        return -0.5 * v @ K @ v
    if cls is NuSVC:
        y = np.where(y == y.max(), 1.0, -1.0)
        sums = [(one, chosen["nu"] * weight.sum()), (y, 0.0)]
        v = y * least(y[:, None] * K * y, zero, (zero, weight), sums)
        return -0.5 * v @ K @ v
    C, Q = chosen["C"] * weight, np.block([[K, -K], [-K, K]])
    box = np.zeros(2 * n), np.concatenate([C, C])
    sums = [(np.concatenate([one, -one]), 0.0)]
    if cls is NuSVR:
        sums.append((np.ones(2 * n), chosen["nu"] * C.sum()))
    p = np.concatenate([-y, y]) + chosen.get("epsilon", 0.0)
    v = least(Q, p, box, sums)
    return -0.5 * v @ Q @ v - p @ v


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf"])
@pytest.mark.parametrize("cls", MACHINES)
def test_objective_of_an_interior_point_method(cls, kernel, weighted):
    X, y = rows(30)
    X = X + 3.0 if cls is OneClassSVM else X  # else w = 0 is optimal for "linear"
    y = answers(cls, X, y)
    weight = 0.5 + np.arange(30) % 3 if weighted else np.ones(30)
    best = best_dual(cls, gram(kernel, X), y, weight)
    model = machine_on(cls, kernel, tol=1e-6).fit(X, y, weight)
    verdict = certify(model, X, y, weight)
    assert verdict.dual == pytest.approx(best, rel=1e-6)
    assert verdict.primal == pytest.approx(best, rel=1e-5)
    assert verdict.primal >= best - 1e-8 * abs(best)  # weak duality
    assert verdict.feasible


def test_svdd_of_an_interior_point_method():
    X, _ = rows(30)
    K, weight = gram("poly", X), 0.5 + np.arange(30) % 3
    mass = 0.3 * weight.sum()
    alpha = least(
        2.0 * K, -np.diag(K), (np.zeros(30), weight / mass), [(np.ones(30), 1.0)]
    )
    alpha[alpha < 1e-8] = 0.0
    alpha = np.where(alpha > weight / mass - 1e-8, weight / mass, alpha)
    free = np.flatnonzero((alpha > 0.0) & (alpha < weight / mass))
    alpha[free] += (1.0 - alpha.sum()) / free.size
    distance2 = np.diag(K) - 2.0 * K @ alpha + alpha @ K @ alpha
    radius = distance2[free].mean() ** 0.5
    model = by_hand(
        X, alpha, kernel="poly", **parameters("poly"), nu=0.3, radius_=radius,
        offset_=[-(radius**2)],
    )  # fmt: skip
    verdict = certify(model, X, sample_weight=weight)
    paid = (weight * np.maximum(0.0, distance2 - radius**2)).sum() / mass
    assert verdict.primal == pytest.approx(0.5 * mass**2 * (radius**2 + paid))
    assert verdict.relative_gap <= 1e-6
    assert verdict.violation <= 1e-4
    assert verdict.level == radius
    assert (verdict.label == "on the boundary").sum() == free.size == verdict.n_free


def test_svdd_is_one_class_for_constant_diagonals():
    X, _ = rows()
    model = machine_on(OneClassSVM, "rbf").fit(X)
    plane = certify(model, X)
    mass = 0.3 * len(X)
    coef = model.dual_coef_ / mass
    K = gram("rbf", X[model.support_])
    square = coef[0] @ K @ coef[0] + 1.0 - 2.0 * plane.level / mass
    ball = certify(
        stand_in(model, dual_coef_=coef, radius_=square**0.5, offset_=-square), X
    )
    assert ball.machine == "SVDD"
    assert ball.dual == pytest.approx(plane.dual + 0.5 * mass**2)
    assert ball.gap == pytest.approx(plane.gap, abs=1e-9)
    assert ball.violation == pytest.approx(plane.violation, abs=1e-10)
    np.testing.assert_allclose(
        ball.bias_interval, np.add(plane.bias_interval, 0.5 * mass), rtol=1e-12
    )
    np.testing.assert_array_equal(ball.label, plane.label)
    np.testing.assert_allclose(ball.residual, plane.residual, atol=1e-10)


# scikit-learn's machines


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("cls", MACHINES)
def test_scikit_learn(cls, kernel, sparse, weighted):
    if sparse and kernel == "precomputed":
        pytest.skip("scikit-learn refuses sparse precomputed kernels")
    X, y = rows()
    if cls is OneClassSVM:
        X[:, 0] += 5.0  # else w = 0 is optimal for "linear"
    y, n = answers(cls, X, y), len(y)
    weight = None
    if weighted:
        weight = np.random.default_rng(0).uniform(0.2, 3.0, n)
        weight[::7] = 0.0
        weight[3] = -1.0
    K = gram(kernel, X)
    data = K if kernel == "precomputed" else sp.csr_matrix(X) if sparse else X
    model = machine_on(cls, kernel).fit(data, y, weight)
    verdict = certify(model, data, y, weight)
    assert verdict.machine == cls.__name__
    near = max(2e-5, 2.0 * model.tol)
    assert verdict.violation <= near
    assert verdict.relative_gap <= 1e-5
    assert verdict.stray <= near
    assert verdict.residual.max() <= near
    assert verdict.feasible
    assert verdict.n_support == len(model.support_)

    kept = np.ones(n, bool) if weight is None else weight > 0
    # scikit-learn's support_ counts only the rows that were kept
    at, coef = np.flatnonzero(kept)[model.support_], model.dual_coef_
    f = (coef.toarray() if sp.issparse(coef) else coef)[0] @ K[at] + model.intercept_[0]
    rho = verdict.level
    if cls is NuSVC:
        sign = np.where(y == model.classes_[1], 1.0, -1.0)
        slack = rho * np.maximum(0.0, 1.0 - sign * f)
    elif cls is OneClassSVM:
        slack = np.maximum(0.0, -f)
    else:
        slack = np.maximum(0.0, np.abs(y - f) - rho)
    np.testing.assert_allclose(verdict.slack, np.where(kept, slack, 0.0), atol=1e-9)
    zero, _, bound = WORDS[cls]
    assert (verdict.label[~kept] == "left out").all()
    assert set(verdict.label[kept]) <= set(WORDS[cls])
    assert (verdict.label[kept] != zero).sum() == verdict.n_support
    assert (verdict.label == bound).sum() == verdict.n_bound > 0
    assert (verdict.slack[kept & (verdict.label != bound)] <= near).all()


@pytest.mark.skipif(sys.platform == "win32", reason="flushes the C library of POSIX")
@pytest.mark.parametrize("cls", MACHINES)
def test_objective_that_libsvm_prints(cls, capfd):
    X, y = rows(60)
    y = answers(cls, X, y)
    model = cls(tol=1e-6, gamma=0.1, verbose=True, **CHOICES[cls]).fit(X, y)
    ctypes.CDLL(None).fflush(None)  # it prints in C
    text = capfd.readouterr().out
    printed = float(re.search(r"obj = ([-\d.]+)", text)[1])
    verdict = certify(model, X, y)
    scale = verdict.level**2 if cls is NuSVC else 1.0  # printed after the division by ρ
    assert -verdict.dual / scale == pytest.approx(printed, abs=2e-6)
    if cls is NuSVC:
        assert verdict.level == pytest.approx(1 / float(re.search(r"C = (.+)", text)[1]))
    elif cls is NuSVR:
        tube = float(re.search(r"epsilon = (.+)", text)[1])
        assert verdict.level == pytest.approx(tube, abs=2e-6)
    elif cls is OneClassSVM:
        rho = float(re.search(r"rho = (.+)", text)[1])
        assert verdict.level == pytest.approx(rho, abs=2e-6)


@pytest.mark.parametrize("cls", MACHINES)
def test_weights_are_repetition(cls):
    X, y = rows(60)
    y = answers(cls, X, y)
    weight = np.random.default_rng(2).choice([0, 1, 2, 3], 60)
    model = machine_on(cls, "rbf").fit(X, y, weight)
    one = certify(model, X, y, weight)
    again = np.repeat(np.arange(60), weight)
    model = machine_on(cls, "rbf").fit(X[again], y[again])
    two = certify(model, X[again], y[again])
    assert one.primal == pytest.approx(two.primal, rel=1e-6)
    assert one.dual == pytest.approx(two.dual, rel=1e-6)
    assert one.level == pytest.approx(two.level, rel=1e-5)


def test_a_row_left_out_before_support_that_could_mean_either():
    # scikit-learn counts the rows of positive weight; its support_ could be rows of X.
    X, y = rows(60)
    K, z, tried = gram("rbf", X), answers(SVR, X, y), 0
    for row in range(60):
        weight = np.ones(60)
        weight[row] = 0.0
        model = machine_on(SVR, "precomputed").fit(K, z, weight)
        if row not in model.support_ and row < model.support_.max():
            tried += 1
            assert certify(model, K, z, weight).violation <= 1e-5
    assert tried > 3


@pytest.mark.parametrize("cls", MACHINES)
@pytest.mark.parametrize("tol", [1e-2, 1e-3, 1e-4])
def test_tol_bounds_the_violation(cls, tol):
    X, y = rows()
    y = answers(cls, X, y)
    verdict = certify(machine_on(cls, "rbf", tol=tol).fit(X, y), X, y)
    assert verdict.violation <= tol * 1.01
    assert verdict.violation > tol * 1e-3
    assert verdict.tol == tol


@pytest.mark.parametrize("C", [1.0, 100.0])
@pytest.mark.parametrize("nu", [0.1, 0.5, 1.0])
def test_nu_svr_that_shows_less_than_its_total(nu, C):
    # float32 kernel values that LIBSVM keeps as they are: its tol holds exactly, also
    # where the tube is closed and α and α* of one point cancel.
    X, y = rows(60)
    z = answers(NuSVR, X, y)
    K = gram("rbf", 3.0 * X).astype(np.float32).astype(np.float64)
    model = NuSVR(kernel="precomputed", nu=nu, C=C, tol=1e-6, shrinking=False)
    verdict = certify(model.fit(K, z), K, z)
    closed = np.abs(model.dual_coef_).sum() < 0.99 * nu * C * 60
    assert closed == (nu == 1.0 or C == 100.0)
    assert verdict.ok
    assert verdict.violation <= 1e-6
    assert (verdict.level <= 1e-5) == closed
    assert verdict.gap <= 1e-6 * C * 60


def test_nu_svc_of_several_classes():
    X, y = load_iris(return_X_y=True)
    model = NuSVC(nu=0.2, tol=1e-7).fit(X, y)
    verdict = certify(model, X, y)
    names = [one.name for one in verdict.problems]
    assert names == ["0 against 1", "0 against 2", "1 against 2"]
    for (i, j), one in zip([(0, 1), (0, 2), (1, 2)], verdict.problems, strict=True):
        some = np.isin(y, [i, j])
        alone = NuSVC(nu=0.2, tol=1e-7, gamma=1.0 / (4 * X.var())).fit(X[some], y[some])
        seen = certify(alone, X[some], y[some])
        assert one.dual == pytest.approx(seen.dual, rel=1e-6)
        assert one.level == pytest.approx(seen.level, rel=1e-5)
        assert one.violation <= 1e-5
    assert verdict.feasible


def test_class_weights_that_scikit_learn_ignores():
    X, y = rows()
    chosen = {0: 1.3, 1: 0.8}
    plain = NuSVC(nu=0.3, tol=1e-6).fit(X, y)
    model = NuSVC(nu=0.3, tol=1e-6, class_weight=chosen).fit(X, y)
    np.testing.assert_array_equal(model.dual_coef_, plain.dual_coef_)
    np.testing.assert_array_equal(model.class_weight_, [1.3, 0.8])
    assert certify(model, X, y).violation <= 1e-5
    # Others mean them: the same numbers from them are wrong, those with the weights of
    # the points in their place are right.
    assert not certify(stand_in(model), X, y).ok
    meant = np.where(y == 0, 1.3, 0.8)
    right = NuSVC(nu=0.3, tol=1e-6).fit(X, y, meant)
    seen = certify(stand_in(right, class_weight_=np.array([1.3, 0.8])), X, y)
    assert seen.violation <= 1e-5
    assert seen.feasible


@pytest.mark.parametrize("name", ["NuSVC", "SVR", "NuSVR"])
def test_sklearnex(name):
    svm = pytest.importorskip("sklearnex.svm", exc_type=ImportError)
    cls = {"NuSVC": NuSVC, "SVR": SVR, "NuSVR": NuSVR}[name]
    X, y = rows()
    y = answers(cls, X, y)
    weight = 1.0 + np.arange(len(y)) % 3
    model = getattr(svm, name)(tol=1e-4, **CHOICES[cls]).fit(X, y, weight)
    verdict = certify(model, X, y, weight)
    assert verdict.machine == name
    assert verdict.violation <= 1e-3
    assert verdict.feasible


# One against the rest


@pytest.mark.parametrize("cls", [SVC, NuSVC])
def test_one_against_the_rest(cls):
    X, y = load_iris(return_X_y=True)
    weight = 0.5 + np.arange(150) % 3
    weight[5] = 0.0
    chosen = {"C": 2.0} if cls is SVC else {"nu": 0.2}
    gamma = {"gamma": 1.0 / (4 * X.var()), "tol": 1e-6}
    kept = np.flatnonzero(weight)
    parts = []
    full = np.zeros((3, 150))
    for c in range(3):
        part = cls(**chosen, **gamma).fit(X, y == c, weight)
        full[c, kept[part.support_]] = part.dual_coef_[0]
        parts.append(part)
    support = np.flatnonzero(full.any(axis=0))
    support = support[np.argsort(y[support], kind="stable")]
    model = SimpleNamespace(
        **chosen, **gamma, kernel="rbf", multi_class="ovr", classes_=np.arange(3),
        class_weight_=np.ones(3), support_=support, support_vectors_=X[support],
        n_support_=np.bincount(y[support]), dual_coef_=full[:, support],
        intercept_=np.array([part.intercept_[0] for part in parts]), shape_fit_=X.shape,
    )  # fmt: skip
    verdict = certify(model, X, y, weight)
    assert [one.name for one in verdict.problems] == [
        f"{c} against the rest" for c in range(3)
    ]
    for c, one in enumerate(verdict.problems):
        seen = certify(parts[c], X, y == c, weight)
        assert one.dual == pytest.approx(seen.dual, rel=1e-12)
        assert one.primal == pytest.approx(seen.primal, rel=1e-12)
        assert one.violation == pytest.approx(seen.violation, abs=1e-12)
        assert (one.n_support, one.n_bound) == (seen.n_support, seen.n_bound)
        np.testing.assert_allclose(one.slack, seen.slack[one.index], atol=1e-12)
    assert verdict.feasible
    assert verdict.violation <= 1e-4
    assert verdict.n_support == support.size
    assert verdict.label[5] == "left out"
    model.multi_class = "ovo"
    with pytest.raises(InputError, match="dual_coef_ has shape"):
        certify(model, X, y, weight)
    model.multi_class = "kesler"
    with pytest.raises(InputError, match="multi_class='kesler'"):
        certify(model, X, y, weight)


# Tampering


@pytest.mark.parametrize("cls", MACHINES)
def test_spoiled_coefficients_are_seen(cls):
    X, y = rows()
    y = answers(cls, X, y)
    model = machine_on(cls, "rbf", tol=1e-4).fit(X, y)
    good = certify(stand_in(model), X, y)
    assert good.ok
    coef = model.dual_coef_[0]
    free = np.flatnonzero(np.abs(coef) < 0.99 * np.abs(coef).max())
    same = free[np.sign(coef[free]) == np.sign(coef[free[0]])]
    for spoil in ("one", "pair", "all", "sign", "intercept"):
        changed, b = coef.copy(), model.intercept_.copy()
        if spoil == "one":
            changed[free[0]] *= 0.5
        elif spoil == "pair":  # keeps every sum
            step = 0.3 * min(abs(changed[same[:2]]))
            changed[same[0]] += step
            changed[same[1]] -= step
        elif spoil == "all":
            changed *= 1.2
        elif spoil == "sign":
            changed *= -1.0
        else:
            b += 0.1
        bad = stand_in(model, dual_coef_=changed[None], intercept_=b)
        if cls is OneClassSVM:
            bad.offset_ = -b
        verdict = certify(bad, X, y)
        assert not verdict.ok, spoil
        kept = {"pair", "intercept"}
        kept |= {"sign"} if cls in {SVR, NuSVR} else {"all"} if cls is NuSVC else set()
        assert verdict.feasible == (spoil in kept), spoil
        assert ("infeasible" in str(verdict)) == (not verdict.feasible)
        assert not verdict.feasible or verdict.gap > 2.0 * good.gap
        assert spoil != "intercept" or "stray" in str(verdict)


@pytest.mark.parametrize("cls", [SVR, NuSVR, OneClassSVM])
def test_contradictions_are_named(cls):
    X, y = rows(60)
    y = answers(cls, X, y)
    model = machine_on(cls, "rbf").fit(X, y)
    coef, support = model.dual_coef_, model.support_
    cases = [
        ({"dual_coef_": coef[0]}, "dual_coef_ has shape"),
        ({"dual_coef_": coef[:, 1:]}, "dual_coef_ has shape"),
        ({"dual_coef_": np.vstack([coef, coef])}, "dual_coef_ has shape"),
        ({"dual_coef_": coef * np.inf}, "dual_coef_ contains"),
        ({"intercept_": np.zeros(2)}, "intercept_ has shape"),
        ({"n_support_": model.n_support_ + 1}, "n_support_ must sum"),
        ({"n_support_": np.array([1, 1])}, "n_support_ has shape"),
        ({"support_": support[::-1]}, "are no rows of this X"),
        ({"support_": support + 60}, "distinct rows"),
        ({"support_vectors_": X[support] + 1.0}, "are no rows of this X"),
        ({"shape_fit_": (59, 6)}, "X has shape"),
        ({"kernel": "gauss"}, "kernel='gauss'"),
    ]
    if cls is not SVR:
        cases += [
            ({"nu": 0.0}, "nu=0.0"),
            ({"nu": 2.0}, r"nu=2\.0"),
            ({"nu": "x"}, "nu="),
        ]
    if cls is SVR:
        cases += [({"epsilon": -1.0}, "tube is -1.0")]
    if cls is not OneClassSVM:
        cases += [({"C": 0.0}, "C=0.0")]
    if cls is NuSVR:
        cases += [({"epsilon_": -0.1}, "tube is -0.1")]
    if cls is OneClassSVM:
        cases += [({"offset_": model.offset_ + 1.0}, "offset_ is")]
        cases += [({"radius_": -1.0}, "radius_=-1.0")]
    for changes, message in cases:
        with pytest.raises(InputError, match=message):
            certify(stand_in(model, **changes), X, y)


@pytest.mark.parametrize("cls", MACHINES)
def test_other_data_than_those_of_the_fit(cls):
    X, y = rows(60)
    y = answers(cls, X, y)
    weight = np.ones(60)
    model = machine_on(cls, "rbf").fit(X, y)
    for other in (X[::-1], X + 1.0, np.zeros_like(X)):
        with pytest.raises(InputError, match="are no rows of this X"):
            certify(model, other, y)
    for other in (X[:50], X[:, :3]):
        with pytest.raises(InputError, match="X has shape"):
            certify(model, other, y[: len(other)])
    weight[model.support_[0]] = 0.0
    with pytest.raises(InputError, match="positive weights"):
        certify(model, X, y, weight)
    with pytest.raises(InputError, match="sample_weight has shape"):
        certify(model, X, y, np.ones(3))
    if cls is not OneClassSVM:
        with pytest.raises(InputError, match="y is None"):
            certify(model, X)
        with pytest.raises(InputError, match="y has shape"):
            certify(model, X, y[:50])
    if cls in {SVR, NuSVR}:
        assert certify(model, X, y[:, None]).feasible
        assert not certify(model, X, y + 0.5 * X[:, 2]).ok
        with pytest.raises(InputError, match="y contains NaN"):
            certify(model, X, y * np.nan)
        with pytest.raises(InputError, match="y must hold numbers"):
            certify(model, X, ["much"] * 60)


def test_other_weights_are_seen():
    X, _ = rows(60)
    weight = 1.0 + np.arange(60) % 2
    model = machine_on(OneClassSVM, "rbf").fit(X, sample_weight=weight)
    assert certify(model, X, None, weight).violation < 1e-5
    assert not certify(model, X).feasible


@pytest.mark.parametrize("cls", MACHINES)
def test_not_fitted(cls):
    with pytest.raises(
        InputError, match=f"after fit, and judges this one as {cls.__name__}"
    ):
        certify(cls(), *rows(60))


def test_subclasses_are_what_they_inherit():
    class Mine(NuSVR):
        """A machine with a name of its own."""

    X, y = rows(60)
    z = answers(NuSVR, X, y)
    assert certify(Mine().fit(X, z), X, z).machine == "NuSVR"


# What people read


@pytest.mark.parametrize(
    ("cls", "said", "unsaid"),
    [
        (NuSVC, ["after division by rho", "rho     ", "margin  ", "violating"], "tube"),
        (SVR, ["intercept   in [", "tube        0.2 to either", "on the tube"], "margin"),
        (NuSVR, ["tube        ", ", optimal in [", "outside the tube"], "margin"),
        (OneClassSVM, ["rho         ", "margin  ", "on the boundary"], "intercept"),
    ],
)  # fmt: skip
def test_printing(cls, said, unsaid):
    X, y = rows(60)
    y = answers(cls, X, y)
    weight = np.ones(60)
    weight[0] = 0.0
    model = machine_on(cls, "rbf", tol=1e-3).fit(X, y, weight)
    verdict = certify(model, X, y, weight)
    text = str(verdict)
    for part in [*said, "1 left out", "≤ tol 0.001"]:
        assert part in text
    assert unsaid not in text
    assert "infeasible" not in text
    assert "stray" not in text
    again = pickle.loads(pickle.dumps(verdict))
    assert str(again) == text


def test_printing_a_ball():
    text = str(certify(by_hand(LINE, [0.5, 0.0, 0.5], nu=2 / 3, radius_=1.0), LINE))
    assert "radius      1, optimal in [0, 1]" in text
    assert "points      2 outside, 1 inside" in text
    assert "intercept" not in text
    assert "margin" not in text
