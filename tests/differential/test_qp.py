"""Tiny machines against general solvers of quadratic programmes.

Nothing is shared with the library: the programme is written down here in α, from a
kernel matrix made by NumPy, and handed to an interior-point method (Clarabel) or to
sequential quadratic programming (SciPy).
"""

from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from tests import data

from maxmargin import SVC, InputError, certify


class Programme(NamedTuple):
    """max Σα − ½α'Qα, 0 ≤ α ≤ top, and y'α = 0 when balanced."""

    Q: np.ndarray
    y: np.ndarray
    top: np.ndarray
    balanced: bool

    def dual(self, alpha: np.ndarray) -> float:
        return float(alpha.sum() - 0.5 * alpha @ self.Q @ alpha)


def points(name: str) -> tuple[np.ndarray, np.ndarray]:
    """At most 30 points with labels ±1."""
    if name == "heart":
        X, y = data.libsvm("heart_scale")
        return X.toarray()[:30], y[:30]
    if name == "iris":  # its two classes that overlap
        X, y = data.pmlb("iris")
        some = np.flatnonzero(y > 0)[::4]
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        return X[some], np.where(y[some] == 1, 1.0, -1.0)
    if name == "plane":
        X, y, *_ = data.teaching(2)
        some = np.arange(len(y))[:: len(y) // 29][:30]
        return X[some], np.where(y[some] == 1, 1.0, -1.0)
    rng = np.random.default_rng(3)  # points that repeat, with labels that contradict
    X = rng.integers(0, 3, (24, 2)).astype(float)
    return X, np.where(rng.random(24) < 0.5, 1.0, -1.0)


def gram(X: np.ndarray, kernel: str) -> np.ndarray:
    dots = X @ X.T
    if kernel == "linear":
        return dots
    if kernel == "poly":
        return (0.5 * dots + 1.0) ** 3
    norms = np.diag(dots)
    return np.exp(-0.5 * (norms[:, None] + norms - 2.0 * dots))


def programme(
    X: np.ndarray, y: np.ndarray, kernel: str, loss: str, prices: Any, intercept: bool
) -> Programme:
    Q = y[:, None] * gram(X, kernel) * y
    if loss == "squared_hinge":
        return Programme(Q + np.diag(0.5 / prices), y, np.full(len(y), np.inf), intercept)
    return Programme(Q, y, prices, intercept)


def by_clarabel(one: Programme) -> np.ndarray:
    clarabel = pytest.importorskip("clarabel")
    n, bounded = len(one.y), np.flatnonzero(np.isfinite(one.top))
    rows, right, cones = [], [], []
    if one.balanced:
        rows.append(one.y[None, :])
        right.append([0.0])
        cones.append(clarabel.ZeroConeT(1))
    rows += [-np.eye(n), np.eye(n)[bounded]]
    right += [np.zeros(n), one.top[bounded]]
    cones.append(clarabel.NonnegativeConeT(n + bounded.size))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    solver = clarabel.DefaultSolver(
        sp.csc_matrix(np.triu(one.Q)),
        -np.ones(n),
        sp.csc_matrix(np.vstack(rows)),
        np.concatenate(right),
        cones,
        settings,
    )
    solution = solver.solve()
    assert "Solved" in str(solution.status)
    return np.clip(np.array(solution.x), 0.0, one.top)


def by_slsqp(one: Programme) -> np.ndarray:
    n = len(one.y)
    balance = {"type": "eq", "fun": lambda a: one.y @ a, "jac": lambda a: one.y}
    found = minimize(
        lambda alpha: -one.dual(alpha),
        np.zeros(n),
        jac=lambda alpha: one.Q @ alpha - 1.0,
        bounds=[(0.0, top) for top in one.top],
        constraints=[balance] if one.balanced else [],
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 2000},
    )
    return np.clip(found.x, 0.0, one.top)


def alphas(machine: SVC, n: int) -> np.ndarray:
    alpha = np.zeros(n)
    alpha[machine.support_] = np.abs(machine.dual_coef_[0])
    return alpha


