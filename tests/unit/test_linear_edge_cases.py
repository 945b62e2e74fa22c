"""Linear machines where things are unusual: far targets, empty rows, refusals, seeds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import LinearSVR as ScikitLearnSVR

import maxmargin
from maxmargin import SVR, LinearSVC, LinearSVR
from maxmargin.design.operator import Design
from maxmargin.errors import InputError, Stop
from maxmargin.parallel import Workers
from maxmargin.problem import linear_svc
from maxmargin.solvers import WorkingSetSmo
from maxmargin.solvers.base import Status, drive
from maxmargin.solvers.linear import (
    DualDescent,
    GramSmo,
    LassoDescent,
    LassoNewton,
    LassoRelay,
    LinearCrammerSinger,
    Newton,
    TwoClasses,
)
from maxmargin.solvers.linear.newton.line_search import balance
from maxmargin.solvers.linear.newton.rounded import Rounded


def rows(n: int = 200, d: int = 5, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Standard normal rows, and labels of three classes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.digitize(X[:, 0] + 0.3 * rng.normal(size=n), [-0.5, 0.5])


# --- the free intercept -------------------------------------------------------------


@pytest.mark.parametrize("offset", [0.0, 20.0, -1e4])
@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
def test_a_free_intercept_may_be_far_away(offset, loss):
    X, _ = rows()
    y = offset + 3.0 * X[:, 0]
    model = LinearSVR(intercept="free", loss=loss, tol=1e-6, C=1.0).fit(X, y)
    proof = maxmargin.certify(model, X, y)
    assert proof.ok
    assert proof.relative_gap <= 1e-6
    assert model.intercept_[0] == pytest.approx(offset, abs=0.1)


def test_it_is_that_of_the_kernel_machine():
    X, _ = rows()
    y = 20.0 + X @ np.arange(1.0, 6.0)
    ours = LinearSVR(intercept="free", epsilon=0.1, tol=1e-8).fit(X, y)
    other = SVR(kernel="linear", epsilon=0.1, tol=1e-6).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), other.predict(X), atol=1e-3)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), spread=st.sampled_from([1e-3, 1.0, 1e3, 1e6]))
def test_balance_makes_the_sum_of_beta_zero(seed, spread):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 60))
    z = spread * rng.normal(size=n) + rng.choice([0.0, 50.0, -1e5])
    width = rng.uniform(0.1, 10.0, n)
    loss = Rounded(
        np.zeros(n), rng.choice([0.3, 1e3]) * width, -width, width,
        float(rng.choice([0.0, 0.1])),
    )  # fmt: skip
    beta = np.empty(n)
    t, sums = balance(loss, Workers(1), z, np.ones(n), beta)
    assert sums.total == pytest.approx(beta.sum(), abs=1e-9 * width.sum())
    rounding = 1e-15 * n * np.abs(z).max() * loss.bend.max()
    assert abs(beta.sum()) <= 1e-9 * np.abs(beta).sum() + rounding
    again = np.empty(n)
    loss.look(Workers(1), z - t, np.zeros(n), 0.0, again)
    np.testing.assert_allclose(again, beta, atol=1e-6 * width.max() + rounding)


# --- rows and columns ---------------------------------------------------------------


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_an_empty_document_does_not_keep_descent_from_converging(loss):
    rng = np.random.default_rng(0)
    X = sp.random_array((60, 2000), density=0.02, rng=rng, format="csr")
    X = sp.csr_array(sp.vstack([X, sp.csr_array((3, 2000))]))
    y = np.r_[rng.integers(0, 2, 60), 0, 1, 1]
    model = LinearSVC(loss=loss, fit_intercept=False, tol=1e-6).fit(X, y)
    assert model.certificate_.solver == "DualDescent"
    assert maxmargin.certify(model, X, y).relative_gap <= 1e-6


def test_an_empty_row_of_a_regression():
    X = sp.csr_array(np.r_[np.eye(4), np.zeros((3, 4))])
    y = np.array([1.0, -1.0, 2.0, 0.5, 3.0, -3.0, 0.05])
    model = LinearSVR(
        epsilon=0.1, fit_intercept=False, solver="dual-descent", tol=1e-8
    ).fit(X, y)
    np.testing.assert_allclose(model.dual_coef_[0, 4:], [1.0, -1.0, 0.0])


@pytest.mark.parametrize("kind", [DualDescent, LassoDescent, LassoRelay])
def test_descent_without_an_epoch_does_nothing(kind):
    X, y = rows()
    options = {"loss": "hinge"} if kind is DualDescent else {"penalty": "l1"}
    problem = LinearSVC(**options).problem(X, y > 0)
    solver = kind(max_iter=0)
    state = solver.start(problem)
    assert solver.advance(problem, state, 10) is Status.MAX_ITER
    assert solver.n_iter(state) == 0
    assert not solver.model(problem, state).w.any()
    assert solver.measure(problem, state).primal == pytest.approx(200.0)


@dataclass(frozen=True)
class Lazy:
    """A solver of a user's own: the verbs of the contract, and nothing else."""

    tol: float = 0.5
    criterion = "relative_gap"
    unit = "step"

    def start(self, problem, warm=None):
        return Newton(self.tol).start(problem, warm)

    def advance(self, problem, state, budget):
        return Newton(self.tol).advance(problem, state, budget)

    def measure(self, problem, state):
        return Newton(self.tol).measure(problem, state)

    def model(self, problem, state):
        return Newton(self.tol).model(problem, state)

    def explain(self, problem, state):
        return Newton(self.tol).explain(problem, state)

    def n_iter(self, state):
        return Newton(self.tol).n_iter(state)


