"""SVC is scikit-learn's SVC to whoever uses it, and more to whoever looks."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn import svm
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV

from maxmargin import SVC, ConvergenceWarning, InputError
from maxmargin.errors import Stop
from maxmargin.estimators.kernel.fit.schemes import ovr_scores, votes
from maxmargin.observers import History

IRIS = load_iris(return_X_y=True)
DIGITS = tuple(part[:300] for part in load_digits(return_X_y=True))
CANCER = load_breast_cancer(return_X_y=True)
CANCER = ((CANCER[0] - CANCER[0].mean(0)) / CANCER[0].std(0), CANCER[1])
SETS = {"iris": IRIS, "digits": DIGITS, "cancer": CANCER}
TOY = np.array([[-2.0, -1], [-1, -1], [-1, -2], [1, 1], [1, 2], [2, 1]])
TOY_Y = np.array([1, 1, 1, 2, 2, 2])


def both(X, y, weight=None, **parameters):
    parameters.setdefault("tol", 1e-6)
    ours = SVC(**parameters).fit(X, y, sample_weight=weight)
    theirs = svm.SVC(**parameters).fit(X, y, sample_weight=weight)
    return ours, theirs


def dense(matrix):
    return matrix.toarray() if sp.issparse(matrix) else matrix


# --- as in scikit-learn -------------------------------------------------------------


@pytest.mark.parametrize("data", SETS)
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
@pytest.mark.parametrize("shape", ["ovr", "ovo"])
def test_decisions_are_those_of_sklearn(data, kernel, shape):
    X, y = SETS[data]
    ours, theirs = both(X, y, kernel=kernel, decision_function_shape=shape, tol=1e-8)
    expected = theirs.decision_function(X)
    got = ours.decision_function(X)
    assert got.shape == expected.shape
    assert got.dtype == np.float64
    # LIBSVM rounds kernel values to float32, which moves its answer by about 1e-4
    np.testing.assert_allclose(got, expected, rtol=1e-4, atol=5e-4)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert ours.score(X, y) == theirs.score(X, y)


@pytest.mark.parametrize("data", SETS)
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
def test_attributes_are_those_of_sklearn(data, kind):
    X, y = SETS[data]
    X = kind(X)
    ours, theirs = both(X, y, class_weight="balanced")
    np.testing.assert_array_equal(ours.support_, theirs.support_)
    for name in ("support_", "n_support_", "intercept_", "classes_", "class_weight_"):
        mine, yours = getattr(ours, name), getattr(theirs, name)
        assert mine.dtype == yours.dtype, name
        np.testing.assert_allclose(mine, yours, atol=1e-4, err_msg=name)
    for name in ("support_vectors_", "dual_coef_"):
        mine, yours = getattr(ours, name), getattr(theirs, name)
        assert type(mine) is type(yours), name
        assert mine.dtype == yours.dtype, name
        np.testing.assert_allclose(dense(mine), dense(yours), atol=2e-3, err_msg=name)
    assert ours.n_iter_.shape == theirs.n_iter_.shape
    assert ours.n_iter_.dtype == theirs.n_iter_.dtype
    assert ours.fit_status_ == theirs.fit_status_ == 0
    assert ours.shape_fit_ == theirs.shape_fit_
    assert ours.n_features_in_ == theirs.n_features_in_
    assert ours.gamma_ == pytest.approx(theirs._gamma, rel=1e-12)


@pytest.mark.parametrize("data", ["iris", "cancer"])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
def test_coef_is_that_of_sklearn(data, kind):
    X, y = SETS[data]
    X = kind(X)
    ours, theirs = both(X, y, kernel="linear", decision_function_shape="ovo")
    assert type(ours.coef_) is type(theirs.coef_)
    np.testing.assert_allclose(dense(ours.coef_), dense(theirs.coef_), atol=1e-4)
    by_hand = np.asarray(X @ dense(ours.coef_).T) + ours.intercept_
    np.testing.assert_allclose(ours.decision_function(X), by_hand.squeeze(), atol=1e-9)
    with pytest.raises(AttributeError):
        ours.coef_ = 1
    part = ours.coef_.data if sp.issparse(ours.coef_) else ours.coef_
    with pytest.raises(ValueError, match="read-only"):
        part[...] = 0.0


def test_coef_exists_only_where_there_is_one():
    machine = SVC().fit(*IRIS)
    assert not hasattr(machine, "coef_")
    assert not hasattr(SVC(kernel="linear"), "coef_")
    with pytest.raises(AttributeError, match="only available when using a linear"):
        _ = machine.coef_


def test_toy_numbers():
    machine = SVC(kernel="linear").fit(TOY, TOY_Y)
    np.testing.assert_allclose(machine.dual_coef_, [[-0.25, 0.25]])
    np.testing.assert_array_equal(machine.support_, [1, 3])
    np.testing.assert_allclose(machine.intercept_, [0.0], atol=1e-12)
    assert machine.margin_ == pytest.approx(2 * 2**0.5)


@pytest.mark.parametrize("weighted", [False, True])
def test_weights_are_those_of_sklearn(weighted):
    X, y = IRIS
    weight = (
        np.random.default_rng(3).uniform(-0.5, 2.0, size=y.size) if weighted else None
    )
    ours, theirs = both(X, y, weight, gamma=0.2, class_weight={0: 2.0, 1: 0.5})
    np.testing.assert_array_equal(ours.support_vectors_, theirs.support_vectors_)
    # scikit-learn counts support_ without the rows that were left out
    np.testing.assert_array_equal(ours.support_vectors_, X[ours.support_])
    np.testing.assert_allclose(
        ours.decision_function(X), theirs.decision_function(X), atol=1e-4
    )


def test_weight_two_is_the_row_twice():
    X, y = CANCER
    X, y = X[:120], y[:120]
    times = np.random.default_rng(0).integers(0, 4, size=y.size)
    options = {"gamma": 0.05, "tol": 1e-10}
    weighted = SVC(**options).fit(X, y, sample_weight=times)
    repeated = SVC(**options).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(
        weighted.decision_function(X), repeated.decision_function(X), atol=1e-7
    )
    assert weighted.certificate_.dual == pytest.approx(repeated.certificate_.dual)


def test_a_class_without_weight_does_not_exist():
    X, y = IRIS
    weighted = SVC(gamma=0.1).fit(X, y, sample_weight=y != 1)
    removed = SVC(gamma=0.1).fit(X[y != 1], y[y != 1])
    assert weighted.classes_.tolist() == [0, 2]
    np.testing.assert_array_equal(weighted.predict(X), removed.predict(X))
    assert set(y[weighted.support_]) == {0, 2}


def test_votes_and_ties():
    X, y = make_blobs(random_state=42, n_samples=20, n_features=2)
    grid = np.stack(np.meshgrid(*[np.linspace(-10, 10, 40)] * 2), axis=-1).reshape(-1, 2)
    theirs = svm.SVC(gamma=1e6, decision_function_shape="ovo").fit(X, y)
    pairs = theirs.decision_function(grid)  # nearly everywhere each class wins once
    np.testing.assert_array_equal(votes(pairs, 3), theirs.predict(grid))
    theirs.decision_function_shape = "ovr"
    np.testing.assert_allclose(ovr_scores(pairs, 3), theirs.decision_function(grid))
    ours = SVC(gamma=1e6, break_ties=True).fit(X, y)
    best = ours.decision_function(grid).argmax(axis=1)
    np.testing.assert_array_equal(ours.predict(grid), best)
    machine = SVC(break_ties=True, decision_function_shape="ovo").fit(X, y)
    with pytest.raises(
        InputError, match="break_ties must be False when decision_function_shape is 'ovo'"
    ):
        machine.predict(X)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_decision_of_zero(fit_intercept):
    machine = SVC(kernel="linear", fit_intercept=fit_intercept).fit(TOY, TOY_Y)
    machine.intercept_ = np.zeros(1)
    assert machine.decision_function([[0.0, 0.0]]).tolist() == [0.0]
    assert machine.predict([[0.0, 0.0]]).tolist() == [2]


def test_unfitted():
    with pytest.raises(NotFittedError, match=r"\bSVC\b.*\bnot\b.*\bfitted\b"):
        SVC().predict("foo!")


# --- inputs as they are -------------------------------------------------------------


LABELS = [
    np.array(["no", "yes"]),
    np.array(["no", "yes"], dtype=object),
    np.array([False, True]),
    np.array([-7, 10**12]),
    np.array([0.0, 1.0]),
]


@pytest.mark.parametrize("names", LABELS, ids=lambda names: str(names.dtype))
def test_labels_of_any_type(names):
    machine = SVC().fit(TOY, names[TOY_Y - 1])
    assert machine.classes_.dtype == names.dtype
    np.testing.assert_array_equal(machine.predict(TOY), names[TOY_Y - 1])


def test_float32_stays_and_hardly_matters():
    X, y = CANCER
    single = SVC().fit(X.astype(np.float32), y)
    assert single.support_vectors_.dtype == np.float32
    double = SVC().fit(X, y)
    assert double.support_vectors_.dtype == np.float64
    np.testing.assert_allclose(
        single.decision_function(X), double.decision_function(X), atol=5e-3
    )
    np.testing.assert_allclose(
        single.decision_function(X),
        single.decision_function(X.astype(np.float32)),
        atol=1e-4,
    )


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", lambda A, B: dense(A @ B.T)])
def test_dense_and_sparse_mix(kernel):
    X, y = IRIS
    S = sp.csr_array(X)
    on_dense = SVC(kernel=kernel, tol=1e-8).fit(X, y)
    on_sparse = SVC(kernel=kernel, tol=1e-8).fit(S, y)
    assert sp.issparse(on_sparse.support_vectors_)
    assert sp.issparse(on_sparse.dual_coef_)
    expected = on_dense.decision_function(X)
    for machine in (on_dense, on_sparse):
        for rows in (X, S, sp.csc_matrix(X), sp.coo_array(X)):
            np.testing.assert_allclose(
                machine.decision_function(rows), expected, atol=1e-6
            )


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_csr_index_types_and_order(index):
    X, y = DIGITS
    S = sp.csr_array(X)
    shuffled = S.copy()
    for i in range(S.shape[0]):
        some = slice(S.indptr[i], S.indptr[i + 1])
        shuffled.indices[some] = S.indices[some][::-1]
        shuffled.data[some] = S.data[some][::-1]
    shuffled.indices, shuffled.indptr = (
        shuffled.indices.astype(index),
        shuffled.indptr.astype(index),
    )
    shuffled.has_sorted_indices = False
    before = shuffled.data.copy(), shuffled.indices.copy()
    expected = SVC().fit(S, y).decision_function(S)
    got = SVC().fit(shuffled, y).decision_function(shuffled)
    np.testing.assert_array_equal(got, expected)
    np.testing.assert_array_equal(shuffled.data, before[0])
    np.testing.assert_array_equal(shuffled.indices, before[1])


@pytest.mark.parametrize("package", [pd, pl])
def test_frames(package):
    X, y = IRIS
    frame = package.DataFrame({name: X[:, at] for at, name in enumerate("abcd")})
    machine = SVC().fit(frame, package.Series(y.astype(str)))
    assert machine.feature_names_in_.tolist() == list("abcd")
    expected = SVC().fit(X, y.astype(str))
    np.testing.assert_array_equal(machine.predict(frame), expected.predict(X))
    with pytest.raises(ValueError, match="feature names"):
        machine.predict(frame[["b", "a", "c", "d"]])


def test_read_only_and_memory_mapped(tmp_path):
    X, y = IRIS
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    frozen = X.copy()
    labels, weight = y.copy(), np.ones(y.size)
    for array in (frozen, labels, weight):
        array.flags.writeable = False
    expected = SVC().fit(X, y).decision_function(X)
    for rows in (mapped, frozen):
        machine = SVC().fit(rows, labels, sample_weight=weight)
        np.testing.assert_array_equal(machine.decision_function(rows), expected)


def test_nothing_given_is_changed():
    X, y = (part.copy() for part in IRIS)
    weight = np.linspace(-1, 2, y.size)
    copies = X.copy(), y.copy(), weight.copy()
    SVC().fit(X, y, sample_weight=weight).predict(X)
    for now, then in zip((X, y, weight), copies, strict=True):
        np.testing.assert_array_equal(now, then)


def test_x_is_not_kept():
    X, y = CANCER
    X = X.copy()
    machine = SVC().fit(X, y)
    arrays = [value for value in vars(machine).values() if isinstance(value, np.ndarray)]
    assert not any(np.shares_memory(X, array) for array in arrays)


# --- kernels ------------------------------------------------------------------------


def test_precomputed_is_linear():
    X, y = IRIS
    linear = SVC(kernel="linear", tol=1e-8).fit(X, y)
    table = SVC(kernel="precomputed", tol=1e-8).fit(X @ X.T, y)
    assert table.support_vectors_.shape == (0, 0)
    assert table.__sklearn_tags__().input_tags.pairwise
    np.testing.assert_array_equal(table.support_, linear.support_)
    K = np.full((y.size, y.size), 1e9)
    K[:, table.support_] = (X @ X.T)[:, table.support_]  # the rest is not looked at
    np.testing.assert_allclose(
        table.decision_function(K), linear.decision_function(X), atol=1e-5
    )


def test_functions_see_support_vectors_only():
    X, y = CANCER
    sizes = []

    def kernel(A, B):
        sizes.append(B.shape[0])
        return A @ B.T

    machine = SVC(kernel=kernel).fit(X, y)
    sizes.clear()
    machine.predict(X)
    assert max(sizes) == machine.support_.size < y.size
    np.testing.assert_array_equal(machine.support_vectors_, X[machine.support_])


def test_functions_of_anything():
    words = ["A A", "A", "B", "B B", "A B"]
    counts = np.array([[2, 0], [1, 0], [0, 1], [0, 2], [1, 1]])
    y = [1, 1, 2, 2, 1]

    def kernel(left, right):
        return np.array(
            [[sum(a.count(c) * b.count(c) for c in "AB") for b in right] for a in left],
            dtype=float,
        )

    machine = SVC(kernel=kernel).fit(words, y)
    expected = SVC(kernel="linear").fit(counts, y)
    np.testing.assert_allclose(
        machine.decision_function(words), expected.decision_function(counts), atol=1e-9
    )
    np.testing.assert_array_equal(
        machine.predict(np.array(words)), expected.predict(counts)
    )
    assert not hasattr(machine, "n_features_in_")


def test_functions_may_return_sparse():
    X, y = IRIS
    S = sp.csr_matrix(X)
    machine = SVC(kernel=lambda A, B: A @ B.T).fit(S, y)
    np.testing.assert_array_equal(
        machine.predict(S), SVC(kernel="linear").fit(S, y).predict(S)
    )


# --- beyond scikit-learn ------------------------------------------------------------


def test_certificate_and_margin():
    X, y = IRIS
    machine = SVC(kernel="linear").fit(X, y)
    certificate = machine.certificate_
    assert [one.name for one in certificate.problems] == [
        "0 against 1",
        "0 against 2",
        "1 against 2",
    ]
    assert all(one.ok for one in certificate.problems)
    assert certificate.violation == max(one.violation for one in certificate.problems)
    assert certificate.n_support == machine.support_.size
    assert certificate.n_iter == machine.n_iter_.sum()
    assert certificate.n_kernel > 0
    np.testing.assert_allclose(
        machine.margin_, 2 / np.linalg.norm(machine.coef_, axis=1), rtol=1e-6
    )
    binary = SVC(kernel="linear").fit(*CANCER)
    assert isinstance(binary.margin_, float)
    assert binary.certificate_.problems == ()
    low, high = binary.certificate_.bias_interval
    assert low - 1e-9 <= binary.intercept_[0] <= high + 1e-9


@pytest.mark.parametrize("data", ["iris", "cancer"])
def test_results_do_not_depend_on_threads(data):
    X, y = SETS[data]
    one, two = (SVC(n_jobs=jobs).fit(X, y) for jobs in (1, 2))
    for name in ("support_", "dual_coef_", "intercept_", "n_iter_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))


def test_hard_margin():
    X, y = IRIS
    X, y = X[y < 2], y[y < 2]
    hard = SVC(kernel="linear", C=float("inf"), tol=1e-6).fit(X, y)
    soft = SVC(kernel="linear", C=1e6, tol=1e-6).fit(X, y)
    assert (np.abs(hard.decision_function(X)) > 1 - 1e-4).all()
    np.testing.assert_allclose(hard.coef_, soft.coef_, atol=1e-4)


def test_no_intercept():
    X, y = CANCER
    machine = SVC(kernel="linear", fit_intercept=False).fit(X, y)
    assert machine.intercept_.tolist() == [0.0]
    np.testing.assert_allclose(machine.decision_function(X), X @ machine.coef_[0])


def test_squared_hinge():
    X, y = CANCER
    C = 0.5
    machine = SVC(kernel="linear", loss="squared_hinge", C=C, tol=1e-8).fit(X, y)
    f, signs = machine.decision_function(X), 2.0 * y - 1.0
    slack = np.maximum(0.0, 1.0 - signs * f)
    # stationarity: α = 2Cξ
    alpha = np.zeros(y.size)
    alpha[machine.support_] = np.abs(machine.dual_coef_[0])
    np.testing.assert_allclose(alpha, 2 * C * slack, atol=1e-6)


def test_pegasos_agrees_with_smo():
    X, y = CANCER
    options = {"kernel": "linear", "fit_intercept": False, "C": 0.001}
    smo = SVC(**options).fit(X, y)
    pegasos = SVC(solver="pegasos", tol=2e-2, random_state=0, **options).fit(X, y)
    assert pegasos.certificate_.primal == pytest.approx(smo.certificate_.primal, rel=2e-2)
    again = SVC(solver="pegasos", tol=2e-2, random_state=0, **options).fit(X, y)
    np.testing.assert_array_equal(again.dual_coef_, pegasos.dual_coef_)
    other = SVC(solver="pegasos", tol=2e-2, random_state=1, **options).fit(X, y)
    assert not np.array_equal(other.dual_coef_, pegasos.dual_coef_)


# --- stopping and going on ----------------------------------------------------------


def test_max_iter_warns_with_figures():
    X, y = CANCER
    with pytest.warns(ConvergenceWarning) as caught:
        machine = SVC(max_iter=2).fit(X, y)
    text = str(caught[0].message)
    assert (
        "Solver terminated early (max_iter=2).  Consider pre-processing your data with "
        "StandardScaler or MinMaxScaler." in text
    )
    assert f"violation {machine.certificate_.violation:.3g}, relative gap" in text
    assert "tol 0.001" in text
    assert caught[0].filename == __file__
    assert machine.fit_status_ == 1
    assert machine.n_iter_.tolist() == [2]
    assert machine.certificate_.stop == Stop.MAX_ITER.value
    assert np.isfinite(machine.decision_function(X)).all()


def test_time_limit_warns():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1500, 20)), rng.integers(0, 2, size=1500)
    with pytest.warns(ConvergenceWarning, match="time limit was reached: violation"):
        machine = SVC(C=1e8, gamma=1e-4, tol=1e-9, time_limit=0.05).fit(X, y)
    assert machine.fit_status_ == 1
    assert machine.certificate_.stop == Stop.TIME_LIMIT.value


def hard_set():
    X, y = DIGITS
    return X, y % 2


def test_callbacks_stop_without_a_warning():
    X, y = hard_set()
    seen = []

    def stop(snapshot):
        seen.append(snapshot.name)
        return True

    machine = SVC(tol=1e-10, C=1e6, callbacks=stop).fit(X, y)
    assert seen == ["0 against 1"]
    assert machine.fit_status_ == 1
    assert machine.certificate_.stop == Stop.CALLBACK.value


def test_callbacks_see_every_pair():
    history = History(["violation"])
    machine = SVC(callbacks=[history]).fit(*IRIS)
    assert set(history.to_dict()) == {one.name for one in machine.certificate_.problems}


@pytest.mark.parametrize("data", ["iris", "digits"])
def test_warm_start_goes_on(data):
    X, y = SETS[data]
    machine = SVC(max_iter=3, warm_start=True, kernel="linear")
    with pytest.warns(ConvergenceWarning):
        machine.fit(X, y)
    first = machine.certificate_
    machine.set_params(max_iter=-1).fit(X, y)
    assert machine.fit_status_ == 0
    assert machine.certificate_.violation < first.violation
    cold = SVC(kernel="linear").fit(X, y)
    done = machine.decision_function(X)
    machine.fit(X, y)
    assert machine.n_iter_.sum() < 0.5 * cold.n_iter_.sum()
    np.testing.assert_allclose(machine.decision_function(X), done, atol=1e-2)


def test_warm_start_needs_the_same_rows():
    X, y = IRIS
    machine = SVC(warm_start=True).fit(X, y)
    for rows, labels in [
        (X[:-1], y[:-1]),
        (X[::-1].copy(), y[::-1]),
        (X, y + 1),
        (X, y[::-1]),
    ]:
        with pytest.raises(InputError, match="warm_start=True goes on"):
            clone_of(machine).fit(rows, labels)
    clone_of(machine).set_params(C=2.0).fit(X, y)
    assert clone_of(machine).set_params(warm_start=False).fit(X[:-1], y[:-1])


def clone_of(machine):
    return pickle.loads(pickle.dumps(machine))


def test_verbose_shows_progress(capsys):
    SVC(verbose=1).fit(*IRIS)
    captured = capsys.readouterr()
    assert "100%" in captured.err
    assert captured.out == ""


# --- as an estimator ----------------------------------------------------------------


def test_clone_pickle_and_search():
    history = History(["gap"])
    machine = SVC(C=3.0, callbacks=[history]).fit(*CANCER)
    copy = clone(machine)
    assert copy.C == 3.0
    assert isinstance(copy.callbacks[0], History)
    again = clone_of(machine)
    np.testing.assert_array_equal(
        again.decision_function(CANCER[0]), machine.decision_function(CANCER[0])
    )
    search = GridSearchCV(SVC(), {"C": [0.01, 1.0]}, cv=3).fit(*IRIS)
    assert search.best_params_ == {"C": 1.0}


def test_constructor_has_sklearns_names_and_defaults():
    ours, theirs = SVC().get_params(), svm.SVC().get_params()
    theirs.pop("probability")  # comes with calibration
    assert {name: ours[name] for name in theirs} == theirs
    with pytest.raises(TypeError):
        SVC(1.0)


def test_predictions_in_blocks(monkeypatch):
    X, y = IRIS
    machine = SVC().fit(X, y)
    labels, scores = machine.predict(X), machine.decision_function(X)
    rows = np.tile(X, (10, 1))
    monkeypatch.setattr("maxmargin.estimators.kernel.prediction.BLOCK", 1)
    np.testing.assert_array_equal(machine.predict(rows), np.tile(labels, 10))
    np.testing.assert_allclose(machine.decision_function(rows), np.tile(scores, (10, 1)))
