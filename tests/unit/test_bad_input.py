"""Every mistake gets one InputError that names it; altered models never crash."""

import re
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from maxmargin import (
    SVC,
    SVDD,
    SVR,
    ConvergenceWarning,
    IndefiniteKernelWarning,
    InputError,
    LinearSVC,
    NuSVC,
    NuSVR,
    OneClassSVM,
    VanishingMarginWarning,
    kernels,
    path,
)

X = np.array([[-2.0, -1], [-1, -1], [-1, -2], [1, 1], [1, 2], [2, 1]])
Y = np.array([1, 1, 1, 2, 2, 2])
THREE = np.array([1, 1, 2, 2, 3, 3])
Z = np.array([0.0, 0.5, -1.0, 2.0, 3.0, 1.5])
NAN, INF = float("nan"), float("inf")

CLASSIFIERS, REGRESSORS, OUTLIERS = [SVC, NuSVC], [SVR, NuSVR], [OneClassSVM, SVDD]
MACHINES = CLASSIFIERS + REGRESSORS + OUTLIERS
each = pytest.mark.parametrize("kind", MACHINES)
each_classifier = pytest.mark.parametrize("kind", CLASSIFIERS)
each_regressor = pytest.mark.parametrize("kind", REGRESSORS)
each_supervised = pytest.mark.parametrize("kind", CLASSIFIERS + REGRESSORS)


def target(kind):
    return Y if kind in CLASSIFIERS else Z if kind in REGRESSORS else None


def fitted(kind, rows=X, **parameters):
    return kind(**parameters).fit(rows, target(kind))


# --- parameters ---------------------------------------------------------------------

PARAMETERS = {
    "C": [0.0, -1.0, NAN, "1", None, True, 10**400],
    "kernel": ["gauss", 5, None, X, kernels.RBF, int],
    "nu": [0.0, -0.1, 1.1, NAN, INF, "0.5", None, True],
    "epsilon": [-0.1, NAN, INF, "0", None, True],
    "degree": [-1, 2.5, "3", None, 2**31, 10**400],
    "gamma": [-1.0, -1e-300, NAN, INF, "auto_", None, True, 10**400],
    "coef0": [NAN, INF, "0", None],
    "shrinking": ["yes", 1, None],
    "probability": ["yes", 1, None],
    "calibration": ["platt", None, 1],
    "multi_class": ["ovx", None, 1],
    "tol": [0.0, -1e-3, NAN, INF, None],
    "cache_size": [0, -200, NAN, INF, None],
    "class_weight": ["equal", [1, 2], 3, {1: "a"}, {1: None}],
    "verbose": [-1, "yes", 0.5],
    "max_iter": [-2, 1.5, None, INF],
    "decision_function_shape": ["ovx", None, 1],
    "break_ties": ["no", 0, None],
    "random_state": [-1, 2**32, "seed", 0.5],
    "loss": ["log", None],
    "fit_intercept": ["yes", 1, None],
    "solver": ["libsvm", None],
    "n_jobs": [0, 1.5, "all"],
    "time_limit": [0, -1.0, NAN, "1s"],
    "callbacks": [5, "History", {"a": 1}, np.array(1.0)],
    "warm_start": ["yes", 1, None],
}


@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [
        (kind, name, value)
        for kind in MACHINES
        for name in kind().get_params()
        for value in PARAMETERS[name]  # every parameter has a row
    ],
)
def test_parameters(kind, name, value):
    with pytest.raises(
        InputError, match=rf"(?s)The '{name}' parameter of {kind.__name__} must be .* Got"
    ):
        fitted(kind, **{name: value})


def test_messages_name_value_allowance_and_advice():
    with pytest.raises(InputError) as caught:
        SVC(C=-1.0).fit(X, Y)
    text = str(caught.value)
    for part in ("C=-1.0", "Got -1.0 instead", "positive", "C=inf allows none"):
        assert part in text


