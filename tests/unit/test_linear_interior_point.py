"""Interior point for linear machines: optimal, certified, the same however it is run."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize

from maxmargin import SVC, SVR
from maxmargin.design.operator import Design
from maxmargin.errors import InputError
from maxmargin.parallel import Workers
from maxmargin.problem import LinearProblem, linear_objective, linear_svc, linear_svr
from maxmargin.solvers.base import Status, drive
from maxmargin.solvers.linear import _in_play, interior_point
from maxmargin.solvers.linear.interior_point import InteriorPoint

INTERCEPTS = ("none", "constant", "free")
KINDS = ("dense", "float32", "csr")


def data(n=120, d=5, seed=0, noise=0.7):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * rng.uniform(0.5, 2.0, d)
    X[rng.random(X.shape) < 0.2] = 0.0
    X = X.astype(np.float32).astype(np.float64)  # the same numbers in either precision
    z = X @ rng.standard_normal(d) + 0.5 + noise * rng.standard_normal(n)
    return X, z


def design(X, intercept="constant", kind="dense", workers=1):
    rows = {
        "dense": lambda: X,
        "float32": lambda: X.astype(np.float32),
        "csr": lambda: sp.csr_matrix(X),
    }[kind]()
    return Design(rows, 2.0 if intercept == "constant" else 0.0, Workers(workers))


def machine(task, X, z, C, intercept="constant", kind="dense", workers=1):
    """A problem of classification ("svc") or regression (its ε)."""
    price = np.broadcast_to(np.asarray(C, np.float64), z.shape).copy()
    rows, free = design(X, intercept, kind, workers), intercept == "free"
    if task == "svc":
        y = np.where(z >= 0.0, 1.0, -1.0)
        return linear_svc(rows, y, price, squared=False, free=free)
    return linear_svr(rows, z, price, epsilon=task, free=free)


def columns(problem):
    """X as the problem sees it, in plain NumPy."""
    X = problem.design.X
    X = np.asarray(X.todense() if sp.issparse(X) else X, np.float64)
    if problem.design.scaling:
        X = np.column_stack([X, np.full(len(X), problem.design.scaling)])
    return X


def least_dual(problem):
    """−max of the dual, by L-BFGS-B on the halves of β."""
    X, n = columns(problem), problem.n
    top, low = np.maximum(problem.upper, 0.0), np.maximum(-problem.lower, 0.0)

    def value(halves):
        beta = halves[:n] - halves[n:]
        w = X.T @ beta
        slope = X @ w + problem.p
        price = problem.epsilon
        size = 0.5 * w @ w + problem.p @ beta + price * halves.sum()
        return size, np.concatenate([slope + price, price - slope])

    bounds = [(0.0, t) for t in np.concatenate([top, low])]
    options = {"maxiter": 20000, "maxfun": 10**6, "ftol": 1e-15, "gtol": 1e-10}
    return minimize(
        value,
        np.zeros(2 * n),
        jac=True,
        bounds=bounds,
        method="L-BFGS-B",
        options=options,
    ).fun


def certify(problem, model, tol):
    """Feasible, consistent, and optimal within tol, all computed here."""
    X, beta = columns(problem), model.beta
    assert (beta >= problem.lower).all()
    assert (beta <= problem.upper).all()
    if problem.free:
        assert abs(beta.sum()) <= 1e-10 * np.abs(beta).sum()
    rounding = 1e-14 * np.abs(X).max() * max(1.0, np.abs(beta).sum())
    np.testing.assert_allclose(model.pull, X.T @ beta, rtol=1e-9, atol=rounding)
    f = X @ model.w + (model.bias if problem.free else 0.0)
    np.testing.assert_allclose(model.outputs, f, rtol=1e-9, atol=1e-9)
    v = f + problem.p
    gain = np.maximum(np.abs(v) - problem.epsilon, 0.0)
    loss = (gain * np.where(v < 0.0, problem.upper, -problem.lower)).sum()
    primal = 0.5 * model.w @ model.w + loss
    w = X.T @ beta
    dual = -0.5 * w @ w - problem.p @ beta - problem.epsilon * np.abs(beta).sum()
    assert primal - dual <= tol * max(abs(primal), abs(dual)) * (1.0 + 1e-6)
    return primal


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("task", ["svc", 0.3, 0.0])
def test_gap_is_closed_and_weights_of_zero_do_not_matter(task, intercept, kind):
    X, z = data()
    rng = np.random.default_rng(1)
    C = rng.choice([0.0, 0.5, 1.0, 4.0], z.size)
    primal = {}
    for tol in (1e-3, 1e-6, 1e-8):
        problem = machine(task, X, z, C, intercept, kind)
        run = drive(InteriorPoint(tol=tol), problem)
        assert run.stop.converged
        primal[tol] = certify(problem, run.model, tol)
        assert not run.model.beta[C == 0.0].any()
    kept = C > 0.0
    problem = machine(task, X[kept], z[kept], C[kept], intercept, kind)
    alone = drive(InteriorPoint(tol=1e-8), problem).model
    assert certify(problem, alone, 1e-8) == pytest.approx(primal[1e-8], rel=3e-8)


@pytest.mark.parametrize("intercept", ["none", "constant"])
@pytest.mark.parametrize("task", ["svc", 0.3, 0.0])
def test_optimum_is_that_of_another_method(task, intercept):
    X, z = data(60, 4)
    problem = machine(task, X, z, 0.5, intercept)
    model = drive(InteriorPoint(tol=1e-8), problem).model
    assert certify(problem, model, 1e-8) == pytest.approx(-least_dual(problem), rel=1e-6)


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_free_intercept_is_that_of_the_kernel_machines(C):
    X, z = data()
    y = np.where(z >= 0.0, 1, -1)
    weight = np.random.default_rng(2).uniform(0.5, 2.0, y.size)
    kernel = SVC(kernel="linear", C=C, tol=1e-9).fit(X, y, sample_weight=weight)
    model = drive(
        InteriorPoint(tol=1e-10), machine("svc", X, z, C * weight, "free")
    ).model
    np.testing.assert_allclose(model.w, kernel.coef_[0], rtol=1e-3, atol=1e-4)
    mine = linear_objective(machine("svc", X, z, C * weight, "free"), model)
    assert mine.dual == pytest.approx(kernel.certificate_.dual, rel=1e-8)
    tube = SVR(kernel="linear", C=C, epsilon=0.2, tol=1e-9).fit(X, z, weight)
    problem = machine(0.2, X, z, C * weight, "free")
    model = drive(InteriorPoint(tol=1e-10), problem).model
    np.testing.assert_allclose(model.w, tube.coef_[0], rtol=1e-3, atol=1e-4)
    mine = linear_objective(problem, model)
    assert mine.dual == pytest.approx(tube.certificate_.dual, rel=1e-8)


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("noise", [0.0, 0.7])
@pytest.mark.parametrize("C", [1e-3, 1e3, 1e5])
def test_small_and_large_C(C, noise, intercept):
    X, z = data(2000, 8, noise=noise)  # noise 0: the classes can be separated
    for task in ("svc", 0.5):
        problem = machine(task, X, z, C, intercept)
        run = drive(InteriorPoint(tol=1e-8), problem)
        assert run.stop.converged
        assert run.n_iter < 100
        certify(problem, run.model, 1e-8)


def test_most_of_beta_is_at_the_ends_of_its_boxes():
    X, z = data(5000, 6)
    problem = machine("svc", X, z, 1.0)
    beta = drive(InteriorPoint(tol=1e-6), problem).model.beta
    inside = (beta > problem.lower) & (beta < problem.upper)
    assert inside.sum() < 60


def bits(model):
    return [np.asarray(part).tobytes() for part in model]


def wide(workers):
    """Large enough for parts, and wide enough that rows are drawn."""
    X, z = data(5000, 200)
    return machine("svc", X, z, 0.1, "constant", "dense", workers)


@pytest.mark.parametrize(
    "make", [wide, lambda k: machine(0.3, *data(6000, 30), 1.0, "free", "csr", k)]
)
def test_same_bits_for_every_number_of_threads(make):
    one, two = (drive(InteriorPoint(tol=1e-7), make(count)) for count in (1, 2))
    assert one.n_iter == two.n_iter
    assert bits(one.model) == bits(two.model)
    certify(make(1), one.model, 1e-7)


def finish(solver, problem, state, budget):
    status = Status.RUNNING
    while status is Status.RUNNING:
        status = solver.advance(problem, state, budget)
    return status, solver.model(problem, state)


@pytest.mark.parametrize("task", ["svc", 0.3])
def test_budgets_and_pickles_give_the_same_bits(task):
    solver, problem = InteriorPoint(tol=1e-7), machine(task, *data(3000), 1.0, "free")
    state = solver.start(problem)
    status, model = finish(solver, problem, state, 10**9)
    assert status is Status.CLOSED
    for budget in (1, 7):
        again = solver.start(problem)
        assert bits(finish(solver, problem, again, budget)[1]) == bits(model)
        assert solver.n_iter(again) == solver.n_iter(state)
    half = solver.start(problem)
    solver.advance(problem, half, 4)
    solver.measure(problem, half)  # looking changes nothing
    moved, half = pickle.loads(pickle.dumps((problem, half)))
    assert bits(finish(solver, moved, half, 2)[1]) == bits(model)
    # Asked again, it has ended; with a smaller tol, it goes on.
    assert solver.advance(problem, state, 5) is Status.CLOSED
    finer = InteriorPoint(tol=1e-9)
    status, model = finish(finer, problem, state, 3)
    assert status is Status.CLOSED
    certify(problem, model, 1e-9)


def test_models_on_the_way_are_feasible_and_their_gap_a_bound():
    problem = machine("svc", *data(1000), 1.0, "free")
    best = linear_objective(problem, drive(InteriorPoint(tol=1e-9), problem).model).dual
    for snapshot in InteriorPoint(tol=1e-6).steps(problem):
        certify(problem, snapshot.model, np.inf)
        assert snapshot.measures.dual <= best * (1.0 + 1e-9)
        assert snapshot.measures.primal >= best * (1.0 - 1e-9)


def test_limit_on_steps():
    problem = machine("svc", *data(), 1.0)
    for limit in (0, 3):
        solver = InteriorPoint(tol=1e-8, max_iter=limit)
        run = drive(solver, problem)
        assert run.stop is Status.MAX_ITER.stop
        assert run.n_iter == limit
        certify(problem, run.model, np.inf)


def test_no_tolerance_ends_where_rounding_does():
    problem = machine("svc", *data(), 1.0, "free")
    run = drive(InteriorPoint(tol=0.0), problem)
    assert run.stop in (Status.STALLED.stop, Status.CLOSED.stop)
    certify(problem, run.model, 1e-12)


def test_rows_that_left_wrongly_come_back(monkeypatch):
    # Rows leave at once, whatever they do: most of them are wrong.
    monkeypatch.setattr(interior_point, "_CALM", 1e-6)
    monkeypatch.setattr(interior_point, "_END", 0.9)
    problem = machine("svc", *data(3000), 1.0, "free")
    solver = InteriorPoint(tol=1e-7)
    came = [dict(one.step).get("came", 0) for one in solver.steps(problem)]
    assert any(came)
    run = drive(solver, problem)
    assert run.stop.converged
    certify(problem, run.model, 1e-7)


def test_drawn_rows_solve_the_same_problem(monkeypatch):
    monkeypatch.setattr(_in_play, "_WIDE", 2)
    problem = machine(0.2, *data(4000, 6), 1.0, "free")
    run = drive(InteriorPoint(tol=1e-7), problem)
    assert run.stop.converged
    certify(problem, run.model, 1e-7)


@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_nothing_to_learn(intercept):
    X, _ = data(40, 3)
    flat = machine(0.5, X, np.full(40, 0.2), 1.0, intercept)  # all within the tube
    model = drive(InteriorPoint(), flat).model
    assert not model.beta.any()
    assert linear_objective(flat, model).relative_gap == 0.0
    nobody = machine("svc", X, np.ones(40), 0.0, intercept)  # no row counts
    run = drive(InteriorPoint(), nobody)
    assert run.stop.converged
    assert not run.model.w.any()


def test_constant_targets_are_the_free_intercept():
    X, _ = data(40, 3)
    for epsilon in (0.0, 0.1):
        problem = machine(epsilon, X, np.full(40, 3.7), 10.0, "free")
        run = drive(InteriorPoint(), problem)
        assert run.stop.converged
        assert np.abs(run.model.w).max() < 1e-12
        assert abs(run.model.bias - 3.7) <= epsilon * (1.0 + 1e-12)


def test_story_of_a_step():
    solver, problem = InteriorPoint(tol=1e-6), machine("svc", *data(3000), 1.0)
    state = solver.start(problem)
    assert "Nothing done yet" in str(solver.explain(problem, state))
    solver.advance(problem, state, 1)
    step = solver.explain(problem, state)
    assert step["rows"] == 3000
    assert 0.0 < step["length"] <= 1.0
    assert "3000 of 3000 rows in play" in str(step)
    finish(solver, problem, state, 1)
    assert solver.explain(problem, state)["rows"] < 3000


def test_refusals():
    X, z = data()
    solver, problem = InteriorPoint(), machine("svc", X, z, 1.0)
    y, C = np.sign(z), np.ones(z.size)
    squared = linear_svc(design(X), y, C, squared=True)
    with pytest.raises(InputError, match=r"square.*newton"):
        solver.start(squared)
    with pytest.raises(InputError, match=r"‖w‖₁.*lasso-newton"):
        solver.start(linear_svc(design(X), y, C, squared=False, lasso=True))
    with pytest.raises(InputError, match=r"2001 columns.*auto"):
        solver.start(machine("svc", np.ones((3, 2000)), z[:3], 1.0))
    endless = LinearProblem(
        design(X), -y, np.full(y.size, -np.inf), np.full(y.size, np.inf), np.zeros(y.size)
    )
    with pytest.raises(InputError, match="finite C"):
        solver.start(endless)
    with pytest.raises(InputError, match=r"cannot go on.*warm_start=False"):
        solver.start(problem, np.ones(problem.n))
    assert solver.start(problem, np.zeros(problem.n)).steps == 0
    assert not InteriorPoint.restarts