def test_a_solver_of_a_users_own_needs_nothing_but_the_contract():
    X, y = rows()
    found = LinearSVC(solver=Lazy()).fit(X, y > 0)
    assert found.certificate_.ok
    assert found.certificate_.tol == 0.5
    assert found.certificate_.solver == "Lazy"


@pytest.mark.parametrize("scaling", [0.1, 1e39, 1e-46])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix], ids=["dense", "csr"])
def test_columns_of_float32_keep_the_constant_as_it_was_given(scaling, make):
    X = make(rows()[0].astype(np.float32))
    turned = Design(X, scaling, Workers(1)).transposed.X
    last = turned.toarray()[-1] if sp.issparse(turned) else turned[-1]
    assert (last == scaling).all()
    plain = Design(X, 0.5, Workers(1)).transposed.X
    assert plain.dtype == np.float32


def test_a_gap_that_is_rounding_ends_descent():
    X, y = rows()
    problem = LinearSVC(loss="hinge", C=1e-9).problem(X, y > 0)
    solver = DualDescent(tol=1e-300)
    state = solver.start(problem)
    for _ in range(10_000):
        status = solver.advance(problem, state, 10)
        if status is not Status.RUNNING:
            break
    assert status in (Status.STALLED, Status.CLOSED)


@pytest.mark.filterwarnings("ignore::maxmargin.errors.ConvergenceWarning")
@pytest.mark.parametrize("solver", ["newton", "newton-cg", "proximal-newton", "auto"])
@pytest.mark.parametrize("tol", [1e-300, 1e-17, 1e-15])
def test_stop_does_not_contradict_ok(solver, tol):
    X, y = rows()
    loss = "hinge" if solver == "proximal-newton" else "squared_hinge"
    ways = [{"loss": loss}, {"loss": loss, "intercept": "free"}]
    ways += [{"multi_class": "crammer_singer"}] if solver == "auto" else []
    for options in ways:
        for labels in (y, y > 0):
            model = LinearSVC(solver=solver, tol=tol, max_iter=200, **options)
            proof = model.fit(X, labels).certificate_
            for one in proof.problems or (proof,):
                assert one.ok is one.stop.startswith("converged")


def test_the_gap_is_looked_at_when_the_products_reach_their_limit():
    X, y = rows()
    problem = LinearSVC(loss="hinge").problem(X, y > 0)
    solver = GramSmo(tol=0.5, max_iter=1)
    state = solver.start(problem)
    while (status := solver.advance(problem, state, 1)) is Status.RUNNING:
        pass
    assert state.tol == 1e-2  # at the limit the violation is larger still
    assert status is Status.CLOSED
    assert solver.measure(problem, state).relative_gap <= 0.5


def test_the_gap_of_two_classes_is_looked_at_when_the_hinge_gets_no_closer():
    X, y = rows()
    problem = LinearSVC(multi_class="crammer_singer").problem(X, y > 0)
    solver = TwoClasses(tol=1e-4, max_iter=0)
    known = drive(TwoClasses(tol=1e-8), problem).model.beta
    assert drive(solver, problem).stop is Stop.MAX_ITER
    assert drive(solver, problem, warm=known).stop is Stop.CLOSED


def test_a_weight_that_no_row_feels_goes_to_zero():
    # The second column is there in one row, which leaves the margin.
    X = np.zeros((40, 2))
    X[:, 0] = np.r_[np.ones(20), -np.ones(20)]
    X[0, 1] = 10.0
    y = np.r_[np.ones(20), np.zeros(20)]
    model = LinearSVC(penalty="l1", dual=False, C=1e4, tol=1e-6).fit(X, y)
    assert maxmargin.certify(model, X, y).relative_gap <= 1e-6


