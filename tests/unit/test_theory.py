"""Conversions, bounds and worked examples, against closed forms and minimisation."""

import math
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn.datasets import make_blobs

import maxmargin
from maxmargin import SVC, InputError, NuSVC, kernels, theory
from maxmargin.errors import InputTypeError
from maxmargin.problem import dual_value, model_of, objective

# --- the soft margin in every form ------------------------------------------------------

# The objectives as the seeds print them, of ‖w‖², the slacks and the constant.
PRINTED = {
    "pegasos": lambda norm2, xi, lam: lam / 2 * norm2 + xi.mean(),
    "notes": lambda norm2, xi, lam: xi.mean() + lam / (2 * xi.size) * norm2,
    "soft-svm": lambda norm2, xi, lam: lam * norm2 + xi.mean(),
    "ridge": lambda norm2, xi, lam: xi.sum() + lam * norm2,
    "sum": lambda norm2, xi, c: norm2 + c * xi.sum(),
}
ALIASES = {
    "sgd": "pegasos",
    "S0-pegasos": "pegasos",
    "S2-sgd": "pegasos",
    "S1": "notes",
    "S2-soft-svm": "soft-svm",
    "S4": "ridge",
    "S0": "sum",
}


def points(n=14, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)) + 0.8
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    return X * y[:, None] + 0.6 * rng.normal(size=(n, 2)), y


def test_every_form_is_tested():
    assert set(theory.FORMS) == set(PRINTED)


@pytest.mark.parametrize("form", PRINTED)
def test_the_objectives_are_proportional(form):
    X, y = points()
    value, rng = 0.37, np.random.default_rng(1)
    C = theory.to_C(value, y.size, form)
    ratios = []
    for _ in range(20):
        w = rng.normal(size=2) * rng.uniform(0.1, 5.0)
        xi = np.maximum(0.0, 1.0 - y * (X @ w))
        ratios.append(PRINTED[form](w @ w, xi, value) / (0.5 * w @ w + C * xi.sum()))
    assert np.ptp(ratios) <= 1e-12 * ratios[0]


@pytest.mark.parametrize(("form", "value"), [
    ("pegasos", 0.1), ("notes", 2.0), ("soft-svm", 0.05), ("ridge", 1.5), ("sum", 0.8),
])  # fmt: skip
def test_the_minimisers_are_the_same(form, value):
    X, y = points()
    n = y.size

    def printed(v):
        return PRINTED[form](v[:2] @ v[:2], v[2:], value)

    found = minimize(
        printed, np.concatenate([np.zeros(2), np.ones(n)]), method="SLSQP",
        bounds=[(None, None)] * 2 + [(0, None)] * n,
        constraints={"type": "ineq", "fun": lambda v: y * (X @ v[:2]) - 1 + v[2:]},
        options={"ftol": 1e-15, "maxiter": 500},
    )  # fmt: skip
    C = theory.to_C(value, n, form)
    machine = SVC(C=C, kernel="linear", fit_intercept=False, tol=1e-9).fit(X, y)
    assert machine.coef_[0] == pytest.approx(found.x[:2], abs=1e-5)
    # the comparison can fail: another C has another w
    other = SVC(C=2 * C, kernel="linear", fit_intercept=False, tol=1e-9).fit(X, y)
    assert np.abs(other.coef_[0] - found.x[:2]).max() > 1e-3


@pytest.mark.parametrize("form", [*PRINTED, *ALIASES])
def test_there_and_back(form):
    for value in (1e-6, 0.3, 41.0):
        there = theory.to_C(value, 37, form)
        assert theory.from_C(there, 37, form) == pytest.approx(value, rel=1e-15)
    if form not in ("sum", "S0"):
        assert theory.to_C(0.3, 37, form) == theory.from_C(0.3, 37, form)


@pytest.mark.parametrize(("alias", "form"), ALIASES.items())
def test_aliases(alias, form):
    assert theory.to_C(0.3, 11, alias) == theory.to_C(0.3, 11, form)


