"""Penalty l1: large C, many columns, and solvers that hand over."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.preprocessing import StandardScaler

from maxmargin import LinearSVC
from maxmargin.design.hessian import curvature
from maxmargin.design.operator import Design
from maxmargin.errors import ConvergenceWarning, InputError
from maxmargin.parallel import Workers
from maxmargin.problem import linear_svc
from maxmargin.solvers.base import Status, drive
from maxmargin.solvers.linear import LassoDescent, LassoInterior, LassoNewton, LassoRelay
from maxmargin.solvers.linear.l1 import hessian_parts as _growing
from maxmargin.solvers.linear.l1 import interior as lasso_interior
from maxmargin.solvers.linear.l1 import l1_relay as lasso_relay
from maxmargin.solvers.relay import crawls


def rows(n, d, *, sparse=False, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = np.where(rng.random(n) < 0.5, -1.0, 1.0)
    if not sparse:
        return X, y
    return sp.csr_matrix(np.where(rng.random((n, d)) < 0.05, X, 0.0)), y


def problem_of(X, y, C=1.0, scaling=1.0):
    price = np.broadcast_to(np.asarray(C, float), y.size).copy()
    return linear_svc(Design(X, scaling, Workers(1)), y, price, lasso=True)


@pytest.mark.parametrize("C", [10.0, 100.0, 1e5])
def test_many_columns_and_a_large_price(C):
    # Coordinates end at their limit: a gap of 0.003, 0.2, 0.9 after 1000 epochs.
    X, y = rows(300, 1600, sparse=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        machine = LinearSVC(penalty="l1", dual=False, C=C).fit(X, y)
    assert machine.certificate_.relative_gap <= 1e-4
    assert np.count_nonzero(machine.coef_) <= 300


@pytest.mark.parametrize(("n", "d"), [(300, 250), (900, 200)])
def test_few_columns_and_classes_that_can_be_told_apart(n, d):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((n, d))
    y = np.sign(X @ rng.standard_normal(d))
    problem = problem_of(X, y, 1e4)
    done = drive(LassoRelay(), problem)
    assert done.stop.converged
    assert isinstance(done.state.solver, LassoInterior)
    assert done.n_iter > LassoInterior().n_iter(done.state.inner)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(("n", "d"), [(60, 25), (25, 60)])
@pytest.mark.parametrize("scaling", [0.0, 1.5])
def test_the_interior_point_finds_what_newton_steps_find(n, d, scaling, sparse):
    X, y = rows(n, d, sparse=sparse)
    price = np.arange(n) % 4 * 0.7  # some have none
    problem = problem_of(X, y, price, scaling)
    inner, newton = (
        drive(kind(tol=1e-10), problem) for kind in (LassoInterior, LassoNewton)
    )
    assert inner.stop.converged
    assert newton.stop.converged
    np.testing.assert_allclose(inner.model.w, newton.model.w, atol=1e-6)
    assert (inner.model.beta[price == 0.0] == 0.0).all()


def test_weights_of_the_interior_point_are_zero_where_they_should_be():
    problem = problem_of(*rows(80, 200), 50.0)
    loose, tight = (drive(LassoInterior(tol=tol), problem) for tol in (1e-4, 1e-10))
    assert np.count_nonzero(tight.model.w) <= 80
    assert np.count_nonzero(loose.model.w) <= 1.3 * np.count_nonzero(tight.model.w)


def test_an_interior_point_at_the_end_of_rounding_says_so():
    problem = problem_of(*rows(40, 60), 1.0)
    done = drive(LassoInterior(tol=0.0), problem)
    assert done.stop.name in {"STALLED", "CLOSED"}
    assert LassoInterior().measure(problem, done.state).relative_gap < 1e-10


def test_the_interior_point_without_a_row_that_has_a_price():
    problem = problem_of(*rows(10, 4), 0.0)
    assert LassoInterior().advance(problem, LassoInterior().start(problem), 5) is (
        Status.CLOSED
    )


def test_what_the_interior_point_refuses(monkeypatch):
    problem = problem_of(*rows(10, 4))
    with pytest.raises(InputError, match="warm_start=False"):
        LassoInterior().start(problem, problem.warm_start(np.ones(5)))
    monkeypatch.setattr(lasso_interior, "MOST", 3)
    with pytest.raises(InputError, match="lasso-descent"):
        LassoInterior().start(problem)


@pytest.mark.parametrize("sparse", [False, True])
def test_effort_counts_no_more_than_dense_products(sparse):
    X, y = rows(50, 120, sparse=sparse)
    effort = lasso_interior.effort(problem_of(X, y, scaling=0.0))
    dense = 50**2 * 120 + 50**3 / 3
    assert effort <= dense
    assert sparse == (effort < dense)


@pytest.mark.parametrize(
    ("looks", "tol", "worth", "limit", "slow"),
    [
        ([(10, 1e-1), (30, 1e-2)], 1e-4, 50.0, 1000.0, False),  # 40 epochs are left
        ([(10, 1e-1), (30, 1e-2)], 1e-4, 39.0, 1000.0, True),
        ([(10, 1e-1), (30, 1e-2)], 1e-4, 50.0, 69.0, True),  # of which 39 are allowed
        ([(10, 1e-1), (30, 1e-2)], 1e-4, 390.0, 69.0, True),
        ([(10, 1e-1), (30, 1e-2)], 1e-4, 400.0, 1000.0, False),  # not tried enough
        ([(5, 1e-1), (15, 1e-1)], 1e-4, 2.0, 1000.0, False),
        ([(10, 1e-1), (30, 1e-1)], 1e-4, 50.0, 1000.0, True),  # stands still
        ([(10, 1e-1), (30, 1e-5)], 1e-4, 1.0, 1000.0, False),  # done
        ([(10, 1e-1), (30, 1e-2)], 0.0, 50.0, 1000.0, True),  # never done
        ([(20, 1e-1), (30, 1e-2)], 1e-4, 1.0, 1000.0, False),  # nothing to compare with
    ],
)
def test_when_a_solver_crawls(looks, tol, worth, limit, slow):
    assert crawls(looks, tol, worth, limit, 0.1) is slow


def test_easy_problems_stay_with_their_solver():
    tall = drive(LassoRelay(), problem_of(*rows(300, 20), 1.0))
    wide = drive(LassoRelay(), problem_of(*rows(300, 400, sparse=True), 0.1))
    assert isinstance(tall.state.solver, LassoNewton)
    assert isinstance(wide.state.solver, LassoDescent)


@pytest.mark.parametrize("load", [load_iris, load_breast_cancer])
def test_few_rows_are_no_reason_to_hand_over(load):
    X, y = load(return_X_y=True)
    machine = LinearSVC(penalty="l1", dual=False).fit(
        StandardScaler().fit_transform(X), y
    )
    every = machine.certificate_.problems or [machine.certificate_]
    assert {one.solver for one in every} == {"LassoNewton"}


def test_what_is_solved_is_not_handed_over(monkeypatch):
    problem = problem_of(*rows(300, 20))
    alone = drive(LassoNewton(), problem)
    monkeypatch.setattr(lasso_relay, "_LEAST", 1)
    monkeypatch.setattr(LassoRelay, "_worth", lambda *_: float(alone.state.rounds))
    assert LassoRelay().ran(drive(LassoRelay(), problem).state) == "LassoNewton"


def test_the_first_answer_is_kept_until_there_is_a_better_one():
    problem = problem_of(*rows(300, 1600, sparse=True), 100.0)
    solver = LassoRelay()
    state = solver.start(problem)
    while not state.first:
        before = solver.measure(problem, state).relative_gap
        assert solver.advance(problem, state, 1) is Status.RUNNING
    assert state.solver.measure(problem, state.inner).relative_gap > before
    assert solver.measure(problem, state).relative_gap <= before
    assert solver.model(problem, state).w.any()
    while solver.advance(problem, state, 1) is Status.RUNNING:
        pass
    assert solver.measure(problem, state).relative_gap <= solver.tol
    assert solver.ran(state) == "LassoDescent, then LassoInterior"


def test_where_the_first_stalls_the_second_goes_on(monkeypatch):
    monkeypatch.setattr(LassoNewton, "advance", lambda *_: Status.STALLED)
    done = drive(LassoRelay(), problem_of(*rows(300, 20)))
    assert done.stop.converged
    assert isinstance(done.state.solver, LassoInterior)


def test_both_together_keep_to_the_limit():
    X, y = rows(300, 1600, sparse=True)
    with pytest.warns(ConvergenceWarning, match=r"\(max_iter=25\)"):
        machine = LinearSVC(penalty="l1", dual=False, C=1e5, max_iter=25).fit(X, y)
    assert machine.n_iter_ == 25


@pytest.mark.parametrize("sparse", [False, True])
def test_a_matrix_made_in_parts_is_the_whole_matrix(monkeypatch, sparse):
    X, _ = rows(100, 12, sparse=sparse)
    design = Design(X, 1.0, Workers(1))
    weight, some = np.linspace(0.5, 2.0, 80), np.arange(5, 85)
    whole = np.tril(curvature(design, 1.0, weight, some))
    monkeypatch.setattr(_growing, "_PRODUCTS", 30 * 13 * 13)
    growing = _growing.Growing()
    for _ in range(2):  # it begins anew by itself
        ends = [growing.grow(design, 1.0, weight, some) for _ in range(3)]
        assert ends == [False, False, True]
        np.testing.assert_allclose(np.tril(growing.square), whole, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", [LassoNewton, LassoInterior])
def test_a_unit_is_less_than_a_step(monkeypatch, kind):
    # A step on 3000 columns took 8 s, and time_limit is looked at between units only.
    monkeypatch.setattr(_growing, "_PRODUCTS", 1000)
    problem = problem_of(*rows(60, 20), 10.0)
    solver = kind()
    state = solver.start(problem)
    assert solver.advance(problem, state, 5) is Status.RUNNING
    assert solver.n_iter(state) == 0
    assert drive(solver, problem, state=state).stop.converged
