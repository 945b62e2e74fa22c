"""What dual coordinate descent does when it crawls: faces, and mixtures of epochs."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin import LinearSVC, LinearSVR
from maxmargin.problem import WarmStart, linear_objective
from maxmargin.solvers.base import drive
from maxmargin.solvers.linear import DualDescent
from maxmargin.solvers.linear.descent.active_set import active_set_step
from maxmargin.solvers.linear.descent.gap_forecast import Outlook
from maxmargin.solvers.linear.descent.visits import visit
from maxmargin.solvers.linear.warm_start import best_multiple


def texts(n=300, d=2000, seed=0):
    """Sparse rows of length 1, and two classes that no plane quite separates."""
    rng = np.random.default_rng(seed)
    X = sp.csr_array(sp.random_array((n, d), density=0.02, rng=rng))
    X = sp.csr_array(X.multiply(1.0 / np.sqrt(X.multiply(X).sum(axis=1))[:, None]))
    y = np.where(X @ rng.normal(size=d) + 0.05 * rng.normal(size=n) > 0.0, 1, -1)
    return X, y


def value(problem, beta):
    """What the dual minimises, written down anew."""
    pull = problem.design.back(beta)
    own = problem.p @ beta + 0.5 * (problem.ridge * beta) @ beta
    return 0.5 * pull @ pull + own + problem.epsilon * np.abs(beta).sum()


def hinge(C=1.0):
    return LinearSVC(loss="hinge", C=C).problem(*texts())


def tube():
    X, _ = texts()
    return LinearSVR(epsilon=0.1, C=0.5).problem(X, X @ np.linspace(-3.0, 3.0, 2000))


@pytest.mark.parametrize("make", [hinge, tube])
def test_a_face_step_lowers_the_dual_within_its_box(make):
    problem = make()
    rng = np.random.default_rng(1)
    for _ in range(5):
        beta = rng.uniform(problem.lower, problem.upper)
        beta[rng.random(problem.n) < 0.3] = 0.0
        moved = active_set_step(problem, beta, problem.design.back(beta))
        assert moved is not None
        after = beta.copy()
        after[moved.some] = moved.beta
        assert value(problem, after) < value(problem, beta)
        assert (problem.lower <= after).all()
        assert (after <= problem.upper).all()
        np.testing.assert_allclose(moved.w, problem.design.back(after), atol=1e-9)
        if problem.epsilon:  # no β changes its sign
            assert (after * beta >= 0.0).all()


def test_without_bounds_in_the_way_a_step_ends_where_the_slope_is_nothing():
    problem = hinge(C=1e6)
    beta = np.where(problem.upper > 0.0, 0.5, -0.5)
    moved = active_set_step(problem, beta, problem.design.back(beta))
    assert moved.met == 0
    slope = problem.design.times(moved.w) + problem.p
    first = problem.design.times(problem.design.back(beta)) + problem.p
    assert np.linalg.norm(slope) <= 0.011 * np.linalg.norm(first)


def test_at_its_bounds_there_is_no_face():
    problem = hinge()
    assert active_set_step(problem, problem.upper.copy(), np.zeros(2001)) is None


def test_faces_save_epochs_and_change_nothing_else():
    X, y = texts(800, 1600, seed=3)
    problem = LinearSVC(loss="hinge", C=10.0).problem(X, y)
    found = {
        faces: drive(DualDescent(tol=1e-9, faces=faces), problem)
        for faces in (True, False)
    }
    assert found[True].n_iter < 0.5 * found[False].n_iter
    np.testing.assert_allclose(found[True].model.w, found[False].model.w, atol=1e-4)


def squared():
    return LinearSVC(loss="squared_hinge", C=1.0).problem(*texts())


@pytest.mark.parametrize("make", [hinge, squared, tube])
def test_the_gaps_that_visits_meet_are_the_gap(make):
    """Of an epoch in which nobody moves, the sum over rows is P − D."""
    problem = make()
    solver = DualDescent(tol=1e-2, seed=0)
    state = drive(solver, problem).state
    looked = solver.measure(problem, state)
    state.table[:, 5] = np.inf  # what is divided by it does not move
    state.order = np.arange(problem.n)
    state.place[:2], state.shift = (0, problem.n), 0.0
    state.figures[0], state.figures[6] = np.inf, 0.0
    before = state.beta.copy()
    visit(
        problem.design.rows, problem.design.scaling, state.table, problem.epsilon,
        state.w, state.order, state.place, state.figures, problem.n,
    )  # fmt: skip
    np.testing.assert_array_equal(state.beta, before)
    model = solver.model(problem, state)
    gap = linear_objective(problem, model).gap
    assert state.figures[6] == pytest.approx(gap, rel=1e-9)
    assert state.figures[6] >= 0.9 * looked.gap  # which has the best constant besides


@pytest.mark.parametrize("make", [hinge, squared, tube])
@pytest.mark.parametrize("tol", [1e-3, 1e-6])
def test_looks_are_few_and_come_in_time(make, tol, monkeypatch):
    problem, gaps = make(), []
    look = DualDescent._look

    def counted(self, problem, state):
        look(self, problem, state)
        gaps.append((state.epoch, state.looked.relative_gap))

    monkeypatch.setattr(DualDescent, "_look", counted)
    drive(DualDescent(tol=tol, seed=0), problem)
    epochs = gaps[-1][0]
    assert gaps[-1][1] <= tol
    # One every twenty epochs or so, one at the end, and some that hoped too soon.
    assert len(gaps) <= 6 + epochs // 5
    # Nobody went on for long after tol was reached.
    one_at_a_time = DualDescent(tol=tol, seed=0)
    state = one_at_a_time.start(problem)
    while state.gap > tol:
        state.look_at = state.epoch + 1
        one_at_a_time.advance(problem, state, 1)
    assert epochs <= 1.5 * state.epoch + 3


def test_a_forecast_is_corrected_by_what_was_found():
    outlook = Outlook()
    for total in (100.0, 50.0, 25.0):
        outlook.epoch(total)
    assert outlook.gap == 12.5
    outlook.found(25.0)
    assert outlook.gap == 25.0
    outlook.epoch(12.5)
    assert outlook.gap == 12.5
    outlook.found(12.5)
    assert outlook.gap == 12.5
    outlook.found(1e9)  # nothing that wrong is believed
    assert outlook.gap == 5.0 * 6.25


def test_the_first_epochs_promise_little():
    outlook = Outlook()
    outlook.epoch(100.0)
    assert outlook.gap == 30.0
    outlook.epoch(200.0)  # a rise says nothing of the end
    assert outlook.gap == 200.0


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_what_one_epoch_solves_takes_one(loss):
    X, y = texts()
    machine = LinearSVC(loss=loss, C=1e-8, solver="dual-descent", random_state=0)
    assert machine.fit(X, y).n_iter_ == 1
    assert machine.certificate_.ok


def test_where_nobody_moves_it_looks_at_once():
    X, _ = texts()
    machine = LinearSVR(epsilon=1.0, solver="dual-descent", random_state=0)
    assert machine.fit(X, np.zeros(X.shape[0])).n_iter_ == 1
    assert machine.certificate_.ok


@pytest.mark.parametrize("make", [hinge, squared, tube])
@pytest.mark.parametrize("room", [10.0, 0.5])
def test_the_best_multiple_of_a_beta(make, room):
    problem = make()
    top = np.minimum(problem.upper, 1.0)
    low = np.maximum(problem.lower, -1.0)
    beta = np.random.default_rng(2).uniform(low, top) / room
    start = WarmStart(beta, pull=problem.design.back(beta))
    got, pull = best_multiple(problem, start)
    np.testing.assert_allclose(pull, problem.design.back(got), atol=1e-12)
    assert (problem.lower <= got).all()
    assert (got <= problem.upper).all()
    t = float(got @ beta) / float(beta @ beta)
    np.testing.assert_allclose(got, t * beta, rtol=1e-9, atol=1e-15)
    for other in (0.9 * t, 1.1 * t):
        feasible = (problem.lower <= other * beta) & (other * beta <= problem.upper)
        if feasible.all():
            assert value(problem, other * beta) >= value(problem, got)


def test_of_nothing_there_is_no_multiple():
    problem = hinge()
    zeros = np.zeros(problem.n)
    start = WarmStart(zeros, pull=np.zeros(problem.design.width))
    got, pull = best_multiple(problem, start)
    assert not got.any()
    assert not pull.any()


@pytest.mark.parametrize("make", [hinge, squared, tube])
def test_a_run_that_begins_with_a_ray_ends_where_others_do(make):
    problem, solver = make(), DualDescent(tol=1e-7, seed=0)
    whole = drive(solver, problem)
    beta = 0.3 * whole.model.beta
    again = drive(solver, problem, warm=WarmStart(beta, pull=problem.design.back(beta)))
    wanted = linear_objective(problem, whole.model)
    got = linear_objective(problem, again.model)
    assert got.relative_gap <= 1e-7
    assert got.primal == pytest.approx(wanted.primal, rel=1e-6)
    np.testing.assert_allclose(
        again.model.pull, problem.design.back(again.model.beta), atol=1e-9
    )
