"""What must not change when the same problem is put in other words."""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from maxmargin import SVC

# The same examples every time: a failure that comes and goes helps nobody.
steady = settings(
    derandomize=True,
    deadline=None,
    database=None,
    max_examples=40,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)

KERNELS = [
    {"kernel": "linear"},
    {"kernel": "rbf", "gamma": 0.5},
    {"kernel": "poly", "degree": 2, "gamma": 0.25, "coef0": 1.0},
]


class Example(NamedTuple):
    X: np.ndarray
    y: np.ndarray
    options: dict[str, Any]


@st.composite
def examples(draw, kernels=KERNELS, least=4):
    n = draw(st.integers(least, 12))
    d = draw(st.integers(1, 3))
    eighths = st.integers(-24, 24).map(lambda k: k / 8.0)
    X = draw(arrays(np.float64, (n, d), elements=eighths))
    y = draw(arrays(np.int64, n, elements=st.integers(0, 1)))
    y[0], y[-1] = 0, 1
    options = {
        **draw(st.sampled_from(kernels)),
        "C": draw(st.sampled_from([0.1, 1.0, 10.0])),
        "loss": draw(st.sampled_from(["hinge", "hinge", "squared_hinge"])),
        "fit_intercept": draw(st.sampled_from([True, True, False])),
    }
    return Example(X, y, options)


def weights(n, low=1):
    return arrays(np.float64, n, elements=st.integers(low, 3).map(float))


def fit(X, y, weight=None, **options):
    machine = SVC(tol=1e-8, n_jobs=1, **options).fit(X, y, sample_weight=weight)
    assert machine.certificate_.ok
    return machine


def same_objective(one, other, rel=1e-6):
    for name in ("primal", "dual"):
        a, b = getattr(one.certificate_, name), getattr(other.certificate_, name)
        assert abs(a - b) <= rel * max(abs(a), abs(b), 1e-12), (name, a, b)


def same_machine(one, other, X, X_other=None, sign=1.0):
    """w is unique; b is where no interval of them is optimal, else in that interval."""
    same_objective(one, other)
    b, c = float(one.intercept_[0]), sign * float(other.intercept_[0])
    left = one.decision_function(X) - b
    right = sign * other.decision_function(X if X_other is None else X_other) - c
    scale = 1.0 + np.abs(left).max()
    np.testing.assert_allclose(left, right, atol=1e-4 * scale)

    def allowed(machine, value):
        lo, hi = machine.certificate_.bias_interval
        return lo - 1e-4 * scale <= value <= hi + 1e-4 * scale

    assert allowed(other, sign * b) or allowed(one, c)


@steady
@given(examples(), st.data())
def test_a_weight_of_two_is_the_row_twice(example, data):
    X, y, options = example
    weight = data.draw(weights(len(y)))
    twice = np.repeat(np.arange(len(y)), weight.astype(int))
    weighted = fit(X, y, weight, **options)
    repeated = fit(X[twice], y[twice], **options)
    same_machine(weighted, repeated, X)


@steady
@given(examples(), st.data())
def test_a_weight_of_zero_is_no_row(example, data):
    X, y, options = example
    weight = data.draw(weights(len(y), low=-1))
    weight[[0, -1]] = 1.0
    there = weight > 0.0
    weighted = fit(X, y, weight, **options)
    without = fit(X[there], y[there], weight[there], **options)
    same_machine(weighted, without, X)
    assert there[weighted.support_].all()


@steady
@given(examples(), st.data(), st.sampled_from([(0.5, 3.0), (4.0, 1.0), (0.1, 0.1)]))
def test_class_weights_multiply_sample_weights(example, data, factors):
    X, y, options = example
    weight = data.draw(weights(len(y)))
    one = fit(X, y, weight, class_weight=dict(enumerate(factors)), **options)
    other = fit(X, y, weight * np.array(factors)[y], **options)
    same_machine(one, other, X)
    assert one.class_weight_.tolist() == list(factors)


@steady
@given(examples())
def test_other_labels_turn_the_decision_round(example):
    X, y, options = example
    same_machine(fit(X, y, **options), fit(X, 1 - y, **options), X, sign=-1.0)


@steady
@given(examples(), st.randoms(use_true_random=False))
def test_the_order_of_rows_and_features_does_not_matter(example, random):
    X, y, options = example
    rows, columns = list(range(len(y))), list(range(X.shape[1]))
    random.shuffle(rows)
    random.shuffle(columns)
    one = fit(X, y, **options)
    other = fit(X[np.ix_(rows, columns)], y[rows], **options)
    same_machine(one, other, X, X[:, columns])


@steady
@given(
    examples(kernels=KERNELS[1:]), st.sampled_from([2.0**-7, 0.3, 100.0, 2.0**30, 1e-8])
)
def test_features_times_c_with_gamma_over_c_squared(example, c):
    X, y, options = example
    scaled = options | {"gamma": options["gamma"] / c**2}
    same_machine(fit(X, y, **options), fit(X * c, y, **scaled), X, X * c)


@steady
@given(examples(kernels=KERNELS[:1]), st.sampled_from([2.0**-7, 0.3, 100.0, 1e-15, 1e15]))
def test_linear_features_times_c_with_price_over_c_squared(example, c):
    X, y, options = example
    one = fit(X, y, **options)
    other = fit(X * c, y, **(options | {"C": options["C"] / c**2}))
    np.testing.assert_allclose(
        one.certificate_.dual, other.certificate_.dual * c**2, rtol=1e-6, atol=1e-9
    )
    scale = 1.0 + np.abs(one.coef_).max()
    np.testing.assert_allclose(one.coef_, other.coef_ * c, atol=1e-4 * scale)


@steady
@given(examples(kernels=KERNELS[1:2]), st.sampled_from([1.0, -64.0, 1024.0]))
def test_translation_does_not_matter_to_the_gaussian_kernel(example, t):
    X, y, options = example
    same_machine(fit(X, y, **options), fit(X + t, y, **options), X, X + t)


@steady
@given(
    examples(kernels=KERNELS[:1]), st.lists(st.floats(1.5, 100.0), min_size=1, max_size=4)
)
def test_far_correct_points_change_nothing(example, margins):
    X, y, options = example
    one = fit(X, y, **options)
    w, b = one.coef_[0], float(one.intercept_[0])
    length = float(w @ w)
    assume(length > 1e-4)
    labels = np.arange(len(margins)) % 2
    signs = 2.0 * labels - 1.0
    # f(x) = ±m, on the right side and beyond the margin
    far = ((signs * np.array(margins) - b) / length)[:, None] * w
    other = fit(np.concatenate([X, far]), np.concatenate([y, labels]), **options)
    same_objective(one, other)
    np.testing.assert_allclose(one.coef_, other.coef_, atol=1e-4 * (1.0 + length**0.5))
    assert set(other.support_) <= set(range(len(y)))


@steady
@given(examples(kernels=KERNELS[:2]))
def test_threads_and_storage_do_not_matter(example):
    X, y, options = example
    one = fit(X, y, **options)
    same_machine(one, fit(sp.csr_matrix(X), y, **options), X)
    threads = SVC(tol=1e-8, n_jobs=2, **options).fit(X, y)
    assert threads.dual_coef_.tobytes() == one.dual_coef_.tobytes()
    assert threads.intercept_.tobytes() == one.intercept_.tobytes()