def fitted(X, y, kernel, loss, C, weight, intercept, **more) -> SVC:
    machine = SVC(
        C=C,
        kernel=kernel,
        gamma=0.5,
        coef0=1.0 if kernel == "poly" else 0.0,
        loss=loss,
        fit_intercept=intercept,
        tol=1e-7,
        **more,
    )
    return machine.fit(X, y, sample_weight=weight)


CASES = list(
    product(
        ("heart", "iris", "plane", "repeated"),
        ("linear", "poly", "rbf"),
        ("hinge", "squared_hinge"),
        (True, False),
        (False, True),
    )
)


@pytest.mark.parametrize(("name", "kernel", "loss", "intercept", "weighted"), CASES)
@pytest.mark.parametrize("C", [0.05, 10.0])
def test_objective_of_an_interior_point_method(
    name, kernel, loss, intercept, weighted, C
):
    X, y = points(name)
    weight = 0.25 + np.arange(len(y)) % 4 if weighted else np.ones(len(y))
    machine = fitted(X, y, kernel, loss, C, weight if weighted else None, intercept)
    one = programme(X, y, kernel, loss, C * weight, intercept)
    best = one.dual(by_clarabel(one))
    assert one.dual(alphas(machine, len(y))) == pytest.approx(best, rel=1e-6)
    assert machine.certificate_.dual == pytest.approx(best, rel=1e-6)
    seen = certify(machine, X, y, weight)
    assert seen.dual == pytest.approx(best, rel=1e-6)
    assert seen.primal >= best * (1.0 - 1e-9)  # weak duality
    assert seen.primal == pytest.approx(best, rel=1e-4)
    if not intercept:
        assert machine.intercept_[0] == 0.0


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("name", ["heart", "plane"])
def test_objective_of_sequential_quadratic_programming(name, loss, intercept):
    X, y = points(name)
    weight = 0.5 + np.arange(len(y)) % 3
    machine = fitted(X, y, "rbf", loss, 2.0, weight, intercept)
    one = programme(X, y, "rbf", loss, 2.0 * weight, intercept)
    best = one.dual(by_slsqp(one))
    assert machine.certificate_.dual == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("name", ["heart", "iris", "plane"])
def test_class_weights_are_prices(name):
    X, y = points(name)
    machine = fitted(
        X, y, "rbf", "hinge", 1.0, None, True, class_weight={-1.0: 0.5, 1.0: 4.0}
    )
    one = programme(X, y, "rbf", "hinge", np.where(y > 0, 4.0, 0.5), True)
    assert machine.certificate_.dual == pytest.approx(
        one.dual(by_clarabel(one)), rel=1e-6
    )


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("kernel", ["rbf", "poly"])
def test_hard_margin(kernel, intercept):
    X, y = points("heart")
    machine = fitted(X, y, kernel, "hinge", np.inf, None, intercept)
    one = programme(X, y, kernel, "hinge", np.full(len(y), np.inf), intercept)
    best = one.dual(by_clarabel(one))
    assert machine.certificate_.dual == pytest.approx(best, rel=1e-6)
    assert machine.certificate_.primal == pytest.approx(best, rel=1e-4)
    # At the optimum ½‖w‖² is the value of both sides.
    assert machine.margin_ == pytest.approx(2.0 / np.sqrt(2.0 * best), rel=1e-6)


def test_no_hard_margin_where_labels_contradict():
    X, y = points("repeated")
    with pytest.raises(InputError, match="overlap"):
        fitted(X, y, "rbf", "hinge", np.inf, None, True)


@pytest.mark.parametrize("name", ["heart", "iris", "plane"])
def test_interval_of_the_intercept(name):
    # The multiplier of y'α = 0 is −b, wherever a free support vector fixes it.
    X, y = points(name)
    machine = fitted(X, y, "rbf", "hinge", 1.0, None, True)
    one = programme(X, y, "rbf", "hinge", np.ones(len(y)), True)
    alpha = by_clarabel(one)
    free = np.flatnonzero((alpha > 1e-3) & (alpha < 1.0 - 1e-3))
    assert free.size > 0
    b = y[free] - gram(X, "rbf")[free] @ (y * alpha)
    lo, hi = machine.certificate_.bias_interval
    assert lo - 1e-6 <= b.mean() <= hi + 1e-6
    assert machine.intercept_[0] == pytest.approx(b.mean(), abs=1e-6)