def test_a_tube_that_is_found_needs_a_finite_price():
    with pytest.raises(InputError, match=r"positive, finite number\. Got inf"):
        fitted(NuSVR, C=INF)


def test_a_tube_without_a_function_in_it_is_said_to_be_hopeless():
    rows, targets = [[0.0], [0.0], [1.0]], [0.0, 1.0, 0.0]
    with pytest.warns(ConvergenceWarning, match="C=inf allows no error outside the tube"):
        SVR(C=INF, epsilon=0.1, max_iter=1000).fit(rows, targets)
    machine = SVR(C=INF, epsilon=0.6).fit(rows, targets)
    assert machine.certificate_.violation <= machine.tol


# --- rows and weights, for every machine --------------------------------------------


def with_value(value):
    changed = X.copy()
    changed[2, 1] = value
    return changed


def with_foreign_indices():
    matrix = sp.csr_array(X)
    matrix.indices = matrix.indices + 50
    return matrix


ROWS = {
    "nan": (with_value(NAN), "contains NaN"),
    "inf": (with_value(INF), "contains infinity"),
    "nan in csr": (sp.csr_array(with_value(NAN)), "contains NaN"),
    "malformed csr": (with_foreign_indices(), "malformed csr"),
    "complex": (X * 1j, "Complex data not supported"),
    "text": ([["a", "b"]] * 6, "could not convert string"),
    "one row of numbers": (X[0], "Reshape your data"),
    "a number": (3.0, "Reshape your data"),
    "nothing": (None, "Expected 2D array"),
    "three axes": (np.ones((6, 2, 2)), "dim 3"),
    "no rows": (X[:0], "0 sample"),
    "no features": (X[:, :0], r"0 feature\(s\)"),
    "ragged": ([[1.0], [1.0, 2.0]] * 3, "inhomogeneous"),
    "dict": ({"a": 1}, "not 'dict'"),
}


@each
@pytest.mark.parametrize("case", sorted(ROWS))
def test_rows(kind, case):
    rows, text = ROWS[case]
    y = target(kind)
    with pytest.raises(InputError, match=text):
        kind().fit(rows, y[:0] if y is not None and case == "no rows" else y)
    machine = fitted(kind)
    if case == "no features":
        text = "0 feature|expecting 2 features"
    with pytest.raises(InputError, match=text):
        machine.predict(rows)


@each
@pytest.mark.parametrize("rows", [np.ones((2, 3)), sp.csr_array(np.ones((2, 3)))])
def test_more_features_than_fitted(kind, rows):
    with pytest.raises(InputError, match=r"3 features.*expecting 2 features"):
        fitted(kind).predict(rows)


WEIGHTS = {
    "zero": (np.zeros(6), "Invalid input - all samples have zero or negative weights."),
    "negative": (np.full(6, -0.3), "all samples have zero or negative weights."),
    "short": ([1.0], "sample_weight and X have incompatible shapes"),
    "a column": (np.ones((6, 1)), "sample_weight and X have incompatible shapes"),
    "nan": ([1, 1, NAN, 1, 1, 1], "sample_weight contains NaN"),
    "inf": ([1, 1, INF, 1, 1, 1], "sample_weight contains NaN or infinity"),
    "text": (["a"] * 6, "sample_weight must be a list of 6 real numbers"),
    "complex": (1j * np.ones(6), "sample_weight must be a list of 6 real numbers"),
    "ragged": ([[1], [1, 2], 1, 1, 1, 1], "must be a list of 6 real numbers"),
    "huge": (np.full(6, 1e300), r"sample_weight holds values as large as 1e\+300"),
}


@each
@pytest.mark.parametrize("case", sorted(WEIGHTS))
def test_weights(kind, case):
    weight, text = WEIGHTS[case]
    with pytest.raises(InputError, match=text):
        kind().fit(X, target(kind), sample_weight=weight)


