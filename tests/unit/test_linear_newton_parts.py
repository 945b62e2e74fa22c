"""What Newton's methods for linear machines are made of, each against plain NumPy."""

import numpy as np
import pytest
from scipy.optimize import minimize
from tests.unit.test_linear_newton import (
    INTERCEPTS,
    KINDS,
    SCALING,
    as_kind,
    figures,
    given,
)

from maxmargin import LinearSVC, LinearSVR
from maxmargin.design import hessian as _curvature
from maxmargin.design.hessian import cholesky, curvature, factor_of
from maxmargin.design.operator import Design
from maxmargin.parallel import Workers
from maxmargin.solvers.base import Status, drive
from maxmargin.solvers.linear import Newton, NewtonCg
from maxmargin.solvers.linear.newton import preconditioner as _preconditioner
from maxmargin.solvers.linear.newton.line_search import balance, search
from maxmargin.solvers.linear.newton.preconditioner import active_rows, chosen
from maxmargin.solvers.linear.newton.squared import Loss


def test_curvature_follows_the_active_rows():
    problem, X, _, _ = given("svc", "constant", C=10.0, n=400)
    solver = Newton(tol=1e-10)
    state = solver.start(problem)
    updated = 0
    while solver.advance(problem, state, 1) is Status.RUNNING:
        rows = X[state.kept.inside]
        found, full = np.tril(state.kept.square), 20.0 * np.tril(rows.T @ rows)
        np.testing.assert_allclose(found, full, rtol=1e-9, atol=1e-9)
        updated = max(updated, state.kept.age)
    assert updated > 0  # by rows that changed, not anew