def test_products_of_all_rows_are_made_once_and_symmetric():
    X, _ = rows(600, 7)
    for one in (X, sp.csr_array(X)):
        design = Design(one, 2.0, Workers(2))
        np.testing.assert_allclose(design.products, X @ X.T + 4.0, atol=1e-12)
        assert np.array_equal(design.products, design.products.T)
        assert design.products is design.products


# --- the same for every number of threads ---------------------------------------------


def test_a_generator_for_the_seed_does_not_depend_on_threads():
    X, y = rows()
    found = [
        LinearSVC(
            loss="hinge", solver="dual-descent", tol=1e-2, n_jobs=jobs,
            random_state=np.random.RandomState(7),
        ).fit(X, y).coef_
        for jobs in (1, 2)
    ]  # fmt: skip
    assert np.array_equal(*found)


# --- the referee ------------------------------------------------------------------------


def test_certify_a_regression_of_scikit_learn_without_a_tube():
    X, _ = rows()
    y = X @ np.arange(1.0, 6.0)
    model = ScikitLearnSVR(
        loss="squared_epsilon_insensitive", epsilon=0.0, dual=False, tol=1e-10
    ).fit(X, y)
    assert maxmargin.certify(model, X, y).relative_gap == pytest.approx(0.0, abs=1e-6)


def test_certify_needs_the_rows_of_the_fit():
    X, y = rows()
    model = LinearSVC().fit(X, y)
    with pytest.raises(InputError, match="rows of the fit"):
        maxmargin.certify(model, X[:-1], y[:-1])


# --- refusals ---


@pytest.mark.parametrize("scaling", [0.0, -1.0])
def test_a_scaling_that_is_not_positive_is_refused_everywhere(scaling):
    X, y = rows()
    model = LinearSVC(intercept_scaling=scaling)
    for use in (
        lambda: model.fit(X, y),
        lambda: model.problem(X, y > 0),
        lambda: maxmargin.path(model, X, y, [0.1, 1.0]),
    ):
        with pytest.raises(InputError, match=r"'intercept_scaling'.*above 0"):
            use()
    with pytest.raises(InputError, match="constant column"):
        Design(X, -1.0, Workers(1))


def test_a_refused_refit_leaves_the_model_as_it_was():
    X, y = rows()
    model = LinearSVC(warm_start=True).fit(X, y)
    before = model.predict(X)
    with pytest.raises(InputError, match="warm_start=True"):
        model.fit(X[:50, :3], y[:50])
    assert np.array_equal(model.predict(X), before)


@pytest.mark.parametrize(
    "options",
    [
        {"solver": WorkingSetSmo()},
        {"solver": Newton(), "multi_class": "crammer_singer"},
        {"solver": LinearCrammerSinger()},
        {"solver": "no-such"},
    ],
)
def test_a_solver_of_another_family_is_refused(options):
    X, y = rows()
    with pytest.raises((InputError, TypeError), match="solver"):
        LinearSVC(**options).fit(X, y)


@pytest.mark.parametrize(
    "name", ["pegasos", "lasso-newton", "crammer-singer", "joint-newton"]
)
def test_solvers_of_classes_are_none_of_regression(name):
    X, _ = rows()
    with pytest.raises(InputError, match="proximal-newton"):
        LinearSVR(solver=name).fit(X, X[:, 0])


def test_tol_is_explained_as_what_it_is():
    X, y = rows()
    with pytest.raises(InputError, match="relative duality gap"):
        LinearSVC(tol=-1.0).fit(X, y)


@pytest.mark.parametrize("penalty", ["l1", "l2"])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("order", ["C", "F"])
def test_rows_to_predict_must_be_finite(penalty, bad, order):
    X, y = rows(d=8)
    model = LinearSVC(penalty=penalty, dual=False, C=0.01).fit(X, y)
    assert penalty == "l2" or (model.coef_ == 0.0).any()
    for column in range(8):
        wrong = np.array(X, order=order)
        wrong[17, column] = bad
        for given_rows in (wrong, sp.csr_array(wrong), wrong.astype(np.float32)):
            with pytest.raises(InputError, match=r"NaN|infinity"):
                model.predict(given_rows)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"squared": False, "lasso": True}, "loss='squared_hinge'"),
        ({"squared": True, "lasso": False}, "penalty='l1'"),
        ({"squared": True, "lasso": True, "free": True}, "intercept='regularised'"),
    ],
)
def test_lasso_solvers_say_what_does_not_fit(options, words):
    X, y = rows()
    problem = linear_svc(
        Design(X, 0.0, Workers(1)), np.where(y > 0, 1.0, -1.0), np.ones(200), **options
    )
    for kind in (LassoNewton, LassoDescent):
        with pytest.raises(InputError, match=words):
            kind().start(problem)


