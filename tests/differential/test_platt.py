"""A, B and probabilities against LIBSVM's.

LIBSVM fits its sigmoid to scores that it keeps to itself, of five folds cut by a shuffle.
They are known here in two ways:

- With five rows every fold is one row, however they are shuffled: the scores are those of
  leaving one out.
- The shuffle calls ``rand()`` of the C library, once a row, and the C library is in the
  same process: ``srand`` before training, and again before shuffling as LIBSVM does,
  gives its folds. LIBSVM then trains each of them once more, and tells the scores.

So the scores are LIBSVM's own, whatever our solvers do.
"""

import ctypes
import sys
from itertools import combinations

import numpy as np
import pytest
from libsvm.svmutil import svm_predict, svm_train
from numpy.testing import assert_allclose
from scipy.special import expit
from tests import data
from threadpoolctl import threadpool_limits

from maxmargin.probability import Sigmoid, couple, fit_sigmoid

C_LIBRARY = ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None)

# Name, options, and the weights of classes as LIBSVM's options.
BINARY = [
    ("heart_scale", "-c 1", {}),
    ("heart_scale", "-t 0 -c 0.1", {1: 3.0, -1: 0.5}),
    ("german.numer_scale", "-c 1", {}),
    ("diabetes_scale", "-s 1 -n 0.5", {}),
    ("ionosphere", "-c 10", {}),
]
MANY = ["iris", "wine_recognition", "glass"]


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    with threadpool_limits(1):  # LIBSVM's threads spin, to no use on so few rows
        yield


def load(name):
    """Rows with features in [−1, 1]."""
    try:
        X, y = data.pmlb(name)
    except data.DataMissing:
        X, y = data.libsvm(name)
        X = X.toarray()
    low, high = X.min(axis=0), X.max(axis=0)
    X = 2.0 * (X - low) / np.where(high > low, high - low, 1.0) - 1.0
    return np.ascontiguousarray(X, dtype=float), np.array(y, dtype=float)


def scores_of(model, X):
    """Decision values, (n, pairs), positive for the first of LIBSVM's labels."""
    return np.array(svm_predict([], X, model, "-q")[2])


def left_out(X, sign, folds, options):
    """Scores of rows by machines that have not seen them, positive for sign = 1."""
    scores = np.empty(len(sign))
    for fold in folds:
        rest = np.concatenate([other for other in folds if other is not fold])
        if len(fold):
            model = svm_train(sign[rest], X[rest], f"-q {options}")
            scores[fold] = scores_of(model, X[fold])[:, 0] * model.get_labels()[0]
    return scores