@each
def test_huge_features_are_refused(kind):
    rows = np.finfo(np.float64).max * np.random.default_rng(0).uniform(size=(6, 2))
    for parameters in ({}, {"kernel": "linear"}, {"kernel": "poly", "gamma": 1.0}):
        with pytest.raises(
            InputError, match="The dual coefficients or intercepts are not finite"
        ):
            fitted(kind, rows, **parameters)


@each
def test_degrees_that_overflow_are_refused(kind):
    with pytest.raises(InputError, match="the kernel overflows"):
        fitted(kind, kernel="poly", degree=2**31 - 1, gamma=1.0)


@each
def test_a_kernel_that_overflows_in_prediction(kind):
    with pytest.raises(InputError, match="the kernel overflows on this X"):
        fitted(kind, kernel="poly", gamma=1.0).predict(1e120 * X)


@each
def test_mistakes_leave_a_fitted_model_alone(kind):
    machine = fitted(kind, kernel="linear")
    before = machine.predict(X), machine.dual_coef_.copy()
    with pytest.raises(InputError):
        machine.fit(X, target(kind), sample_weight=np.zeros(6))
    np.testing.assert_array_equal(machine.predict(X), before[0])
    np.testing.assert_array_equal(machine.dual_coef_, before[1])


@each
@pytest.mark.parametrize("method", ["predict", "decision_function", "score_samples"])
def test_not_fitted(kind, method):
    machine = kind(kernel="linear")
    if hasattr(machine, method):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            getattr(machine, method)(X)
    with pytest.raises(NotFittedError, match="not fitted yet"):
        _ = machine.coef_


@each
def test_going_on_with_other_rows(kind):
    machine = fitted(kind, warm_start=True)
    y = target(kind)
    with pytest.raises(InputError, match="warm_start=True goes on from the model") as one:
        machine.fit(X[1:5], None if y is None else y[1:5])
    assert "np." not in str(one.value)


# --- labels and targets -------------------------------------------------------------

TARGETS = {
    "short": (Y[:-1], "inconsistent numbers of samples"),
    "nothing": (None, "requires y to be passed"),
    "a number": (1.0, "1d array"),
    "nan": (np.where(Y == 1, NAN, 1.0), "contains NaN"),
    "inf": (np.where(Y == 1, INF, 1.0), "contains infinity"),
    "matrix": (np.column_stack([Y, Y]), "1d array"),
    "ragged": ([[1], [1, 2], 1, 1, 1, 1], "inhomogeneous"),
    "complex": (1j * Y, "Complex data not supported"),
    "sparse": (sp.csr_array(np.ones((6, 1))), "dense data is required"),
}


@each_supervised
@pytest.mark.parametrize("case", sorted(TARGETS))
def test_targets(kind, case):
    y, text = TARGETS[case]
    with pytest.raises(InputError, match=text):
        kind().fit(X, y)


@each_classifier
@pytest.mark.parametrize(
    ("y", "text"),
    [
        (Y + 0.5 * np.arange(6) ** 0.5, "Unknown label type"),
        (np.array([1, "a", None, 1, 2, 3], dtype=object), "Unknown label type"),
        (np.ones(6), "number of classes has to be greater than one; got 1 class"),
        (["spam"] * 6, "got 1 class .'spam'."),
    ],
)
def test_labels(kind, y, text):
    with pytest.raises(InputError, match=text):
        kind().fit(X, y)


@each_regressor
@pytest.mark.parametrize(
    "y",
    [
        list("abcabc"),
        ["1.0", "2.0"] * 3,
        np.array(["2020-01-01"] * 6, dtype="M8[D]"),
        np.array([1, "a", None, 1, 2, 3], dtype=object),
    ],
)
def test_targets_are_numbers(kind, y):
    with pytest.raises(InputError, match=r"predicts numbers|could not convert"):
        kind().fit(X, y)
    with pytest.raises(InputError, match="predicts numbers"):
        kind(kernel=lambda A, B: np.ones((len(A), len(B)))).fit(list("abcdef"), y)


