"""LinearSVC and LinearSVR as their users meet them."""

import pickle
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import svm
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning as TheirWarning

import maxmargin
import maxmargin.solvers.linear
from maxmargin import ConvergenceWarning, InputError, LinearSVC, LinearSVR, certify


@pytest.fixture(scope="module")
def two():
    X, y = make_classification(300, 8, n_informative=5, flip_y=0.1, random_state=3)
    return X, y


@pytest.fixture(scope="module")
def three():
    return load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def numbers():
    X, z = load_diabetes(return_X_y=True)
    return X * 20, (z - z.mean()) / z.std()


CLASSIFIERS = {
    "default": {},
    "hinge": {"loss": "hinge"},
    "l1": {"penalty": "l1"},
    "free": {"intercept": "free"},
    "free hinge": {"intercept": "free", "loss": "hinge"},
    "no intercept": {"fit_intercept": False},
    "scaled": {"intercept_scaling": 3.0, "loss": "hinge"},
    "balanced": {"class_weight": "balanced"},
    "weighted": {"class_weight": {0: 3.0, 1: 0.5}, "loss": "hinge"},
}
REGRESSORS = {
    "default": {},
    "tube": {"epsilon": 0.3},
    "squared": {"loss": "squared_epsilon_insensitive", "epsilon": 0.1},
    "free": {"intercept": "free", "epsilon": 0.2},
    "free squared": {"intercept": "free", "loss": "squared_epsilon_insensitive"},
}
over_classifiers = pytest.mark.parametrize(
    "options", CLASSIFIERS.values(), ids=CLASSIFIERS
)
over_regressors = pytest.mark.parametrize("options", REGRESSORS.values(), ids=REGRESSORS)


def finely(options):
    """Options of a run to a gap that determines the weights."""
    return {**options, "tol": 1e-10, "max_iter": -1}


def theirs(kind, options):
    """scikit-learn's machine with the same parameters, run to the end."""
    return kind(**options, tol=1e-9, max_iter=200_000, random_state=0)


# --- the same answers as scikit-learn's ---------------------------------------------


@pytest.mark.filterwarnings("ignore:Liblinear failed to converge")
@over_classifiers
@pytest.mark.parametrize("data", ["two", "three"])
def test_weights_are_scikit_learns(options, data, request):
    if "intercept" in options:
        pytest.skip("scikit-learn's intercept is never free")
    X, y = request.getfixturevalue(data)
    ours = LinearSVC(**finely(options)).fit(X, y)
    peer = theirs(svm.LinearSVC, options).fit(X, y)
    exact = options.get("loss") != "hinge"
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=2e-3 if exact else 3e-2)
    np.testing.assert_allclose(
        ours.intercept_, peer.intercept_, atol=2e-3 if exact else 1e-1
    )
    assert ours.coef_.shape == peer.coef_.shape
    assert np.shape(ours.intercept_) == np.shape(peer.intercept_)
    assert (ours.predict(X) == peer.predict(X)).mean() > 0.99


@over_regressors
def test_regression_is_scikit_learns(options, numbers):
    if "intercept" in options:
        pytest.skip("scikit-learn's intercept is never free")
    X, z = numbers
    ours = LinearSVR(**finely({"loss": "epsilon_insensitive", **options})).fit(X, z)
    peer = theirs(svm.LinearSVR, options).fit(X, z)
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=5e-3)
    assert ours.coef_.shape == peer.coef_.shape
    np.testing.assert_allclose(ours.predict(X), peer.predict(X), atol=1e-2)


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_a_free_intercept_makes_it_svc(two, C):
    X, y = two
    linear = LinearSVC(loss="hinge", intercept="free", C=C, tol=1e-6, max_iter=-1).fit(
        X, y
    )
    kernel = maxmargin.SVC(kernel="linear", C=C, tol=1e-7).fit(X, y)
    np.testing.assert_allclose(linear.coef_, kernel.coef_, atol=1e-2)
    np.testing.assert_allclose(linear.intercept_, kernel.intercept_, atol=1e-2)
    assert linear.certificate_.primal == pytest.approx(kernel.certificate_.dual, rel=2e-6)


