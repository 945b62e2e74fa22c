"""The quadratic programme by Clarabel: an oracle that must not need excuses.

Answers are judged with kernel matrices made by plain NumPy, and against plain SMO run to
1e-9, which shares nothing with an interior-point method.
"""

import copy
import dataclasses
import pickle
import sys

import numpy as np
import pytest
from tests.conformance.problems import (
    BY_NAME,
    CASES,
    Case,
    contradictions,
    heart,
    housing,
    in_box,
    missed,
    plain,
    plain_kernel,
    run,
)

from maxmargin.errors import InputError, MissingExtraError, NumericalError, Stop
from maxmargin.kernels import RBF
from maxmargin.kernels.gram.table import TableGram
from maxmargin.problem import (
    c_svc,
    dual_value,
    epsilon_svr,
    imbalance,
    nu_svc,
    one_class,
    violation,
)
from maxmargin.solvers.base import Status, drive
from maxmargin.solvers.lectures.smo import Smo
from maxmargin.solvers.oracle import polish as _polish
from maxmargin.solvers.oracle import qp
from maxmargin.solvers.oracle.qp import QuadraticProgram
from maxmargin.solvers.smo.working_set import WorkingSetSmo

pytest.importorskip("clarabel")

TOL = 1e-6
SMALL = [case for case in CASES if not case.name.endswith(("moons", "wave"))]
SMALL.remove(BY_NAME["moons-no-intercept"])


def named(case: Case) -> str:
    return case.name


def svc(K, y, C, **more):
    return c_svc(TableGram(K), y, np.full(y.size, float(C)), **more)


def hearts(gamma: float = 1.0 / 13.0) -> tuple[np.ndarray, np.ndarray]:
    X, y, _ = heart()
    return plain_kernel(RBF(gamma=gamma), X, X), y


def blobs(gap: float) -> tuple[np.ndarray, np.ndarray]:
    """Two clouds in the plane, ``gap`` apart along the first axis, three at the gap."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = np.where(X[:, 0] > 0.0, 1.0, -1.0)
    X[:, 0] = y * (np.abs(X[:, 0]) + gap / 2.0)
    X[:3] = [[gap / 2.0, 0.3], [-gap / 2.0, 0.1], [gap / 2.0, -0.5]]
    y[:3] = [1.0, -1.0, 1.0]
    return X, y


def check(problem, K, tol: float = TOL) -> np.ndarray:
    """Run; β must be feasible and optimal by the plain matrix, and as good as SMO's."""
    end = run(QuadraticProgram(tol=tol), problem)
    beta = end.model.beta
    assert end.status is Status.CONVERGED
    assert in_box(problem, beta)
    assert missed(problem, beta) <= 1e-12
    F = K @ beta + problem.ridge * beta + problem.p
    assert violation(problem, beta, F) <= tol
    other = run(Smo(tol=1e-3 * tol), problem).model.beta
    G = K @ other + problem.ridge * other + problem.p
    value, reference = dual_value(problem, beta, F), dual_value(problem, other, G)
    assert value == pytest.approx(reference, rel=1e-6, abs=1e-12)
    return beta


# --- every machine ---------------------------------------------------------------------


@pytest.mark.parametrize("case", SMALL, ids=named)
def test_optimum(case):
    problem = case.build()
    assert problem.n <= 600
    beta = check(problem, case.matrix())
    # Solving again ends at rounding, far below any tol.
    exact = plain(case, beta)
    assert violation(problem, beta, exact.gradient) <= 1e-11
    assert imbalance(problem, beta) <= 1e-12


@pytest.mark.parametrize("case", SMALL, ids=named)
def test_bounds_are_exact(case):
    """Nobody is left next to a bound, or next to the kink of |β|."""
    problem = case.build()
    beta = run(QuadraticProgram(tol=TOL), problem).model.beta
    width = problem.upper - problem.lower
    near = 1e-6 * np.where(np.isfinite(width), width, np.abs(beta).max())
    ends = [problem.lower, problem.upper]
    if problem.epsilon > 0.0:
        ends.append(np.zeros(problem.n))
    for end in ends:
        away = np.abs(beta - end)[width > 0.0]
        assert not ((away > 0.0) & (away <= 1e-2 * near[width > 0.0])).any()
    assert any((beta == end)[width > 0.0].any() for end in ends)


def test_no_epsilon_keeps_its_point_at_zero():
    # β = 0 is no kink without ε: nobody of a regression without tube is put there
    problem = BY_NAME["svr-no-tube"].build()
    beta = run(QuadraticProgram(tol=TOL), problem).model.beta
    assert (beta != 0.0).all()