@each_regressor
@pytest.mark.parametrize("size", [1e18, 1e-300])
def test_large_and_small_targets(kind, size):
    with np.errstate(over="raise", invalid="raise"):
        found = kind(C=size, tol=1e-3 * size).fit(X, size * Z)
    assert np.isfinite(found.predict(X)).all()
    with pytest.raises(InputError, match=r"y holds values as large as 3e\+200"):
        kind().fit(X, 1e200 * Z)


@each_classifier
@pytest.mark.parametrize("weight", [[0, -0.5, 0, 1, 1, 1], [1, 1, 1, 0, -0.1, 0]])
def test_one_class_has_weight(kind, weight):
    text = "all samples with positive weights belong to the same class .[12]."
    with pytest.raises(InputError, match=text):
        kind().fit(X, Y, sample_weight=weight)


@each_classifier
@pytest.mark.parametrize("weight", [0.0, -1.0, NAN, INF])
def test_class_weights(kind, weight):
    with pytest.raises(InputError, match="class_weight gives class 1 the weight"):
        fitted(kind, class_weight={1: weight})


@each_classifier
def test_weights_of_unknown_classes(kind):
    with pytest.raises(InputError, match=r"The classes, \[1, 2\], are not in"):
        fitted(kind, class_weight={7: 2.0})


# --- what belongs to one machine ----------------------------------------------------


def test_overlap_with_a_hard_margin():
    rows = np.array([[0.0], [1.0], [0.5], [2.0]])
    with pytest.raises(InputError, match=r"overlap.*use a finite C"):
        SVC(kernel="linear", C=INF).fit(rows, [0, 0, 1, 1])
    # 0 | 1 separate, 1 | 2 do not: the message says which
    rows = np.array([[0.0], [0.1], [5.0], [7.0], [6.0], [8.0]])
    with pytest.raises(InputError, match="1 against 2"):
        SVC(kernel="linear", C=INF).fit(rows, [0, 0, 1, 1, 2, 2])


def test_pegasos_needs_no_intercept():
    with pytest.raises(InputError, match="fit_intercept=False"):
        SVC(solver="pegasos").fit(X, Y)


@pytest.mark.parametrize(
    ("y", "weight", "multi_class", "largest"),
    [
        ([1, 1, 2, 2, 2, 2], None, "ovo", 2 / 3),
        ([1, 1, 2, 2, 2, 2], [1, 2, 3, 4, 5, 6], "ovo", 2 * 3 / 21),
        ([1, 1, 2, 2, 2, 2], [-1, 1, 1, 1, 1, 1], "ovo", 2 / 5),
        ([1, 2, 2, 3, 3, 3], None, "ovo", 2 / 4),
        ([1, 1, 2, 2, 3, 3], None, "ovr", 2 / 3),
    ],
)
def test_infeasible_nu(y, weight, multi_class, largest):
    """The message names the largest feasible nu, and that nu can be had."""
    machine = NuSVC(nu=0.95, multi_class=multi_class, gamma=5.0)
    with pytest.raises(InputError, match=r"specified nu is infeasible: nu=0\.95") as one:
        machine.fit(X, y, sample_weight=weight)
    told = float(re.search(r"largest feasible nu is ([0-9.e+-]+)", str(one.value))[1])
    assert largest - 1e-5 < told <= largest
    for nu in (told, largest):
        assert machine.set_params(nu=nu).fit(X, y, sample_weight=weight).certificate_.ok
    with pytest.raises(InputError, match="infeasible"):
        machine.set_params(nu=largest + 1e-6).fit(X, y, sample_weight=weight)


def test_no_nu_is_feasible_for_one_class():
    with pytest.raises(InputError, match=r"specified nu is infeasible.*same class"):
        NuSVC().fit(X, Y, sample_weight=[1, 1, 1, 0, 0, 0])


def test_a_margin_that_vanishes():
    said = r"nu=0\.5 is too small for these data"
    with pytest.warns(VanishingMarginWarning, match=said):
        machine = NuSVC().fit(np.ones((6, 2)), Y)
    assert np.isfinite(machine.decision_function(X)).all()


