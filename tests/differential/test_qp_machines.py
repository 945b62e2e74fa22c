"""Tiny NuSVC, SVR, NuSVR, OneClassSVM and SVDD against an interior-point method.

Each programme is written down here as the papers have it (ν as an inequality, two
variables a point for regression, SVDD in α with Σα = 1), from a kernel matrix made by
NumPy, and handed to Clarabel. The primal is computed from the machine's public figures:
w from the coefficients, and b, ρ, ε and R as it tells them. (SVC is in ``test_qp.py``.)
"""

from typing import Any, NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp
from tests.differential.test_qp import gram, points

import maxmargin
from maxmargin import SVR, InputError, NuSVC, NuSVR, OneClassSVM, certify
from maxmargin.errors import VanishingMarginWarning
from maxmargin.kernels.gram.table import TableGram
from maxmargin.problem import (
    c_svc,
    epsilon_svr,
    nu_svc,
    nu_svr,
    objective,
    one_class,
    svdd,
)
from maxmargin.solvers.base import drive
from maxmargin.solvers.smo.working_set import WorkingSetSmo

# Random rows may overlap by more than nu allows, which is told (and tested elsewhere).
pytestmark = pytest.mark.filterwarnings("ignore:nu=.* is too small for these data")

SETS = ("heart", "iris", "plane", "repeated")
KERNELS = ("linear", "poly", "rbf")
TOL = 1e-8


class Programme(NamedTuple):
    """min ½x'Px + q'x, A x = b, G x ≤ h, low ≤ x ≤ top."""

    P: np.ndarray
    q: np.ndarray
    top: np.ndarray
    A: list[np.ndarray]
    b: list[float]
    G: tuple[np.ndarray, ...] = ()
    h: tuple[float, ...] = ()
    low: float | np.ndarray = 0.0

    def least(self) -> float:
        """The smallest value, by Clarabel."""
        clarabel = pytest.importorskip("clarabel")
        n = len(self.q)
        cones = [
            clarabel.ZeroConeT(len(self.A)),
            clarabel.NonnegativeConeT(len(self.G) + 2 * n),
        ]
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
        solution = clarabel.DefaultSolver(
            sp.csc_matrix(np.triu(self.P)),
            self.q,
            sp.csc_matrix(np.vstack([*self.A, *self.G, np.eye(n), -np.eye(n)])),
            np.concatenate([self.b, self.h, self.top, np.full(n, -self.low)]),
            cones,
            settings,
        ).solve()
        assert "Solved" in str(solution.status)
        return float(solution.obj_val)


def optimum(machine: str, K, y, w, nu=0.0, C=1.0, epsilon=0.0) -> float:
    """The largest dual value, in the units of the certificate."""
    n, N = len(y), w.sum()
    one, nothing = np.ones(n), np.zeros(n)
    if machine == "NuSVC":
        Q = y[:, None] * K * y
        return -Programme(Q, nothing, w, [y], [0.0], (-one,), (-nu * N,)).least()
    if machine == "OneClassSVM":
        return -Programme(K, nothing, w, [one], [nu * N]).least()
    if machine == "SVDD":
        mass = nu * N
        ball = Programme(2.0 * K, -np.diag(K).copy(), w / mass, [one], [1.0])
        return -0.5 * mass**2 * ball.least()
    if machine == "SVR" and epsilon == 0.0:  # two variables a point would be arbitrary
        return -Programme(K, -y, C * w, [one], [0.0], low=-C * w).least()
    signs = np.concatenate([one, -one])
    Q = signs[:, None] * np.tile(K, (2, 2)) * signs
    top = np.tile(C * w, 2)
    if machine == "SVR":
        q = epsilon - signs * np.tile(y, 2)
        return -Programme(Q, q, top, [signs], [0.0]).least()
    rule = (np.ones(2 * n),), (nu * C * N,)
    return -Programme(Q, -signs * np.tile(y, 2), top, [signs], [0.0], *rule).least()