def test_the_table():
    expected = {"pegasos": 1 / 8, "notes": 1 / 2, "soft-svm": 1 / 16, "ridge": 1 / 4}
    assert {form: theory.to_C(2.0, 4, form) for form in expected} == expected
    assert theory.to_C(2.0, 4, "sum") == 1.0
    assert theory.from_C(2.0, 4, "sum") == 4.0


@pytest.mark.parametrize("convert", [theory.to_C, theory.from_C])
def test_conversions_refuse(convert):
    for bad in (0.0, -1.0, math.inf, math.nan):
        with pytest.raises(InputError, match="positive and finite"):
            convert(bad, 10, "notes")
    with pytest.raises(InputError, match="at least 1"):
        convert(1.0, 0, "notes")
    with pytest.raises(InputTypeError, match="an integer"):
        convert(1.0, 2.5, "notes")
    with pytest.raises(InputTypeError, match="a positive number"):
        convert("1", 10, "notes")
    with pytest.raises(InputError, match=r"'pegasos' .*'notes' .*'ridge' .*'S0'"):
        convert(1.0, 10, "lambda")
    with pytest.raises(InputError, match="beyond float64"):
        convert(1e-320, 1, "notes")


# --- bounds -----------------------------------------------------------------------------


def separable(n=60):
    X, y = make_blobs(n, centers=[[-3, 0], [3, 1]], cluster_std=0.6, random_state=4)
    return X, np.where(y, "right", "left")


def test_margin_bound_without_intercept():
    X, y = separable()
    machine = SVC(C=np.inf, kernel="linear", fit_intercept=False, tol=1e-8).fit(X, y)
    found = theory.margin_bound(machine, X, y, delta=0.1)
    w = machine.coef_[0]
    rho, gamma = np.linalg.norm(X, axis=1).max(), 1 / np.linalg.norm(w)
    assert found.radius == pytest.approx(rho, rel=1e-12)
    assert found.margin == pytest.approx(gamma, rel=1e-6)
    expected = math.sqrt(4 * (rho / gamma) ** 2 / 60) + math.sqrt(2 * math.log(20) / 60)
    assert found.bound == pytest.approx(expected, rel=1e-6)
    assert (found.n, found.delta) == (60, 0.1)
    assert found.vacuous is (found.bound >= 1.0)


def test_margin_bound_counts_the_intercept_as_a_coordinate():
    X, y = separable()
    X += [0.5, 2.0]
    machine = SVC(C=np.inf, kernel="linear", tol=1e-8).fit(X, y)
    b = machine.intercept_[0]
    assert abs(b) > 0.1
    found = theory.margin_bound(machine, X, y)
    augmented = np.column_stack([X, np.ones(60)])
    whole = np.append(machine.coef_[0], b)
    assert found.radius == pytest.approx(np.linalg.norm(augmented, axis=1).max())
    distances = np.abs(augmented @ whole) / np.linalg.norm(whole)
    assert found.margin == pytest.approx(distances.min(), rel=1e-6)
    assert found.margin == pytest.approx(1 / np.linalg.norm(whole), rel=1e-6)


def test_margin_bound_holds_where_it_says_something():
    X = np.random.default_rng(3).choice([-1.0, 1.0], size=(4000, 1))
    y = X[:, 0] > 0
    machine = SVC(C=np.inf, kernel="linear", fit_intercept=False).fit(X, y)
    found = theory.margin_bound(machine, X, y)
    assert found.bound == pytest.approx(
        2 / math.sqrt(4000) + math.sqrt(2 * math.log(40) / 4000), rel=1e-3
    )
    assert not found.vacuous
    assert "vacuous" not in str(found)
    few = theory.margin_bound(machine.fit(X[:10], y[:10]), X[:10], y[:10])
    assert few.vacuous
    assert "vacuous" in str(few)


