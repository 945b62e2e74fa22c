"""Free points solved together: exact on the face, feasible and rising beyond it."""

import pickle
from typing import Any

import numpy as np
import pytest
from tests.conformance.problems import (
    BY_NAME,
    Case,
    Points,
    in_box,
    missed,
    plain,
    plain_dual,
    plain_kernel,
    run,
)

from maxmargin.kernels import RBF
from maxmargin.kernels.gram.table import TableGram
from maxmargin.problem import c_svc, epsilon_svr, nu_svc, violation
from maxmargin.solvers import WorkingSetSmo
from maxmargin.solvers.base import Status
from maxmargin.solvers.feasible import feasible
from maxmargin.solvers.gram_memory import WorkingMemory
from maxmargin.solvers.smo import active_set as _face
from maxmargin.solvers.smo import turns as _turns
from maxmargin.solvers.smo.active_set import free_points, scratch_size, solve_free

NOISE = 1e-12


def kernel(n: int, gamma: float = 1.0) -> np.ndarray:
    X = np.random.default_rng(n).normal(size=(n, 2))
    return plain_kernel(RBF(gamma=gamma), X, X)


def labels(n: int) -> np.ndarray:
    return np.where(np.random.default_rng(n + 1).random(n) < 0.5, -1.0, 1.0)


def solved(problem: Any, K: np.ndarray, beta: np.ndarray) -> tuple[Any, Any, Any]:
    """One step from β, with K_WW that of all points: (β, F, what it did)."""
    beta, everyone = beta.copy(), np.arange(problem.n)
    F = K @ beta + problem.p
    points = free_points(problem, everyone, beta)
    way = solve_free(
        problem, everyone, K, F, beta, points, np.empty(scratch_size(points.size)),
        noise=NOISE, goal=1e-6,
    )  # fmt: skip
    return beta, F, way