def test_two_points():
    """S1: at C = ¼, w = (0, ½), and b may be anything in [−½, ½]."""
    case = BY_NAME["two-points"]
    model = run(QuadraticProgram(tol=TOL), case.build()).model
    assert model.beta.tolist() == [-0.25, 0.25]
    assert (model.beta @ case.points().X).tolist() == [0.0, 0.5]
    assert model.interval == pytest.approx((-0.5, 0.5))
    assert model.bias == pytest.approx(0.0)


@pytest.mark.parametrize("C", [1e-3, 1e2, 1e4, 1e6])
def test_prices_over_nine_decades(C):
    K, y = hearts()
    check(svc(K, y, C), K)


def test_large_price_is_not_taken_for_a_ray():
    """Overlapping classes at C = 10⁶: the dual is huge, and bounded.

    K has rank 13 and β is 10⁶: by how the BLAS rounds K (its threads alone change that),
    the last digits of F are there or not, and the solver says which.
    """
    X, y, _ = heart()
    K = X @ X.T
    problem = svc(K, y, 1e6)
    end = run(QuadraticProgram(tol=TOL), problem)
    worst = violation(problem, end.model.beta, K @ end.model.beta + problem.p)
    assert end.status in (Status.CONVERGED, Status.STALLED)
    assert worst <= (TOL if end.status is Status.CONVERGED else 1e-3)


def test_prices_of_very_different_points():
    K, y = hearts()
    C = 10.0 ** np.random.default_rng(1).integers(-6, 7, y.size)
    check(c_svc(TableGram(K), y, C), K)


@pytest.mark.parametrize("size", [1e-6, 1e6])
def test_units_of_the_kernel(size):
    # 1e-6: hardly curved at all, and most of the free ones have to go to a bound
    K, y = hearts()
    check(svc(size * K, y, 1.0), size * K)


@pytest.mark.parametrize("squared", [False, True])
def test_held_out_points(squared):
    K, y = hearts()
    C = np.ones(y.size)
    C[::5] = 0.0
    beta = check(c_svc(TableGram(K), y, C, squared=squared), K)
    assert (beta[::5] == 0.0).all()


def test_repeated_points():
    K, y = hearts()
    some = np.tile(np.arange(60), 4)
    check(svc(K[np.ix_(some, some)], y[some], 1.0), K[np.ix_(some, some)])


def test_largest_nu_has_no_inside():
    """All of one class at its bound: the programme has no interior point."""
    K, y = hearts()
    few = min((y > 0).sum(), (y < 0).sum())
    weight = np.ones(y.size)
    beta = check(nu_svc(TableGram(K), y, weight, 2.0 * few / y.size), K)
    assert (np.abs(beta) == 1.0).sum() >= few
    beta = check(one_class(TableGram(K), weight, 1.0), K)
    assert (beta == 1.0).all()


def test_one_label_and_no_kernel():
    K, y = hearts()
    beta = check(svc(K, np.ones(y.size), 1.0), K)
    assert (beta == 0.0).all()
    check(svc(0.0 * K, y, 1.0), 0.0 * K)


def test_tube_around_everything():
    X, z, C = housing()
    K = plain_kernel(RBF(gamma=1.0 / 13.0), X, X)
    beta = check(epsilon_svr(TableGram(K), z, C, 100.0), K)
    assert (beta == 0.0).all()


# --- open boxes ------------------------------------------------------------------------


@pytest.mark.parametrize("intercept", [True, False])
def test_hard_margin(intercept):
    K, y = hearts()
    problem = svc(K, y, np.inf, fit_intercept=intercept)
    beta = check(problem, K)
    outcome = drive(QuadraticProgram(tol=TOL), problem)
    margins = y * (K @ beta + outcome.model.bias)
    assert margins.min() == pytest.approx(1.0, abs=1e-6)
    assert np.allclose(margins[beta != 0.0], 1.0, atol=1e-6)


def test_hard_margin_is_the_gap():
    for gap in (1.0, 1e-2, 1e-4):
        X, y = blobs(gap)
        end = run(QuadraticProgram(tol=TOL), svc(X @ X.T, y, np.inf))
        assert end.status is Status.CONVERGED
        w = end.model.beta @ X
        assert 2.0 / np.linalg.norm(w) == pytest.approx(gap, rel=1e-6)


