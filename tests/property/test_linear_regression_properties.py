"""What must not change in a linear regression when its problem is put in other words.

Each test solves a problem twice, in two wordings, and values the second answer, worded
back, by the objective of the first: w is unique there, the optimal value always.
"""

from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from tests.property.test_invariances import steady

from maxmargin import LinearSVR

TOL = 1e-8
LOSSES = ("epsilon_insensitive", "squared_epsilon_insensitive")
INTERCEPTS = {
    "none": {"fit_intercept": False},
    "regularised": {"intercept": "regularised"},
    "free": {"intercept": "free"},
}


class Example(NamedTuple):
    X: np.ndarray
    z: np.ndarray
    intercept: str
    options: dict[str, Any]

    def fit(self, weight=None):
        options = {**INTERCEPTS[self.intercept], **self.options}
        machine = LinearSVR(**options, tol=TOL, max_iter=-1, n_jobs=1, random_state=0)
        machine.fit(self.X, self.z, sample_weight=weight)
        assert machine.certificate_.ok
        return machine

    def value(self, w, b, weight=1.0):
        """The objective, from its definition."""
        miss = np.abs(self.z - self.X @ w - b) - self.options["epsilon"]
        power = 2 if self.options["loss"].startswith("squared") else 1
        counted = b * b if self.intercept == "regularised" else 0.0
        loss = (weight * np.maximum(0.0, miss) ** power).sum()
        return 0.5 * (w @ w + counted) + self.options["C"] * loss


@st.composite
def examples(draw, intercepts=("regularised", "free")):
    n, d = draw(st.integers(4, 14)), draw(st.integers(1, 3))
    eighths = st.integers(-24, 24).map(lambda k: k / 8.0)
    X = draw(arrays(np.float64, (n, d), elements=eighths))
    z = draw(arrays(np.float64, n, elements=eighths))
    z[0], z[-1] = -1.0, 1.0  # in no tube together: the optimum is not 0
    options = {
        "loss": draw(st.sampled_from(LOSSES)),
        "epsilon": draw(st.sampled_from([0.0, 0.25])),
        "C": draw(st.sampled_from([0.1, 1.0, 10.0])),
    }
    return Example(X, z, draw(st.sampled_from(intercepts)), options)


def weights_of(machine):
    return machine.coef_, float(np.ravel(machine.intercept_)[0])


def is_optimum(example, one, w, b, weight=1.0):
    """(w, b) is as good as what ``one`` found, and its w the same."""
    best = example.value(*weights_of(one), weight)
    assert best == pytest.approx(one.certificate_.primal, rel=1e-9)
    assert example.value(w, b, weight) == pytest.approx(best, rel=2 * TOL)
    # ½‖w − w*‖² is at most what w misses the optimum by, on both sides.
    np.testing.assert_allclose(w, one.coef_, atol=3.0 * np.sqrt(TOL * best))


@given(examples(), st.data())
@steady
def test_weight_is_repetition(example, data):
    n = len(example.z)
    count = data.draw(arrays(np.int64, n, elements=st.integers(0, 3)))
    count[0], count[-1] = 1, 2
    again = np.repeat(np.arange(n), count)
    repeated = example._replace(X=example.X[again], z=example.z[again]).fit()
    weighted = example.fit(count.astype(float))
    is_optimum(example, weighted, *weights_of(repeated), weight=count)


@given(examples())
@steady
def test_a_weight_for_all_is_a_price(example):
    n = len(example.z)
    dear = {**example.options, "C": 2.0 * example.options["C"]}
    w, b = weights_of(example._replace(options=dear).fit())
    is_optimum(example, example.fit(np.full(n, 2.0)), w, b, weight=2.0)


@given(examples(), st.randoms(use_true_random=False))
@steady
def test_order_of_rows(example, random):
    order = np.array(random.sample(range(len(example.z)), len(example.z)))
    other = example._replace(X=example.X[order], z=example.z[order]).fit()
    is_optimum(example, example.fit(), *weights_of(other))


@given(examples(intercepts=("none", "free")), st.sampled_from([0.25, 4.0]))
@steady
def test_feature_scaling_goes_with_the_price(example, factor):
    """X·s and C/s² have w/s, and the same intercept unless its length is counted."""
    options = {**example.options, "C": example.options["C"] / factor**2}
    scaled = example._replace(X=factor * example.X, options=options)
    w, b = weights_of(scaled.fit())
    is_optimum(example, example.fit(), factor * w, b)


@given(examples(intercepts=("free",)), st.sampled_from([-3.5, 0.125, 64.0]))
@steady
def test_an_offset_of_all_targets_is_the_free_intercepts(example, offset):
    w, b = weights_of(example._replace(z=example.z + offset).fit())
    is_optimum(example, example.fit(), w, b - offset)


@given(examples(intercepts=("none", "regularised", "free")))
@steady
def test_negated_targets(example):
    w, b = weights_of(example._replace(z=-example.z).fit())
    is_optimum(example, example.fit(), -w, -b)


# --- intercepts, where there is one optimum and no interval of them -------------------


def noisy():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((60, 4))
    return X, X @ [1.0, -2.0, 0.5, 0.0] + 0.5 * rng.standard_normal(60)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("offset", [-7.5, 40.0])
def test_a_free_intercept_moves_by_the_offset(loss, offset):
    X, z = noisy()
    kind = {"intercept": "free", "loss": loss, "epsilon": 0.1, "tol": TOL}
    one, other = (LinearSVR(**kind).fit(X, given) for given in (z, z + offset))
    np.testing.assert_allclose(other.coef_, one.coef_, atol=2e-3)
    moved = other.intercept_[0] - one.intercept_[0]
    assert moved == pytest.approx(offset, abs=1e-2)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", ["regularised", "free"])
def test_negated_targets_have_the_negated_intercept(loss, intercept):
    X, z = noisy()
    kind = {"intercept": intercept, "loss": loss, "epsilon": 0.1, "tol": TOL}
    one, other = (LinearSVR(**kind).fit(X, given) for given in (z + 1.0, -z - 1.0))
    np.testing.assert_allclose(other.coef_, -one.coef_, atol=2e-3)
    np.testing.assert_allclose(other.intercept_, -one.intercept_, atol=1e-2)
    assert abs(one.intercept_[0]) > 0.5  # else this tests nothing
