"""The vector instructions against exact arithmetic: one rounding a step, in order."""

from fractions import Fraction

import numpy as np
import pytest

from maxmargin._jit import njit
from maxmargin._jit.exponential import exp
from maxmargin._jit.simd import (
    LINE_ROWS,
    LINES,
    TILE_ROWS,
    dense_tile,
    fma,
    lines_tile,
    sparse_tile,
    vmax,
    vmin,
)

PRECISIONS = [np.float32, np.float64]


@njit
def run_dense(lanes, lane_start, panel, panel_start, d, out, out_start, stride):
    dense_tile(lanes, lane_start, panel, panel_start, d, out, out_start, stride)


@njit
def run_sparse(values, indices, shift, start, stop, panel, panel_start, out, out_start):
    sparse_tile(values, indices, shift, start, stop, panel, panel_start, out, out_start)


@njit
def run_lines(values, start, stride, coef, at, step, size, out):
    lines_tile(values, start, stride, coef, at, step, size, out)


@njit
def run_fma(a, b, c):
    return fma(a, b, c)


@njit
def smaller(a, b):
    return vmin(a, b)


@njit
def larger(a, b):
    return vmax(a, b)


@njit
def extremes(values):
    low, high = values[0], values[0]
    for k in range(values.size):
        low = vmin(low, values[k])
        high = vmax(high, values[k])
    return low, high


@njit
def exp_all(x, out):
    for k in range(x.size):
        out[k] = exp(x[k])


@njit
def exp_one(x):
    return exp(x)


def rounded(value: Fraction, dtype):
    """The nearest number of the precision, ties to even: what one rounding gives."""
    near = dtype(float(value))
    options = [
        near,
        np.nextafter(near, dtype(-np.inf)),
        np.nextafter(near, dtype(np.inf)),
    ]
    bits = np.int32 if dtype is np.float32 else np.int64
    return min(
        options,
        key=lambda x: (abs(Fraction(float(x)) - value), int(x.view(bits)) & 1),
    )


def chain(a, b, dtype):
    """Σ a_k·b_k as a chain of fused multiply-adds in the order of k."""
    total = dtype(0.0)
    for x, z in zip(a, b, strict=True):
        exact = Fraction(float(x)) * Fraction(float(z)) + Fraction(float(total))
        total = rounded(exact, dtype)
    return total


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("d", [0, 1, 7])
def test_dense_tile(dtype, d):
    rng = np.random.default_rng(d)
    width = 16 if dtype is np.float32 else 8
    A = rng.normal(size=(TILE_ROWS, d)).astype(dtype)
    B = rng.normal(size=(width, d)).astype(dtype)
    # Junk before and after, to see that the offsets are kept.
    lanes = np.concatenate([np.full(5, np.nan), A.T.ravel(), np.full(3, np.nan)])
    panel = np.concatenate([np.full(11, np.nan), B.T.ravel(), np.full(3, np.nan)])
    stride = width + 3
    out = np.full(2 + TILE_ROWS * stride, -7.0, dtype)
    run_dense(lanes.astype(dtype), 5, panel.astype(dtype), 11, d, out, 2, stride)
    expected = np.array([[chain(a, b, dtype) for b in B] for a in A], dtype)
    table = out[2:].reshape(TILE_ROWS, stride)
    assert table[:, :width].tobytes() == expected.tobytes()
    np.testing.assert_array_equal(table[:, width:], -7.0)
    np.testing.assert_array_equal(out[:2], -7.0)


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_sparse_tile(dtype, kind):
    rng = np.random.default_rng(2)
    width, d = (64 if dtype is np.float32 else 32), 9
    B = rng.normal(size=(d, width)).astype(dtype)
    panel = np.concatenate([np.full(3, np.nan, dtype), B.ravel()])
    indices = np.array([99, 99, 0, 3, 4, 8, 99], kind)
    values = np.array([99.0, 0.5, -1.25, 3.1, 1e-3], dtype)
    out = np.full(width + 4, -7.0, dtype)
    # values[1:5] belong to indices[2:6]
    run_sparse(values, indices, 1, 1, 5, panel, 3, out, 2)
    expected = [chain(values[1:], B[indices[2:6], c], dtype) for c in range(width)]
    assert out[2:-2].tobytes() == np.array(expected, dtype).tobytes()
    np.testing.assert_array_equal(out[[0, 1, -2, -1]], -7.0)