def test_a_free_intercept_makes_it_svr(numbers):
    X, z = numbers
    linear = LinearSVR(intercept="free", epsilon=0.2, tol=1e-6, max_iter=-1).fit(X, z)
    kernel = maxmargin.SVR(kernel="linear", epsilon=0.2, tol=1e-7).fit(X, z)
    assert linear.certificate_.primal == pytest.approx(kernel.certificate_.dual, rel=2e-6)


# --- proof --------------------------------------------------------------------------


@over_classifiers
@pytest.mark.parametrize("data", ["two", "three"])
def test_the_referee_agrees(options, data, request):
    X, y = request.getfixturevalue(data)
    weight = np.random.default_rng(0).integers(0, 3, y.size).astype(float)
    for given in (None, weight):
        model = LinearSVC(**options, max_iter=-1).fit(X, y, given)
        verdict, own = certify(model, X, y, given), model.certificate_
        assert own.ok
        assert verdict.ok
        assert own.relative_gap <= model.tol
        assert verdict.n_support == own.n_support
        pairs = zip(verdict.problems or (verdict,), own.problems or (own,), strict=True)
        for one, other in pairs:
            assert one.primal == pytest.approx(other.primal, rel=1e-9)
            assert one.dual == pytest.approx(other.dual, rel=1e-9)
            assert one.name == other.name


@over_regressors
def test_the_referee_agrees_on_regressions(options, numbers):
    X, z = numbers
    model = LinearSVR(**options).fit(X, z)
    verdict, own = certify(model, X, z), model.certificate_
    assert verdict.ok
    assert verdict.primal == pytest.approx(own.primal, rel=1e-9)
    assert verdict.dual == pytest.approx(own.dual, rel=1e-9)


def test_an_altered_model_is_caught(two):
    X, y = two
    model = LinearSVC(loss="hinge").fit(X, y)
    model.coef_ = model.coef_ * 1.1
    assert not certify(model, X, y).ok
    model.coef_ = model.coef_ / 1.1
    assert certify(model, X, y).ok
    model.dual_coef_ = -model.dual_coef_
    assert not certify(model, X, y).feasible


def test_scikit_learns_machines_are_judged_where_they_prove_something(two):
    X, y = two
    verdict = certify(svm.LinearSVC(tol=1e-8, max_iter=10_000).fit(X, y), X, y)
    assert 0.0 <= verdict.relative_gap < 1e-6
    with pytest.raises(InputError, match="dual variables"):
        certify(svm.LinearSVC(loss="hinge", max_iter=10_000).fit(X, y), X, y)


def test_the_certificate_names_the_solver(two):
    X, y = two
    assert LinearSVC().fit(X, y).certificate_.solver == "Newton"
    named = LinearSVC(solver="dual-descent").fit(X, y).certificate_
    assert named.solver == "DualDescent"
    assert "DualDescent" in str(named)
    made = maxmargin.solvers.linear.DualDescent(tol=1e-6)
    assert LinearSVC(solver=made).fit(X, y).certificate_.relative_gap <= 1e-6


# --- what must not matter -----------------------------------------------------------


@over_classifiers
def test_a_weight_is_a_repetition(options, two):
    X, y = two
    count = np.random.default_rng(1).integers(0, 4, y.size)
    if options.get("class_weight") == "balanced":
        pytest.skip("of repeated rows the classes have other sizes")
    again = np.repeat(np.arange(y.size), count)
    weighted = LinearSVC(**finely(options)).fit(X, y, count)
    repeated = LinearSVC(**finely(options)).fit(X[again], y[again])
    flat = options.get("loss") == "hinge"
    np.testing.assert_allclose(
        weighted.coef_, repeated.coef_, atol=1e-3 if flat else 1e-4
    )


