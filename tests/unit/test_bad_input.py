"""Every mistake gets one InputError that names it; altered models never crash."""

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin import SVC, IndefiniteKernelWarning, InputError

X = np.array([[-2.0, -1], [-1, -1], [-1, -2], [1, 1], [1, 2], [2, 1]])
Y = np.array([1, 1, 1, 2, 2, 2])
NAN, INF = float("nan"), float("inf")

PARAMETERS = [
    ("C", [0.0, -1.0, NAN, "1", None, True]),
    ("kernel", ["gauss", 5, None, X]),
    ("degree", [-1, 2.5, "3", None]),
    ("gamma", [-1.0, -1e-300, NAN, INF, "auto_", None, True]),
    ("coef0", [NAN, INF, "0", None]),
    ("shrinking", ["yes", 1, None]),
    ("tol", [0.0, -1e-3, NAN, INF, None]),
    ("cache_size", [0, -200, NAN, INF, None]),
    ("class_weight", ["equal", [1, 2], 3]),
    ("verbose", [-1, "yes", 0.5]),
    ("max_iter", [-2, 1.5, None, INF]),
    ("decision_function_shape", ["ovx", None, 1]),
    ("break_ties", ["no", 0, None]),
    ("random_state", [-1, 2**32, "seed", 0.5]),
    ("loss", ["log", None]),
    ("fit_intercept", ["yes", 1, None]),
    ("solver", ["libsvm", None]),
    ("n_jobs", [0, 1.5, "all"]),
    ("time_limit", [0, -1.0, NAN, "1s"]),
    ("callbacks", [5, "History", {"a": 1}]),
    ("warm_start", ["yes", 1, None]),
]


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in PARAMETERS for value in values]
)
def test_parameters(name, value):
    with pytest.raises(
        InputError, match=rf"(?s)The '{name}' parameter of SVC must be .* Got"
    ):
        SVC(**{name: value}).fit(X, Y)


def test_every_parameter_has_a_rule():
    assert {name for name, _ in PARAMETERS} == set(SVC().get_params())


def test_messages_name_value_allowance_and_advice():
    with pytest.raises(InputError) as caught:
        SVC(C=-1.0).fit(X, Y)
    text = str(caught.value)
    for part in ("C=-1.0", "Got -1.0 instead", "positive", "C=inf for a hard margin"):
        assert part in text


def with_value(value):
    changed = X.copy()
    changed[2, 1] = value
    return changed


ARRAYS = {
    "nan": (with_value(NAN), Y, None, "contains NaN"),
    "inf": (with_value(INF), Y, None, "contains infinity"),
    "nan in csr": (sp.csr_array(with_value(NAN)), Y, None, "contains NaN"),
    "complex": (X * 1j, Y, None, "Complex data not supported"),
    "text": ([["a", "b"], ["c", "d"]], [0, 1], None, "could not convert string"),
    "one row of numbers": (X[0], Y[:2], None, "Reshape your data"),
    "three axes": (X.reshape(3, 2, 2), Y[:3], None, "dim 3"),
    "no rows": (X[:0], Y[:0], None, "0 sample"),
    "no features": (X[:, :0], Y, None, r"0 feature\(s\)"),
    "ragged": ([[1.0], [1.0, 2.0]], [0, 1], None, "inhomogeneous"),
    "short y": (X, Y[:-1], None, "inconsistent numbers of samples"),
    "no y": (X, None, None, "requires y to be passed"),
    "nan in y": (X, np.where(Y == 1, NAN, 1.0), None, "contains NaN"),
    "real y": (X, Y + 0.5 * np.arange(6) ** 0.5, None, "Unknown label type"),
    "matrix y": (X, np.column_stack([Y, Y]), None, "1d array"),
    "one class": (
        X,
        np.ones(6),
        None,
        "The number of classes has to be greater than one; got 1 class",
    ),
    "zero weights": (
        X,
        Y,
        np.zeros(6),
        "Invalid input - all samples have zero or negative weights.",
    ),
    "negative weights": (
        X,
        Y,
        np.full(6, -0.3),
        "Invalid input - all samples have zero or negative weights.",
    ),
    "one class has weight": (
        X,
        Y,
        [0, -0.5, 0, 1, 1, 1],
        "Invalid input - all samples with positive weights belong to the same class",
    ),
    "short weights": (X, Y, [1.0], "sample_weight and X have incompatible shapes"),
    "nan weight": (X, Y, [1, 1, NAN, 1, 1, 1], "sample_weight contains NaN"),
}


