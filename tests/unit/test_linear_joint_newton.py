"""Crammer and Singer's machine by Newton's method: projection, H, optimum, contract."""

import pickle
from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits, load_iris, load_wine

from maxmargin.design.operator import Design
from maxmargin.errors import InputError, NumericalError
from maxmargin.parallel import Workers
from maxmargin.problem import (
    LinearJointProblem,
    linear_joint_objective,
    linear_svc,
)
from maxmargin.solvers.base import Status, drive
from maxmargin.solvers.linear import JointNewton, LinearCrammerSinger
from maxmargin.solvers.linear.classes import hessian as _joint_curvature
from maxmargin.solvers.linear.classes.hessian import joint_curvature
from maxmargin.solvers.linear.classes.rounded import RoundedJoint, bending

TIGHT = JointNewton(tol=1e-10)


@cache
def sample(name):
    """Rows and codes; "clouds" have zeros, so that CSR has something to leave out."""
    if name in {"wine", "iris"}:
        return (load_wine if name == "wine" else load_iris)(return_X_y=True)
    if name == "digits":
        X, y = load_digits(return_X_y=True)
        return X[:400], y[:400]
    rng = np.random.default_rng(5)
    y = np.arange(160) % 5
    X = rng.normal(size=(160, 8)) + 1.2 * rng.normal(size=(5, 8))[y]
    X[rng.random(X.shape) < 0.4] = 0.0
    return X, y


def problem_of(X, y, C=1.0, scaling=1.0, jobs=1, n_classes=None):
    price = np.full(len(y), C) if np.ndim(C) == 0 else np.asarray(C, float)
    design = Design(X, scaling, Workers(jobs))
    return LinearJointProblem(
        design, np.asarray(y, np.intp), price, n_classes or int(np.max(y)) + 1
    )


def given(name, rows="dense", **options):
    X, y = sample(name)
    X = {"dense": X, "csr": sp.csr_matrix(X), "single": X.astype(np.float32)}[rows]
    return problem_of(X, y, **options)


def run(solver, problem, budget=1, state=None, warm=None):
    state = solver.start(problem, problem.warm_start(warm)) if state is None else state
    while (status := solver.advance(problem, state, budget)) is Status.RUNNING:
        pass
    return status, state


def solved(solver, problem, **options):
    status, state = run(solver, problem, **options)
    assert status is Status.CLOSED
    return solver.model(problem, state)


def matrix(problem):
    """The design, written out."""
    X = problem.design.X
    X = np.asarray(X.toarray() if problem.design.sparse else X, dtype=float)
    if problem.design.scaling:
        X = np.column_stack([X, np.full(problem.n, problem.design.scaling)])
    return X


def assert_sound(problem, model, tol):
    """W, β, outputs and figures belong together, and prove what they must."""
    X, rows = matrix(problem), np.arange(problem.n)
    size = np.abs(X).max()
    upper = np.zeros_like(model.beta)
    upper[rows, problem.codes] = problem.C
    assert (model.beta <= upper).all()
    total = np.abs(model.beta).sum(axis=1)
    assert (np.abs(model.beta.sum(axis=1)) <= 1e-13 * total).all()
    np.testing.assert_allclose(model.pull, model.beta.T @ X, atol=1e-9 * size)
    np.testing.assert_allclose(model.outputs, X @ model.W.T, atol=1e-8 * size)
    G = X @ model.W.T + 1.0
    G[rows, problem.codes] -= 1.0
    loss = problem.C @ (G.max(axis=1) - G[rows, problem.codes])
    both = linear_joint_objective(problem, model)
    assert both.primal == pytest.approx(0.5 * np.sum(model.W**2) + loss, rel=1e-8)
    gain = model.beta[rows, problem.codes].sum()
    assert both.dual == pytest.approx(gain - 0.5 * np.sum(model.pull**2), rel=1e-9)
    assert -1e-12 <= both.relative_gap <= tol
    return both


def same_bits(one, other):
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


# -- the rounded loss --------------------------------------------------------------------


def simplex(v, C):
    """The projection, by sorting."""
    falling = np.sort(v)[::-1]
    level = (np.cumsum(falling) - C) / np.arange(1, v.size + 1)
    return np.maximum(v - level[np.flatnonzero(falling > level)[-1]], 0.0)


