"""Labels in order, and codes of them: counted where they are whole numbers."""

from __future__ import annotations

import numpy as np
import pytest

from maxmargin.validation.labels import _distinct

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    "y",
    [
        RNG.integers(-3, 4, 100),
        RNG.integers(0, 3, 50).astype(np.uint8),
        RNG.integers(0, 2, 50).astype(bool),
        RNG.integers(-1, 2, 50).astype(np.float64),
        RNG.integers(0, 9, 50).astype(np.float32),
        np.array([10**15, -(10**15), 7]),
        np.array([1e300, 0.0, 2.0]),
        np.array([2**63 + 5, 1], np.uint64),
        np.array([-128, 127], np.int8),
        np.array([0.5, 0.25, 0.5]),
        np.array(["b", "a", "b"]),
        np.array([5, 5, 5]),
        np.array([0, 5000, 3]),
    ],
    ids=lambda y: f"{y.dtype}-{y[0]}",
)
def test_as_numpy_finds_them(y):
    classes, codes = _distinct(y)
    expected, where = np.unique(y, return_inverse=True)
    assert classes.dtype == expected.dtype
    assert codes.dtype == np.intp
    assert np.array_equal(classes, expected)
    assert np.array_equal(codes, where)