@pytest.mark.parametrize("case", sorted(ARRAYS))
def test_arrays(case):
    rows, labels, weight, text = ARRAYS[case]
    with pytest.raises(InputError, match=text):
        SVC().fit(rows, labels, sample_weight=weight)


def test_mistakes_leave_a_fitted_model_alone():
    machine = SVC(kernel="linear").fit(X, Y)
    before = machine.decision_function(X)
    with pytest.raises(InputError):
        machine.fit(X, np.ones(6))
    np.testing.assert_array_equal(machine.decision_function(X), before)


def test_overlap_with_a_hard_margin():
    rows = np.array([[0.0], [1.0], [0.5], [2.0]])
    with pytest.raises(InputError, match=r"overlap.*use a finite C"):
        SVC(kernel="linear", C=INF).fit(rows, [0, 0, 1, 1])
    # 0 | 1 separate, 1 | 2 do not: the message says which
    rows = np.array([[0.0], [0.1], [5.0], [7.0], [6.0], [8.0]])
    with pytest.raises(InputError, match="1 against 2"):
        SVC(kernel="linear", C=INF).fit(rows, [0, 0, 1, 1, 2, 2])


def test_huge_features_are_refused():
    rows = np.finfo(np.float64).max * np.random.default_rng(0).uniform(size=(10, 2))
    for machine in (SVC(), SVC(kernel="linear"), SVC(kernel="poly", gamma=1.0)):
        with pytest.raises(
            InputError, match="The dual coefficients or intercepts are not finite"
        ):
            machine.fit(rows, np.arange(10) % 2)


def test_pegasos_needs_no_intercept():
    with pytest.raises(InputError, match="fit_intercept=False"):
        SVC(solver="pegasos").fit(X, Y)


# --- kernels ------------------------------------------------------------------------


def test_precomputed():
    K = X @ X.T
    with pytest.raises(InputError, match="Precomputed matrix must be a square matrix"):
        SVC(kernel="precomputed").fit(X, Y)
    with pytest.raises(InputError, match="asymmetric"):
        SVC(kernel="precomputed").fit(K + np.triu(np.ones_like(K), 1), Y)
    with pytest.raises(TypeError, match="Sparse precomputed"):
        SVC(kernel="precomputed").fit(sp.csr_array(K), Y)
    machine = SVC(kernel="precomputed").fit(K, Y)
    with pytest.raises(InputError, match="features"):
        machine.predict(K[:, :4])
    with pytest.raises(InputError, match="Sparse precomputed"):
        machine.predict(sp.csr_array(K))


def test_indefinite_matrices_warn():
    K = X @ X.T
    SVC(kernel="precomputed").fit(K, Y)
    SVC(kernel="precomputed").fit(np.zeros_like(K), Y)
    with pytest.warns(IndefiniteKernelWarning, match="smallest eigenvalue -"):
        SVC(kernel="precomputed").fit(K - 0.5 * np.eye(6), Y)


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


@pytest.mark.parametrize(
    "kernel",
    [
        lambda A, B: A,
        lambda A, B: np.array([[1.0]]),
        lambda A, B: 1.0,
        lambda A, B: np.full((A.shape[0], B.shape[0]), np.nan),
    ],
)
def test_bad_functions(kernel):
    with pytest.raises(InputError, match="kernel function returned"):
        SVC(kernel=kernel).fit(X, Y)


# --- altered models -----------------------------------------------------------------