@over_classifiers
def test_sparse_rows_and_threads(options, three):
    X, y = three
    dense = LinearSVC(**options, random_state=0, n_jobs=1).fit(X, y)
    threads = LinearSVC(**options, random_state=0, n_jobs=3).fit(X, y)
    assert dense.coef_.tobytes() == threads.coef_.tobytes()
    rows = sp.csr_array(X)
    wide = sp.csr_array(
        (rows.data, rows.indices.astype(np.int64), rows.indptr.astype(np.int64)),
        shape=X.shape,
    )
    for one in (rows, wide):
        sparse = LinearSVC(**finely(options)).fit(one, y)
        exact = LinearSVC(**finely(options)).fit(X, y)
        np.testing.assert_allclose(sparse.coef_, exact.coef_, atol=2e-2)
        np.testing.assert_allclose(
            sparse.decision_function(one), sparse.decision_function(X), atol=1e-9
        )


def test_labels_are_anything(two):
    X, y = two
    names = np.array(["no", "yes"])[y]
    model = LinearSVC().fit(X.astype(np.float32), names)
    assert set(model.predict(X)) <= {"no", "yes"}
    assert model.score(X, names) > 0.8


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_float32_is_not_copied(loss):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 200), dtype=np.float32)
    y = X[:, 0] + rng.standard_normal(20_000) > 0.0
    model = LinearSVC(loss=loss, n_jobs=1).fit(X[:2000], y[:2000])  # compiled
    tracemalloc.start()
    try:
        model.fit(X, y)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < X.nbytes  # one in float64 has twice that


def test_label_flip(two):
    X, y = two
    one = LinearSVC(tol=1e-9).fit(X, y)
    other = LinearSVC(tol=1e-9).fit(X, 1 - y)
    np.testing.assert_allclose(one.coef_, -other.coef_, atol=1e-6)


def test_pickle_clone_and_sparsify(two):
    X, y = two
    model = LinearSVC(penalty="l1", C=0.02).fit(X, y)
    assert (model.coef_ == 0).any()
    again = pickle.loads(pickle.dumps(model))
    assert (again.predict(X) == model.predict(X)).all()
    assert not hasattr(clone(model), "coef_")
    before = model.decision_function(X)
    assert sp.issparse(model.sparsify().coef_)
    np.testing.assert_allclose(model.decision_function(X), before)
    assert isinstance(model.densify().coef_, np.ndarray)


# --- going on, stopping -------------------------------------------------------------


def test_warm_start_goes_on(two):
    X, y = two
    model = LinearSVC(loss="hinge", solver="dual-descent", warm_start=True, tol=1e-3)
    model.fit(X, y)
    first = model.n_iter_
    model.set_params(tol=1e-3).fit(X, y)
    assert model.n_iter_ < first
    with pytest.raises(InputError, match="warm_start=False"):
        model.fit(X[:-1], y[:-1])


def test_an_early_stop_says_so(two):
    X, y = two
    model = LinearSVC(loss="hinge", solver="dual-descent", max_iter=1, tol=1e-12)
    with pytest.warns(ConvergenceWarning, match="relative gap") as told:
        model.fit(X, y)
    assert issubclass(told[0].category, TheirWarning)
    assert told[0].filename == __file__
    assert not model.certificate_.ok
    assert model.predict(X).shape == y.shape


def test_callbacks_see_the_run(two):
    X, y = two
    seen = []
    LinearSVC(solver="dual-descent", callbacks=lambda s: seen.append(s.n_iter)).fit(X, y)
    assert seen


@pytest.mark.parametrize("options", [{}, {"loss": "hinge"}, {"penalty": "l1"}], ids=str)
def test_a_path_has_the_answers_of_separate_fits(options, two):
    X, y = two
    Cs = [1.0, 0.01, 0.1]
    machines = maxmargin.path(LinearSVC(**options, max_iter=-1), X, y, Cs)
    assert [machine.C for machine in machines] == Cs
    for machine in machines:
        alone = clone(machine).fit(X, y)
        assert machine.certificate_.ok
        assert certify(machine, X, y).ok
        assert machine.certificate_.primal == pytest.approx(
            alone.certificate_.primal, rel=2e-4
        )


