"""Linear machines refuse what kernel machines refuse, in the same words.

The mistakes are those of ``test_bad_input``. Parameters have their own tests, in
``test_linear_refusals`` and ``test_linear_stochastic``.
"""

from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from tests.unit.test_bad_input import (
    ALTERATIONS,
    INF,
    NAN,
    OF_CLASSES,
    ROWS,
    TARGETS,
    THREE,
    WEIGHTS,
    X,
    Y,
    Z,
    csr_alterations,
)

from maxmargin import (
    AveragedSGDClassifier,
    InputError,
    LinearSVC,
    LinearSVR,
    PegasosClassifier,
)

WALKS = (PegasosClassifier, AveragedSGDClassifier)
CLASSIFIERS = (LinearSVC, *WALKS)
MACHINES = (*CLASSIFIERS, LinearSVR)
each = pytest.mark.parametrize("kind", MACHINES)
each_classifier = pytest.mark.parametrize("kind", CLASSIFIERS)
each_walk = pytest.mark.parametrize("kind", WALKS)


def made(kind, **options):
    # Of six rows, a walk with the usual λ goes on for very long.
    return kind(**({"lam": 0.1, "random_state": 0} if kind in WALKS else {}), **options)


def target(kind):
    return Z if kind is LinearSVR else Y


def fitted(kind):
    return made(kind).fit(X, target(kind))


def ways_to_learn(kind, **options):
    """Every method that takes rows to learn from, with and without a model before it."""
    yield made(kind, **options).fit
    yield fitted(kind).set_params(**options).fit
    if kind in WALKS:
        yield partial(made(kind, **options).partial_fit, classes=[1, 2])
        yield fitted(kind).set_params(**options).partial_fit


def ways_to_look(machine):
    """Every method that takes rows to judge."""
    yield machine.predict
    if hasattr(machine, "decision_function"):
        yield machine.decision_function


# --- rows and weights ---------------------------------------------------------------


@each
@pytest.mark.parametrize("case", sorted(ROWS))
def test_rows(kind, case):
    rows, text = ROWS[case]
    y = target(kind)[:0] if case == "no rows" else target(kind)
    if case == "no features":  # where a model says how many there have to be
        text = "0 feature|expecting 2 features"
    for learn in ways_to_learn(kind):
        with pytest.raises(InputError, match=text):
            learn(rows, y)
    for look in ways_to_look(fitted(kind)):
        with pytest.raises(InputError, match=text):
            look(rows)


@each
@pytest.mark.parametrize("rows", [np.ones((2, 3)), sp.csr_array(np.ones((2, 3)))])
def test_more_features_than_fitted(kind, rows):
    for look in ways_to_look(fitted(kind)):
        with pytest.raises(InputError, match=r"3 features.*expecting 2 features"):
            look(rows)


@each_walk
def test_a_walk_does_not_go_on_with_other_features(kind):
    with pytest.raises(InputError, match=r"3 features.*expecting 2 features"):
        fitted(kind).partial_fit(np.ones((6, 3)), Y)


# What is done to the support vectors of a kernel machine, done to the rows.
CSR = dict(
    zip(
        ["index beyond", "negative index", "missing values", "nan"],
        csr_alterations(),
        strict=False,  # then they come again, for dual_coef_
    )
)


@each
@pytest.mark.parametrize("case", CSR)
def test_altered_sparse_rows(kind, case):
    holder = SimpleNamespace(support_vectors_=sp.csr_array(X))
    CSR[case](holder)
    rows = holder.support_vectors_
    text = "contains NaN" if case == "nan" else "malformed csr"
    for learn in ways_to_learn(kind):
        with pytest.raises(InputError, match=text):
            learn(rows, target(kind))
    for look in ways_to_look(fitted(kind)):
        with pytest.raises(InputError, match=text):
            look(rows)


@each
@pytest.mark.parametrize("case", sorted(WEIGHTS))
def test_weights(kind, case):
    weight, text = WEIGHTS[case]
    for learn in ways_to_learn(kind):
        with pytest.raises(InputError, match=text):
            learn(X, target(kind), sample_weight=weight)


@each
def test_huge_features_are_refused(kind):
    rows = np.finfo(np.float64).max * np.random.default_rng(0).uniform(size=(6, 2))
    for learn in ways_to_learn(kind):
        with pytest.raises(
            InputError, match="The dual coefficients or intercepts are not finite"
        ):
            learn(rows, target(kind))


@each
def test_decisions_that_overflow(kind):
    machine = fitted(kind)
    machine.coef_ = np.full_like(machine.coef_, 10.0)
    for look in ways_to_look(machine):
        with pytest.raises(InputError, match="the decision overflows on this X"):
            look(np.full((1, 2), 1e308))


@each
def test_mistakes_leave_a_fitted_model_alone(kind):
    machine = fitted(kind)
    before = machine.predict(X), machine.coef_.copy()
    with pytest.raises(InputError):  # of one column: not even how many there were
        machine.fit(X[:, :1], target(kind), sample_weight=np.zeros(6))
    np.testing.assert_array_equal(machine.predict(X), before[0])
    np.testing.assert_array_equal(machine.coef_, before[1])