@pytest.mark.parametrize("intercept", [True, False])
def test_no_hard_margin(intercept):
    X, y, _ = contradictions()
    K = plain_kernel(RBF(gamma=0.5), X, X)
    problem = svc(K, y, np.inf, fit_intercept=intercept)
    solver = QuadraticProgram()
    outcome = drive(solver, problem)
    assert outcome.stop is Stop.UNBOUNDED
    step = solver.explain(problem, outcome.state)
    assert "without bound" in step.words
    assert "Infeasible" in step["status"]
    assert (outcome.model.beta == 0.0).all()  # feasible, and no claim of more


@pytest.mark.parametrize("gap", [0.0, -1e-2])
def test_hulls_that_touch_or_overlap(gap):
    X, y = blobs(gap)
    end = run(QuadraticProgram(), svc(X @ X.T, y, np.inf))
    assert end.status is Status.UNBOUNDED


def test_a_gap_below_what_can_be_told():
    X, y = blobs(1e-6)
    problem = svc(X @ X.T, y, np.inf)
    solver = QuadraticProgram(tol=1e-9)
    state = solver.start(problem)
    assert solver.advance(problem, state, 2) is Status.UNBOUNDED
    words = solver.explain(problem, state).words
    assert ("hulls" if state.said == "Solved" else "without bound") in words


def test_hard_tube():
    X, z, C = housing()
    K = plain_kernel(RBF(gamma=1.0 / 13.0), X, X)
    beta = check(epsilon_svr(TableGram(K), z, np.full_like(C, np.inf), 0.5), K)
    assert (beta == 0.0).any()
    assert (beta > 0.0).any()
    assert (beta < 0.0).any()
    line = epsilon_svr(TableGram(X @ X.T), z, np.full_like(C, np.inf), 0.5)
    assert run(QuadraticProgram(), line).status is Status.UNBOUNDED


# --- what it refuses -------------------------------------------------------------------


def test_indefinite_kernel():
    X, y, _ = heart()
    K = np.tanh(X @ X.T - 1.0)
    lowest = np.linalg.eigvalsh(K)[0]
    with pytest.raises(InputError, match=f"eigenvalue .* is {lowest:.3g}.*smo-platt"):
        run(QuadraticProgram(), svc(K, y, 1.0))


def test_a_ridge_can_make_it_convex():
    K, y = hearts()
    shifted = K - 0.05 * np.eye(y.size)  # smallest eigenvalue below 0
    with pytest.raises(InputError, match="semi-definite"):
        run(QuadraticProgram(), svc(shifted, y, 1.0))
    check(svc(shifted, y, 1.0, squared=True), shifted)


def test_rounding_is_not_indefinite():
    X, y, _ = heart()  # 270 points of rank 13
    K = X @ X.T
    assert np.linalg.eigvalsh(K)[0] < 0.0
    check(svc(K, y, 1.0), K)


def test_memory():
    problem = BY_NAME["heart-rbf"].build()
    with pytest.raises(InputError, match=r"270 points need 0.556 MB, .* larger cache"):
        QuadraticProgram(cache_bytes=8 * 270**2 - 1).start(problem)
    QuadraticProgram(cache_bytes=8 * 270**2).start(problem)


def test_overflow():
    K, y = hearts()
    K[0, 1] = K[1, 0] = np.inf
    with pytest.raises(NumericalError, match="overflow"):
        run(QuadraticProgram(), svc(K, y, 1.0))


def test_without_clarabel(monkeypatch):
    monkeypatch.setitem(sys.modules, "clarabel", None)
    problem = BY_NAME["two-points"].build()
    with pytest.raises(MissingExtraError, match=r"solver='qp' .*maxmargin\[qp\]"):
        run(QuadraticProgram(), problem)


def test_only_empty_boxes():
    K, y = hearts()
    with pytest.raises(InputError, match="zero box"):
        run(QuadraticProgram(), svc(K, y, 0.0))


# --- the contract ----------------------------------------------------------------------


def test_max_iter_zero_does_nothing():
    problem = BY_NAME["heart-rbf"].build()
    solver = QuadraticProgram(max_iter=0)
    state = solver.start(problem)
    assert solver.advance(problem, state, 10**9) is Status.MAX_ITER
    assert solver.n_iter(state) == 0
    assert str(solver.explain(problem, state)) == "Nothing done yet."
    model = solver.model(problem, state)
    assert (model.beta == 0.0).all()
    assert (model.gradient == problem.p).all()
    assert problem.gram.n_kernel == 0