def alterations():
    def replace(name, value):
        return lambda machine: setattr(machine, name, value)

    def inside(name, value):
        def change(machine):
            getattr(machine, name)[0] = value

        return change

    big = np.arange(10**6)
    yield "n_support_ huge", inside("n_support_", 1_000_000)
    yield "n_support_ negative", inside("n_support_", -1)
    yield "n_support_ shorter", replace("n_support_", np.array([2], dtype=np.int32))
    yield "n_support_ float", replace("n_support_", np.array([1.0, 1.0]))
    yield "n_support_ None", replace("n_support_", None)
    yield "support_vectors_ fewer", replace("support_vectors_", X[:1])
    yield "support_vectors_ wider", replace("support_vectors_", np.ones((2, 10**4)))
    yield "support_vectors_ ints", replace("support_vectors_", np.ones((2, 2), dtype=int))
    yield "support_vectors_ nan", replace("support_vectors_", np.full((2, 2), NAN))
    yield "support_vectors_ list", replace("support_vectors_", [[1.0, 2.0]] * 2)
    yield "support_vectors_ flat", replace("support_vectors_", np.ones(4))
    yield "support_vectors_ lil", replace("support_vectors_", sp.lil_array(X[:2]))
    yield "support_ longer", replace("support_", big)
    yield "support_ gone", replace("support_", None)
    yield "dual_coef_ wider", replace("dual_coef_", np.ones((1, 10**6)))
    yield "dual_coef_ taller", replace("dual_coef_", np.ones((5, 2)))
    yield "dual_coef_ nan", inside("dual_coef_", NAN)
    yield "dual_coef_ text", replace("dual_coef_", np.array([["a", "b"]]))
    yield "dual_coef_ ragged", replace("dual_coef_", [[1.0], [1.0, 2.0]])
    yield "intercept_ longer", replace("intercept_", np.ones(3))
    yield "intercept_ nan", replace("intercept_", np.array([NAN]))
    yield "intercept_ empty", replace("intercept_", np.empty(0))
    yield "classes_ one", replace("classes_", np.array([1]))
    yield "classes_ more", replace("classes_", big)
    yield "n_features_in_", replace("n_features_in_", 10**6)
    yield "_gamma nan", replace("gamma_", NAN)
    yield "_gamma text", replace("gamma_", "big")
    yield "kernel", replace("kernel", "gauss")
    yield "degree", replace("degree", -3)
    yield "coef0", replace("coef0", NAN)


@pytest.mark.parametrize(
    "change", [pytest.param(change, id=name) for name, change in alterations()]
)
@pytest.mark.parametrize("rows", [X, sp.csr_array(X)], ids=["dense", "sparse"])
def test_altered_models_are_refused(change, rows):
    machine = SVC(kernel="linear").fit(X, Y)
    change(machine)
    wide = getattr(machine, "n_features_in_", 2)
    given = rows if wide == 2 else np.ones((3, wide))
    for method in (machine.predict, machine.decision_function):
        with pytest.raises(InputError, match=r"altered|parameter of SVC must be"):
            method(given)


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


@pytest.mark.parametrize("change", list(csr_alterations()))
def test_altered_sparse_models_are_refused(change):
    machine = SVC(kernel="linear").fit(sp.csr_array(X), Y)
    change(machine)
    for look in (machine.predict, machine.decision_function, lambda _: machine.coef_):
        with pytest.raises(InputError, match="The internal representation of SVC was"):
            look(X)


def test_altered_precomputed_models_are_refused():
    K = X @ X.T
    machine = SVC(kernel="precomputed").fit(K, Y)
    for bad in (10**6, -1):
        machine.support_ = np.array([1, bad], dtype=np.int32)
        with pytest.raises(InputError, match="support_ must lie between 0 and 5"):
            machine.predict(K)


def test_kernel_changed_after_fitting():
    machine = SVC(kernel="precomputed").fit(X @ X.T, Y)
    machine.kernel = "rbf"
    with pytest.raises(InputError, match="support_vectors_ has shape"):
        machine.predict(X @ X.T)


@pytest.mark.parametrize("rows", [X, sp.csr_array(X)], ids=["dense", "sparse"])
def test_public_attributes_are_what_predicts(rows):
    machine = SVC(kernel="linear").fit(rows, Y)
    before = machine.decision_function(X)
    machine.intercept_ = machine.intercept_ + 1.5
    np.testing.assert_allclose(machine.decision_function(X), before + 1.5)
    machine.intercept_ = machine.intercept_ - 1.5
    machine.dual_coef_ = 2 * machine.dual_coef_
    np.testing.assert_allclose(machine.decision_function(X), 2 * before, atol=1e-12)