@each
def test_not_fitted(kind):
    for look in ways_to_look(made(kind)):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            look(X)


# --- labels and targets -------------------------------------------------------------


@each
@pytest.mark.parametrize("case", sorted(TARGETS))
def test_targets(kind, case):
    y, text = TARGETS[case]
    for learn in ways_to_learn(kind):
        with pytest.raises(InputError, match=text):
            learn(X, y)


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
        made(kind).fit(X, y)


# One class alone is no mistake in a part of the rows; labels that nobody announced are.
@each_walk
@pytest.mark.parametrize(
    "y",
    [
        Y + 0.5,
        np.where(Y == 1, 1, 7),
        ["spam"] * 6,
        np.array([1, "a", None, 1, 2, 3], dtype=object),
    ],
    ids=["fractions", "another", "text", "mixed"],
)
def test_labels_that_were_not_announced(kind, y):
    for learn in list(ways_to_learn(kind))[2:]:
        with pytest.raises(InputError, match=r"not among the classes|Unknown label type"):
            learn(X, y)


@pytest.mark.parametrize(
    "y",
    [
        list("abcabc"),
        ["1.0", "2.0"] * 3,
        np.array(["2020-01-01"] * 6, dtype="M8[D]"),
        np.array([1, "a", None, 1, 2, 3], dtype=object),
    ],
)
def test_targets_are_numbers(y):
    with pytest.raises(InputError, match=r"predicts numbers|could not convert"):
        LinearSVR().fit(X, y)


def test_huge_targets_are_refused():
    with pytest.raises(InputError, match=r"y holds values as large as 3e\+200"):
        LinearSVR().fit(X, 1e200 * Z)


@each_classifier
@pytest.mark.parametrize("weight", [[0, -0.5, 0, 1, 1, 1], [1, 1, 1, 0, -0.1, 0]])
def test_one_class_has_weight(kind, weight):
    text = "all samples with positive weights belong to the same class .[12]."
    with pytest.raises(InputError, match=text):
        made(kind).fit(X, Y, sample_weight=weight)


@each_classifier
@pytest.mark.parametrize("weight", [0.0, -1.0, NAN, INF])
def test_class_weights(kind, weight):
    for learn in ways_to_learn(kind, class_weight={1: weight}):
        with pytest.raises(InputError, match="class_weight gives class 1 the weight"):
            learn(X, Y)


@each_classifier
def test_weights_of_unknown_classes(kind):
    for learn in ways_to_learn(kind, class_weight={7: 2.0}):
        with pytest.raises(InputError, match=r"The classes, \[1, 2\], are not in"):
            learn(X, Y)


# --- altered models -----------------------------------------------------------------

# Of what a kernel machine has, a linear one predicts with these; it has no support
# vectors, and its dual variables are a proof that only ``certify`` reads.
SHARED = {
    name: change
    for name, change in ALTERATIONS.items()
    if name.startswith(("intercept_", "n_features_in_"))
}


def refuse_altered(machine):
    for look in ways_to_look(machine):
        with pytest.raises(InputError, match="was altered"):
            look(X)


@each
@pytest.mark.parametrize("case", SHARED)
def test_altered_intercepts_are_refused(kind, case):
    machine = fitted(kind)
    SHARED[case](machine)
    refuse_altered(machine)


COEF = {
    "wider": np.ones((1, 10**4)),
    "taller": np.ones((5, 2)),
    "nan": np.array([[NAN, 1.0]]),
    "none": None,
    "text": np.array([["a", "b"]]),
    "ragged": [[1.0], [1.0, 2.0]],
}


@each
@pytest.mark.parametrize("case", COEF)
def test_altered_weights_are_refused(kind, case):
    machine = fitted(kind)
    machine.coef_ = COEF[case]
    refuse_altered(machine)


@each_classifier
@pytest.mark.parametrize("case", OF_CLASSES)
def test_altered_classes_are_refused(kind, case):
    machine = fitted(kind)
    OF_CLASSES[case](machine)
    with pytest.raises(InputError, match="was altered"):
        machine.predict(X)


@pytest.mark.parametrize(
    ("part", "array"),
    [
        ("indices", [2, 1, 0, 1, 0, 1]),
        ("indices", [0, 1, -1, 1, 0, 1]),
        ("indptr", [0, 4, 2, 6]),
        ("data", [NAN, 2.0, 3.0, 4.0, 5.0, 6.0]),
    ],
    ids=["index beyond", "negative index", "falling indptr", "nan"],
)
def test_altered_sparse_weights_are_refused(part, array):
    machine = LinearSVC().fit(X, THREE)
    machine.coef_ = np.arange(1.0, 7.0).reshape(3, 2)
    coef = machine.sparsify().coef_
    # Wrong places, but within the memory of the six numbers: where nobody looks at them
    # this fails, and the process lives.
    setattr(coef, part, np.array(array, dtype=getattr(coef, part).dtype))
    refuse_altered(machine)
