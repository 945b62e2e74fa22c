"""Crammer and Singer's machine: who works, and when the other takes over."""

import pickle

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_wine

from maxmargin import LinearSVC
from maxmargin.solvers.base import Status, drive
from maxmargin.solvers.linear import JointNewton, JointRelay, LinearCrammerSinger


def problem_of(X, y, C=1.0):
    return LinearSVC(multi_class="crammer_singer", C=C).problem(X, y)


def test_digits_need_no_newton_steps():
    # They took 0.5 s with Newton's method alone, and take 0.1 s without it.
    done = drive(JointRelay(max_iter=1000), problem_of(*load_digits(return_X_y=True)))
    assert done.stop.converged
    assert isinstance(done.state.solver, LinearCrammerSinger)


@pytest.mark.parametrize("C", [1.0, 100.0])
def test_columns_of_unlike_size_are_left_to_newton(C):
    problem = problem_of(*load_wine(return_X_y=True), C)
    done = drive(JointRelay(max_iter=1000), problem)
    assert done.stop.converged
    ran = JointRelay().ran(done.state)
    assert ran == "LinearCrammerSinger, then JointNewton"
    assert done.n_iter > JointNewton().n_iter(done.state.inner)


def test_more_than_a_thousand_weights_of_unlike_size():
    # The sequential method alone has a gap of 1 after its 1000 epochs.
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 400)) * np.geomspace(1e-2, 1e2, 400)
    y = (X[:, :20] @ rng.standard_normal((20, 3))).argmax(axis=1)
    machine = LinearSVC(multi_class="crammer_singer", C=1.0).fit(X, y)
    assert machine.coef_.size > 1000
    assert machine.certificate_.relative_gap <= 1e-4


def test_too_many_weights_stay_with_the_first():
    relay = JointRelay()
    few, many = (problem_of(np.eye(6, width), [0, 1, 2, 0, 1, 2]) for width in (6, 1000))
    assert relay._worth(few) < np.inf
    assert relay._worth(many) == np.inf


def test_neither_budget_nor_storage_changes_a_bit():
    problem = problem_of(*load_wine(return_X_y=True))
    solver, ends = JointRelay(max_iter=1000), set()
    for budget in (1, 7, 10**9):
        state = solver.start(problem)
        while solver.advance(problem, state, budget) is Status.RUNNING:
            state = pickle.loads(pickle.dumps(state))
        assert solver.explain(problem, state) is not None
        model = solver.model(problem, state)
        ends.add((model.W.tobytes(), model.beta.tobytes(), solver.n_iter(state)))
    assert len(ends) == 1