def primal(machine: Any, K, y, w) -> float:
    """What the machine minimises, from its public attributes."""
    beta = np.zeros(len(y))
    beta[machine.support_] = machine.dual_coef_[0]
    g, b = K @ beta, float(machine.intercept_[0])
    name = type(machine).__name__
    if name == "SVR":
        cost = np.maximum(0.0, np.abs(y - g - b) - machine.epsilon)
        return float(0.5 * beta @ g + machine.C * w @ cost)
    if name == "NuSVR":
        cost = np.maximum(0.0, np.abs(y - g - b) - machine.epsilon_)
        price = machine.C * w
        tube = machine.nu * machine.epsilon_ * price.sum()
        return float(0.5 * beta @ g + tube + price @ cost)
    mass = machine.nu * w.sum()
    if name == "OneClassSVM":
        return float(0.5 * beta @ g + mass * b + w @ np.maximum(0.0, -b - g))
    if name == "NuSVC":
        rho = mass / np.abs(beta).sum()
        slack = np.maximum(0.0, 1.0 - y * (g + b))
        return float(rho**2 * 0.5 * beta @ g - mass * rho + rho * w @ slack)
    distance2 = np.diag(K) - 2.0 * g + beta @ g
    r2 = machine.radius_**2
    ball = r2 + w @ np.maximum(0.0, distance2 - r2) / mass
    return float(0.5 * mass**2 * ball)


def regression(name: str) -> tuple[np.ndarray, np.ndarray]:
    """The points with a target that the first features have a part in."""
    X, y = points(name)
    z = np.sin(X[:, 0]) + 0.3 * X[:, 1] + 0.4 * y * np.cos(np.arange(len(y)))
    return X, z


def fitted(machine: str, X, y, kernel: str, weight, **more) -> Any:
    coef0 = 1.0 if kernel == "poly" else 0.0
    kind = getattr(maxmargin, machine)
    one = kind(kernel=kernel, gamma=0.5, coef0=coef0, tol=TOL, **more)
    return one.fit(X, y, sample_weight=weight)


def check(machine: str, name: str, kernel: str, weight=None, **more) -> Any:
    X, y = regression(name) if "SVR" in machine else points(name)
    K = gram(X, kernel)
    w = np.ones(len(y)) if weight is None else weight
    there = w > 0.0
    best = optimum(machine, K[np.ix_(there, there)], y[there], w[there], **more)
    one = fitted(machine, X, y, kernel, weight, **more)
    # Values may be 0 (a tube around everything): then rounding of what is summed counts.
    size = 1e-8 * (w.sum() * np.abs(K).max() + np.abs(y).sum())
    for found in (one.certificate_, certify(one, X, y, weight)):
        assert found.dual == pytest.approx(best, rel=1e-6, abs=size)
        assert found.primal == pytest.approx(best, rel=1e-5, abs=10 * size)
        assert found.primal >= best - 1e-8 * abs(best) - size  # weak duality
    assert one.certificate_.ok
    value = primal(one, K, y, np.maximum(w, 0.0))
    assert value == pytest.approx(one.certificate_.primal, rel=1e-7, abs=size)
    return one


def weights(n: int) -> np.ndarray:
    return np.arange(n) % 4 / 2.0  # every fourth row is left out


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("nu", [0.1, 0.5])
@pytest.mark.parametrize("machine", ["OneClassSVM", "SVDD"])
def test_one_class_and_ball(machine, nu, name, kernel, weighted):
    weight = weights(len(points(name)[1])) if weighted else None
    check(machine, name, kernel, weight, nu=nu)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("epsilon", [0.0, 0.2])
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_regression(C, epsilon, name, kernel, weighted):
    weight = weights(len(points(name)[1])) if weighted else None
    check("SVR", name, kernel, weight, C=C, epsilon=epsilon)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("nu", [0.2, 0.7, 1.0])
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_regression_with_nu(C, nu, name, kernel, weighted):
    weight = weights(len(points(name)[1])) if weighted else None
    check("NuSVR", name, kernel, weight, C=C, nu=nu)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", ["heart", "iris", "plane"])