KERNELS = [
    {"kernel": "rbf", "gamma": 0.5},
    {"kernel": "poly", "degree": 2, "gamma": 0.3, "coef0": 1.0},
    {"kernel": kernels.RBF(gamma=0.5) + 0.5 * kernels.Linear()},
    {"kernel": kernels.Laplacian(gamma=0.2)},
    {"kernel": lambda A, B: A @ B.T},
    {"kernel": "precomputed"},
    {"kernel": kernels.Precomputed()},
]


@pytest.mark.parametrize("parameters", KERNELS, ids=lambda one: str(one["kernel"])[:9])
def test_norm_and_radius_under_any_kernel(parameters):
    X, y = separable(40)
    given = X
    kernel = parameters["kernel"]
    if kernel == "precomputed" or isinstance(kernel, kernels.Precomputed):
        given = X @ X.T
    machine = SVC(C=10.0, tol=1e-6, **parameters).fit(given, y)
    found = theory.soft_margin_bound(machine, given, y)
    f, b = machine.decision_function(given), machine.intercept_[0]
    norm2 = machine.dual_coef_[0] @ (f[machine.support_] - b)  # β'Kβ
    assert found.norm == pytest.approx(math.sqrt(norm2 + b * b), rel=1e-6)
    squares = (X**2).sum(axis=1)
    values = {
        "rbf": np.ones(40), "poly": (0.3 * squares + 1) ** 2, "RBF(g": 1 + squares / 2,
        "Lapla": np.ones(40),
    }.get(str(kernel)[:5].strip("("), squares)  # fmt: skip
    assert found.radius == pytest.approx(math.sqrt(values.max() + 1.0))


def test_sparse_rows_and_other_machines():
    X, y = separable(40)
    machine = SVC(C=1.0, kernel="linear", tol=1e-8).fit(X, y)
    dense = theory.margin_bound(machine, X, y)
    assert theory.margin_bound(machine, sp.csr_array(X), y) == pytest.approx(dense)
    nu = NuSVC(nu=0.1, kernel="linear", tol=1e-8).fit(X, y)
    whole = np.append(nu.coef_[0], nu.intercept_[0])
    distances = np.abs(np.column_stack([X, np.ones(40)]) @ whole) / np.linalg.norm(whole)
    assert theory.margin_bound(nu, X, y).margin == pytest.approx(distances.min())
    with pytest.raises(InputError, match="hinge loss with a C"):
        theory.soft_margin_bound(nu, X, y)


def test_soft_margin_bound():
    X, y = points(50)
    machine = SVC(C=0.2, kernel="linear", fit_intercept=False, tol=1e-9).fit(X, y)
    found = theory.soft_margin_bound(machine, X, y)
    w, lam = machine.coef_[0], 1 / (2 * 0.2 * 50)
    hinge = np.maximum(0, 1 - y * (X @ w)).mean()
    rho = np.linalg.norm(X, axis=1).max()
    assert found.hinge == pytest.approx(hinge)
    assert found.regularisation == pytest.approx(lam)
    assert found.bound == pytest.approx(hinge + lam * w @ w + 2 * rho**2 / (lam * 50))
    assert found.B == found.norm == pytest.approx(np.linalg.norm(w))
    assert found.best_regularisation == pytest.approx(rho / found.B * math.sqrt(2 / 50))
    assert found.best_bound == pytest.approx(hinge + math.sqrt(8 * rho**2 * w @ w / 50))
    assert found.vacuous
    assert "vacuous" in str(found)
    # λ* makes λB² + 2ρ²/(λm) least, and that least value is √(8ρ²B²/m)
    around = found.best_regularisation * np.array([0.5, 0.99, 1.0, 1.01, 2.0])
    costs = around * found.B**2 + 2 * rho**2 / (around * 50)
    assert costs.argmin() == 2
    assert costs[2] == pytest.approx(math.sqrt(8 * rho**2 * found.B**2 / 50))
    best = theory.from_C(found.best_C, 50, "soft-svm")
    assert best == pytest.approx(found.best_regularisation)


