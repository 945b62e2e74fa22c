"""Probabilities from scores: closed forms, direct minimisation, scikit-learn."""

import pickle
import warnings
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.isotonic import IsotonicRegression

from maxmargin.errors import InputError, InputTypeError
from maxmargin.probability import (
    Isotonic,
    Sigmoid,
    couple,
    fit_isotonic,
    fit_sigmoid,
    normalise,
)

FITS = (fit_sigmoid, fit_isotonic)


def noisy(n=200, seed=0, decimals=None):
    """Scores that overlap between the classes, the truths, and whole weights."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=n) * 1.5
    positive = rng.random(n) < expit(1.3 * scores - 0.4)
    if decimals is not None:
        scores = scores.round(decimals)
    return scores, positive, rng.integers(0, 4, n)


def targets(positive, weight):
    n_positive, n_negative = weight[positive].sum(), weight[~positive].sum()
    return np.where(positive, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))


class ScoresAreGiven(ClassifierMixin, BaseEstimator):
    """A fitted classifier whose decision function is X itself."""

    def __init__(self, n_classes=2):
        self.n_classes = n_classes

    def fit(self, X, y):
        return self

    @property
    def classes_(self):
        return np.arange(self.n_classes)

    def __sklearn_is_fitted__(self):
        return True

    def decision_function(self, X):
        return X[:, 0] if self.n_classes == 2 else X

    def predict(self, X):
        scores = self.decision_function(X)
        return scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0.0).astype(int)


def calibrated(X, y, weight, method, n_classes=2):
    frozen = FrozenEstimator(ScoresAreGiven(n_classes))
    with warnings.catch_warnings():
        # What is frozen takes no weights, which is the point here.
        warnings.filterwarnings("ignore", message="Since FrozenEstimator does not appear")
        calibrator = CalibratedClassifierCV(frozen, method=method)
        return calibrator.fit(X, y, sample_weight=weight)


# --- Platt's sigmoid ----------------------------------------------------------------


@pytest.mark.parametrize(("n_positive", "n_negative"), [(1, 1), (3, 40), (1000, 7)])
def test_separated_scores_meet_their_targets(n_positive, n_negative):
    # Two scores, one for each class: z = log(1/t − 1) at both is two equations.
    scores = np.r_[np.full(n_positive, 1.0), np.full(n_negative, -1.0)]
    A, B = fit_sigmoid(scores, scores > 0.0)
    up, down = np.log(n_positive + 1.0), np.log(n_negative + 1.0)
    assert_allclose([A, B], [-(up + down) / 2, (down - up) / 2], rtol=1e-12, atol=1e-13)


def test_two_scores_meet_their_mean_targets():
    # At each score p is the weighted mean of the targets of its rows.
    scores = np.array([2.0, 2.0, 5.0, 5.0])
    positive = np.array([True, False, True, False])
    weight = np.array([3.0, 5.0, 8.0, 2.0])
    high, low = 12.0 / 13.0, 1.0 / 9.0
    expected = [(3 * high + 5 * low) / 8, (8 * high + 2 * low) / 10]
    assert_allclose(
        fit_sigmoid(scores, positive, weight)([2.0, 5.0]), expected, rtol=1e-13
    )


def test_the_mirror_image_has_the_opposite_slope():
    scores, positive, _ = noisy()
    A, B = fit_sigmoid(scores, positive)
    assert A < 0.0
    assert_allclose(fit_sigmoid(-scores, positive), [-A, B], rtol=1e-12)
    assert_allclose(fit_sigmoid(-scores, ~positive), [A, -B], rtol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_against_direct_minimisation(seed):
    scores, positive, weight = noisy(60, seed)
    t = targets(positive, weight)

    def loss(ab):
        z = ab[0] * scores + ab[1]
        return weight @ (np.logaddexp(0.0, z) - (1.0 - t) * z)

    ours = fit_sigmoid(scores, positive, weight)
    theirs = minimize(loss, [0.0, 0.0], method="BFGS", tol=1e-7)
    assert_allclose(ours, theirs.x, rtol=1e-5, atol=1e-6)
    assert loss(ours) <= theirs.fun * (1 + 1e-14)


@given(
    st.lists(
        st.tuples(
            st.integers(-40, 40), st.booleans(), st.sampled_from([0.1, 0.5, 1.0, 100.0])
        ),
        min_size=2,
        max_size=30,
    ),
    st.integers(-290, 290),
)
@settings(deadline=None, max_examples=300)
def test_the_derivatives_vanish(rows, power):
    f = np.array([row[0] for row in rows]) / 8.0
    positive = np.array([row[1] for row in rows])
    weight = np.array([row[2] for row in rows])
    p = fit_sigmoid(f * 10.0**power, positive, weight)(f * 10.0**power)
    rest = weight * (targets(positive, weight) - p)
    assert abs(rest.sum()) <= 1e-11 * weight.sum()
    assert abs(rest @ f) <= 1e-10 * weight.sum()


@pytest.mark.parametrize("scale", [1e-300, 1e-8, 1e8, 1e300, 1.7e308])
def test_units_of_scores_do_not_matter(scale):
    scores, positive, weight = noisy()
    scores /= np.abs(scores).max()
    expected = fit_sigmoid(scores, positive, weight)(scores)
    sigmoid = fit_sigmoid(scores * scale, positive, weight)
    assert_allclose(sigmoid(scores * scale), expected, rtol=1e-10)


def test_a_shift_of_scores_moves_b_alone():
    scores, positive, _ = noisy()
    A, B = fit_sigmoid(scores, positive)
    assert_allclose(fit_sigmoid(scores + 1e6, positive), [A, B - 1e6 * A], rtol=1e-9)


def test_one_huge_score_among_small_ones():
    scores, positive, _ = noisy()
    scores[np.argmax(positive)] = 1e300
    p = fit_sigmoid(scores, positive)(scores)
    t = targets(positive, np.ones(200))
    # The others all score 0 beside it: their mean target, and its own.
    assert p[np.argmax(positive)] == pytest.approx(t.max(), rel=1e-10)
    assert_allclose(np.delete(p, np.argmax(positive)), p[-1], rtol=1e-12)
    assert p.mean() == pytest.approx(t.mean(), rel=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_heavy_tails_and_weights_of_many_sizes(seed):
    rng = np.random.default_rng(seed)
    scores = rng.standard_cauchy(100) ** 3
    scores[0] = 10.0 ** rng.uniform(0, 300)
    positive = (scores > np.median(scores)) ^ (rng.random(100) < 0.1)
    weight = 10.0 ** rng.uniform(-8, 15, 100)
    rest = weight * (
        targets(positive, weight) - fit_sigmoid(scores, positive, weight)(scores)
    )
    assert abs(rest.sum()) <= 1e-8 * weight.sum()
    assert abs(rest @ (scores / np.abs(scores).max())) <= 1e-8 * weight.sum()


@pytest.mark.parametrize("score", [0.0, 0.3, -7.0, 1e300, 5e-324])
def test_equal_scores_give_a_constant(score):
    positive = np.arange(5) < 2
    sigmoid = fit_sigmoid(np.full(5, score), positive)
    assert sigmoid.A == 0.0
    assert_allclose(sigmoid([-1e9, 0.0, np.inf]), targets(positive, np.ones(5)).mean())


def test_scores_equal_up_to_rounding_are_equal():
    scores = np.array([0.3, 0.1 + 0.2, 0.3, 0.1 + 0.2])
    assert fit_sigmoid(scores, [True, False, False, True]).A == 0.0


@pytest.mark.parametrize("positive", [True, False])
def test_one_class_gives_its_target(positive):
    sigmoid = fit_sigmoid([1.0, 2.0, 4.0], np.full(3, positive))
    assert sigmoid.A == 0.0
    assert_allclose(sigmoid([0.0, 9.0]), 0.8 if positive else 0.2)


def test_the_sigmoid_takes_any_size_of_argument():
    sigmoid = Sigmoid(-2.0, 0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        p = sigmoid([-np.inf, -1e308, -400.0, 0.25, 400.0, 1e308, np.inf])
    assert_allclose(p, [0.0, 0.0, np.exp(-800.5), 0.5, 1.0, 1.0, 1.0], rtol=1e-12)
    assert sigmoid(np.zeros((2, 3))).shape == (2, 3)


def test_small_probabilities_keep_their_digits():
    assert_allclose(Sigmoid(1.0, 0.0)([50.0, 700.0]), np.exp([-50.0, -700.0]), rtol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_sigmoid_agrees_with_scikit_learn(weighted):
    scores, positive, weight = noisy()
    weight = weight.astype(float) if weighted else None
    theirs = calibrated(scores[:, None], positive.astype(int), weight, "sigmoid")
    grid = np.linspace(-9.0, 9.0, 50)
    ours = fit_sigmoid(scores, positive, weight)(grid)
    # Its L-BFGS stops at a gradient of 1e-6.
    assert_allclose(ours, theirs.predict_proba(grid[:, None])[:, 1], atol=1e-6)


# --- isotonic -----------------------------------------------------------------------


@pytest.mark.parametrize("decimals", [None, 1, 0])
@pytest.mark.parametrize("weighted", [False, True])
def test_isotonic_agrees_with_scikit_learn(decimals, weighted):
    scores, positive, weight = noisy(400, 1, decimals)
    weight = weight.astype(float) if weighted else None
    grid = np.linspace(-9.0, 9.0, 1001)
    ours = fit_isotonic(scores, positive, weight)(grid)
    regression = IsotonicRegression(out_of_bounds="clip")
    regression.fit(scores, positive.astype(float), sample_weight=weight)
    assert_allclose(ours, regression.predict(grid), atol=1e-12)
    theirs = calibrated(scores[:, None], positive.astype(int), weight, "isotonic")
    assert_allclose(ours, theirs.predict_proba(grid[:, None])[:, 1], atol=1e-12)


def test_isotonic_by_hand():
    # Ties first: 2 is one point of mean 2/3 and weight 3; then 2/3 > 0 pools with 3.
    scores = np.array([1.0, 2.0, 2.0, 3.0, 5.0])
    positive = np.array([False, True, False, False, True])
    x, y = fit_isotonic(scores, positive, [1.0, 2.0, 1.0, 1.0, 1.0])
    assert_array_equal(x, [1.0, 2.0, 3.0, 5.0])
    assert_allclose(y, [0.0, 0.5, 0.5, 1.0])
    assert_allclose(Isotonic(x, y)([-9.0, 1.5, 2.7, 4.0, 9.0]), [0, 0.25, 0.5, 0.75, 1])


def test_isotonic_keeps_only_the_ends_of_steps():
    scores = np.arange(1000.0)
    assert_array_equal(fit_isotonic(scores, scores >= 400)[0], [0.0, 399.0, 400.0, 999.0])


@pytest.mark.parametrize("positive", [True, False])
def test_isotonic_of_one_class_or_one_score_is_constant(positive):
    ours = fit_isotonic([1.0, 2.0, 4.0], np.full(3, positive))
    assert_array_equal(ours([0.0, 3.0, np.inf]), float(positive))
    ours = fit_isotonic([3.0, 3.0, 3.0, 3.0], [True, False, False, False])
    assert_array_equal(ours([[-np.inf, 3.0], [4.0, 1e300]]), 0.25)


@pytest.mark.parametrize(
    "scores",
    [
        [-1.7e308, -1.7e308, 0.0, 1.7e308],
        [0.0, 5e-324, 1e-323, 2e-323],
        [0.0, 1e-300, 2e-300, 1e300],
    ],
)
def test_isotonic_of_scores_at_the_ends_of_float64(scores):
    ours = fit_isotonic(scores, [False, True, False, True])
    at = np.sort(np.r_[scores, np.linspace(scores[0] / 2, scores[-1] / 2, 99)])
    p = ours(at)
    assert_array_equal(ours(ours.scores), ours.values)
    assert (np.diff(p) >= 0.0).all()
    assert 0.0 <= p[0] <= p[-1] <= 1.0


@given(st.integers(0, 10**6), st.integers(1, 3))
@settings(deadline=None, max_examples=50)
def test_isotonic_never_decreases(seed, decimals):
    scores, positive, weight = noisy(100, seed, decimals)
    ours = fit_isotonic(scores, positive, weight)
    assert (np.diff(ours.scores) > 0.0).all()
    assert (np.diff(ours.values) >= 0.0).all()
    near = np.r_[ours.scores, np.nextafter(ours.scores, 9), np.nextafter(ours.scores, -9)]
    grid = np.sort(np.r_[near, np.linspace(-6.0, 6.0, 1000)])
    assert (np.diff(ours(grid)) >= 0.0).all()


def test_a_hundred_thousand_rows_in_the_worst_order():
    # Every row violates every other: all are pooled into one step.
    scores = np.arange(100_000.0)
    ours = fit_isotonic(scores, scores < 50_000)
    assert_allclose(ours.values, 0.5)


# --- both ---------------------------------------------------------------------------


@pytest.mark.parametrize("fit", FITS)
@pytest.mark.parametrize("decimals", [None, 1])
def test_weights_mean_repetition(fit, decimals):
    scores, positive, weight = noisy(150, 3, decimals)
    weighted = fit(scores, positive, weight)
    repeated = fit(np.repeat(scores, weight), np.repeat(positive, weight))
    grid = np.linspace(-5.0, 5.0, 101)
    assert_allclose(weighted(grid), repeated(grid), rtol=1e-11, atol=1e-13)
    assert np.abs(weighted(grid) - fit(scores, positive)(grid)).max() > 1e-3


@pytest.mark.parametrize("fit", FITS)
def test_the_order_of_rows_does_not_matter(fit):
    scores, positive, weight = noisy(150, 4, 1)
    order = np.random.default_rng(0).permutation(150)
    one = fit(scores, positive, weight)
    other = fit(scores[order], positive[order], weight[order])
    assert_allclose(one(scores), other(scores), rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("fit", FITS)
def test_fits_are_pickled(fit):
    ours = fit(*noisy())
    again = pickle.loads(pickle.dumps(ours))
    assert type(again) is type(ours)
    assert_array_equal(again([-1.0, 0.1, 2.0]), ours([-1.0, 0.1, 2.0]))


@pytest.mark.parametrize("fit", FITS)
@pytest.mark.parametrize(
    ("scores", "positive", "weight", "said"),
    [
        ([0.0, np.nan], [True, False], None, r"score \[1\] is nan; it must be finite"),
        ([np.inf, 0.0], [True, False], None, r"score \[0\] is inf"),
        ([1.0, 2.0], [True, False], [1.0, -1.0], r"weight \[1\] is -1.0"),
        ([1.0, 2.0], [True, False], [np.nan, 1.0], r"weight \[0\] is nan"),
        ([1.0, 2.0], [True, False], [1e200, 1.0], r"weight \[0\] is 1e\+200"),
        ([1.0, 2.0], [True, False], [0.0, 0.0], "none of the 2 rows has a positive"),
        ([], np.array([], dtype=bool), None, "none of the 0 rows"),
        ([1.0, 2.0], [True], None, r"shapes \(2,\), \(1,\)"),
        ([[1.0, 2.0]], [[True, False]], None, "one-dimensional"),
        ([1.0, 2.0], [True, False], [1.0], r"and \(1,\)"),
    ],
)
def test_bad_samples_are_refused(fit, scores, positive, weight, said):
    with pytest.raises(InputError, match=said):
        fit(scores, positive, weight)


@pytest.mark.parametrize("fit", FITS)
def test_labels_are_not_taken_for_truths(fit):
    with pytest.raises(InputTypeError, match="must be boolean"):
        fit([1.0, 2.0], [-1, 1])


@pytest.mark.parametrize("fit", FITS)
def test_nan_has_no_probability(fit):
    with pytest.raises(InputError, match=r"score \[0, 1\] is nan"):
        fit([1.0, 2.0], [False, True])([[0.0, np.nan]])


# --- coupling -----------------------------------------------------------------------


def pairwise_of(p):
    """r of probabilities that are consistent."""
    pairs = combinations(range(p.shape[1]), 2)
    return np.column_stack([p[:, i] / (p[:, i] + p[:, j]) for i, j in pairs])


def random_pairwise(n, k, seed=0):
    """From mild to nearly certain, mostly inconsistent, with zeros and ones."""
    rng = np.random.default_rng(seed)
    r = expit(rng.normal(size=(n, k * (k - 1) // 2)) * rng.choice([1, 5, 30], (n, 1)))
    r[::7] = rng.integers(0, 2, r[::7].shape)
    return r


def tables(r, k):
    """Q of the paper, one row at a time."""
    for row in np.clip(r, 1e-7, 1.0 - 1e-7):
        won = np.zeros((k, k))
        for value, (i, j) in zip(row, combinations(range(k), 2), strict=True):
            won[i, j], won[j, i] = value, 1.0 - value
        Q = -won * won.T
        np.fill_diagonal(Q, (won**2).sum(axis=0))
        yield Q


@pytest.mark.parametrize("k", [2, 3, 5, 26])
def test_consistent_pairs_give_their_probabilities_back(k):
    p = np.random.default_rng(k).dirichlet(np.ones(k), 50)
    p = normalise(np.maximum(p, 1e-4))
    assert_allclose(couple(pairwise_of(p)), p, atol=1e-13)


@pytest.mark.parametrize("k", [3, 4, 10])
def test_coupling_meets_the_conditions_of_the_paper(k):
    r = random_pairwise(100, k)
    p = couple(r)
    for row, Q in zip(p, tables(r, k), strict=True):
        # Qp + b e = 0 with b = −pᵀQp.
        assert_allclose(Q @ row, row @ Q @ row, atol=1e-14)
    assert (p >= 0.0).all()
    assert_allclose(p.sum(axis=1), 1.0, rtol=1e-15)


@pytest.mark.parametrize("k", [3, 6])
def test_coupling_is_the_limit_of_the_iteration(k):
    r = random_pairwise(40, k)
    for row, Q in zip(couple(r), tables(r, k), strict=True):
        p = np.full(k, 1.0 / k)
        for _ in range(5000):
            for t in range(k):  # Wu, Lin and Weng, algorithm 2
                p[t] += (p @ Q @ p - Q[t] @ p) / Q[t, t]
                p /= p.sum()
            if np.abs(Q @ p - p @ Q @ p).max() < 1e-15:
                break
        assert_allclose(row, p, atol=1e-10)


def test_two_classes_need_no_coupling():
    assert_allclose(couple([[0.3], [0.0], [1.0]]), [[0.3, 0.7], [1e-7, 1], [1, 1e-7]])


def test_a_cycle_of_certain_victories_is_a_draw():
    assert_allclose(couple([[1.0, 0.0, 1.0]]), 1.0 / 3.0, rtol=1e-7)


def test_a_row_does_not_depend_on_its_company():
    r = random_pairwise(20_000, 6)  # more than one block
    p = couple(r)
    assert_array_equal(p[[0, 14_563, 19_999]], couple(r[[0, 14_563, 19_999]]))
    assert couple(np.empty((0, 3))).shape == (0, 3)


@pytest.mark.parametrize(
    ("pairwise", "said"),
    [
        ([[0.5, 0.5]], "pairwise has 2 columns"),
        (np.empty((3, 0)), "pairwise has 0 columns"),
        ([0.5, 0.5, 0.5], r"pairwise has 1 dimension"),
        ([[0.5, 0.5, np.nan]], r"entry of pairwise \[0, 2\] is nan"),
        ([[0.5, 1.5, 0.5]], r"\[0, 1\] is 1.5; it must be from 0 to 1"),
    ],
)
def test_bad_pairs_are_refused(pairwise, said):
    with pytest.raises(InputError, match=said):
        couple(pairwise)


def test_normalise():
    p = normalise([[0.2, 0.2], [0.0, 0.0], [0.0, 1e-300], [5e-324, 1.5e-323]])
    assert_allclose(p, [[0.5, 0.5], [0.5, 0.5], [0.0, 1.0], [0.25, 0.75]])
    assert normalise(np.empty((0, 4))).shape == (0, 4)
    with pytest.raises(InputError, match=r"\[0, 1\] is -0.1"):
        normalise([[0.2, -0.1]])
    with pytest.raises(InputError, match="no columns"):
        normalise(np.empty((3, 0)))


@pytest.mark.parametrize(
    ("method", "fit"), [("sigmoid", fit_sigmoid), ("isotonic", fit_isotonic)]
)
def test_one_vs_rest_agrees_with_scikit_learn(method, fit):
    rng = np.random.default_rng(5)
    y = rng.integers(0, 3, 300)
    X = rng.normal(size=(300, 3)) + 1.5 * np.eye(3)[y]
    theirs = calibrated(X, y, None, method, n_classes=3).predict_proba(X)
    ours = np.column_stack([fit(X[:, c], y == c)(X[:, c]) for c in range(3)])
    assert_allclose(normalise(ours), theirs, atol=1e-6 if method == "sigmoid" else 1e-12)