@pytest.mark.parametrize("part", [0.6, 0.9])
def test_classes_with_nu(part, name, kernel, weighted):
    if (name, kernel) == ("plane", "linear"):
        kernel = "poly"  # no line parts the classes of the plane, at any such ν
    _, y = points(name)
    weight = weights(len(y)) if weighted else np.ones(len(y))
    share = weight[y > 0].sum() / weight.sum()
    nu = part * 2.0 * min(share, 1.0 - share)
    check("NuSVC", name, kernel, weight if weighted else None, nu=nu)


# --- at the edges -----------------------------------------------------------------------


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", ["heart", "iris", "plane"])
def test_the_largest_feasible_nu(name, kernel):
    _, y = points(name)
    limit = 2.0 * min((y > 0).mean(), (y < 0).mean())
    one = check("NuSVC", name, kernel, nu=limit)
    smaller = 1.0 if (y > 0).sum() <= (y < 0).sum() else -1.0
    # every point of the smaller class is at its bound
    assert (y[one.support_] == smaller).sum() == (y == smaller).sum()
    with pytest.raises(InputError, match="largest feasible nu is"):
        fitted("NuSVC", *points(name), kernel, None, nu=limit * 1.001)


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_largest_feasible_nu_counts_weights(kernel):
    _, y = points("plane")
    weight = np.where(y > 0, 0.25, 2.0)
    limit = 2.0 * weight[y > 0].sum() / weight.sum()
    check("NuSVC", "plane", kernel, weight, nu=limit)
    with pytest.raises(InputError, match="largest feasible nu is"):
        fitted("NuSVC", *points("plane"), kernel, weight, nu=limit * 1.001)


