"""Extrema found lane by lane are those of three lines of NumPy, at every length."""

import numpy as np
import pytest
from numba.core.errors import TypingError

from maxmargin._jit.lanes import LANES
from maxmargin.solvers.smo import pairs as _pairs

SIZES = [1, 2, LANES - 1, LANES, LANES + 1, 5 * LANES, 7 * LANES + 3, 1000]
DTYPES = [np.float32, np.float64]


def _space(dtype):
    return np.full(3 * LANES, 7.0, dtype)


def _problem(n, dtype, *, ties=False):
    rng = np.random.default_rng(n)
    F = rng.normal(size=n)
    if ties:
        F = np.round(F)
    up = np.where(rng.random(n) < 0.3, 1e30, 0.0)
    low = np.where(rng.random(n) < 0.3, -1e30, 0.0)
    rows = rng.random((2, n))
    return [np.ascontiguousarray(one, dtype) for one in (F, up, low, *rows)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", SIZES)
def test_sweep(n, dtype):
    F, up, low, row_i, row_j = _problem(n, dtype)
    expected = F + dtype(0.25) * (row_i - row_j)
    found = np.zeros(2, dtype)
    place = _pairs._sweep(F, 0.25, row_i, row_j, up, low, found, _space(dtype))
    np.testing.assert_allclose(F, expected, rtol=4 * np.finfo(dtype).eps, atol=1e-7)
    assert place == np.argmin(F + up)
    assert found[0] == (F + up).min()
    assert found[1] == (F + low).max()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", SIZES)
def test_of_equal_ones_the_first(n, dtype):
    F, up, low, row_i, _ = _problem(n, dtype, ties=True)
    found = np.zeros(2, dtype)
    place = _pairs._sweep(F, 0.0, row_i, row_i, up, low, found, _space(dtype))
    assert place == np.argmin(F + up)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", SIZES)
def test_partner(n, dtype):
    F, _, low, row, diagonal = _problem(n, dtype)
    diagonal += 2.0
    price, span, own, noise, unit = -1.0, 0.3, 2.5, 1e-7, 0.5
    place = _pairs._partner(
        F, price, span, row, diagonal, own, noise, unit, low, _space(dtype)
    )
    g = np.maximum((F + low - price) * span, 0.0)
    gain = g**2 / np.maximum((own + diagonal - 2.0 * row) * unit, noise)
    assert gain[place] >= gain.max() * (1.0 - 1e-5)


def test_nobody_may_move():
    n = 3 * LANES + 1
    F, masked = np.arange(n, dtype=np.float64), np.full(n, 1e30)
    found = np.zeros(2)
    _pairs._sweep(F, 0.0, F, F, masked, -masked, found, _space(np.float64))
    assert found[1] - found[0] < 0.0
    place = _pairs._partner(
        F, 0.0, 1.0, F, F, 1.0, 1e-7, 1.0, -masked, _space(np.float64)
    )
    assert place == 0


def test_scattered_numbers_are_refused():
    F = np.zeros(64)
    with pytest.raises(TypingError, match="contiguous"):
        _pairs._sweep(F, 0.0, F[::2], F[::2], F, F, np.zeros(2), _space(np.float64))