def shuffled_folds(n):
    """LIBSVM's five folds, from the state that ``rand`` is in."""
    order = np.arange(n)
    for i in range(n):
        j = i + C_LIBRARY.rand() % (n - i)
        order[i], order[j] = order[j], order[i]
    return [order[k * n // 5 : (k + 1) * n // 5] for k in range(5)]


def libsvm_fits(X, y, options, weights):
    """The model, and for every pair (scores, positive, A, B)."""
    C_LIBRARY.srand(7)
    priced = " ".join(f"-w{label} {weight}" for label, weight in weights.items())
    model = svm_train(y, X, f"-q -b 1 {options} {priced}")
    C_LIBRARY.srand(7)
    fits = []
    for pair, labels in enumerate(combinations(model.get_labels(), 2)):
        rows = np.concatenate([np.flatnonzero(y == label) for label in labels])
        sign = np.where(y[rows] == labels[0], 1.0, -1.0)
        # Inside LIBSVM the two classes are called 1 and −1.
        one, other = (weights.get(label, 1.0) for label in labels)
        priced = f"{options} -w1 {one} -w-1 {other}"
        scores = left_out(X[rows], sign, shuffled_folds(len(rows)), priced)
        fits.append((scores, sign > 0, model.probA[pair], model.probB[pair]))
    return model, fits


def derivatives(scores, positive, A, B):
    """Gradient and Hessian of Platt's loss at (A, B)."""
    n_positive, n_negative = positive.sum(), (~positive).sum()
    t = np.where(positive, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))
    p = expit(-(A * scores + B))
    design = np.column_stack([scores, np.ones(len(scores))])
    return design.T @ (t - p), design.T @ (design * (p * (1 - p))[:, None])


def check(scores, positive, A, B):
    """LIBSVM's A, B solve the problem as well as its rule asks, and ours solve it."""
    gradient, curvature = derivatives(scores, positive, A, B)
    # Its stopping rule: only the right scores pass.
    assert np.abs(gradient).max() < 1e-5
    ours = fit_sigmoid(scores, positive)
    # What the rule leaves open is one step of Newton, up to its square.
    step = np.linalg.solve(curvature, gradient)
    assert_allclose(ours, np.array([A, B]) - step, rtol=1e-8, atol=1e-8)
    return np.hypot(ours.A - A, ours.B - B) / np.hypot(A, B)


@pytest.mark.parametrize("seed", range(20))
def test_five_rows_are_left_out_one_by_one(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(5, 2))
    y = np.array([1.0, -1.0, 1.0, -1.0, 1.0])
    options = "-c 2 -g 0.5 -e 1e-10"
    model = svm_train(y, X, f"-q -b 1 {options}")
    scores = left_out(X, y, list(np.arange(5)[:, None]), options)
    assert check(scores, y > 0, model.probA[0], model.probB[0]) < 1e-4


@pytest.mark.parametrize(("name", "options", "weights"), BINARY)
def test_a_and_b_on_real_data(name, options, weights):
    X, y = load(name)
    _, [(scores, positive, A, B)] = libsvm_fits(X, y, options, weights)
    assert 0.02 < np.mean((scores > 0) != positive) < 0.5  # the classes overlap
    assert check(scores, positive, A, B) < 1e-6


@pytest.mark.parametrize("name", MANY)
def test_a_and_b_of_every_pair(name):
    _, fits = libsvm_fits(*load(name), "-c 10", {})
    for fit in fits:
        assert check(*fit) < 1e-5


def test_other_folds_have_other_scores():
    # Otherwise the tests above could not fail for want of the right shuffle.
    X, y = load("heart_scale")
    _, [(_, positive, A, B)] = libsvm_fits(X, y, "-c 1", {})
    C_LIBRARY.srand(8)
    sign = np.where(positive, 1.0, -1.0)
    rows = np.concatenate([np.flatnonzero(y == 1), np.flatnonzero(y == -1)])
    other = left_out(X[rows], sign, shuffled_folds(len(y)), "-c 1")
    assert np.abs(derivatives(other, positive, A, B)[0]).max() > 1e-2


# --- probabilities ------------------------------------------------------------------


def iterated(r, k, eps):
    """Wu, Lin and Weng's algorithm 2 with LIBSVM's stopping rule, for one row."""
    won = np.zeros((k, k))
    first, second = np.triu_indices(k, 1)
    won[first, second], won[second, first] = r, 1.0 - r
    Q = -won * won.T
    np.fill_diagonal(Q, (won**2).sum(axis=0))
    p = np.full(k, 1.0 / k)
    for _ in range(max(100, k)):
        if np.abs(Q @ p - p @ Q @ p).max() < eps:
            break
        for t in range(k):
            p[t] += (p @ Q @ p - Q[t] @ p) / Q[t, t]
            p /= p.sum()
    return p


def predicted(name):
    """LIBSVM's probabilities of its training rows, and r from its A and B."""
    X, y = load(name)
    model = svm_train(y, X, "-q -b 1 -c 10")
    decisions = scores_of(model, X)
    r = np.column_stack(
        [
            Sigmoid(model.probA[pair], model.probB[pair])(decisions[:, pair])
            for pair in range(decisions.shape[1])
        ]
    )
    return np.array(svm_predict([], X, model, "-q -b 1")[2]), r


@pytest.mark.parametrize("name", MANY)
def test_coupling_on_real_data(name):
    theirs, r = predicted(name)
    k = theirs.shape[1]
    ours = couple(r)
    clipped = np.clip(r, 1e-7, 1.0 - 1e-7)
    # LIBSVM's figures, digit by digit, from the same r by its loose rule …
    loose = [iterated(row, k, 0.005 / k) for row in clipped]
    assert_allclose(loose, theirs, atol=1e-12)
    # … and ours by a tight one.
    assert_allclose(ours, [iterated(row, k, 1e-14) for row in clipped], atol=1e-10)
    # The rule bounds a residual; what it leaves open of p is a few times that.
    assert np.abs(ours - theirs).max() < 4 * 0.005 / k


def test_two_classes_on_real_data():
    theirs, r = predicted("heart_scale")
    assert_allclose(couple(r), theirs, atol=1e-15)
