"""Losses against their definitions, at the ends of float64 too."""

import math

import numpy as np
import pytest

import maxmargin
from maxmargin import losses
from maxmargin.losses import LOSSES

Z = np.array([-3.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0])


def test_values():
    assert losses.zero_one(Z).tolist() == [1, 1, 1, 1, 0, 0, 0]
    assert losses.hinge(Z).tolist() == [4, 2, 1.5, 1, 0.5, 0, 0]
    assert losses.squared_hinge(Z).tolist() == [16, 4, 2.25, 1, 0.25, 0, 0]
    assert losses.perceptron(Z).tolist() == [3, 1, 0.5, 0, 0, 0, 0]
    assert losses.logistic(Z) == pytest.approx([math.log1p(math.exp(-z)) for z in Z])
    assert losses.exponential(Z) == pytest.approx([math.exp(-z) for z in Z])


def test_logistic_far_out():
    assert losses.logistic(-1e6) == 1e6
    assert losses.logistic(-800.0) == 800.0
    assert losses.logistic(40.0) == pytest.approx(math.exp(-40.0), rel=1e-14)
    assert losses.logistic(800.0) == 0.0


def test_beyond_float64_is_infinite():
    assert losses.exponential(-800.0) == math.inf
    assert losses.exponential(800.0) == 0.0
    assert losses.squared_hinge(-1e200) == math.inf


@pytest.mark.parametrize("name", LOSSES)
def test_every_loss(name):
    loss = LOSSES[name]
    assert loss.__name__ == name
    z = np.linspace(-5.0, 5.0, 101)
    values = loss(z)
    assert values.shape == z.shape
    assert values.dtype == np.float64
    assert (values >= 0.0).all()
    assert (np.diff(values) <= 0.0).all()  # a larger margin never costs more
    assert loss([[1, 2], [3, 4]]).shape == (2, 2)
    assert loss(math.inf) == 0.0
    assert math.isnan(loss(math.nan))
    given = z.copy()
    loss(given)
    assert (given == z).all()
    if name != "zero_one":
        middle = loss((z[1:] + z[:-1]) / 2)
        assert (middle <= (values[1:] + values[:-1]) / 2 + 1e-12).all()  # convex


@pytest.mark.parametrize("name", ["hinge", "squared_hinge", "exponential", "logistic"])
def test_surrogates_lie_above_the_errors(name):
    z = np.linspace(-4.0, 4.0, 81)
    scale = math.log(2.0) if name == "logistic" else 1.0
    assert (LOSSES[name](z) / scale >= losses.zero_one(z) - 1e-15).all()


def test_loaded_by_the_package():
    assert maxmargin.losses is losses
    ours = {name for name in LOSSES if name != "soft_hinge"}  # which a test adds
    assert {*ours, "LOSSES"} <= set(losses.__all__)
