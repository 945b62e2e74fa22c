"""Linear machines with nothing but their defaults on real data: they converge."""

import numpy as np
import pytest
from benchmarks.linear.datasets import load
from sklearn.svm import LinearSVC as ScikitLearnSVC

from maxmargin import LinearSVC, LinearSVR, certify

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("name", ["a9a", "w8a", "covtype", "20news"])
def test_classifiers_converge_by_default(name, loss):
    """The rows of issue 6, of which scikit-learn's hinges end in a warning."""
    X, y = load(name)  # where there are no data, the test is skipped here
    model = LinearSVC(loss=loss, random_state=0).fit(X, y)  # warnings are errors
    assert model.certificate_.ok
    assert model.certificate_.relative_gap <= 1e-4
    if name != "20news":  # whose referee takes as long as twenty fits
        assert certify(model, X, y).relative_gap <= 1e-4


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
@pytest.mark.parametrize("name", ["houses", "house_8L", "abalone"])
def test_regressions_converge_by_default(name, loss):
    X, y = load(name)
    model = LinearSVR(loss=loss, random_state=0).fit(X, y)
    assert certify(model, X, y).relative_gap <= 1e-4


def test_answers_are_those_of_scikit_learn():
    X, y = load("a9a")
    ours = LinearSVC(tol=1e-8).fit(X, y)
    theirs = ScikitLearnSVC(dual=False, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    assert (ours.predict(X) == theirs.predict(X)).mean() > 0.9999