def test_a_longer_w_is_shortened_to_B():
    X, y = points(50)
    machine = SVC(C=1.0, kernel="linear", fit_intercept=False).fit(X, y)
    w = machine.coef_[0]
    half = np.linalg.norm(w) / 2
    found = theory.soft_margin_bound(machine, X, y, B=half)
    hinge = np.maximum(0, 1 - y * (X @ w) / 2).mean()
    rho = np.linalg.norm(X, axis=1).max()
    assert found.best_bound == pytest.approx(hinge + math.sqrt(8 / 50) * rho * half)
    double = theory.soft_margin_bound(machine, X, y, B=4 * half)
    assert double.best_bound == pytest.approx(
        found.hinge + math.sqrt(8 / 50) * rho * 4 * half
    )


def test_bounds_refuse():
    X, y = points(30)
    machine = SVC(C=0.01, kernel="linear").fit(X, y)
    assert (machine.predict(X) != y).any()
    with pytest.raises(InputError, match=r"does not separate .* soft_margin_bound"):
        theory.margin_bound(machine, X, y)
    for delta in (0.0, 1.0, -1, "a"):
        with pytest.raises(InputError, match="delta"):
            theory.margin_bound(machine, X, y, delta=delta)
    for B in (0.0, -1.0, math.inf, "a"):
        with pytest.raises(InputError, match="positive and finite"):
            theory.soft_margin_bound(machine, X, y, B=B)
    with pytest.raises(InputError, match="same rows"):
        theory.soft_margin_bound(machine, X[1:], y[1:])
    with pytest.raises(InputError, match="one label a row"):
        theory.soft_margin_bound(machine, X, y[1:])
    with pytest.raises(InputError, match=r"5\.0.*does not know"):
        theory.soft_margin_bound(machine, X, np.where(y > 0, 5.0, y))
    with pytest.raises(InputTypeError, match="call fit first"):
        theory.soft_margin_bound(SVC(), X, y)
    three = SVC(kernel="linear").fit(X, np.arange(30) % 3)
    with pytest.raises(InputError, match="3 classes"):
        theory.soft_margin_bound(three, X, np.arange(30) % 3)
    squared = SVC(loss="squared_hinge", kernel="linear").fit(X, y)
    with pytest.raises(InputError, match="loss='hinge'"):
        theory.soft_margin_bound(squared, X, y)
    X, y = separable()
    with pytest.raises(InputError, match="use margin_bound"):
        theory.soft_margin_bound(SVC(C=np.inf, kernel="linear").fit(X, y), X, y)


# --- the worked examples ----------------------------------------------------------------


@pytest.mark.parametrize(("number", "d", "alpha"), [(1, 1.0, 2.0), (2, 0.75, 1.0)])
def test_duality_examples(number, d, alpha):
    example = theory.DUALITY[number]
    assert example.primal.value == pytest.approx(1.0, abs=1e-8)
    assert example.primal.w == pytest.approx([0.0, 1.0], abs=1e-4)
    assert example.g(*example.primal.w) <= 1e-9
    assert example.dual.value == pytest.approx(d, abs=1e-7)
    assert example.dual.alpha == pytest.approx(alpha, abs=1e-6)
    assert example.gap == pytest.approx(1.0 - d, abs=1e-7)
    assert example.steepest >= alpha


@pytest.mark.parametrize("number", [1, 2])
def test_dual_function_has_its_closed_form(number):
    example = theory.DUALITY[number]
    for alpha in np.linspace(0.0, 4.0, 17):
        closed = alpha - alpha**2 / 4
        if number == 2 and alpha >= 1.0:
            closed = 4 - 3 * alpha - alpha**2 / 4
        assert example.theta(alpha) == pytest.approx(closed, abs=1e-9), alpha


def test_the_second_constraint_is_the_corrected_one():
    example = theory.DUALITY[2]
    assert example.g(2.0, 0.5) == pytest.approx(-0.5 - 8 + 4 + 1)
    at = example.dual.minimisers
    assert sorted(at[:, 0].round(3).tolist()) == [-2.0, 0.0, 2.0]
    assert at[:, 1] == pytest.approx([0.5, 0.5, 0.5], abs=1e-5)


