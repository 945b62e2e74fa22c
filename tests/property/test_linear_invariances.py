"""What must not change in a linear machine when its problem is put in other words."""

from typing import Any, NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from tests.property.test_invariances import steady

from maxmargin import LinearSVC, LinearSVR, certify

TOL = 1e-9
LOSSES = [
    {},
    {"loss": "hinge"},
    {"penalty": "l1"},
    {"intercept": "free"},
    {"intercept": "free", "loss": "hinge"},
    {"fit_intercept": False},
    {"multi_class": "crammer_singer"},
]


class Example(NamedTuple):
    X: np.ndarray
    y: np.ndarray
    options: dict[str, Any]


@st.composite
def examples(draw):
    n, d = draw(st.integers(4, 14)), draw(st.integers(1, 3))
    eighths = st.integers(-24, 24).map(lambda k: k / 8.0)
    X = draw(arrays(np.float64, (n, d), elements=eighths))
    y = draw(arrays(np.int64, n, elements=st.integers(0, 1)))
    y[0], y[-1] = 0, 1
    options = {
        **draw(st.sampled_from(LOSSES)),
        "C": draw(st.sampled_from([0.1, 1.0, 10.0])),
    }
    return Example(X, y, options)


def fit(X, y, weight=None, **options):
    machine = LinearSVC(tol=TOL, max_iter=-1, n_jobs=1, random_state=0, **options)
    machine.fit(X, y, sample_weight=weight)
    assert machine.certificate_.ok
    return machine


def same(one, other):
    """The same optimum: w is unique but for penalty l1, the optimal value always."""
    assert one.certificate_.primal == pytest.approx(
        other.certificate_.primal, rel=3 * TOL, abs=1e-12
    )


@given(examples(), st.randoms(use_true_random=False))
@steady
def test_order_of_rows(example, random):
    X, y, options = example
    order = np.array(random.sample(range(len(y)), len(y)))
    same(fit(X, y, **options), fit(X[order], y[order], **options))


@given(examples())
@steady
def test_flipped_labels(example):
    X, y, options = example
    one, other = fit(X, y, **options), fit(X, 1 - y, **options)
    same(one, other)
    if options.get("penalty") != "l1":
        np.testing.assert_allclose(one.coef_, -other.coef_, atol=1e-3)


@given(examples())
@steady
def test_names_of_labels(example):
    X, y, options = example
    names = np.array(["no", "yes"])
    one, other = fit(X, y, **options), fit(X, names[y], **options)
    np.testing.assert_array_equal(one.coef_, other.coef_)
    np.testing.assert_array_equal(names[one.predict(X)], other.predict(X))


@given(examples(), st.sampled_from([0.25, 4.0]))
@steady
def test_feature_scaling_goes_with_the_price(example, factor):
    """X·s, C/s² and a constant column of s have w/s; for ‖w‖₁ it is C/s."""
    X, y, options = example
    power = 1 if options.get("penalty") == "l1" else 2
    scaled = {**options, "C": options["C"] / factor**power, "intercept_scaling": factor}
    one, other = fit(X, y, **options), fit(factor * X, y, **scaled)
    assert one.certificate_.primal == pytest.approx(
        other.certificate_.primal * factor**power, rel=3 * TOL, abs=1e-12
    )
    if power == 2:
        np.testing.assert_allclose(one.coef_, factor * other.coef_, atol=2e-3)


@given(examples(), st.data())
@steady
def test_weight_is_repetition(example, data):
    X, y, options = example
    count = data.draw(arrays(np.int64, len(y), elements=st.integers(0, 3)))
    count[0], count[-1] = 1, 2
    again = np.repeat(np.arange(len(y)), count)
    same(fit(X, y, count.astype(float), **options), fit(X[again], y[again], **options))


@given(examples())
@steady
def test_sparse_and_single_precision_rows(example):
    X, y, options = example
    one = fit(X, y, **options)
    same(one, fit(sp.csr_matrix(X), y, **options))
    same(one, fit(X.astype(np.float32), y, **options))  # eighths are exact


@given(examples())
@steady
def test_the_referee_agrees(example):
    X, y, options = example
    machine = fit(X, y, **options)
    seen = certify(machine, X, y)
    assert seen.ok
    assert seen.primal == pytest.approx(machine.certificate_.primal, rel=1e-9, abs=1e-12)


@given(examples(), st.sampled_from([0.0, 0.25]), st.booleans(), st.booleans())
@steady
def test_a_regression_turned_around(example, epsilon, squared, free):
    """−z has −w; a column that is z itself leaves nothing to learn at any order."""
    X, y, options = example
    z = X[:, 0] + y
    loss = "squared_epsilon_insensitive" if squared else "epsilon_insensitive"
    kind = LinearSVR(
        loss=loss, epsilon=epsilon, C=options["C"], tol=TOL, max_iter=-1,
        intercept="free" if free else "regularised",
    )  # fmt: skip
    up = kind.fit(X, z)
    assert up.certificate_.ok
    assert certify(up, X, z).ok
    w, b, primal = up.coef_.copy(), np.copy(up.intercept_), up.certificate_.primal
    down = kind.fit(X, -z)
    assert down.certificate_.primal == pytest.approx(primal, rel=3 * TOL, abs=1e-12)
    np.testing.assert_allclose(down.coef_, -w, atol=2e-3)
    if not free:  # a free one may have an interval of optima
        np.testing.assert_allclose(down.intercept_, -b, atol=2e-3)