def test_the_minimum_on_the_face_is_that_of_the_linear_system():
    n = 40
    K = kernel(n, 20.0) + 0.1 * np.eye(n)
    problem = c_svc(TableGram(K), labels(n), np.full(n, 1e3))
    beta = feasible(problem, 1e2 * labels(n))
    free = free_points(problem, np.arange(n), beta)
    assert free.size > n // 2
    border = np.ones((free.size, 1))
    system = np.block([[K[np.ix_(free, free)], border], [border.T, np.zeros((1, 1))]])
    right = np.append(-(K @ beta + problem.p)[free], 0.0)
    expected = beta[free] + np.linalg.solve(system, right)[:-1]
    assert (expected > problem.lower[free]).all()
    assert (expected < problem.upper[free]).all()
    found, F, way = solved(problem, K, beta)
    np.testing.assert_allclose(found[free], expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(F, K @ found + problem.p, atol=1e-10)
    assert way.moved == free.size
    assert way.whole


def case_of(kind: str, n: int, C: float) -> tuple[Any, np.ndarray]:
    K, y = kernel(n), labels(n)
    gram, price = TableGram(K), np.full(n, C)
    if kind == "svr":
        return epsilon_svr(gram, y + 0.3 * np.arange(n) / n, price, 0.1), K
    if kind == "nu":
        return nu_svc(gram, y, price, 0.5), K
    return c_svc(gram, y, price, fit_intercept=kind == "sum"), K


@pytest.mark.parametrize("kind", ["sum", "no-sum", "nu", "svr"])
@pytest.mark.parametrize("C", [0.3, 30.0, 1e5])
def test_a_step_stays_feasible_and_rises(kind, C):
    n = 150
    problem, K = case_of(kind, n, C)
    rng = np.random.default_rng(5)
    inside = problem.lower + rng.uniform(0.2, 0.8, n) * (problem.upper - problem.lower)
    beta = feasible(problem, np.where(rng.random(n) < 0.7, inside, 0.0))
    found, F, way = solved(problem, K, beta)
    assert way.moved > 0
    assert in_box(problem, found)
    assert missed(problem, found) <= 1e-12
    held = np.setdiff1d(np.arange(n), free_points(problem, np.arange(n), beta))
    np.testing.assert_array_equal(found[held], beta[held])
    if kind == "svr":  # nobody crosses the kink
        assert (found * beta >= 0.0).all()
    np.testing.assert_allclose(F, K @ found + problem.p, atol=1e-9 * C)
    rise = plain_dual(problem, K, found) - plain_dual(problem, K, beta)
    assert rise == pytest.approx(way.gain, rel=1e-6, abs=1e-9 * C * C)
    assert rise > 0.0


def test_who_meets_a_bound_stays_there():
    n = 60
    problem, K = case_of("sum", n, 0.5)
    beta = feasible(problem, 0.25 * labels(n))
    found, F, way = solved(problem, K, beta)
    assert way.whole
    ends = (found == problem.lower) | (found == problem.upper)
    assert ends.any()
    assert not ends.all()
    assert np.ptp(F[~ends]) <= 1e-6  # optimal for all who are left


def test_a_matrix_without_a_factor_moves_nobody():
    n = 30
    K = -kernel(n)
    problem = c_svc(TableGram(K), labels(n), np.ones(n))
    beta = feasible(problem, 0.5 * labels(n))
    found, _, way = solved(problem, K, beta)
    np.testing.assert_array_equal(found, beta)
    assert way[:2] == (0, 0.0)
    assert not way.whole


# --- within the solver -----------------------------------------------------------------


def checkers(n: int, C: float) -> Points:
    rng = np.random.default_rng(0)
    X = rng.uniform(-2.0, 2.0, (n, 2))
    y = np.where(np.floor(X).sum(axis=1) % 2 == 0, 1.0, -1.0)
    return Points(X, np.where(rng.random(n) < 0.02, -y, y), np.full(n, C))


LARGE = Case(
    "checkers", lambda: checkers(2700, 1e4), RBF(gamma=4.0), cache_bytes=32 << 20
)


@pytest.fixture
def eager(monkeypatch):
    """Steps on free points as often as a few pairs, on whatever problem."""
    monkeypatch.setattr(_face, "_CALL", 0.0)
    monkeypatch.setattr(_turns, "_TIMES", 0.02)
    monkeypatch.setattr(_turns, "SLICE", 1)
    monkeypatch.setattr(_turns, "_FEWEST", 3)
    monkeypatch.setattr(_turns, "_LONGEST", 1.0)


def solver_of(case: Case, **options: Any) -> WorkingSetSmo:
    return WorkingSetSmo(tol=case.tol, cache_bytes=case.cache_bytes, **options)


def test_large_prices_take_fewer_steps(monkeypatch):
    faster = run(solver_of(LARGE), LARGE.build())
    monkeypatch.setattr(_turns, "pairs_to_go", lambda *_: 1 << 40)
    pairs = run(solver_of(LARGE), LARGE.build())
    assert faster.status is pairs.status is Status.CONVERGED
    assert faster.n_iter < 0.4 * pairs.n_iter
    exact = plain(LARGE, faster.model.beta)
    assert violation(LARGE.build(), exact.beta, exact.gradient) <= 1e-3


SOME = ("heart-rbf", "heart-squared-hinge", "heart-no-intercept", "svr",
        "nu-svr", "nu-svc", "one-class-weighted", "svdd-linear", "moons")  # fmt: skip


def test_what_may_be_solved_in_one_call_is_solved_by_pairs(monkeypatch):
    monkeypatch.setattr(_face, "_CALL", 0.0)
    monkeypatch.setattr(_turns, "SLICE", 1 << 21)
    case = LARGE._replace(points=lambda: checkers(900, 1e3))
    seen = [snapshot.state for snapshot in solver_of(case).steps(case.build())]
    first = next(state for state in seen if state.moved_together)
    assert first.iterations - first.moved_together >= _turns.pairs_of_a_slice(900)


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("name", SOME)
def test_every_machine(name, monkeypatch):
    case = BY_NAME[name]._replace(cache_bytes=32 << 20)
    steps = []
    step = _turns.free_step
    monkeypatch.setattr(
        _turns, "free_step", lambda *a: (steps.append(a[1].size), step(*a))
    )
    solver, problem = solver_of(case), case.build()
    duals = [-np.inf]
    K = case.matrix()

    def look(state):
        duals.append(plain_dual(problem, K, state.beta))
        assert in_box(problem, state.beta)

    end = run(solver, problem, budget=1, between=look)
    assert steps
    assert end.status is Status.CONVERGED
    exact = plain(case, end.model.beta)
    assert violation(problem, exact.beta, exact.gradient) <= case.tol * (1.0 + 1e-6)
    assert missed(problem, exact.beta) <= 1e-12
    slack = 1e-6 * max(1.0, abs(duals[-1]))
    assert (np.diff(duals[1:]) >= -slack).all()
    for budget in (7, 10**9):
        assert run(solver_of(case), case.build(), budget=budget).same_as(end)


def test_budget_pickle_and_threads_do_not_matter():
    whole = run(solver_of(LARGE), LARGE.build())
    assert run(solver_of(LARGE), LARGE.build(2), budget=1).same_as(whole)
    solver, problem = solver_of(LARGE), LARGE.build()
    state, status = solver.start(problem), Status.RUNNING
    while status is Status.RUNNING:
        state = pickle.loads(pickle.dumps(state))
        status = solver.advance(problem, state, 7)
    assert run(solver, problem, state=state).same_as(whole)


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("limit", [1, 50, 333])
def test_the_limit_of_steps_is_kept(limit):
    end = run(solver_of(LARGE, max_iter=limit), LARGE.build())
    assert end.status is Status.MAX_ITER
    assert end.n_iter == limit


def test_the_step_is_told():
    solver, problem = solver_of(LARGE), LARGE.build()
    told = [
        snapshot.step
        for snapshot in solver.steps(problem)
        if snapshot.state.moved_together
    ]
    assert told
    for one in told:
        assert "free points of the working set together" in one.words
        assert one["moved"] > 1
        assert one["unit_gain"] > 0.0


def test_scratch_is_within_the_promise(monkeypatch):
    solver, problem = solver_of(LARGE), LARGE.build()
    state = solver.start(problem)
    state.members[:50], state.size = np.arange(50), 50
    state.beta[:50] = np.clip(10.0, problem.lower[:50], problem.upper[:50])
    state.swept = np.inf
    n = np.count_nonzero(state.beta)
    taken = 50 * 50 * state.memory.dtype.itemsize + 8 * scratch_size(n)
    assert _turns.pairs_to_go(problem, state, 10**6, taken) == 0
    assert _turns.pairs_to_go(problem, state, 10**6, taken - 1) > 10**9
    assert _turns.pairs_to_go(problem, state, n - 1, taken) > 10**9
    monkeypatch.setattr(_turns, "_MOST", n - 1)
    assert _turns.pairs_to_go(problem, state, 10**6, taken) > 10**9


def test_scratch_is_lent_again_and_left_behind():
    memory = WorkingMemory(10, np.dtype(np.float32))
    first = memory.scratch(100)
    assert np.shares_memory(first, memory.scratch(60))
    assert memory.scratch(200).size == 200
    assert len(pickle.dumps(memory)) < 1000