@pytest.mark.parametrize("nu", [1e-300, 1e-160, 1.0])
def test_the_smallest_ball(nu):
    ball = SVDD(nu=nu, kernel="linear").fit(X)
    assert np.isfinite(ball.radius_)
    assert np.isfinite(ball.score_samples(X)).all()


@each_classifier
def test_pairs_that_do_not_exist(kind):
    machine = kind(multi_class="ovr", decision_function_shape="ovo").fit(X, THREE)
    with pytest.raises(InputError, match="'ovo' needs the decisions of pairs"):
        machine.decision_function(X)
    assert machine.predict(X).shape == (6,)


@each_classifier
def test_ties_of_pairs_are_not_broken(kind):
    machine = fitted(kind, break_ties=True, decision_function_shape="ovo")
    with pytest.raises(InputError, match="break_ties must be False"):
        machine.predict(X)


@each_classifier
@pytest.mark.parametrize("method", ["predict_proba", "predict_log_proba"])
def test_probabilities_that_were_not_learnt(kind, method):
    machine = fitted(kind)
    assert not hasattr(machine, method)
    before = machine.predict(X)
    machine.probability = True
    with pytest.raises(NotFittedError, match="when fitted with probability=False"):
        getattr(machine, method)(X)
    np.testing.assert_array_equal(machine.predict(X), before)


# --- the path -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "estimator",
    [NuSVC(), OneClassSVM(), SVDD(), SVC, LogisticRegression(), None, "SVC", 5],
)
def test_a_path_needs_a_machine_with_C(estimator):
    with pytest.raises(InputError, match="path needs a machine of maxmargin with C"):
        path(estimator, X, Y, [1.0])


@pytest.mark.parametrize("kind", [SVC, SVR, NuSVR])
@pytest.mark.parametrize(
    ("Cs", "text"),
    [
        ([], "give a flat list of at least one C"),
        (1.0, "give a flat list of at least one C"),
        (None, "give a flat list of at least one C"),
        ([[1.0]], "give a flat list of at least one C"),
        ("abc", "give a list or an array of positive numbers"),
        (["a"], "give a list or an array of positive numbers"),
        ([[1], [1, 2]], "give a list or an array of positive numbers"),
        ({"a": 1}, "give a list or an array of positive numbers"),
        (np.array([1 + 1j]), "give a list or an array of positive numbers"),
        ([1.0, 0.0], "The 'C' parameter of .* must be a positive"),
        ([-1.0], "The 'C' parameter of .* must be a positive"),
        ([NAN], "The 'C' parameter of .* must be a positive"),
    ],
)
def test_bad_Cs(kind, Cs, text):
    with pytest.raises(InputError, match=text):
        path(kind(), X, target(kind), Cs)


@pytest.mark.parametrize("kind", [SVC, SVR, NuSVR])
def test_a_path_checks_what_fit_checks(kind):
    y = target(kind)
    with pytest.raises(InputError, match="0 sample"):
        path(kind(), X[:0], y[:0], [1.0])
    with pytest.raises(InputError, match="zero or negative weights"):
        path(kind(), X, y, [1.0], sample_weight=np.zeros(6))
    with pytest.raises(InputError, match="The 'tol' parameter"):
        path(kind(tol=-1.0), X, y, [1.0])


# --- kernels ------------------------------------------------------------------------


@each
@pytest.mark.parametrize("kernel", ["precomputed", kernels.Precomputed()])
def test_precomputed(kind, kernel):
    K, y = np.exp(-((X[:, None] - X) ** 2).sum(axis=2)), target(kind)
    machine = kind(kernel=kernel)
    with pytest.raises(InputError, match="Precomputed matrix must be a square matrix"):
        machine.fit(X, y)
    with pytest.raises(InputError, match="asymmetric"):
        machine.fit(K + np.triu(np.ones_like(K), 1), y)
    with pytest.raises(TypeError, match="Sparse precomputed"):
        machine.fit(sp.csr_array(K), y)
    machine.fit(K, y)
    assert machine.predict(K).shape == (6,)
    with pytest.raises(InputError, match="features"):
        machine.predict(K[:, :4])
    with pytest.raises(InputError, match="Sparse precomputed"):
        machine.predict(sp.csr_array(K))