def test_few_iterations():
    """Whatever the rough iterate is good for, β is feasible and its gradient true."""
    problem = BY_NAME["contradictions"].build()
    end = run(QuadraticProgram(tol=1e-9, max_iter=2), problem)
    assert end.n_iter == 2
    worst = violation(problem, end.model.beta, end.model.gradient)
    assert end.status is (Status.CONVERGED if worst <= 1e-9 else Status.MAX_ITER)
    assert in_box(problem, end.model.beta)
    assert missed(problem, end.model.beta) <= 1e-12
    exact = plain(BY_NAME["contradictions"], end.model.beta)
    assert np.allclose(end.model.gradient, exact.gradient, atol=1e-10)


def test_what_float64_cannot_reach_has_stalled():
    problem = BY_NAME["heart-poly"].build()
    end = run(QuadraticProgram(tol=1e-18), problem)
    assert end.status is Status.STALLED
    assert violation(problem, end.model.beta, end.model.gradient) <= 1e-11


def test_warm_start_is_the_first_model():
    case = BY_NAME["heart-rbf"]
    problem = case.build()
    solver = QuadraticProgram(tol=TOL)
    warm = run(Smo(tol=1e-1), problem).model.beta
    state = solver.start(problem, problem.warm_start(warm))
    model = solver.model(problem, state)
    assert np.allclose(model.beta, warm)
    assert np.allclose(model.gradient, plain(case, model.beta).gradient, atol=1e-10)
    first = solver.measure(problem, state)
    assert TOL < first.violation < 1.0
    assert solver.advance(problem, state, 2) is Status.CONVERGED
    cold = run(solver, problem).model.beta
    assert state.beta.tobytes() == cold.tobytes()
    last = solver.measure(problem, state)
    assert last.dual > first.dual
    assert last.violation <= 1e-11
    assert abs(last.gap) <= 1e-9 * last.dual


@pytest.mark.parametrize("name", ["heart-squared-hinge", "svr", "nu-svc", "one-class"])
def test_bits(name):
    """The same for every budget, after a copy, a pickle and a second call."""
    problem = BY_NAME[name].build()
    solver = QuadraticProgram(tol=TOL)
    state = solver.start(problem)
    solver2, problem2, state2 = pickle.loads(pickle.dumps((solver, problem, state)))
    state3 = copy.deepcopy(state)
    reference = run(solver, problem)
    assert run(solver, problem, budget=1).same_as(reference)
    assert run(solver, problem, budget=7, state=state).same_as(reference)
    assert run(solver2, problem2, state=state2).same_as(reference)
    assert run(solver, problem, state=state3).same_as(reference)
    # a finished one is asked again
    again = pickle.loads(pickle.dumps(state))
    assert run(solver, problem, state=again).same_as(reference)
    assert solver.explain(problem, again) == solver.explain(problem, state)


def test_no_budget_is_no_work():
    problem = BY_NAME["heart-rbf"].build()
    solver = QuadraticProgram()
    state = solver.start(problem)
    assert solver.advance(problem, state, 0) is Status.RUNNING
    assert not state.done


def test_a_smaller_tolerance_asks_the_same_answer():
    # as the follower of ν-machines does
    problem = BY_NAME["nu-svc"].build()
    solver = QuadraticProgram(tol=1e-3)
    state = solver.start(problem)
    assert solver.advance(problem, state, 2) is Status.CONVERGED
    stricter = dataclasses.replace(solver, tol=1e-9)
    assert stricter.advance(problem, state, 2) is Status.CONVERGED
    impossible = dataclasses.replace(solver, tol=1e-30)
    assert impossible.advance(problem, state, 2) is Status.STALLED


def test_steps_and_explanation():
    case = BY_NAME["heart-rbf"]
    problem = case.build()
    solver = QuadraticProgram(tol=TOL)
    waiting, snapshot = solver.steps(problem)  # the first only lets observers look
    assert str(waiting.step) == "Nothing done yet."
    assert snapshot.status is Status.CONVERGED
    step = snapshot.step
    beta = snapshot.model.beta
    assert step["variables"] == 270
    assert step["iterations"] == snapshot.n_iter > 5
    assert step["status"] == "Solved"
    assert step["at_lower"] == (beta == problem.lower).sum()
    assert step["at_upper"] == (beta == problem.upper).sum()
    assert step["at_kink"] == 0
    assert step["free"] == 270 - step["at_lower"] - step["at_upper"] > 0
    assert step["violation"] == snapshot.measures.violation
    assert step["gained"] == step["violation_before"] - step["violation"] > 0.0
    assert step["b"] == snapshot.model.bias
    assert step["dual"] == pytest.approx(snapshot.measures.dual)
    assert step.points == tuple(range(270))
    assert step.words.startswith(f"Clarabel: Solved after {snapshot.n_iter} iterations")
    assert f"New b = {snapshot.model.bias:.6g}" in step.words