# --- stepped --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "solver", "ran"),
    [
        ({}, "Newton", "Newton"),
        ({"loss": "hinge"}, "ProximalNewton", "ProximalNewton"),
        ({"loss": "hinge", "intercept": "free"}, "ProximalNewton", "ProximalNewton"),
        ({"penalty": "l1"}, "LassoRelay", "LassoNewton"),
        (
            {"multi_class": "crammer_singer"},
            "TwoClasses",
            "TwoClasses by ProximalNewton",
        ),
    ],
    ids=str,
)
def test_a_problem_to_be_stepped(options, solver, ran, two):
    X, y = two
    model = LinearSVC(**options, tol=1e-6, max_iter=-1).fit(X, y)
    assert model.certificate_.solver == ran
    problem = LinearSVC(**options).problem(X, y)
    steps = list(getattr(maxmargin.solvers.linear, solver)(tol=1e-6).steps(problem))
    assert steps[-1].status.value == "closed"
    assert steps[-1].measures.primal == pytest.approx(model.certificate_.primal, rel=1e-6)
    assert all(str(one.step) for one in steps)


def test_several_classes_are_several_problems(three):
    with pytest.raises(InputError, match="y has 3 classes"):
        LinearSVC().problem(*three)


# --- refusals -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"penalty": "l1", "loss": "hinge"}, "penalty='l1' and loss='hinge'"),
        ({"loss": "hinge", "dual": False}, "when dual=False"),
        ({"penalty": "l1", "dual": True}, "when dual=True"),
        ({"intercept_scaling": 0}, "'intercept_scaling'.*above 0"),
        ({"intercept_scaling": -1, "fit_intercept": False}, "above 0"),
        ({"C": -1.0}, "'C' parameter"),
        ({"C": np.inf}, "hard margin"),
        ({"intercept": "yes"}, "'regularised' or 'free'"),
        ({"solver": "magic"}, "dual-descent"),
        ({"penalty": "l1", "intercept": "free"}, "^intercept='free' with penalty='l1'"),
        ({"loss": "hinge", "solver": "newton"}, "hinge"),
        ({"intercept": "free", "solver": "dual-descent"}, "free intercept"),
    ],
)
def test_refusals(options, words, two):
    with pytest.raises(ValueError, match=words):
        LinearSVC(**options).fit(*two)


def test_a_refused_fit_leaves_the_model_alone(two):
    X, y = two
    model = LinearSVC().fit(X, y)
    coef = model.coef_.copy()
    with pytest.raises(InputError):
        model.fit(np.full((3, 2), np.nan), [0, 1, 1])
    assert (model.coef_ == coef).all()
    assert model.n_features_in_ == X.shape[1]
    assert model.predict(X).shape == y.shape


@pytest.mark.parametrize("loss", ["squared_hinge", "log"])
@pytest.mark.parametrize("intercept", [True, False])
def test_l1_min_c(loss, intercept, three):
    X, y = three
    ours = maxmargin.l1_min_c(X, y, loss=loss, fit_intercept=intercept)
    assert ours == pytest.approx(svm.l1_min_c(X, y, loss=loss, fit_intercept=intercept))
    if loss == "squared_hinge":
        model = LinearSVC(penalty="l1", fit_intercept=intercept)
        assert not model.set_params(C=0.99 * ours).fit(X, y).coef_.any()
        assert model.set_params(C=1.05 * ours).fit(X, y).coef_.any() or intercept


def test_l1_min_c_refuses():
    with pytest.raises(InputError, match="Ill-posed"):
        maxmargin.l1_min_c([[0.0], [0.0]], [0, 1], fit_intercept=False)
    with pytest.raises(InputError, match="squared_hinge"):
        maxmargin.l1_min_c([[0.0], [1.0]], [0, 1], loss="hinge")
