"""The problem of a linear kernel through its weights: the same machine, sooner."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin import SVC, SVR, certify
from maxmargin.solvers import ThroughWeights, WorkingSetSmo
from maxmargin.solvers.base import Status, drive
from maxmargin.solvers.linear import through_weights
from maxmargin.solvers.linear.newton import proximal_schedule as _centres


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """So that small problems are large enough."""
    monkeypatch.setattr(through_weights, "FEW", 200)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((900, 7))
    X[rng.random(X.shape) < 0.3] = 0.0
    z = X @ rng.standard_normal(7) + 0.5 + 0.7 * rng.standard_normal(900)
    return X, z


MACHINES = {
    "SVC": lambda z, **more: (SVC(kernel="linear", C=0.5, **more), np.sign(z - 0.2)),
    "squared": lambda z, **more: (
        SVC(kernel="linear", loss="squared_hinge", C=0.5, **more),
        np.sign(z - 0.2),
    ),
    "no intercept": lambda z, **more: (
        SVC(kernel="linear", fit_intercept=False, **more),
        np.sign(z - 0.2),
    ),
    "three classes": lambda z, **more: (
        SVC(kernel="linear", **more),
        np.digitize(z, [-1.0, 1.0]),
    ),
    "SVR": lambda z, **more: (SVR(kernel="linear", epsilon=0.3, **more), z),
}
over_machines = pytest.mark.parametrize("name", MACHINES)


def coefficients(machine, n):
    """Of all rows, in their order."""
    table = np.zeros((machine.dual_coef_.shape[0], n))
    table[:, machine.support_] = sp.csr_matrix(machine.dual_coef_).toarray()
    return table


def worth(machine):
    """The dual of all problems."""
    whole = machine.certificate_
    return sum(one.dual for one in whole.problems or [whole])


@over_machines
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix, np.float32])
def test_the_machine_is_that_of_smo(rows, name, kind):
    X, z = rows
    X = kind(X)
    ours, y = MACHINES[name](z, tol=1e-6)
    smo, _ = MACHINES[name](z, tol=1e-6)
    if hasattr(smo, "solver"):
        smo.set_params(solver="smo")
    else:
        smo.set_params(max_iter=10**7)  # counts pair steps: SMO it is
    ours.fit(X, y)
    smo.fit(X, y)
    assert ours.certificate_.ok
    assert certify(ours, X, y).ok
    # Steps, and perhaps some pairs at the end, instead of pairs.
    assert np.max(ours.n_iter_) < 0.3 * np.max(smo.n_iter_)
    assert worth(ours) == pytest.approx(worth(smo), rel=1e-6)
    decision = "predict" if name == "SVR" else "decision_function"
    np.testing.assert_allclose(
        getattr(ours, decision)(X), getattr(smo, decision)(X), atol=1e-4
    )
    assert abs(ours.support_.size - smo.support_.size) <= 0.02 * smo.support_.size + 2
    np.testing.assert_allclose(
        coefficients(ours, len(z)), coefficients(smo, len(z)), atol=1e-2
    )
    if name != "three classes":  # whose coefficients are those of several problems
        expanded = coefficients(ours, len(z)) @ (X.toarray() if sp.issparse(X) else X)
        weights = sp.csr_matrix(ours.coef_).toarray()
        np.testing.assert_allclose(weights, expanded, atol=1e-5)
    assert ours.fit_status_ == 0
    ran = {one.solver for one in ours.certificate_.problems or [ours.certificate_]}
    assert all(one.split(",")[0] in ("Newton", "ProximalNewton") for one in ran)


@over_machines
def test_few_rows_many_columns_and_other_kernels_are_left_to_smo(rows, name, monkeypatch):
    X, z = rows
    machine, y = MACHINES[name](z)
    problem = machine.problem(X, y) if name != "three classes" else None
    if problem is None:
        return
    assert ThroughWeights().start(problem).by_pairs is False
    assert ThroughWeights().start(problem, problem.warm_start(np.zeros(len(z)))).by_pairs
    monkeypatch.setattr(through_weights, "WIDE", 6)
    assert ThroughWeights().start(problem).by_pairs
    monkeypatch.setattr(through_weights, "WIDE", 300)
    curved = machine.set_params(kernel="rbf").problem(X, y)
    assert ThroughWeights().start(curved).by_pairs


def test_a_hard_margin_is_left_to_smo():
    X = np.random.default_rng(0).standard_normal((400, 3))
    y = np.where(X[:, 0] > 0, 1, -1)
    X[:, 0] += y
    machine = SVC(kernel="linear", C=np.inf).fit(X, y)
    assert machine.certificate_.ok


def test_smo_takes_over_where_the_weights_end(rows, monkeypatch):
    X, z = rows
    monkeypatch.setattr(through_weights, "_LAST", 1.0)  # no tighter gap than the first
    problem = SVC(kernel="linear").problem(X, np.sign(z))
    solver = ThroughWeights(tol=1e-8)
    outcome = drive(solver, problem)
    assert outcome.stop.converged
    assert outcome.state.by_pairs
    assert solver.n_iter(outcome.state) > outcome.state.steps > 0
    assert solver.ran(outcome.state) == "ProximalNewton, then WorkingSetSmo"
    alone = drive(WorkingSetSmo(tol=1e-8), problem)
    np.testing.assert_allclose(outcome.model.gradient, alone.model.gradient, atol=1e-6)


def test_smo_takes_over_where_newton_takes_too_long(rows, monkeypatch):
    X, z = rows
    monkeypatch.setattr(_centres, "_LIMIT", 3)
    problem = SVC(kernel="linear").problem(X, np.sign(z))
    outcome = drive(ThroughWeights(tol=1e-6), problem)
    assert outcome.stop.converged
    assert outcome.state.by_pairs


def test_budgets_and_pickles_give_the_same_bits(rows):
    X, z = rows
    problem = SVC(kernel="linear", C=3.0).problem(X, np.sign(z))
    solver = ThroughWeights(tol=1e-5)
    whole = drive(solver, problem).model
    state = solver.start(problem)
    while solver.advance(problem, state, 3) is Status.RUNNING:
        state = pickle.loads(pickle.dumps(state))
        assert solver.measure(problem, state).gap >= -1e-9
        assert str(solver.explain(problem, state))
    np.testing.assert_array_equal(solver.model(problem, state).beta, whole.beta)


def test_threads_do_not_matter(rows):
    X, z = rows
    one, two = (SVC(kernel="linear", n_jobs=jobs).fit(X, np.sign(z)) for jobs in (1, 2))
    np.testing.assert_array_equal(one.dual_coef_, two.dual_coef_)