def test_a_ball_of_a_matrix_with_another_diagonal():
    machine = SVDD(kernel="precomputed").fit(X @ X.T)
    for method in (machine.predict, machine.decision_function, machine.score_samples):
        with pytest.raises(InputError, match=r"SVDD needs k\(x, x\) of every new row"):
            method(X @ X.T)


@each
def test_indefinite_matrices_warn(kind):
    K = X @ X.T
    fitted(kind, K, kernel="precomputed")
    with pytest.warns(IndefiniteKernelWarning, match="smallest eigenvalue -"):
        fitted(kind, K - 0.5 * np.eye(6), kernel="precomputed")


def test_zeros_are_semidefinite():
    SVC(kernel="precomputed").fit(np.zeros((6, 6)), Y)


def test_only_indefinite_kernels_warn():
    rows = np.random.default_rng(1).normal(size=(60, 3))
    labels = np.arange(60) % 2
    for kernel in ("linear", "poly", "rbf", lambda A, B: A @ B.T):
        SVC(kernel=kernel).fit(rows, labels)
    for machine in (
        SVC(kernel="sigmoid", gamma=1.0, coef0=-1.0),
        SVC(kernel="poly", degree=2, coef0=-1.0),
        SVC(kernel=lambda A, B: A @ B.T - 2.0),
    ):
        with pytest.warns(IndefiniteKernelWarning):
            machine.fit(rows, labels)


@each
@pytest.mark.parametrize(
    "kernel",
    [
        lambda A, B: A,
        lambda A, B: np.array([[1.0]]),
        lambda A, B: 1.0,
        lambda A, B: None,
        lambda A, B: np.full((A.shape[0], B.shape[0]), np.nan),
        lambda A, B: np.full((A.shape[0], B.shape[0]), "a"),
        lambda A, B: 1j * (A @ B.T),
    ],
)
def test_bad_functions(kind, kernel):
    with pytest.raises(InputError, match="kernel function returned"):
        fitted(kind, kernel=kernel)


@each
def test_amounts_are_not_negative(kind):
    for kernel in (kernels.ChiSquared(1.0), 2.0 * kernels.ChiSquared(1.0)):
        with pytest.raises(InputError, match="X contains -2: ChiSquared compares"):
            fitted(kind, kernel=kernel)
        machine = fitted(kind, X + 2.0, kernel=kernel)
        assert machine.predict(X + 2.0).shape == (6,)
        with pytest.raises(InputError, match="X contains -2: ChiSquared compares"):
            machine.predict(X)


# --- altered models -----------------------------------------------------------------


def replaced(name, value):
    return lambda machine: setattr(machine, name, value)


def for_each_vector(name, make):
    """The attribute replaced by what ``make`` makes of the number of support vectors."""
    return lambda machine: setattr(machine, name, make(len(machine.support_)))


def inside(name, value):
    def change(machine):
        getattr(machine, name)[0] = value

    return change


