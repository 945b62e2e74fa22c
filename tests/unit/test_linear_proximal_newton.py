"""Proximal points by Newton's method: the rounded loss, centres, parts of the rows."""

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin import SVC, InputError, LinearSVR
from maxmargin.design.operator import Design
from maxmargin.parallel import Workers
from maxmargin.problem import linear_objective, linear_svc, linear_svr
from maxmargin.solvers.base import Status, drive
from maxmargin.solvers.linear import GramSmo, ProximalNewton
from maxmargin.solvers.linear.newton.line_search import balance
from maxmargin.solvers.linear.newton.rounded import Rounded


def sample(n=400, d=6, seed=0, noise=0.5):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, X @ rng.standard_normal(d) + noise * rng.standard_normal(n) + 0.3


def problem_of(kind, X, z, C=1.0, scaling=1.0, free=False, jobs=1):
    design = Design(X, 0.0 if free else scaling, Workers(jobs))
    price = np.full(len(z), C)
    if kind == "svr":
        return linear_svr(design, z, price, epsilon=0.2, free=free)
    y = np.where(z > 0, 1.0, -1.0)
    return linear_svc(design, y, price, squared=False, free=free)


# --- the rounded loss -------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.0, 0.3])
def test_beta_maximises_its_own_problem(epsilon):
    rng = np.random.default_rng(1)
    n = 50
    lower, upper = -rng.random(n), rng.random(n)
    lower[:10], upper[10:20] = 0.0, 0.0
    centre, bend = np.clip(rng.normal(size=n), lower, upper), rng.random(n) * 5
    loss = Rounded(centre, bend, lower, upper, epsilon)
    z, beta = rng.normal(size=n), np.empty(n)
    sums = loss.look(Workers(1), z, np.ones(n), 0.0, beta)
    grid = lower + np.linspace(0, 1, 4001)[:, None] * (upper - lower)
    value = z * grid - epsilon * abs(grid) - (grid - loss.centre) ** 2 / (2 * loss.bend)
    np.testing.assert_allclose(beta, grid[value.argmax(0), np.arange(n)], atol=1e-3)
    inside = loss.bending(z)
    assert sums.curved == pytest.approx(loss.bend[inside].sum())
    assert sums.total == pytest.approx(beta.sum())
    assert 0 < inside.sum() < n


def test_a_free_intercept_is_found_where_no_row_bends():
    n = 40
    upper = np.where(np.arange(n) % 2, 1.0, 0.0)
    loss = Rounded(np.zeros(n), np.full(n, 1e6), upper - 1.0, upper, 0.0)
    beta = np.empty(n)
    far = np.full(n, 50.0)  # all at the upper ends of their boxes
    t, sums = balance(loss, Workers(1), far, np.ones(n), beta)
    assert abs(sums.total) <= 1e-9
    assert t == pytest.approx(50.0, abs=1e-3)


# --- the solver -------------------------------------------------------------------------


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("kind", ["svc", "svr"])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e4])
def test_optimum_is_that_of_the_gram_matrix(kind, C, free):
    X, z = sample()
    problem = problem_of(kind, X, z, C=C, free=free)
    ours, other = (
        linear_objective(problem, drive(kind(tol=1e-9), problem).model)
        for kind in (ProximalNewton, GramSmo)
    )
    assert ours.relative_gap <= 1e-9
    assert ours.primal == pytest.approx(other.primal, rel=3e-9)


@pytest.mark.parametrize("kind", ["svc", "svr"])
def test_parts_of_the_rows_come_first_and_do_not_matter(kind):
    X, z = sample(n=40_000, d=4)
    problem = problem_of(kind, X, z)
    solver = ProximalNewton(tol=1e-8)
    state = solver.start(problem)
    assert state.level > 0
    assert state.rows.size < 0.2 * problem.n
    model = solver.model(problem, state)  # of all rows, nevertheless
    assert model.beta.size == problem.n
    assert linear_objective(problem, model).gap >= 0.0
    while solver.advance(problem, state, 1) is Status.RUNNING:
        assert str(solver.explain(problem, state))
    whole = linear_objective(problem, solver.model(problem, state))
    assert whole.relative_gap <= 1e-8


@pytest.mark.parametrize("rows", [np.asarray, sp.csr_matrix, np.float32])
@pytest.mark.parametrize("free", [False, True])
def test_same_bits_for_every_number_of_threads(rows, free):
    X, z = sample(n=70_000, d=5)
    X = rows(X)
    one, two = (
        drive(ProximalNewton(tol=1e-6), problem_of("svc", X, z, free=free, jobs=jobs))
        for jobs in (1, 2)
    )
    np.testing.assert_array_equal(one.model.w, two.model.w)
    np.testing.assert_array_equal(one.model.beta, two.model.beta)


def test_a_free_intercept_makes_it_the_kernel_machine():
    X, z = sample()
    problem = problem_of("svc", X, z, C=2.0, free=True)
    model = drive(ProximalNewton(tol=1e-10), problem).model
    kernel = SVC(kernel="linear", C=2.0, tol=1e-8).fit(X, np.sign(z))
    np.testing.assert_allclose(model.w, kernel.coef_[0], atol=1e-5)
    assert model.bias == pytest.approx(kernel.intercept_[0], abs=1e-5)
    assert abs(model.beta.sum()) <= 1e-9 * np.abs(model.beta).sum()