def test_weak_duality_on_the_image():
    for example in theory.DUALITY.values():
        g, f = example.image(21)
        assert g.shape == f.shape == (21, 21)
        # every point of the image lies on or above the supporting line
        assert (f + example.dual.alpha * g).min() >= example.dual.value - 1e-9
        assert f[g <= 0].min() >= example.primal.value - 1e-9


@pytest.mark.parametrize(
    ("name", "x", "multiplier", "value"),
    [("S1", [-0.5, 0.5], -1.0, 0.5), ("S4", [0.5, 0.5], 1.0, 0.5)],
)
def test_lagrange_examples(name, x, multiplier, value):
    example = theory.LAGRANGE[name]
    found = example.solve()
    assert found.x == pytest.approx(x, abs=1e-14)
    assert found.multiplier == pytest.approx(multiplier)
    assert found.value == pytest.approx(value)
    assert example.h(found.x) == pytest.approx(0.0, abs=1e-14)
    # stationary: no direction changes the Lagrangian to first order
    for step in np.eye(2) * 1e-5:
        ahead = example.lagrangian(found.x + step, found.multiplier)
        behind = example.lagrangian(found.x - step, found.multiplier)
        assert ahead - behind == pytest.approx(0.0, abs=1e-12)
    assert example.gradient(found.x) == pytest.approx(
        -found.multiplier * np.array(example.normal)
    )
    # and best along the line, whose direction is (a₂, −a₁)
    along = np.array([example.normal[1], -example.normal[0]])
    others = example.f(found.x + np.outer([-1.0, -0.1, 0.1, 1.0], along))
    sign = 1.0 if name == "S1" else -1.0
    assert (sign * others > sign * found.value).all()


def test_lagrange_functions_are_those_of_the_seeds():
    x = np.random.default_rng(0).normal(size=(5, 2))
    squares = (x**2).sum(axis=1)
    assert theory.LAGRANGE["S1"].f(x) == pytest.approx(squares)
    assert theory.LAGRANGE["S1"].h(x) == pytest.approx(x[:, 1] - x[:, 0] - 1)
    assert theory.LAGRANGE["S4"].f(x) == pytest.approx(1 - squares)
    assert theory.LAGRANGE["S4"].h(x) == pytest.approx(x.sum(axis=1) - 1)


def test_coordinate_example():
    problem = theory.coordinate_example()
    K = np.array([[4.0, 1.0], [1.0, 2.0]])
    for a in np.random.default_rng(0).normal(size=(5, 2)):
        W = -2 * a[0] ** 2 - a[1] ** 2 - a[0] * a[1]
        assert dual_value(problem, a, K @ a) == pytest.approx(W)
        both = objective(problem, model_of(problem, a, K @ a))
        assert both.dual == pytest.approx(W)
        assert both.primal == math.inf
    assert objective(problem, model_of(problem, np.zeros(2), np.zeros(2))) == (0.0, 0.0)


def test_names():
    assert set(theory.__all__) <= set(dir(theory))
    for name in theory.__all__:
        assert getattr(theory, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = theory.nothing
    assert maxmargin.theory is theory
    for example in (*theory.DUALITY.values(), *theory.LAGRANGE.values()):
        assert pickle.loads(pickle.dumps(example)) == example


def test_bounds_of_sparse_rows_and_a_python_function():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 3)), np.repeat([0, 1], 10)

    def product(A, B):
        return (A @ B.T).toarray() if sp.issparse(A) else A @ B.T

    machine = SVC(kernel=product).fit(sp.csr_matrix(X), y)
    found = theory.soft_margin_bound(machine, sp.csr_matrix(X), y)
    plain = theory.soft_margin_bound(SVC(kernel="linear").fit(X, y), X, y)
    assert found.bound == pytest.approx(plain.bound, rel=1e-2)
    assert found.radius == pytest.approx(plain.radius)