ALTERATIONS = {
    "n_support_ huge": inside("n_support_", 1_000_000),
    "n_support_ negative": inside("n_support_", -1),
    "n_support_ longer": replaced("n_support_", np.array([1, 1, 1], dtype=np.int32)),
    "n_support_ float": replaced("n_support_", np.array([1.0, 1.0])),
    "n_support_ None": replaced("n_support_", None),
    "support_vectors_ fewer": replaced("support_vectors_", X[:1]),
    "support_vectors_ wider": for_each_vector(
        "support_vectors_", lambda n: np.ones((n, 10**4))
    ),
    "support_vectors_ ints": for_each_vector(
        "support_vectors_", lambda n: np.ones((n, 2), dtype=int)
    ),
    "support_vectors_ nan": for_each_vector(
        "support_vectors_", lambda n: np.full((n, 2), NAN)
    ),
    "support_vectors_ list": for_each_vector(
        "support_vectors_", lambda n: [[1.0, 2.0]] * n
    ),
    "support_vectors_ flat": for_each_vector(
        "support_vectors_", lambda n: np.ones(2 * n)
    ),
    "support_vectors_ lil": for_each_vector(
        "support_vectors_", lambda n: sp.lil_array(X[:n])
    ),
    "support_ longer": replaced("support_", np.arange(10**6)),
    "support_ gone": replaced("support_", None),
    "dual_coef_ wider": replaced("dual_coef_", np.ones((1, 10**6))),
    "dual_coef_ taller": for_each_vector("dual_coef_", lambda n: np.ones((5, n))),
    "dual_coef_ nan": inside("dual_coef_", NAN),
    "dual_coef_ text": replaced("dual_coef_", np.array([["a", "b"]])),
    "dual_coef_ ragged": replaced("dual_coef_", [[1.0], [1.0, 2.0]]),
    "dual_coef_ None": replaced("dual_coef_", None),
    "intercept_ longer": replaced("intercept_", np.ones(7)),
    "intercept_ nan": replaced("intercept_", np.array([NAN])),
    "intercept_ empty": replaced("intercept_", np.empty(0)),
    "n_features_in_": replaced("n_features_in_", 10**6),
    "gamma_ nan": replaced("gamma_", NAN),
    "gamma_ text": replaced("gamma_", "big"),
    "kernel": replaced("kernel", "gauss"),
    "degree": replaced("degree", -3),
    "coef0": replaced("coef0", NAN),
}
OF_CLASSES = {
    "classes_ one": replaced("classes_", np.array([1])),
    "classes_ more": replaced("classes_", np.arange(10**6)),
    "classes_ gone": replaced("classes_", None),
}
METHODS = ("predict", "decision_function", "score_samples", "predict_proba")
FITTED = {
    **{kind.__name__: partial(fitted, kind, kernel="linear") for kind in MACHINES},
    "SVC one against the rest": lambda: SVC(kernel="linear", multi_class="ovr").fit(
        X, THREE
    ),
    "NuSVC with probabilities": partial(
        fitted, NuSVC, kernel="linear", probability=True, random_state=0
    ),
}


@pytest.mark.parametrize(
    ("make", "change"),
    [
        pytest.param(make, change, id=f"{name}-{what}")
        for name, make in FITTED.items()
        for what, change in {
            **ALTERATIONS,
            **(OF_CLASSES if "SVC" in name else {}),
        }.items()
    ],
)
@pytest.mark.parametrize("rows", [X, sp.csr_array(X)], ids=["dense", "sparse"])
def test_altered_models_are_refused(make, change, rows):
    machine = make()
    change(machine)
    wide = getattr(machine, "n_features_in_", 2)
    given = rows if wide == 2 else np.ones((3, wide))
    for method in METHODS:
        if hasattr(machine, method):
            with pytest.raises(InputError, match=r"altered|parameter of \w+ must be"):
                getattr(machine, method)(given)


def csr_alterations():
    def change(attribute, part, value):
        def act(machine):
            matrix = getattr(machine, attribute)
            array = getattr(matrix, part).copy()
            array[0 if part != "indptr" else -1] = value
            setattr(matrix, part, array)

        return act

    for attribute in ("support_vectors_", "dual_coef_"):
        yield change(attribute, "indices", 10**8)
        yield change(attribute, "indices", -5)
        yield change(attribute, "indptr", 10**8)
        yield change(attribute, "data", NAN)


@each
@pytest.mark.parametrize("change", list(csr_alterations()))
def test_altered_sparse_models_are_refused(kind, change):
    machine = fitted(kind, sp.csr_array(X), kernel="linear")
    change(machine)
    for look in (machine.predict, lambda _, machine=machine: machine.coef_):
        with pytest.raises(InputError, match=f"representation of {kind.__name__} was"):
            look(X)


