"""More columns than rows: pairs of rows, and Newton's method where they crawl."""

import pickle
import tracemalloc

import numpy as np
import pytest

from maxmargin import LinearSVC, LinearSVR, certify
from maxmargin.design.operator import Design
from maxmargin.parallel import Workers
from maxmargin.solvers.base import Status
from maxmargin.solvers.linear import GramSmo, NewtonCg, ProximalNewton

N, D = 120, 200


def rows(kind):
    rng = np.random.default_rng(7)
    X = rng.standard_normal((N, D))
    if kind == "alike":
        X = rng.standard_normal((N, 8)) @ rng.standard_normal((8, D)) + 0.1 * X
    elif kind == "scales":
        X = X * np.exp(2.0 * rng.standard_normal(D))
    elif kind == "twice":  # a singular matrix of products
        X = np.vstack([X[: N // 2], X[: N // 2]]) * np.linspace(0.1, 30.0, D)
    z = X[:, 0] / X[:, 0].std() + rng.standard_normal(N)
    return X, z


def machine(loss, **options):
    kind = LinearSVC if loss.endswith("hinge") else LinearSVR
    return kind(loss=loss, max_iter=-1, random_state=0, **options)


def targets(loss, z):
    return (z > np.median(z)).astype(int) if loss.endswith("hinge") else z


LOSSES = ["hinge", "squared_hinge", "epsilon_insensitive", "squared_epsilon_insensitive"]


@pytest.mark.parametrize("intercept", ["regularised", "free"])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kind", ["alike", "scales", "twice"])
def test_it_converges_whatever_the_rows_are(kind, loss, intercept):
    X, z = rows(kind)
    y = targets(loss, z)
    fitted = machine(loss, C=10.0, tol=1e-5, intercept=intercept, solver="gram").fit(X, y)
    assert fitted.certificate_.ok
    assert certify(fitted, X, y).ok
    other = "newton-cg" if loss.startswith("squared") else "proximal-newton"
    same = machine(loss, C=10.0, tol=1e-5, intercept=intercept, solver=other).fit(X, y)
    assert fitted.certificate_.primal == pytest.approx(
        same.certificate_.primal, rel=2.1e-5
    )


@pytest.mark.parametrize("loss", ["hinge", "squared_epsilon_insensitive"])
def test_budgets_pickles_and_the_change_of_method(loss):
    X, z = rows("alike")
    problem = machine(loss, C=100.0).problem(X, targets(loss, z))
    solver = GramSmo(tol=1e-6)
    whole = solver.start(problem)
    assert solver.advance(problem, whole, 10**6) is Status.CLOSED
    assert whole.turned is not None  # else this tests nothing
    state, status = solver.start(problem), Status.RUNNING
    while status is Status.RUNNING:
        status = solver.advance(problem, pickle.loads(pickle.dumps(state)), 3)
        assert solver.advance(problem, state, 3) is status
    assert solver.n_iter(state) == solver.n_iter(whole)
    np.testing.assert_array_equal(
        solver.model(problem, state).w, solver.model(problem, whole).w
    )
    assert "Newton step" in str(solver.explain(problem, state))


def test_a_limit_of_epochs_ends_it_with_the_gap_that_it_has():
    X, z = rows("alike")
    problem = machine("hinge", C=100.0).problem(X, targets("hinge", z))
    solver = GramSmo(tol=1e-6, max_iter=20)
    state = solver.start(problem)
    assert solver.advance(problem, state, 10**6) is Status.MAX_ITER
    assert solver.n_iter(state) == 20
    assert solver.measure(problem, state).relative_gap > 1e-6


@pytest.mark.parametrize("more", [0, 3])
def test_a_limit_counts_epochs_and_newton_steps_together(more):
    X, z = rows("alike")
    problem = machine("hinge", C=1e5).problem(X, targets("hinge", z))
    endless = GramSmo(tol=1e-13)
    state = endless.start(problem)
    while state.turned is None:
        assert endless.advance(problem, state, 1) is Status.RUNNING
    most = endless.n_iter(state) + more
    solver = GramSmo(tol=1e-13, max_iter=most)
    state = solver.start(problem)
    assert solver.advance(problem, state, 10**6) is Status.MAX_ITER
    assert solver.n_iter(state) == most
    assert (state.turned is not None) == (more > 0)


def test_the_certificate_tells_of_the_change_of_method():
    X, z = rows("alike")
    y = targets("hinge", z)
    found = machine("hinge", C=100.0, tol=1e-6, solver="gram").fit(X, y)
    assert found.certificate_.solver == "GramSmo, then ProximalNewton"
    easy = machine("hinge", C=1e-3, tol=1e-2, solver="gram").fit(X, y)
    assert easy.certificate_.solver == "GramSmo"


def test_products_of_float32_rows_need_no_copy_of_them():
    X = np.random.default_rng(0).standard_normal((2000, 2000)).astype(np.float32)
    design = Design(X, 1.0, Workers(1))
    tracemalloc.start()
    try:
        table = design.products
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < table.nbytes + X.nbytes  # one in float64 has twice that
    wide = X.astype(np.float64)
    np.testing.assert_allclose(table, wide @ wide.T + 1.0, atol=1e-10)
    np.testing.assert_array_equal(table, table.T)


def test_rows_of_zeros_can_be_turned():
    design = Design(np.zeros((5, 9)), 0.0, Workers(1))
    assert np.isfinite(design.turned.X).all()


@pytest.mark.parametrize("scaling", [0.0, 2.0])
def test_turned_rows_have_the_same_products(scaling):
    X, _ = rows("scales")
    design = Design(X, scaling, Workers(1))
    L = design.turned.X
    np.testing.assert_allclose(L @ L.T, X @ X.T + scaling**2, rtol=1e-10, atol=1e-8)
    assert design.turned is design.turned


@pytest.mark.parametrize("solver", [NewtonCg, ProximalNewton])
def test_the_optimum_is_that_of_other_methods_without_an_intercept(solver):
    loss = "squared_hinge" if solver is NewtonCg else "hinge"
    X, z = rows("scales")
    problem = machine(loss, fit_intercept=False).problem(X, targets(loss, z))
    one = list(GramSmo(tol=1e-9).steps(problem, 10**6))[-1]
    other = list(solver(tol=1e-9).steps(problem, 10**6))[-1]
    np.testing.assert_allclose(one.measures.dual, other.measures.dual, rtol=3e-9)
