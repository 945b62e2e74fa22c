"""Answers that looked solved and were not: found by reading, kept from coming back."""

import pickle

import numpy as np
import pytest

from maxmargin import SVC, SVR, certify
from maxmargin.kernels import RBF
from maxmargin.kernels.gram.dot_products import VectorGram
from maxmargin.kernels.gram.row_cache import StoredGram
from maxmargin.parallel import Workers
from maxmargin.problem import c_svc, worst_violation
from maxmargin.solvers import WorkingSetSmo
from maxmargin.solvers.base import Status
from maxmargin.solvers.smo import working_set


def test_one_huge_value_does_not_make_all_points_equal():
    """In float32, moved by half of it, all other rows were one point: none decided."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3))
    y = np.where(np.arange(2000) % 2, 1, -1)
    X[7, 1] = 1e10
    model = SVC(gamma=0.5, C=0.5).fit(X, y)
    assert certify(model, X, y).violation <= 1.01e-3
    assert model.certificate_.ok


@pytest.mark.parametrize("sums", [True, False])
def test_nan_is_no_violation_of_zero(sums):
    assert np.isnan(worst_violation(np.array([[0.0, np.nan]]), sums))
    assert np.isnan(worst_violation(np.array([[0.0, -1.0], [np.nan, 0.0]]), sums))
    assert worst_violation(np.array([[np.inf, -np.inf]]), sums) == 0.0


def test_a_price_that_vanishes_is_none():
    """Its ridge, 1/(2C), would be infinite, and nothing would ever move."""
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(60, 2)), np.ones(60)
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=60) > 0.0, 1, -1)
    weight[0] = 1e-310
    machine = SVC(loss="squared_hinge", gamma=0.5, tol=1e-8)
    without = machine.fit(X[1:], y[1:]).decision_function(X)
    with_it = machine.fit(X, y, sample_weight=weight).decision_function(X)
    np.testing.assert_allclose(with_it, without, atol=1e-6)
    assert np.abs(with_it).max() > 0.5


@pytest.mark.filterwarnings("error")
def test_a_tube_far_wider_than_tol():
    """Gradients that decide lie ±ε from the middle, where float32 has no digits left."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 3))
    y = 1e5 * X[:, 0] + 3e4 * rng.normal(size=1200)
    model = SVR(epsilon=1e4, C=1e4, gamma=0.3).fit(X, y)
    assert certify(model, X, y).violation <= 1.01e-3


def test_rows_without_weight_do_not_set_gamma():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = np.where(X[:, 0] > 0.0, 1, -1)
    plain = SVC().fit(X, y)
    more = np.vstack([X, [[1e15, 0.0]]])
    weight = np.append(np.ones(40), 0.0)
    assert SVC().fit(more, np.append(y, 1), sample_weight=weight).gamma_ == plain.gamma_


def _part_of_the_rows(room=50):
    """A Gram that has room for some of its rows only."""
    X = np.random.default_rng(3).normal(size=(1500, 4))
    return StoredGram(VectorGram(RBF(gamma=0.5), X, Workers(1)), room=room, eager=False)


def _sums(gram, cols):
    out = np.zeros(gram.n)
    everyone = np.arange(gram.n, dtype=np.intp)
    coef = np.linspace(-1.0, 1.0, cols.size)
    gram.apply(everyone, cols, coef, out, np.dtype(np.float32))
    return out.tobytes()


def test_a_copy_keeps_the_rows_of_the_original():
    """Sums over kept and other rows have bits of their own."""
    first, second = np.arange(0, 60, dtype=np.intp), np.arange(30, 90, dtype=np.intp)
    gram = _part_of_the_rows()
    _sums(gram, first)
    copy = pickle.loads(pickle.dumps(gram))
    again = pickle.loads(pickle.dumps(copy))  # before the copy has computed anything
    assert _sums(copy, second) == _sums(again, second) == _sums(gram, second)
    assert _sums(_part_of_the_rows(), second) != _sums(gram, second)


def test_looking_keeps_nothing(monkeypatch):
    monkeypatch.setattr(working_set, "_EXACT", 0)  # as for a large problem
    rng = np.random.default_rng(0)
    gram = _part_of_the_rows(room=1400)
    problem = c_svc(gram, rng.choice([-1.0, 1.0], gram.n), np.full(gram.n, 10.0))
    solver = WorkingSetSmo(tol=1e-3)
    state = solver.start(problem)
    while not (state.beta != state.applied).any():
        assert solver.advance(problem, state, 1) is Status.RUNNING
    kept = gram.__getstate__()["_owed"]
    solver.model(problem, state)
    np.testing.assert_array_equal(gram.__getstate__()["_owed"], kept)