@each
def test_altered_precomputed_models_are_refused(kind):
    K = np.exp(-((X[:, None] - X) ** 2).sum(axis=2))
    machine = fitted(kind, K, kernel="precomputed")
    for bad in (10**6, -1):
        machine.support_[0] = bad
        with pytest.raises(InputError, match="support_ must lie between 0 and 5"):
            machine.predict(K)


@each
def test_kernel_changed_after_fitting(kind):
    machine = fitted(kind, X @ X.T, kernel="precomputed")
    machine.kernel = "rbf"
    with pytest.raises(InputError, match="support_vectors_ has shape"):
        machine.predict(X @ X.T)


@each_classifier
@pytest.mark.parametrize("calibration", ["sigmoid", "isotonic"])
@pytest.mark.parametrize(
    "value",
    [None, [], np.array([NAN]), np.ones(4), "abc", np.array(["a"]), [None], 5, [[1], 2]],
)
def test_altered_probabilities_are_refused(kind, calibration, value):
    attributes = ("probA_", "probB_") if calibration == "sigmoid" else ("calibrators_",)
    for attribute in attributes:
        machine = fitted(kind, probability=True, calibration=calibration, random_state=0)
        setattr(machine, attribute, value)
        for method in (machine.predict_proba, machine.predict):
            with pytest.raises(InputError, match=f"altered: .*{attribute}"):
                method(X)


@pytest.mark.parametrize("value", [None, NAN, "far", np.ones(2), [[1], [1, 2]]])
def test_altered_thresholds_are_refused(value):
    for kind in OUTLIERS:
        machine = fitted(kind)
        machine.offset_ = value
        with pytest.raises(InputError, match="altered: offset_"):
            machine.score_samples(X)
    ball = SVDD(kernel="precomputed").fit(np.eye(6))
    ball.self_value_ = value if value is not None else "none"
    with pytest.raises(InputError, match="altered: self_value_"):
        ball.predict(np.eye(6))


@each
@pytest.mark.parametrize("rows", [X, sp.csr_array(X)], ids=["dense", "sparse"])
def test_public_attributes_are_what_predicts(kind, rows):
    machine = fitted(kind, rows, kernel="linear")
    values = machine.predict if kind in REGRESSORS else machine.decision_function
    before = values(X)
    machine.intercept_ = machine.intercept_ + 1.5
    np.testing.assert_allclose(values(X), before + 1.5)
    machine.intercept_ = machine.intercept_ - 1.5
    # of the ball, k(x, x) and half of the rest have no coefficients
    own, share = ((X**2).sum(axis=1), 2.0) if kind is SVDD else (0.0, 1.0)
    sums = (before + own - machine.intercept_) / share
    machine.dual_coef_ = 2 * machine.dual_coef_
    doubled = (values(X) + own - machine.intercept_) / share
    np.testing.assert_allclose(doubled, 2 * sums, atol=1e-12)


@pytest.mark.parametrize("machine", [SVC(), SVR(), LinearSVC()], ids=repr)
@pytest.mark.parametrize(
    ("rows", "targets", "words"),
    [
        (
            X[:, 0],
            Y,
            r"Expected 2D array, got 1D array instead\. Reshape your data either",
        ),
        (with_value(NAN), Y, r"Input X contains NaN: fill such values in .*out$"),
        (with_value(INF), Y, r"Input X contains infinity .*: give finite numbers$"),
        (X, Y[:-1], r"inconsistent numbers of samples: .*: give X, y and weights"),
        (np.array([["a"] * 2] * len(Y)), Y, r"could not convert .*: encode words"),
    ],
    ids=["1-D", "NaN", "infinity", "short y", "words"],
)
def test_scikit_learns_refusals_are_one_sentence(machine, rows, targets, words):
    with pytest.raises(InputError, match=words) as refused:
        machine.fit(rows, targets)
    assert "\n" not in str(refused.value)
