"""What a linear machine says of itself, where rounding is all that there is."""

import numpy as np
import pytest
from sklearn import svm

from maxmargin import ConvergenceWarning, LinearSVC, certify
from maxmargin.problem import LinearModel


@pytest.mark.filterwarnings("ignore::maxmargin.ConvergenceWarning")
def test_rows_so_long_that_rounding_is_all_that_is_paid():
    rng = np.random.default_rng(0)
    X, y = 1e6 * rng.standard_normal((4, 300)), np.arange(4) % 2
    fitted = LinearSVC(loss="hinge", C=100).fit(X, y)
    assert fitted.certificate_.ok is certify(fitted, X, y).ok is False
    assert "stopped early" in fitted.certificate_.stop


def test_the_user_is_told():
    rng = np.random.default_rng(0)
    X, y = 1e6 * rng.standard_normal((4, 300)), np.arange(4) % 2
    with pytest.warns(ConvergenceWarning):
        LinearSVC(loss="hinge", C=100).fit(X, y)


def test_outputs_are_made_anew_only_where_next_to_nothing_is_paid():
    X, y = np.array([[1.0], [-1.0]]), np.array([1, 0])
    problem = LinearSVC(loss="hinge", fit_intercept=False).problem(X, y)
    drifted = np.array([7.0, 7.0])

    def seen(w):
        model = LinearModel(np.array([w]), 0.0, np.zeros(2), drifted, np.array([w]))
        return problem._afresh(model).outputs

    np.testing.assert_array_equal(seen(1.0), drifted)  # something is paid: 8
    drifted = np.array([7.0, -7.0])
    np.testing.assert_array_equal(seen(1e-9), [1e-9, -1e-9])


def test_balanced_classes_of_weighted_rows_are_scikit_learns_own():
    """Which since 1.9 count the weights of rows, and tell nobody."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 4))
    y = X[:, 0] + rng.standard_normal(200) > 0.7
    weight = np.where(y, 5.0, 1.0)
    peer = svm.LinearSVC(class_weight="balanced", dual=False, tol=1e-10)
    peer.fit(X, y, sample_weight=weight)
    verdict = certify(peer, X, y, sample_weight=weight)
    assert verdict.relative_gap < 1e-6