@pytest.mark.parametrize("K", [2, 3, 10])
def test_beta_of_the_rounded_loss_is_a_projection(K):
    rng = np.random.default_rng(K)
    n, kappa, t = 200, 0.7, 0.3
    codes, C = rng.integers(0, K, n), 10.0 ** rng.uniform(-2, 2, n)
    C[::20] = 0.0
    z, u = rng.normal(size=(2, n, K))
    alpha = rng.dirichlet(np.ones(K), n) * C[:, None]
    centre = C[:, None] * np.eye(K)[codes] - alpha
    loss, beta = RoundedJoint(centre, codes, C, kappa), np.empty((n, K))
    sums = loss.look(Workers(1), z, u, t, beta)
    along = curved = 0.0
    for i in range(n):
        e = np.arange(K) != codes[i]
        v = alpha[i] + kappa * C[i] * (t * u[i] - z[i] + e)
        best = simplex(v, C[i]) if C[i] else np.zeros(K)
        wish = C[i] * ~e - best
        np.testing.assert_allclose(beta[i], wish, atol=1e-12 * (1.0 + C[i]))
        S = best > 0.0
        along += wish @ u[i]
        curved += kappa * C[i] * (S.sum() * np.var(u[i, S]) if S.any() else 0.0)
    assert sums.along == pytest.approx(along)
    assert sums.curved == pytest.approx(curved)


@pytest.mark.parametrize("rows", ["dense", "csr", "single"])
@pytest.mark.parametrize("by_rows", [True, False])
def test_curvature(rows, by_rows, monkeypatch):
    monkeypatch.setattr(_joint_curvature, "_BEGIN", np.inf if by_rows else 0)
    problem = given("clouds", rows, C=np.linspace(0.0, 2.0, 160), scaling=1.5)
    rng = np.random.default_rng(0)
    inside = rng.random((160, 5)) < 0.4
    inside[inside.sum(axis=1) < 2] = False
    X, whole = matrix(problem), 0.0
    for i in np.flatnonzero(inside.any(axis=1)):
        S = inside[i].astype(float)
        J = problem.C[i] * (np.diag(S) - np.outer(S, S) / S.sum())
        whole = whole + np.kron(J, np.outer(X[i], X[i]))
    found = joint_curvature(problem, inside)
    np.testing.assert_allclose(np.tril(found), np.tril(whole), atol=1e-11)


def test_classes_that_bend():
    problem = problem_of(np.eye(3), [0, 1, 2], C=2.0)
    beta = np.array([[2.0, -0.5, -1.5], [-1.0, 1.0, 0.0], [-2.0, 0.0, 2.0]])
    expected = [[False, True, True], [True, True, False], [False, False, False]]
    assert bending(problem, beta).tolist() == expected


# -- the optimum -------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["iris", "digits", "clouds"])
@pytest.mark.parametrize("C", [0.01, 1.0])
@pytest.mark.parametrize("scaling", [0.0, 2.0])
def test_optimum_is_that_of_the_sequential_method(name, C, scaling):
    problem = given(name, C=C, scaling=scaling)
    model = solved(TIGHT, problem)
    both = assert_sound(problem, model, TIGHT.tol)
    other = solved(LinearCrammerSinger(tol=1e-9), problem)
    theirs = linear_joint_objective(problem, other)
    assert both.primal == pytest.approx(theirs.primal, rel=2e-9)
    assert both.dual == pytest.approx(theirs.dual, rel=2e-9)
    np.testing.assert_allclose(model.W, other.W, atol=1e-4 * np.abs(model.W).max())
    np.testing.assert_allclose(model.bias, scaling * model.W[:, -1] if scaling else 0.0)


@pytest.mark.parametrize("name", ["wine", "iris", "digits"])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_columns_of_unlike_size_and_any_price(name, C):
    problem = given(name, C=C)
    status, state = run(TIGHT, problem)
    assert status is Status.CLOSED
    assert TIGHT.n_iter(state) < 150
    assert_sound(problem, TIGHT.model(problem, state), TIGHT.tol)


@pytest.mark.parametrize("size", [1e-8, 1e4, 1e8])
def test_rows_of_any_size(size):
    """Rounding decides who is in a simplex's face here, and must not do so for ever."""
    X, y = sample("iris")
    problem = problem_of(size * X, y)
    assert linear_joint_objective(problem, solved(JointNewton(), problem)).gap >= 0.0


@pytest.mark.parametrize("rows", ["csr", "single"])
def test_rows_of_every_kind(rows):
    dense = solved(TIGHT, given("clouds"))
    problem = given("clouds", rows)
    other = solved(TIGHT, problem)
    assert_sound(problem, other, TIGHT.tol)
    np.testing.assert_allclose(other.W, dense.W, atol=1e-5)


def test_weights_are_repetition():
    X, y = sample("clouds")
    count = np.random.default_rng(2).integers(0, 4, len(y))
    again = np.repeat(np.arange(len(y)), count)
    one = solved(TIGHT, problem_of(X, y, count.astype(float)))
    other = solved(TIGHT, problem_of(X[again], y[again]))
    np.testing.assert_allclose(one.W, other.W, atol=1e-5)
    assert not one.beta[count == 0].any()


