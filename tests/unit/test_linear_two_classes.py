"""Crammer and Singer's machine of two classes, against the solver of all classes."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.preprocessing import StandardScaler

from maxmargin import InputError, LinearSVC, certify
from maxmargin.solvers.base import Status, drive
from maxmargin.solvers.linear import LinearCrammerSinger, TwoClasses


@pytest.fixture(scope="module")
def two():
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X)[:200], y[:200]


def machine(**options):
    return LinearSVC(multi_class="crammer_singer", **options)


@pytest.mark.parametrize("options", [{}, {"fit_intercept": False}, {"C": 0.01}], ids=str)
@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix], ids=["dense", "csr"])
def test_the_same_optimum_as_all_classes_together(two, make, options):
    X, y = make(two[0]), two[1]
    ours = machine(tol=1e-8, **options).fit(X, y)
    other = machine(tol=1e-8, max_iter=-1, solver="crammer-singer", **options).fit(X, y)
    assert ours.certificate_.solver == "TwoClasses by ProximalNewton"
    assert other.certificate_.solver == "LinearCrammerSinger"
    assert ours.certificate_.dual == pytest.approx(other.certificate_.dual, rel=3e-8)
    np.testing.assert_allclose(ours.coef_, other.coef_, atol=1e-3)
    verdict = certify(ours, X, y)
    assert verdict.relative_gap <= 1e-8


def test_rows_far_from_the_origin_converge():
    rng = np.random.default_rng(0)
    X, y = rng.normal(100.0, size=(100, 2)), rng.integers(0, 2, 100)
    found = machine().fit(X, y)  # warnings are errors
    assert found.certificate_.relative_gap <= 1e-4
    assert found.n_iter_ < 100


def test_many_columns_go_coordinate_by_coordinate():
    rng = np.random.default_rng(0)
    X = sp.random(300, 2000, 0.02, "csr", random_state=0)
    y = rng.integers(0, 2, 300)
    ours = machine(tol=1e-6, random_state=0).fit(X, y)
    assert ours.certificate_.solver == "TwoClasses by DualDescent"
    other = machine(tol=1e-6, max_iter=-1, solver="crammer-singer").fit(X, y)
    assert ours.certificate_.dual == pytest.approx(other.certificate_.dual, rel=3e-6)


def test_any_budget_and_a_warm_start(two):
    problem = machine().problem(*two)
    solver = TwoClasses(tol=1e-8)
    whole = drive(solver, problem)
    state, status = solver.start(problem), Status.RUNNING
    while status is Status.RUNNING:
        status = solver.advance(problem, state, 3)
    np.testing.assert_array_equal(solver.model(problem, state).beta, whole.model.beta)
    again = drive(solver, problem, warm=whole.model.beta)
    assert again.n_iter <= 2
    np.testing.assert_allclose(again.model.W, whole.model.W, atol=1e-4)
    assert "step" in solver.explain(problem, state).words.lower()


def test_one_that_was_made_is_used(two):
    found = machine(solver=TwoClasses(tol=1e-7)).fit(*two)
    assert found.certificate_.tol == 1e-7
    with pytest.raises(InputError, match="multi_class='ovr'"):
        LinearSVC(solver=TwoClasses()).fit(*two)


def test_three_classes_are_refused():
    X, y = load_iris(return_X_y=True)
    problem = machine().problem(X, y)
    with pytest.raises(InputError, match="for two classes, and these are 3"):
        TwoClasses().start(problem)
    assert drive(LinearCrammerSinger(tol=1e-3), problem).stop.converged