def test_most_of_beta_is_at_the_ends_of_its_boxes():
    X, z = sample(n=2000, noise=1.0)
    problem = problem_of("svc", X, z)
    beta = drive(ProximalNewton(tol=1e-8), problem).model.beta
    inside = (beta > problem.lower) & (beta < problem.upper)
    assert inside.sum() <= 2 * problem.design.width


def test_goes_on_from_a_given_answer():
    X, z = sample(n=2000)
    problem = problem_of("svc", X, z)
    first = drive(ProximalNewton(tol=1e-6), problem)
    again = drive(ProximalNewton(tol=1e-6), problem, warm=first.model.beta)
    assert again.n_iter <= 2 < first.n_iter
    dearer = problem_of("svc", X, z, C=1.1)
    cold = drive(ProximalNewton(tol=1e-6), dearer)
    warm = drive(ProximalNewton(tol=1e-6), dearer, warm=1.1 * first.model.beta)
    assert warm.n_iter < cold.n_iter


@pytest.mark.parametrize("free", [False, True])
def test_the_unit_of_the_targets_does_not_matter(free):
    X, z = sample(n=2000)
    unit = 2.0**16  # so that nothing is rounded, roots included
    outcomes = []
    for scale in (1.0, unit):
        design = Design(X, 0.0 if free else 1.0, Workers(1))
        price = np.full(len(z), scale)
        problem = linear_svr(design, scale * z, price, epsilon=0.2 * scale, free=free)
        outcomes.append(drive(ProximalNewton(tol=1e-6), problem))
    one, other = outcomes
    assert one.n_iter == other.n_iter
    np.testing.assert_array_equal(unit * one.model.w, other.model.w)


def test_targets_of_rows_that_do_not_count_are_no_unit():
    X, z = sample(n=200)
    weight = np.append(np.ones(200), 0.0)
    far = LinearSVR(loss="epsilon_insensitive", tol=1e-6)
    far.fit(np.vstack([X, X[:1]]), np.append(z, 1e20), sample_weight=weight)
    near = LinearSVR(loss="epsilon_insensitive", tol=1e-6).fit(X, z)
    assert far.certificate_.ok
    np.testing.assert_allclose(far.coef_, near.coef_, atol=1e-4)


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("C", [1.0, 100.0])
def test_targets_and_columns_as_they_are_measured(free, C):
    # Houses: prices of 1e5, columns from 1 to 1e3. With a rounding of their own unit it
    # was still at a gap of 1 after 1,000 steps.
    X, z = sample(n=5000, d=8)
    X = 1e3 ** np.linspace(0.0, 1.0, 8) * X + 500.0
    problem = problem_of("svr", X, 1e5 * z + 2e5, C=C, free=free)
    outcome = drive(ProximalNewton(tol=1e-6), problem)
    assert linear_objective(problem, outcome.model).relative_gap <= 1e-6
    assert outcome.n_iter < 100


def test_no_tolerance_ends_where_rounding_does():
    X, z = sample(n=300)
    problem = problem_of("svc", X, z)
    outcome = drive(ProximalNewton(tol=0.0), problem)
    assert linear_objective(problem, outcome.model).relative_gap <= 1e-12


def test_refusals():
    X, z = sample(n=20)
    y = np.sign(z)
    design = Design(X, 0.0, Workers(1))
    squared = linear_svc(design, y, np.ones(20))
    with pytest.raises(InputError, match="square"):
        ProximalNewton().start(squared)
    lasso = linear_svc(design, y, np.ones(20), squared=False, lasso=True)
    with pytest.raises(InputError, match="‖w‖₁"):
        ProximalNewton().start(lasso)
    hard = linear_svc(design, y, np.full(20, np.inf), squared=False)
    with pytest.raises(InputError, match="finite C"):
        ProximalNewton().start(hard)
    wide = linear_svc(
        Design(np.zeros((20, 5000)), 0.0, Workers(1)), y, np.ones(20), squared=False
    )
    with pytest.raises(InputError, match="5000 columns"):
        ProximalNewton().start(wide)


@pytest.mark.parametrize("n", [*range(1, 40), 63, 64, 65, 100])
def test_bits_do_not_depend_on_where_arrays_lie(n):
    rng = np.random.default_rng(n)
    given = {name: rng.standard_normal(n) for name in ("z", "u", "centre")}
    given |= {"bend": rng.random(n), "lower": -np.ones(n), "upper": np.ones(n)}

    def looked(apart):
        """All arrays in one stretch of memory, so many numbers apart, β in the middle."""
        stretch = np.zeros((7, n + apart))
        z, u, centre, beta, bend, lower, upper = stretch[:, :n]
        z[:], u[:], centre[:] = given["z"], given["u"], given["centre"]
        bend[:], lower[:], upper[:] = given["bend"], given["lower"], given["upper"]
        loss = Rounded(centre, bend, lower, upper, 0.1)
        return loss.look(Workers(1), z, u, 0.3, beta), beta.copy()

    sums, beta = looked(0)
    other, same = looked(200)
    assert sums == other
    np.testing.assert_array_equal(beta, same)