# --- going on, and the path, with the penalty l1 ---


@pytest.mark.parametrize("solver", ["lasso-newton", "lasso-descent"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_lasso_goes_on_from_its_weights(solver, fit_intercept):
    X, y = rows()
    model = LinearSVC(
        penalty="l1", dual=False, solver=solver, warm_start=True, tol=1e-6,
        fit_intercept=fit_intercept, intercept_scaling=3.0,
    )  # fmt: skip
    first = model.fit(X, y).n_iter_
    coef = model.coef_.copy()
    assert model.fit(X, y).n_iter_ <= 1 < first
    np.testing.assert_allclose(model.coef_, coef, atol=1e-3)


def test_weights_that_were_made_sparse_are_gone_on_from():
    X, y = rows()
    model = LinearSVC(penalty="l1", warm_start=True, tol=1e-6).fit(X, y)
    coef = model.coef_.copy()
    assert model.sparsify().fit(X, y).n_iter_ <= 1
    np.testing.assert_allclose(model.coef_, coef, atol=1e-3)


@pytest.mark.parametrize("penalty", ["l1", "l2"])
@pytest.mark.parametrize("classes", [2, 3])
def test_an_intercept_may_come_and_go_between_warm_fits(penalty, classes):
    X, y = rows()
    y = np.minimum(y, classes - 1)
    model = LinearSVC(penalty, warm_start=True, fit_intercept=False, tol=1e-6).fit(X, y)
    for wanted in (True, False):
        model.set_params(fit_intercept=wanted).fit(X, y)
        other = LinearSVC(penalty, fit_intercept=wanted, tol=1e-6).fit(X, y)
        np.testing.assert_allclose(model.coef_, other.coef_, atol=1e-2)
        np.testing.assert_allclose(model.intercept_, other.intercept_, atol=1e-2)


def test_a_path_of_the_lasso_costs_less_than_its_fits():
    X, y = rows(400, 30)
    prices = np.geomspace(0.01, 10.0, 8)
    model = LinearSVC(penalty="l1", dual=False, tol=1e-6)
    along = maxmargin.path(model, X, y > 0, prices)
    steps = [one.n_iter_ for one in along]
    alone = [
        LinearSVC(penalty="l1", dual=False, tol=1e-6, C=C).fit(X, y > 0) for C in prices
    ]
    assert sum(steps) < sum(one.n_iter_ for one in alone)
    for ours, other in zip(along, alone, strict=True):
        np.testing.assert_allclose(ours.coef_, other.coef_, atol=1e-3)


# --- predictions ---


def test_float32_rows_predict_as_float64_ones():
    X, y = rows(300, 40)
    narrow = X.astype(np.float32)
    model = LinearSVC().fit(narrow, y)
    wide = model.decision_function(narrow.astype(np.float64))
    for one in (narrow, sp.csr_array(narrow)):
        np.testing.assert_allclose(model.decision_function(one), wide, rtol=1e-12)


# --- predictions --------------------------------------------------------------------


def test_decisions_of_a_row_do_not_depend_on_the_others():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30_000, 20))
    y = (X[:, 0] > 0.0).astype(int)
    fitted = LinearSVC().fit(X[:500], y[:500])
    whole = fitted.decision_function(X)
    np.testing.assert_array_equal(whole[:100], fitted.decision_function(X[:100]))
    np.testing.assert_array_equal(whole[7:8], fitted.decision_function(X[7:8]))


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix], ids=["dense", "csr"])
def test_what_is_not_finite_is_found_behind_a_weight_of_zero(classes, make):
    X = np.zeros((6, 4))
    X[:, 0] = np.arange(6) % classes  # the other columns have the weight 0
    fitted = LinearSVC().fit(X, np.arange(6) % classes)
    assert not fitted.coef_[:, 1:].any()
    huge = X + 1e308 * (np.arange(4) > 0)  # finite, whatever their sum is
    np.testing.assert_array_equal(
        fitted.decision_function(make(huge)), fitted.decision_function(X)
    )
    bad = X.copy()
    bad[3, 2] = np.nan
    with pytest.raises(InputError, match="NaN"):
        fitted.decision_function(make(bad))
