"""Coordinate ascent: S1's walk, every kind of box and kink, and the solvers' contract."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn.datasets import make_moons
from tests.conformance.problems import run

from maxmargin import SVC, SVR, InputError
from maxmargin.kernels.gram.table import TableGram
from maxmargin.problem import Problem, dual_value, violation
from maxmargin.solvers.base import Status, drive
from maxmargin.solvers.lectures.coordinate_ascent import CoordinateAscent
from maxmargin.solvers.lectures.smo import Smo
from maxmargin.theory import coordinate_example


def moons(n=120, **parameters):
    X, y = make_moons(n, noise=0.25, random_state=5)
    return SVC(gamma=2.0, fit_intercept=False, **parameters).problem(X, y)


def table(K, p, lower=-np.inf, upper=np.inf, ridge=0.0, epsilon=0.0):
    n = len(K)
    return Problem(
        gram=TableGram(np.array(K, dtype=float)),
        p=np.array(p, dtype=float),
        lower=np.full(n, lower),
        upper=np.full(n, upper),
        ridge=np.full(n, ridge),
        sums=(),
        epsilon=epsilon,
    )


# --- S1's example -----------------------------------------------------------------------


def test_s1_walk():
    start = np.array([2.0, -2.0])
    walk = list(CoordinateAscent(tol=1e-9).steps(coordinate_example(), warm=start))
    a1, a2 = start
    for k, snapshot in enumerate(walk):
        if k % 2 == 0:
            a1 = -a2 / 4
        else:
            a2 = -a1 / 2
        assert snapshot.model.beta == pytest.approx([a1, a2], rel=1e-12)
        W = -2 * a1**2 - a2**2 - a1 * a2
        assert snapshot.measures.dual == pytest.approx(W, abs=1e-15)
    assert walk[-1].status is Status.CONVERGED
    assert walk[-1].n_iter == len(walk)
    assert len(walk) % 2 == 0  # it stops at the end of a sweep
    # each round is an eighth of the one before: ln(2·4/1e-9)/ln 8 ≈ 11 rounds
    assert 18 <= len(walk) <= 26
    assert start.tolist() == [2.0, -2.0]


def test_s1_walk_in_words():
    first = next(CoordinateAscent().steps(coordinate_example(), warm=np.array([2.0, -2])))
    step = first.step
    assert step.points == (0,)
    assert (step["sweep"], step["coordinate"]) == (1, 0)
    assert (step["old"], step["new"], step["unclipped"]) == (2.0, 0.5, 0.5)
    assert step["clipped"] is False
    assert (step["gradient"], step["curvature"]) == (6.0, 4.0)
    # W(2, −2) = −8, W(½, −2) = −3.5
    assert step["gain"] == pytest.approx(4.5)
    assert step["dual"] == pytest.approx(-3.5)
    assert "goes from 2 to 0.5 and raises W by 4.5 to -3.5" in str(step)


def test_before_the_first_unit():
    solver, problem = CoordinateAscent(), coordinate_example()
    state = solver.start(problem, problem.warm_start(np.array([2.0, -2.0])))
    assert str(solver.explain(problem, state)) == "Nothing done yet."
    assert solver.model(problem, state).gradient.tolist() == [6.0, -2.0]
    assert solver.measure(problem, state).dual == -8.0
    assert solver.n_iter(state) == 0


def test_a_step_that_is_clipped_and_one_that_stays():
    problem = table([[1.0]], [-3.0], lower=0.0, upper=1.0)
    walk = CoordinateAscent(tol=1e-9, max_iter=1).steps(problem)
    step = next(walk).step
    assert step["clipped"] is True
    assert (step["unclipped"], step["new"]) == (3.0, 1.0)
    assert "clipped to 1" in str(step)
    # from 0 the gain of going to 1 is 3 − ½
    assert step["gain"] == pytest.approx(2.5)
    walk = CoordinateAscent().steps(coordinate_example())
    stays = next(walk).step
    assert "stays" in str(stays)
    assert stays["gain"] == 0.0


# --- answers ----------------------------------------------------------------------------


CASES = {
    "hinge": {"C": 2.0},
    "large C": {"C": 100.0},
    "squared hinge": {"C": 2.0, "loss": "squared_hinge"},
    "linear": {"C": 1.0, "kernel": "linear"},
}


@pytest.mark.parametrize("name", CASES)
def test_same_dual_as_smo(name):
    problem = moons(**CASES[name])
    tol = 1e-7
    mine = drive(CoordinateAscent(tol=tol), problem)
    theirs = drive(Smo(tol=tol), problem)
    assert mine.stop.converged
    model = mine.model
    dual = dual_value(problem, model.beta, model.gradient)
    other = dual_value(problem, theirs.model.beta, theirs.model.gradient)
    assert dual == pytest.approx(other, rel=1e-6)
    assert violation(problem, model.beta, model.gradient) <= tol
    # the gradient it kept up to date is that of its β
    K = np.empty((problem.n, problem.n))
    everyone = np.arange(problem.n, dtype=np.intp)
    problem.gram.block(everyone, everyone, K)
    fresh = K @ model.beta + problem.ridge * model.beta + problem.p
    assert np.abs(fresh - model.gradient).max() <= 1e-9
    assert (problem.lower <= model.beta).all()
    assert (model.beta <= problem.upper).all()
    assert model.bias == 0.0


def test_sparse_rows_and_weights():
    X, y = make_moons(60, noise=0.25, random_state=5)
    weight = np.random.default_rng(0).choice([0.5, 1.0, 3.0], size=60)
    machine = SVC(gamma=2.0, fit_intercept=False)
    dense, sparse = (
        drive(CoordinateAscent(tol=1e-8), machine.problem(rows, y, sample_weight=weight))
        for rows in (X, sp.csr_array(X))
    )
    reference = drive(Smo(tol=1e-8), machine.problem(X, y, sample_weight=weight))
    assert dense.model.beta == pytest.approx(reference.model.beta, abs=1e-6)
    assert sparse.model.beta == pytest.approx(reference.model.beta, abs=1e-6)


def test_hard_margin():
    X = np.array([[-2.0, 0.0], [-1.0, 0.5], [1.0, 0.0], [2.0, 1.0]])
    machine = SVC(C=np.inf, kernel="linear", fit_intercept=False)
    problem = machine.problem(X, [0, 0, 1, 1])
    found = drive(CoordinateAscent(tol=1e-9), problem)
    assert found.stop.converged
    y = np.array([-1, -1, 1, 1])
    assert (y * (X @ (found.model.beta @ X))).min() == pytest.approx(1.0, abs=1e-8)


@pytest.mark.parametrize("seed", range(6))
def test_any_box_ridge_and_kink(seed):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(6, 5))
    K, p = A @ A.T, rng.normal(size=6)
    ridge, epsilon = rng.uniform(0.1, 1.0), rng.uniform(0.0, 0.8)
    problem = table(K, p, -0.4, 0.7, ridge, epsilon)
    found = drive(CoordinateAscent(tol=1e-10), problem)
    assert found.stop.converged
    beta = found.model.beta

    # β = a − c with a, c ≥ 0 makes the kink smooth
    def cost(v):
        b = v[:6] - v[6:]
        return 0.5 * b @ K @ b + 0.5 * ridge * b @ b + p @ b + epsilon * v.sum()

    box = [(0.0, 0.7)] * 6 + [(0.0, 0.4)] * 6
    best = minimize(cost, np.zeros(12), bounds=box, options={"ftol": 1e-15}).fun
    mine = -dual_value(problem, beta, found.model.gradient)
    assert mine == pytest.approx(best, abs=1e-7)
    assert mine <= best + 1e-12


def test_regression_sets_coefficients_to_exactly_zero():
    X = np.linspace(-3.0, 3.0, 60)[:, None]
    z = np.sin(X[:, 0])
    problem = replace(SVR(C=5.0, epsilon=0.1, gamma=1.0).problem(X, z), sums=())
    mine = drive(CoordinateAscent(tol=1e-6), problem)
    theirs = drive(Smo(tol=1e-6), problem)
    both = [dual_value(problem, one.model.beta, one.model.gradient)
            for one in (mine, theirs)]  # fmt: skip
    assert both[0] == pytest.approx(both[1], rel=1e-6)
    assert 0 < np.count_nonzero(mine.model.beta) < 40


# --- curvatures that are none -----------------------------------------------------------


def test_a_row_of_zeros_goes_to_its_bound():
    problem = table([[0.0, 0.0], [0.0, 1.0]], [-1.0, -1.0], 0.0, 2.0)
    found = drive(CoordinateAscent(tol=1e-9), problem)
    assert found.model.beta.tolist() == [2.0, 1.0]
    flat = table([[0.0, 0.0], [0.0, 1.0]], [0.0, -1.0], 0.0, 2.0)
    assert drive(CoordinateAscent(), flat).model.beta.tolist() == [0.0, 1.0]
    # within the kink it goes back to 0
    kink = table([[0.0]], [0.3], -1.0, 1.0, epsilon=0.5)
    found = drive(CoordinateAscent(), kink, warm=np.array([0.8]))
    assert found.model.beta.tolist() == [0.0]


def test_without_bound():
    open_ended = table([[0.0]], [-1.0], 0.0, np.inf)
    assert drive(CoordinateAscent(), open_ended).stop.name == "UNBOUNDED"
    downward = table([[0.0]], [1.0], -np.inf, 0.0)
    assert drive(CoordinateAscent(), downward).stop.name == "UNBOUNDED"
    assert drive(CoordinateAscent(), table([[-1.0]], [0.0])).stop.name == "UNBOUNDED"


def test_negative_curvature_goes_to_the_better_end():
    problem = table([[-2.0]], [0.1], -1.0, 1.0)
    found = drive(CoordinateAscent(), problem)
    assert found.model.beta.tolist() == [-1.0]
    tube = table([[-2.0]], [0.1], -1.0, 1.0, epsilon=5.0)
    found = drive(CoordinateAscent(), tube, warm=np.array([0.5]))
    assert found.model.beta.tolist() == [0.0]


def test_stops_when_nothing_moves_any_more():
    # Kβ + p is exactly 0 and the ridge leaves a slope of 1e-9, above tol; a step of
    # 1e-9 is lost beside β = 1e8
    problem = table([[1.0]], [-1e8], -1e9, 1e9, ridge=1e-17)
    found = drive(CoordinateAscent(tol=1e-12), problem, warm=np.array([1e8]))
    assert (found.stop.name, found.n_iter) == ("STALLED", 1)


# --- the contract -----------------------------------------------------------------------


def test_bits_do_not_depend_on_budget_pickle_or_cache():
    problem = moons(90, C=3.0)
    solver = CoordinateAscent(tol=1e-5)
    whole = run(solver, problem)
    assert whole.status is Status.CONVERGED
    for budget in (1, 7):
        assert run(solver, problem, budget).same_as(whole)
    few = CoordinateAscent(tol=1e-5, cache_bytes=8 * 90 * 5)
    assert run(few, problem).same_as(whole)
    state = solver.start(problem)
    assert solver.advance(problem, state, 133) is Status.RUNNING
    for again in (pickle.loads(pickle.dumps(state)), copy.deepcopy(state)):
        assert run(solver, problem, state=again).same_as(whole)

    def look(state):
        solver.measure(problem, state)
        solver.model(problem, state)
        solver.explain(problem, state)

    assert run(solver, problem, 50, between=look).same_as(whole)


def test_warm_start_is_exact():
    problem = moons(90, C=3.0)
    first = drive(CoordinateAscent(tol=1e-6), problem)
    again = drive(CoordinateAscent(tol=1.1e-6), problem, warm=first.model.beta)
    assert again.n_iter == problem.n  # one sweep is enough
    assert np.abs(again.model.beta - first.model.beta).max() <= 1e-5


def test_the_dual_never_falls_and_gains_add_up():
    problem = moons(40, C=3.0)
    walk = list(CoordinateAscent(tol=1e-4).steps(problem))
    duals = [snapshot.step["dual"] for snapshot in walk]
    gains = [snapshot.step["gain"] for snapshot in walk]
    assert min(gains) >= 0.0
    assert np.cumsum(gains) == pytest.approx(duals, abs=1e-9)
    for before, snapshot in zip([0, *duals], walk, strict=False):
        assert snapshot.measures.dual >= before - 1e-12
    assert {snapshot.step["clipped"] for snapshot in walk} == {True, False}


def test_max_iter():
    problem = moons(40, C=3.0)
    found = drive(CoordinateAscent(tol=1e-9, max_iter=55), problem)
    assert (found.stop.name, found.n_iter) == ("MAX_ITER", 55)
    found = drive(CoordinateAscent(max_iter=0), problem)
    assert (found.stop.name, found.n_iter) == ("MAX_ITER", 0)
    assert not found.model.beta.any()


def test_an_intercept_is_refused():
    X, y = make_moons(20, random_state=0)
    with pytest.raises(InputError, match="fit_intercept=False"):
        CoordinateAscent().start(SVC().problem(X, y))
    with pytest.raises(InputError, match=r"shape \(3,\)"):
        drive(CoordinateAscent(), coordinate_example(), warm=np.zeros(3))