@pytest.mark.parametrize("machine", ["OneClassSVM", "SVDD"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_nu_of_one_is_the_mean(machine, kernel):
    one = check(machine, "plane", kernel, nu=1.0)
    coef = one.dual_coef_[0]
    np.testing.assert_allclose(coef, 1.0 if machine == "OneClassSVM" else 1 / len(coef))
    assert one.n_support_.tolist() == [len(points("plane")[1])]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("machine", ["OneClassSVM", "SVDD"])
def test_a_small_nu_leaves_nobody_outside(machine, kernel):
    X, _ = points("plane")
    one = check(machine, "plane", kernel, nu=0.9 / len(X))  # no box can be full
    assert one.decision_function(X).min() >= -1e-6
    assert one.certificate_.n_bound == 0


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", SETS)
def test_a_tube_around_everything(name, kernel):
    _, z = regression(name)
    wide = float(np.ptp(z))
    one = check("SVR", name, kernel, C=3.0, epsilon=wide)
    assert one.support_.size == 0
    assert one.n_iter_ == 0
    assert one.certificate_.primal == 0.0
    lo, hi = one.certificate_.bias_interval
    np.testing.assert_allclose([lo, hi], [z.max() - wide, z.min() + wide], rtol=1e-12)
    assert lo <= one.intercept_[0] <= hi


def test_a_tube_just_too_narrow_for_everything():
    _, z = regression("plane")
    one = check("SVR", "plane", "rbf", C=3.0, epsilon=0.49 * float(np.ptp(z)))
    assert one.support_.size > 0


@pytest.mark.parametrize("nu", [0.3, 1.0])
def test_targets_that_are_equal(nu):
    X, _ = points("heart")
    one = NuSVR(nu=nu, gamma=0.5, tol=TOL).fit(X, np.full(len(X), 7.0))
    assert one.epsilon_ == pytest.approx(0.0, abs=1e-7)
    np.testing.assert_allclose(one.predict(X), 7.0, atol=1e-6)
    other = SVR(epsilon=0.0, gamma=0.5, tol=TOL).fit(X, np.full(len(X), 7.0))
    np.testing.assert_allclose(other.predict(X), 7.0, atol=1e-6)


def test_a_tube_of_no_width_and_nu_of_one_are_the_same():
    # With ν = 1 nothing is paid for ε = 0: both minimise the sum of absolute errors.
    X, z = regression("heart")
    one = fitted("SVR", X, z, "rbf", None, C=0.7, epsilon=0.0)
    other = fitted("NuSVR", X, z, "rbf", None, C=0.7, nu=1.0)
    np.testing.assert_allclose(one.predict(X), other.predict(X), atol=1e-6)
    assert other.epsilon_ == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("name", ["iris", "plane"])
def test_svr_with_the_tube_of_nu_svr_is_the_same_machine(name):
    X, z = regression(name)
    one = fitted("NuSVR", X, z, "rbf", None, C=2.0, nu=0.4)
    assert one.epsilon_ > 1e-3
    other = fitted("SVR", X, z, "rbf", None, C=2.0, epsilon=one.epsilon_)
    np.testing.assert_allclose(one.predict(X), other.predict(X), atol=1e-6)


@pytest.mark.parametrize("name", ["heart", "plane"])
def test_svc_with_the_price_of_nu_svc_is_the_same_machine(name):
    X, y = points(name)
    one = NuSVC(nu=0.5, gamma=0.5, tol=1e-11).fit(X, y)  # ρ is small, and divides it
    price = np.abs(one.dual_coef_).sum() / (0.5 * len(y))  # 1/ρ
    other = fitted("SVC", X, y, "rbf", None, C=price)
    np.testing.assert_allclose(
        one.decision_function(X), other.decision_function(X), atol=1e-5
    )


# --- rows that are held out: boxes of [0, 0], as in the folds of probabilities ----------


@pytest.mark.parametrize("fold", [0, 1, 2])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(
    "machine", ["SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM", "SVDD"]
)
def test_zero_boxes_are_no_rows(machine, kernel, fold):
    X, y = regression("heart") if "SVR" in machine else points("heart")
    kept = np.arange(len(y)) % 3 != fold
    K, w = gram(X, kernel), np.where(kept, 0.5 + np.arange(len(y)) % 2, 0.0)
    less = K[np.ix_(kept, kept)], y[kept], w[kept]
    table = TableGram(K)
    problem, best = {
        "SVC": lambda: (c_svc(table, y, w), None),
        "NuSVC": lambda: (nu_svc(table, y, w, 0.5), optimum("NuSVC", *less, nu=0.5)),
        "SVR": lambda: (
            epsilon_svr(table, y, w, 0.1),
            optimum("SVR", *less, epsilon=0.1),
        ),
        "NuSVR": lambda: (
            nu_svr(TableGram(np.tile(K, (2, 2))), y, w, 0.5),
            optimum("NuSVR", *less, nu=0.5),
        ),
        "OneClassSVM": lambda: (
            one_class(table, w, 0.3),
            optimum("OneClassSVM", *less, nu=0.3),
        ),
        "SVDD": lambda: (svdd(table, w, 0.3), optimum("SVDD", *less, nu=0.3)),
    }[machine]()
    end = drive(WorkingSetSmo(tol=TOL), problem)
    if best is None:
        other = drive(WorkingSetSmo(tol=TOL), c_svc(TableGram(less[0]), *less[1:]))
        best = -objective_value(less[0], other.model.beta, -less[1])
    beta = end.model.beta
    assert not beta[~np.resize(kept, beta.size)].any()
    both = objective(problem, end.model)
    assert both.dual == pytest.approx(best, rel=1e-6)
    assert both.primal == pytest.approx(best, rel=1e-5)


def objective_value(K, beta, p) -> float:
    return float(0.5 * beta @ K @ beta + p @ beta)


def test_one_row_is_enough_for_one_class():
    for machine in (OneClassSVM, maxmargin.SVDD):
        one = machine(nu=0.5, gamma=1.0, tol=TOL).fit([[1.0, 2.0]])
        assert one.support_.tolist() == [0]
        assert one.decision_function([[1.0, 2.0]])[0] == pytest.approx(0.0, abs=1e-12)
        assert one.decision_function([[2.0, 2.0]])[0] < 0.0


def test_a_margin_that_vanishes_is_told():
    # Contradicting labels: below some ν no plane has them on the right sides of ρ > 0.
    X = np.repeat(np.random.default_rng(0).normal(size=(10, 2)), 2, axis=0)
    with pytest.warns(VanishingMarginWarning, match=r"margin of.*vanishes.*raise nu"):
        NuSVC(nu=0.5, kernel="linear", tol=TOL).fit(X, np.tile([0, 1], 10))