def test_zero_rows_absent_classes_and_no_price():
    X, y = sample("clouds")
    X = X.copy()
    X[:6] = 0.0  # nothing tells these apart: their loss is 1 each
    problem = problem_of(X, y, scaling=0.0, n_classes=8)
    model = solved(TIGHT, problem)
    both = assert_sound(problem, model, TIGHT.tol)
    rest = problem_of(X[6:], y[6:], scaling=0.0)
    best = linear_joint_objective(rest, solved(TIGHT, rest)).primal
    assert both.primal == pytest.approx(best + 6.0, rel=1e-9)
    nothing = problem_of(X, y, np.zeros(len(y)))
    status, state = run(TIGHT, nothing)
    assert status is Status.CLOSED
    assert TIGHT.n_iter(state) == 0


# -- the contract ------------------------------------------------------------------------

over_cases = pytest.mark.parametrize(
    ("name", "rows"), [("wine", "dense"), ("digits", "csr"), ("clouds", "single")]
)


@over_cases
def test_budget_and_pickles_do_not_matter(name, rows):
    problem, solver = given(name, rows), JointNewton(tol=1e-6)
    one, other = (solved(solver, problem, budget=budget) for budget in (1, 10**9))
    assert same_bits(one, other)
    state, status, stories = solver.start(problem), Status.RUNNING, set()
    assert "Nothing" in str(solver.explain(problem, state))
    while status is Status.RUNNING:
        assert_sound(problem, solver.model(problem, state), np.inf)
        status = solver.advance(problem, state, 1)
        figures = solver.measure(problem, state)
        assert figures == problem.measures(solver.model(problem, state))
        step = solver.explain(problem, state)
        assert step["step"] == solver.n_iter(state)
        stories.add(str(step))
        problem, state = pickle.loads(pickle.dumps((problem, state)))
    assert same_bits(solver.model(problem, state), one)
    assert len(stories) == solver.n_iter(state)


@pytest.mark.parametrize("rows", ["dense", "csr"])
def test_threads_do_not_matter(rows):
    X, y = sample("digits")
    X = np.tile(X, (4, 1))
    X = sp.csr_matrix(X) if rows == "csr" else X
    ends = []
    for jobs in (1, 2, 3):
        problem = problem_of(X, np.tile(y, 4), jobs=jobs)
        with problem.design.workers:
            ends.append(solved(JointNewton(), problem))
    assert same_bits(ends[0], ends[1])
    assert same_bits(ends[0], ends[2])


@pytest.mark.parametrize("limit", [0, 1, 5])
def test_max_iter(limit):
    problem, solver = given("wine"), JointNewton(tol=1e-9, max_iter=limit)
    status, state = run(solver, problem)
    assert status is Status.MAX_ITER
    assert solver.n_iter(state) == limit
    assert_sound(problem, solver.model(problem, state), np.inf)
    assert solver.advance(problem, state, 1) is Status.MAX_ITER
    assert run(TIGHT, problem, state=state)[0] is Status.CLOSED


@pytest.mark.parametrize("name", ["wine", "clouds"])
def test_rounding_is_the_end(name):
    problem, solver = given(name), JointNewton(tol=0.0)
    status, state = run(solver, problem)
    assert status in {Status.STALLED, Status.CLOSED}
    assert abs(solver.measure(problem, state).relative_gap) < 1e-11


def test_goes_on_from_a_given_answer():
    problem, solver = given("clouds"), JointNewton(tol=1e-6)
    first = solved(TIGHT, problem)
    status, state = run(solver, problem, warm=first.beta)
    assert status is Status.CLOSED
    assert solver.n_iter(state) <= 2
    cheap = given("clouds", C=0.7)
    for warm in (np.asfortranarray(first.beta), first.beta + 0.3):
        model = solved(solver, cheap, warm=warm)
        assert_sound(cheap, model, solver.tol)


def test_refusals():
    X, y = sample("iris")
    binary = linear_svc(Design(X, 0.0, Workers(1)), np.where(y, 1.0, -1.0), np.ones(150))
    with pytest.raises(InputError, match="JointNewton was given a LinearProblem"):
        drive(JointNewton(), binary)
    with pytest.raises(InputError, match="at most 4000"):
        JointNewton().start(problem_of(np.zeros((150, 1400)), y))
    with pytest.raises(InputError, match=r"shape \(150, 3\)"):
        JointNewton().start(given("iris"), given("iris").warm_start(np.zeros(150)))
    with pytest.raises(NumericalError):
        run(JointNewton(), problem_of(X * 1e200, y))
    with pytest.raises(NumericalError):
        run(JointNewton(), problem_of(X * 1e150, y, C=1e200))
