"""Probabilities on real data, against scikit-learn's own way to get them."""

import numpy as np
import pytest
from benchmarks.calibration import SETS, measure
from sklearn.metrics import brier_score_loss
from tests import data

from maxmargin import SVC

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", SETS)
def test_no_worse_than_calibrated_classifier_cv(name):
    """Brier score and reliability; a few per mille are the luck of the folds."""
    ours, theirs = measure(name, seeds=2)
    assert (ours["machine"], theirs["machine"]) == ("maxmargin", "scikit-learn")
    assert ours["brier"] <= 1.005 * theirs["brier"]
    assert ours["reliability"] <= theirs["reliability"] + 0.002
    assert ours["accuracy"] >= theirs["accuracy"] - 0.002


def test_isotonic_is_calibrated_too():
    split = data.svmguide1()
    sigmoid, isotonic = (
        SVC(C=2.0, gamma=2.0, probability=True, calibration=kind, random_state=0)
        .fit(split.X, split.y)
        .predict_proba(split.X_test)[:, 1]
        for kind in ("sigmoid", "isotonic")
    )
    truth = split.y_test == split.y_test.max()
    losses = [brier_score_loss(truth, p) for p in (sigmoid, isotonic)]
    assert max(losses) < 0.025
    assert abs(losses[0] - losses[1]) < 0.002
    assert np.corrcoef(sigmoid, isotonic)[0, 1] > 0.99