def test_explanation_of_a_tube():
    problem = BY_NAME["svr-weighted"].build()
    _, snapshot = QuadraticProgram(tol=TOL).steps(problem)
    step, beta = snapshot.step, snapshot.model.beta
    inside = problem.lower < problem.upper
    assert 0 < inside.sum() < problem.n
    assert step.points == tuple(np.flatnonzero(inside))
    assert step["variables"] == 2 * inside.sum()  # β and β⁻
    assert step["at_kink"] == (beta[inside] == 0.0).sum() > 0
    assert f"{step['at_kink']} at 0 inside it" in step.words


# --- solving the free ones again -------------------------------------------------------


def exact(problem):
    return run(WorkingSetSmo(tol=1e-10), problem).model.beta


def test_snapping_reaches_a_millionth_of_the_box():
    K, y = hearts()
    problem = c_svc(TableGram(K), y, np.full(y.size, 8.0), fit_intercept=False)
    beta = np.where(y > 0.0, 4.0, -4.0)
    beta[:4] = y[:4] * [7.9e-6, 8.1e-6, 8.0 - 7.9e-6, 8.0 - 8.1e-6]
    found = np.abs(_polish.snapped(problem, beta))
    assert found[:4].tolist() == [0.0, 8.1e-6, 8.0, 8.0 - 8.1e-6]
    assert (found[4:] == 4.0).all()


def test_snapping_keeps_the_sum():
    K, y = hearts()
    problem = svc(K, y, 1.0)
    rng = np.random.default_rng(5)
    beta = y * rng.choice([1e-8, 0.5, 1.0 - 1e-8], size=y.size)
    found = _polish.snapped(problem, beta)
    assert in_box(problem, found)
    assert missed(problem, found) <= 1e-12
    snapped_ones = np.abs(np.abs(beta) - 0.5) > 0.1
    assert np.isin(np.abs(found[snapped_ones]), [0.0, 1.0]).all()


def test_a_guess_of_the_active_set_is_mended():
    """Free ones set to a bound are let go, bound ones that were freed go back."""
    K, y = hearts()
    problem = svc(K, y, 1.0)
    right = exact(problem)
    free = np.flatnonzero((right != 0.0) & (np.abs(right) < 1.0))
    assert free.size > 6
    guess = right.copy()
    guess[free[:3]] = problem.lower[free[:3]]
    at_bound = np.flatnonzero(right == 0.0)[:3]
    guess[at_bound] = 0.3 * y[at_bound]
    guess = _polish.snapped(problem, guess)
    before = violation(problem, guess, K @ guess + problem.p)
    assert before > 1e-2
    found, rounds = _polish.resolved(problem, K, guess, before)
    assert rounds > 1
    assert violation(problem, found, K @ found + problem.p) <= 1e-12
    assert np.abs(found - right).max() <= 1e-7


def test_a_solved_one_is_left_alone():
    K, y = hearts()
    problem = svc(K, y, 1.0)
    given = np.zeros(y.size)
    # No violation is below 0: whatever is met is refused, and the given β comes back.
    found, rounds = _polish.resolved(problem, K, given, 0.0)
    assert found is given
    assert rounds == 0


def test_the_shortest_correction():
    """Twins share what one of them would get, and a right β does not move."""
    K, y = hearts()
    some = np.tile(np.arange(60), 2)
    K, y = K[np.ix_(some, some)], y[some]
    problem = svc(K, y, np.inf, squared=False)
    start = 0.1 * y
    start[y > 0] *= (y < 0).sum() / (y > 0).sum()
    low, high = problem.lower, problem.upper
    delta = _polish._correction(problem, K, start, low, high)
    assert np.allclose(delta[:60], delta[60:], rtol=1e-5, atol=1e-7)
    assert abs(delta.sum()) <= 1e-8 * np.abs(delta).sum()
    F = K @ (start + delta) + problem.p
    assert np.ptp(F) <= 1e-7 * np.abs(delta).sum()


def test_units_measure_what_counts():
    K, y = hearts()
    assert qp._units(svc(K, y, 1e-3), K) == (1e-3, 1.0)  # the box
    assert qp._units(svc(K, y, 1e6), K) == pytest.approx((1.0, 1.0))  # p over K
    assert qp._units(one_class(TableGram(3.0 * K), np.ones(y.size), 0.5), 3.0 * K) == (
        pytest.approx((1.0, 3.0))
    )