@pytest.mark.parametrize("way", ["columns", "drawn", "rows", "diagonal"])
@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("kind", ["dense", "csr"])
def test_every_preconditioner_has_the_same_answer(way, intercept, kind, monkeypatch):
    """Each of them, made to be the cheapest."""
    if way == "diagonal":
        monkeypatch.setattr(_preconditioner, "_LARGEST", 0)
    if way == "drawn":
        monkeypatch.setattr(_preconditioner, "_SHARE", 0)
    free = intercept == "free"
    n, d = (40, 400) if way == "rows" else (1500, 20)
    problem, X, y, price = given("svc", intercept, kind, C=10.0, n=n, d=d)
    solver = NewtonCg(tol=1e-10)
    end = drive(solver, problem)
    assert end.stop.converged
    primal, dual, _ = figures("svc", X, y, price, end.model, free=free)
    assert (primal - dual) / primal <= 1e-10
    used = end.state.inverse
    assert (used.diagonal is not None) == (way == "diagonal")
    assert (used.rows is not None) == (way == "rows")
    if way == "columns":  # a factor of all active rows: the first step is the exact one
        assert next(solver.steps(problem)).step["step"] == 1


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("n", [30, 400])
@pytest.mark.parametrize("kind", KINDS)
def test_a_factor_is_the_inverse(free, n, kind):
    problem, X, *_ = given("svc", "none" if free else "constant", kind, n=n, d=100)
    rng = np.random.default_rng(2)
    some = np.sort(rng.choice(n, n // 2, replace=False))
    weight = rng.random(n // 2) + 0.1
    active = active_rows(problem.design, some, weight, free=free)
    made = chosen(problem.design, active, None, 0)
    assert (made.rows is None) == (n == 400)
    A = X[some]
    if free:
        A = A - weight @ A / weight.sum()
    r = rng.standard_normal(A.shape[1])
    H = np.eye(A.shape[1]) + (A.T * weight) @ A
    np.testing.assert_allclose(made.solve(problem.design, r), np.linalg.solve(H, r))


def test_a_factor_is_made_when_it_is_worth_its_price():
    problem, *_ = given("svc", "none", "csr", n=300, d=3000)
    design = problem.design
    active = active_rows(design, np.arange(300), np.ones(300), free=False)
    first = chosen(design, active, None, 0)
    assert first.diagonal is not None
    first.spent = 1e12
    factor = chosen(design, active, first, 0)
    assert factor.rows is not None
    assert chosen(design, active, factor, 0) is factor
    factor.stale = True  # but nothing was spent with it
    assert chosen(design, active, factor, 0) is factor
    factor.spent = 1e12
    assert chosen(design, active, factor, 0) is not factor


def test_nearly_separable_rows_with_a_large_price():
    """Coarse steps would be short ones: 100 000 iterations were not enough."""
    problem, X, y, price = given("svc", "free", "csr", C=1e6, n=60, d=300, seed=3)
    end = drive(NewtonCg(tol=1e-8, max_iter=2000), problem)
    assert end.stop.converged
    primal, dual, _ = figures("svc", X, y, price, end.model, free=True)
    assert (primal - dual) / primal <= 1e-8


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("constant", [0.0, SCALING])
@pytest.mark.parametrize("how", ["outer", "gathered"])
def test_products_with_some_rows(kind, constant, how, monkeypatch):
    monkeypatch.setattr(_curvature, "_SCATTER", 0 if how == "outer" else 10**9)
    monkeypatch.setattr(_curvature, "_BLOCK_BYTES", 1)
    rng = np.random.default_rng(5)
    X = rng.standard_normal((3000, 7)).astype(np.float32).astype(float)
    X[rng.random(X.shape) < 0.5] = 0.0
    design = Design(as_kind(X, kind), constant, Workers(2))
    if constant:
        X = np.column_stack([X, np.full(len(X), constant)])
    some = np.sort(rng.choice(3000, 2000, replace=False))
    weight, v = rng.random(2000), rng.standard_normal(X.shape[1])
    rows = X[some]
    np.testing.assert_allclose(design.times(v, some), rows @ v, atol=1e-12)
    np.testing.assert_allclose(design.back(weight, some), rows.T @ weight)
    np.testing.assert_allclose(design.squares(weight, some), weight @ rows**2)
    found, total = design.there_and_back(weight, v, some)
    np.testing.assert_allclose(found, rows.T @ (weight * (rows @ v)))
    assert total == pytest.approx(weight @ (rows @ v))
    for signed in (weight, weight * rng.choice([-1.0, 1.0], 2000)):
        full = np.tril((rows.T * signed) @ rows)
        found = np.tril(curvature(design, constant, signed, some))
        np.testing.assert_allclose(found, full, atol=1e-10)
    nobody = np.zeros(0, np.intp)
    assert not curvature(design, constant, weight[:0], nobody).any()


@pytest.mark.parametrize("constant", [0.0, 2.0])
@pytest.mark.parametrize("columns", [1, 7, 31, 33])
def test_curvature_of_few_columns_and_of_more(columns, constant):
    rng = np.random.default_rng(columns)
    X, some = rng.standard_normal((700, columns)), np.flatnonzero(rng.random(700) < 0.7)
    weight = rng.standard_normal(some.size)
    rows = X[some] if constant == 0.0 else np.c_[X[some], np.full(some.size, constant)]
    found = curvature(Design(X, constant, Workers(1)), constant, weight, some)
    full = (rows.T * weight) @ rows
    np.testing.assert_allclose(np.tril(found), np.tril(full), atol=1e-10)


@pytest.mark.parametrize("squared", ["hinge", "tube"])
def test_what_a_step_foresees_is_feasible_and_ends_a_fit_earlier(squared):
    rng = np.random.default_rng(5)
    X = rng.standard_normal((1500, 6))
    z = X @ rng.standard_normal(6) + rng.standard_normal(1500)
    machine = LinearSVR(loss="squared_epsilon_insensitive", epsilon=0.3)
    if squared == "hinge":
        machine, z = LinearSVC(), np.sign(z)
    problem, used = machine.problem(X, z), 0
    for tol in 10.0 ** -np.arange(1, 9):
        solver = Newton(tol)
        state = solver.start(problem)
        solver.advance(problem, state, 100)
        model = solver.model(problem, state)
        assert (problem.lower <= model.beta).all()
        assert (model.beta <= problem.upper).all()
        np.testing.assert_allclose(model.pull, problem.design.back(model.beta))
        assert solver.measure(problem, state).relative_gap <= tol
        used += state.at.proof is not None
    assert used > 0 or squared == "hinge"  # of such easy rows its own β does


def test_a_factor_that_rounding_breaks_is_repaired():
    square = np.full((3, 3), 1e20)  # I + square is singular to rounding
    factor, mean = factor_of(square, free=False)
    assert mean is None
    assert np.isfinite(np.triu(factor.upper)).all()


def test_the_best_step_along_a_line():
    rng = np.random.default_rng(1)
    loss = Loss(rng.random(200), rng.random(200), 0.3)
    z, u = 3.0 * rng.standard_normal(200), rng.standard_normal(200)
    w, s = rng.standard_normal(4), rng.standard_normal(4)
    beta, workers = np.empty(200), Workers(1)

    def value(t):
        paid = loss.look(workers, z, u, t, beta).paid
        return 0.5 * ((w + t * s) @ (w + t * s)) + paid

    slope = (value(1e-6) - value(-1e-6)) / 2e-6
    if slope > 0.0:
        u, s, slope = -u, -s, -slope
    t, sums = search(loss, workers, z, u, (slope, w @ s, s @ s), beta)
    best = minimize(lambda v: value(v[0]), [t], method="Nelder-Mead").fun
    assert value(t) - best <= 0.01 * (value(0.0) - best)
    assert value(t) == pytest.approx(0.5 * ((w + t * s) @ (w + t * s)) + sums.paid)


def test_a_bracket_where_newton_leaves_it():
    # far beyond t = 1, with a kink at 100 behind which everything bends
    loss = Loss(np.array([0.0, 1e6]), np.array([0.0, 0.0]), 0.0)
    z, u = np.array([0.0, -100.0]), np.array([0.0, -1.0])
    t, _ = search(loss, Workers(1), z, u, (-1.0, -1.0, 1e-9), np.empty(2))
    assert 90.0 < t < 101.0


@pytest.mark.parametrize("seed", range(5))
def test_the_free_intercept_balances(seed):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(300) < 0.1, 1.0, -1.0)
    price = np.exp(3.0 * rng.standard_normal(300))
    loss = Loss(np.where(y > 0, price, 0.0), np.where(y < 0, price, 0.0), 0.0)
    beta = np.empty(300)
    t, sums = balance(
        loss, Workers(1), y + 100.0 * rng.standard_normal(300), np.ones(300), beta
    )
    assert abs(beta.sum()) <= 1e-14 * np.abs(beta).sum()
    assert sums.size == pytest.approx(np.abs(beta).sum())
    assert np.isfinite(t)


def test_a_system_of_nothing():
    assert cholesky(np.empty((0, 0))).solve(np.empty(0)).shape == (0,)
