"""Newton's methods for linear machines: answers, certificates, and the contract.

The optimum is a closed form where every row is active, and SciPy's elsewhere; gaps are
computed here, from C, y and ε, in plain NumPy.
"""

import pickle
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize

from maxmargin import InputError
from maxmargin.design.operator import Design
from maxmargin.errors import NumericalError
from maxmargin.parallel import Workers
from maxmargin.problem import linear_svc, linear_svr
from maxmargin.solvers.base import Status, drive
from maxmargin.solvers.linear import Newton, NewtonCg

SOLVERS = [Newton, NewtonCg]
KINDS = ["dense", "csr", "long", "single"]
INTERCEPTS = ["none", "constant", "free"]
SCALING = 1.5
EPSILON = 0.2


def as_kind(X, kind):
    if kind == "single":
        return X.astype(np.float32)
    if kind == "dense":
        return X
    X = sp.csr_matrix(X)
    if kind == "long":
        X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


def given(task="svc", intercept="none", kind="dense", *, weights=False, C=1.0, n=90, d=6,
          jobs=1, seed=0):  # fmt: skip
    """A problem, with the numbers it was made from."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)).astype(np.float32).astype(np.float64)
    X[rng.random(X.shape) < 0.4] = 0.0
    z = X @ rng.standard_normal(d) + 0.7 + 0.8 * rng.standard_normal(n)
    price = C * (rng.integers(0, 4, n).astype(float) if weights else np.ones(n))
    scaling = SCALING if intercept == "constant" else 0.0
    design = Design(as_kind(X, kind), scaling, Workers(jobs))
    free = intercept == "free"
    if scaling:
        X = np.column_stack([X, np.full(n, scaling)])
    if task == "svr":
        made = linear_svr(design, z, price, epsilon=EPSILON, squared=True, free=free)
        return made, X, z, price
    y = np.where(z > 0.4, 1.0, -1.0)
    return linear_svc(design, y, price, free=free), X, y, price


def errors(task, f, target):
    """By how much every row misses, with the sign of the β that it asks for."""
    if task == "svr":
        left = target - f
        return np.sign(left) * np.maximum(np.abs(left) - EPSILON, 0.0)
    return target * np.maximum(1.0 - target * f, 0.0)


def figures(task, X, target, price, model, *, free):
    """Primal, dual and |Σβ| of a model, by the textbook."""
    f = X @ model.w + (model.bias if free else 0.0)
    primal = 0.5 * model.w @ model.w + price @ errors(task, f, target) ** 2
    beta, ridge = model.beta, np.zeros_like(price)
    ridge[price > 0] = 0.5 / price[price > 0]
    pull = X.T @ beta
    dual = target @ beta - 0.5 * pull @ pull - 0.5 * ridge @ beta**2
    if task == "svr":
        dual -= EPSILON * np.abs(beta).sum()
    return primal, dual, abs(beta.sum())


def oracle(task, X, target, price, *, free):
    """The smallest primal that SciPy finds."""
    Z = np.column_stack([X, np.ones(len(X))]) if free else X
    penalty = np.ones(Z.shape[1])
    penalty[X.shape[1] :] = 0.0

    def value(v):
        e = errors(task, Z @ v, target)
        slope = penalty * v - 2.0 * Z.T @ (price * e)
        return 0.5 * penalty @ v**2 + price @ e**2, slope

    return minimize(
        value, np.zeros(Z.shape[1]), jac=True, method="L-BFGS-B",
        options={"maxiter": 20_000, "ftol": 1e-15, "gtol": 1e-10},
    ).fun  # fmt: skip


def finish(solver, problem, state, budget=10**9):
    while (status := solver.advance(problem, state, budget)) is Status.RUNNING:
        pass
    return status


def bits(solver, problem, state):
    model = solver.model(problem, state)
    return model.w.tobytes(), model.beta.tobytes(), model.bias, solver.n_iter(state)


# --- answers ----------------------------------------------------------------------------


@pytest.mark.parametrize("make", SOLVERS)
@pytest.mark.parametrize("task", ["svc", "svr"])
@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_the_optimum_and_its_proof(make, task, intercept, kind, C):
    free = intercept == "free"
    problem, X, target, price = given(task, intercept, kind, weights=True, C=C)
    tol = 1e-10
    solver = make(tol=tol)
    end = drive(solver, problem)
    assert end.stop.converged
    model = end.model
    primal, dual, imbalance = figures(task, X, target, price, model, free=free)
    assert (primal - dual) / primal <= tol
    assert primal == pytest.approx(oracle(task, X, target, price, free=free), rel=1e-9)
    assert (model.beta >= problem.lower).all()
    assert (model.beta <= problem.upper).all()
    assert (model.beta[price == 0.0] == 0.0).all()
    assert imbalance <= 1e-13 * np.abs(model.beta).sum() or not free
    np.testing.assert_allclose(model.outputs, X @ model.w + free * model.bias, atol=1e-12)
    np.testing.assert_allclose(model.pull, X.T @ model.beta, rtol=1e-9, atol=1e-9)
    if intercept == "constant":
        assert model.bias == pytest.approx(model.w[-1] * SCALING)
    told = solver.measure(problem, end.state)
    assert told.primal == pytest.approx(primal, rel=1e-12)
    assert told.dual == pytest.approx(dual, rel=1e-12)


@pytest.mark.parametrize("make", SOLVERS)
@pytest.mark.parametrize("free", [False, True])
def test_ridge_regression_in_one_step(make, free):
    rng = np.random.default_rng(3)
    X, z = rng.standard_normal((40, 5)) + 2.0, rng.standard_normal(40) + 4.0
    C = rng.random(40) + 0.5
    design = Design(X, 0.0, Workers(1))
    problem = linear_svr(design, z, C, epsilon=0.0, squared=True, free=free)
    solver = make(tol=1e-12)
    end = drive(solver, problem)
    mean_x, mean_z = (C @ X / C.sum(), C @ z / C.sum()) if free else (np.zeros(5), 0.0)
    A, t = X - mean_x, z - mean_z
    w = np.linalg.solve(np.eye(5) + 2.0 * (A.T * C) @ A, 2.0 * A.T @ (C * t))
    np.testing.assert_allclose(end.model.w, w, rtol=1e-10)
    assert end.model.bias == pytest.approx(mean_z - mean_x @ w, abs=1e-10)
    assert end.state.at.steps == 1


@pytest.mark.parametrize("make", SOLVERS)
def test_a_weight_of_two_is_two_rows(make):
    problem, X, y, _ = given(n=60)
    C = np.where(np.arange(60) % 3 == 0, 2.0, 1.0)
    twice = np.repeat(np.arange(60), C.astype(int))
    one = linear_svc(problem.design, y, C)
    other = linear_svc(Design(X[twice], 0.0, Workers(1)), y[twice], np.ones(twice.size))
    a, b = (drive(make(tol=1e-12), which).model.w for which in (one, other))
    np.testing.assert_allclose(a, b, rtol=1e-9)


@pytest.mark.parametrize("make", SOLVERS)
def test_rows_of_weight_zero_do_not_matter(make):
    _, X, y, _ = given("svc", "free", n=80)
    C = np.ones(80)
    C[::4] = 0.0
    wild = X.copy()
    wild[::4] *= 1e3
    kept = C > 0.0
    models = [
        drive(make(tol=1e-12), linear_svc(Design(rows, 0.0, Workers(1)), t, c, free=True))
        .model for rows, t, c in ((wild, y, C), (X[kept], y[kept], C[kept]))
    ]  # fmt: skip
    np.testing.assert_allclose(models[0].w, models[1].w, rtol=1e-9)
    assert models[0].bias == pytest.approx(models[1].bias)


@pytest.mark.parametrize("make", SOLVERS)
@pytest.mark.parametrize("free", [False, True])
def test_nothing_to_do(make, free):
    problem, _, y, _ = given(n=30)
    end = drive(make(), linear_svc(problem.design, y, np.zeros(30), free=free))
    assert end.stop.converged
    assert (end.n_iter, end.model.w.any(), end.model.beta.any()) == (0, False, False)


@pytest.mark.parametrize("make", SOLVERS)
def test_one_class_needs_only_the_free_intercept(make):
    problem, *_ = given(n=30)
    end = drive(make(), linear_svc(problem.design, np.ones(30), np.ones(30), free=True))
    assert end.stop.converged
    assert not end.model.w.any()
    assert end.model.bias >= 1.0


@pytest.mark.parametrize("make", SOLVERS)
def test_a_huge_mean_does_not_hurt_the_free_intercept(make):
    problem, X, *_ = given("svc", "free")
    far = replace(problem, design=Design(X + 1e4, 0.0, Workers(1)))
    near, end = drive(make(tol=1e-10), problem), drive(make(tol=1e-8), far)
    assert end.stop.converged
    np.testing.assert_allclose(end.model.w, near.model.w, atol=1e-4)


# --- the contract -----------------------------------------------------------------------


@pytest.mark.parametrize("make", SOLVERS)
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_budget_and_pickle_change_nothing(make, intercept):
    ends = []
    solver = make(tol=1e-9)
    for budget in (1, 7, 10**9):
        problem, *_ = given("svc", intercept, "csr", C=30.0, n=20_000, d=4)
        state = solver.start(problem)
        if budget == 7:
            solver.advance(problem, state, 3)
            problem, state = pickle.loads(pickle.dumps((problem, state)))
        status = finish(solver, problem, state, budget)
        ends.append((status, *bits(solver, problem, state)))
    assert ends[0][0] is Status.CLOSED
    assert ends[0] == ends[1] == ends[2]
    # a finished run says the same again, and does nothing
    assert solver.advance(problem, state, 5) is Status.CLOSED
    assert ends[2][1:] == bits(solver, problem, state)


@pytest.mark.parametrize("make", SOLVERS)
@pytest.mark.parametrize("kind", ["dense", "csr"])
def test_threads_change_nothing(make, kind):
    ends = set()
    for jobs in (1, 2, 3):  # large enough for every sum to be cut
        problem, *_ = given("svc", "free", kind, n=70_000, d=9, jobs=jobs)
        solver = make(tol=1e-6)
        with problem.design.workers:
            state = solver.start(problem)
            finish(solver, problem, state)
            ends.add(bits(solver, problem, state))
    assert len(ends) == 1


@pytest.mark.parametrize("make", SOLVERS)
def test_first_steps_on_a_part_of_the_rows(make):
    problem, X, y, price = given(n=30_000, d=4, C=0.5)
    solver = make(tol=1e-9)
    walk = list(solver.steps(problem))
    rows = [shot.state.at.last.get("rows", 0) for shot in walk]
    assert 2_000 < rows[0] < 6_000
    assert rows[-1] == 30_000
    assert "which stand for all 30000" in " ".join(str(shot.step) for shot in walk[:8])
    # w of the part is a first idea of the answer, and its model is that of all rows
    first = walk[0].model
    np.testing.assert_allclose(first.outputs, X @ first.w, atol=1e-12)
    primal, dual, _ = figures("svc", X, y, price, walk[-1].model, free=False)
    assert (primal - dual) / primal <= 1e-9


@pytest.mark.parametrize("make", SOLVERS)
def test_a_part_with_nothing_in_it_is_left(make):
    problem, _, y, _ = given(n=20_000, d=3)
    C = np.zeros(20_000)
    drawn = make().start(problem).at.rows
    C[np.setdiff1d(np.arange(20_000), drawn)[:50]] = 1.0
    end = drive(make(tol=1e-9), linear_svc(problem.design, y, C))
    assert end.stop.converged
    assert np.count_nonzero(end.model.beta) > 0


@pytest.mark.parametrize("make", SOLVERS)
@pytest.mark.parametrize("free", [False, True])
def test_goes_on_from_given_coefficients(make, free):
    problem, _, y, _ = given("svc", "free" if free else "none", n=20_000, d=5)
    solver = make(tol=1e-6)
    cold = drive(solver, problem)
    again = drive(solver, problem, warm=cold.model.beta)
    assert again.stop.converged
    assert again.n_iter < cold.n_iter
    # a neighbouring C: fewer iterations than from nothing
    dearer = linear_svc(problem.design, y, np.full(20_000, 1.2), free=free)
    warm = drive(solver, dearer, warm=1.2 * cold.model.beta)
    assert warm.stop.converged
    assert warm.n_iter < drive(solver, dearer).n_iter
    # and coefficients outside the box are no harm
    assert drive(solver, problem, warm=-cold.model.beta).stop.converged


@pytest.mark.parametrize("make", SOLVERS)
def test_limits(make):
    problem, X, y, price = given(C=100.0)
    stopped = drive(make(tol=1e-9, max_iter=1), problem)
    assert (stopped.stop.name, stopped.n_iter) == ("MAX_ITER", 1)
    primal, *_ = figures("svc", X, y, price, stopped.model, free=False)
    assert primal < price.sum()  # better than w = 0
    nothing = drive(make(max_iter=0), problem)
    assert (nothing.stop.name, nothing.n_iter) == ("MAX_ITER", 0)
    assert not nothing.model.w.any()


@pytest.mark.parametrize("make", SOLVERS)
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_what_float64_cannot_do_is_said(make, intercept):
    problem, X, y, price = given("svc", intercept)
    end = drive(make(tol=0.0), problem)
    assert end.stop.name in {"STALLED", "CLOSED"}
    primal, dual, _ = figures("svc", X, y, price, end.model, free=intercept == "free")
    assert abs(primal - dual) <= 1e-13 * primal


@pytest.mark.parametrize("make", SOLVERS)
def test_story(make):
    problem, *_ = given()
    solver = make(tol=1e-9)
    state = solver.start(problem)
    assert str(solver.explain(problem, state)) == "Nothing done yet."
    assert not solver.model(problem, state).w.any()
    walk = list(solver.steps(problem))
    step = walk[-1].step
    assert f"Newton step {step['step']} on all 90 rows" in str(step)
    assert step["relative_gap"] <= 1e-9
    assert step["primal"] == pytest.approx(walk[-1].measures.primal)
    assert step["active"] == np.count_nonzero(walk[-1].model.beta)
    gains = [one.step["gain"] for one in walk if "gain" in one.step]
    assert min(gains) >= -1e-12 * step["primal"]
    if make is NewtonCg:
        assert step["iteration"] == walk[-1].n_iter
        assert walk[0].step["promise"] > 0.0


@pytest.mark.parametrize("make", SOLVERS)
def test_refusals(make):
    problem, _, y, price = given()
    design = problem.design
    with pytest.raises(InputError, match=r"hinge or a tube without a square.*auto"):
        make().start(linear_svc(design, y, price, squared=False))
    with pytest.raises(InputError, match="squared_epsilon_insensitive"):
        make().start(linear_svr(design, y, price, epsilon=0.1))
    with pytest.raises(InputError, match="‖w‖₁"):
        make().start(linear_svc(design, y, price, lasso=True))
    with pytest.raises(InputError, match="tol=-1"):
        make(tol=-1)


@pytest.mark.parametrize("make", SOLVERS)
def test_a_square_that_becomes_linear_has_curvature_enough(make):
    """Huber's: the dual variables of a square have an upper bound."""
    problem, _, _, _ = given()
    bounded = problem.loss._replace(upper=np.minimum(problem.upper, 5.0))
    assert drive(make(), replace(problem, loss=bounded)).stop.converged


def test_too_many_columns_for_a_matrix_of_them():
    X = sp.csr_matrix((np.ones(4), ([0, 1, 2, 3], [0, 1, 4500, 7])), shape=(4, 5000))
    y = np.array([1.0, -1.0, 1.0, -1.0])
    problem = linear_svc(Design(X, 0.0, Workers(1)), y, np.ones(4))
    with pytest.raises(InputError, match=r"5000 columns are given.*newton-cg"):
        Newton().start(problem)
    assert drive(NewtonCg(), problem).stop.converged


@pytest.mark.parametrize("make", SOLVERS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_overflow_is_said(make):
    _, X, y, price = given()
    far = linear_svc(Design(X * 1e200, 0.0, Workers(1)), y, price)
    with pytest.raises(NumericalError, match="scale the features"):
        drive(make(), far)
