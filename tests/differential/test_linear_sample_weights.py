"""Weights of rows and of classes: linear machines against scikit-learn's, at tol 1e-8.

Both answers are valued by the objective as it is written down. Ours is never worse; where
scikit-learn's converged, both are the same, and so are the weights of a penalty ½‖w‖².

The helpers of ``test_liblinear`` know no weights of rows, and need LIBLINEAR's package.
"""

import warnings

import numpy as np
import pytest
from sklearn import svm
from sklearn.datasets import load_diabetes, load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning

from maxmargin import LinearSVC, LinearSVR

OURS = {"tol": 1e-8, "max_iter": -1}
THEIRS = {"tol": 1e-8, "max_iter": 50_000, "random_state": 0}
SLACK = 1e-6  # relative, of the objective

CLASSIFIERS = {
    "hinge": {"loss": "hinge", "dual": True},
    "squared hinge, dual": {"dual": True},
    "squared hinge, primal": {"dual": False},
    "l1": {"penalty": "l1", "dual": False},
}
REGRESSORS = {
    "tube": {"loss": "epsilon_insensitive", "dual": True},
    "squared tube, dual": {"loss": "squared_epsilon_insensitive", "dual": True},
    "squared tube, primal": {"loss": "squared_epsilon_insensitive", "dual": False},
}
CLASS_WEIGHTS = {"alike": None, "by name": [3.0, 0.5, 1.5], "balanced": "balanced"}


def row_weights(kind, n):
    rng = np.random.default_rng(5)
    if kind == "counts":
        return rng.integers(0, 4, n).astype(float)
    return rng.uniform(0.05, 3.0, n)


each_weight = pytest.mark.parametrize("weights", ["counts", "shares"])


@pytest.fixture(scope="module", params=["two", "three"])
def labelled(request):
    if request.param == "three":
        X, y = load_iris(return_X_y=True)
        return (X - X.mean(axis=0)) / X.std(axis=0), y
    return make_classification(200, 6, n_informative=4, flip_y=0.1, random_state=3)


def value(machine, w, b, miss, price):
    """The objective of (w, b), where ``miss`` is by how much every row is wrong."""
    lasso = getattr(machine, "penalty", "l2") == "l1"
    size = np.abs(w).sum() + abs(b) if lasso else 0.5 * (w @ w + b * b)
    return size + price @ miss ** (2 if machine.loss.startswith("squared") else 1)


def converges(machine, X, y, weight):
    """Fit one of scikit-learn's; its dual solvers may end before they are there."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", ConvergenceWarning)
        machine.fit(X, y, sample_weight=weight)
    return not told


def compare(ours, theirs, value_of, *, converged):
    """The values of every problem, and the weights."""
    assert ours.certificate_.ok
    one, other = np.array(value_of(ours)), np.array(value_of(theirs))
    assert (one <= other * (1.0 + SLACK)).all()
    if not converged:
        return
    np.testing.assert_allclose(one, other, rtol=SLACK)
    if getattr(ours, "penalty", "l2") == "l2":
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=5e-3)
        np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=5e-3)


@each_weight
@pytest.mark.parametrize("class_weight", CLASS_WEIGHTS)
@pytest.mark.parametrize("which", CLASSIFIERS)
def test_classification(labelled, which, class_weight, weights):
    X, y = labelled
    weight, k, C = row_weights(weights, len(y)), len(np.unique(y)), 0.3
    given = CLASS_WEIGHTS[class_weight]
    factor = np.array(given[:k] if isinstance(given, list) else [1.0] * k)
    if given == "balanced":  # rows count as often as their weight says
        factor = weight.sum() / (k * np.bincount(y, weights=weight))
    named = dict(enumerate(factor.tolist()))  # older ones balance without the weights
    own = named if isinstance(given, list) else given
    ours = LinearSVC(**CLASSIFIERS[which], C=C, class_weight=own, **OURS)
    ours.fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(ours.class_weight_, factor)
    theirs = svm.LinearSVC(**CLASSIFIERS[which], C=C, class_weight=named, **THEIRS)
    converged = converges(theirs, X, y, weight)

    def values(machine):
        for number, w in enumerate(machine.coef_):
            b = machine.intercept_[number]
            mine = y == (1 if k == 2 else number)
            # Against the rest, LIBLINEAR weights the one class alone.
            share = factor[y] if k == 2 else np.where(mine, factor[number], 1.0)
            miss = np.maximum(0.0, 1.0 - np.where(mine, 1.0, -1.0) * (X @ w + b))
            yield value(machine, w, b, miss, C * weight * share)

    compare(ours, theirs, lambda machine: list(values(machine)), converged=converged)


@each_weight
@pytest.mark.parametrize("epsilon", [0.0, 0.2])
@pytest.mark.parametrize("which", REGRESSORS)
def test_regression(which, epsilon, weights):
    X, z = load_diabetes(return_X_y=True)
    X, z = 20.0 * X, (z - z.mean()) / z.std() + 0.3
    weight, C = row_weights(weights, len(z)), 0.5
    options = {**REGRESSORS[which], "C": C, "epsilon": epsilon}
    ours = LinearSVR(**options, **OURS).fit(X, z, sample_weight=weight)
    theirs = svm.LinearSVR(**options, **THEIRS)
    converged = converges(theirs, X, z, weight)

    def values(machine):
        w, b = machine.coef_, float(np.ravel(machine.intercept_)[0])
        miss = np.maximum(0.0, np.abs(z - X @ w - b) - epsilon)
        return [value(machine, w, b, miss, C * weight)]

    compare(ours, theirs, values, converged=converged)