@pytest.mark.parametrize("dtype", PRECISIONS)
def test_empty_sparse_row_is_zero(dtype):
    width = 64 if dtype is np.float32 else 32
    out = np.full(width, -7.0, dtype)
    none = np.empty(0, np.int32)
    run_sparse(np.empty(0, dtype), none, 0, 0, 0, np.ones(width, dtype), 0, out, 0)
    np.testing.assert_array_equal(out, 0.0)


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("size", [0, 1, 4, 11])
def test_lines_tile(dtype, size):
    rng = np.random.default_rng(size)
    values = rng.normal(size=(LINE_ROWS, size + 5)).astype(dtype)  # any number follows
    coef = np.zeros((LINES, -(-size // 4) * 4))
    coef[:, :size] = rng.normal(size=(LINES, size))
    out = np.full(LINES * LINE_ROWS, -7.0)
    stored, step = np.concatenate([[np.nan] * 2, coef.ravel()]), coef.shape[1]
    flat = np.concatenate([[np.nan], values.ravel()]).astype(dtype)
    run_lines(flat, 1, size + 5, stored, 2, step, size, out)
    for r in range(LINE_ROWS):
        for m in range(LINES):
            x, z = values[r, :size].astype(np.float64), coef[m, :size]
            parts = [chain(x[c::4], z[c::4], np.float64) for c in range(4)]
            expected = (parts[0] + parts[1]) + (parts[2] + parts[3])
            assert out[r * LINES + m] == expected


@pytest.mark.parametrize("dtype", PRECISIONS)
def test_fma_rounds_once(dtype):
    eps = np.finfo(dtype).eps
    a, b, c = dtype(1 + eps), dtype(1 - eps), dtype(-1.0)
    assert run_fma(a, b, c) == -(eps**2)
    assert a * b + c != -(eps**2)  # rounding twice loses it


@pytest.mark.parametrize("dtype", PRECISIONS)
def test_vmin_vmax(dtype):
    numbers = [-np.inf, -3.5, -0.0, 1e-30, 2.0, np.inf]
    for a in map(dtype, numbers):
        for b in map(dtype, numbers):
            assert smaller(a, b) == min(a, b)
            assert larger(a, b) == max(a, b)
            assert type(smaller(a, b)) is float  # Numba hands back Python's float


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("n", [1, 7, 8, 300])
def test_vmin_vmax_reduce(dtype, n):
    values = np.random.default_rng(n).normal(size=n).astype(dtype)
    assert extremes(values) == (values.min(), values.max())
    values[n // 2] = np.inf
    assert extremes(values)[1] == np.inf


@pytest.mark.parametrize(
    ("dtype", "low", "high", "ulps"),
    [(np.float32, -87.0, 88.0, 1.5), (np.float64, -708.0, 709.0, 1.5)],
)
def test_exp_is_accurate(dtype, low, high, ulps):
    rng = np.random.default_rng(0)
    x = np.concatenate(
        [rng.uniform(low, high, 20_000), rng.uniform(-1, 1, 20_000), [0.0, low, high]]
    ).astype(dtype)
    x = np.clip(x, low, high)
    out = np.empty_like(x)
    exp_all(x, out)
    exact = np.exp(x.astype(np.longdouble))
    error = np.abs(out.astype(np.longdouble) - exact)
    assert float((error / np.spacing(exact.astype(dtype))).max()) <= ulps
    assert exp_one(dtype(0.0)) == 1.0
    assert exp_one(dtype(-0.0)) == 1.0


@pytest.mark.parametrize("dtype", PRECISIONS)
def test_exp_has_the_same_bits_alone_and_in_a_loop(dtype):
    x = np.random.default_rng(1).uniform(-30, 3, 101).astype(dtype)
    out = np.empty_like(x)
    exp_all(x, out)
    alone = np.array([exp_one(one) for one in x], dtype)
    assert out.tobytes() == alone.tobytes()


@pytest.mark.parametrize("dtype", PRECISIONS)
def test_exp_beyond_its_range(dtype):
    tiny = np.finfo(dtype).tiny
    assert 0.0 <= exp_one(dtype(-np.inf)) < 10 * tiny
    assert 0.0 <= exp_one(dtype(-1e30)) < 10 * tiny
    assert np.isfinite(exp_one(dtype(np.inf)))
    assert exp_one(dtype(np.inf)) > np.finfo(dtype).max / 10


def test_exp_outside_compiled_code_is_numpys():
    assert exp(1.0) == np.exp(1.0)
