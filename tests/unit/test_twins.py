"""[[K, K], [K, K]], asked for in parts."""

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin.kernels.dot_products import Polynomial, Rbf
from maxmargin.kernels.factory import training_gram
from maxmargin.kernels.gram.table import TableGram
from maxmargin.kernels.gram.twins import TwinGram
from maxmargin.parallel import Workers

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
GRAMS = {
    "dense": lambda: training_gram(Rbf(0.3), X, workers=Workers(1)),
    "sparse": lambda: training_gram(Rbf(0.3), sp.csr_matrix(X), workers=Workers(1)),
    "poly": lambda: training_gram(Polynomial(2, 0.5, 1.0), X, workers=Workers(2)),
    "table": lambda: TableGram(X @ X.T),
}
every_gram = pytest.mark.parametrize("name", GRAMS)


def whole(gram) -> np.ndarray:
    everyone = np.arange(gram.n, dtype=np.intp)
    K = np.empty((gram.n, gram.n))
    gram.block(everyone, everyone, K)
    return K


@every_gram
def test_the_matrix_is_that_of_the_points_four_times(name):
    K, twins = whole(GRAMS[name]()), TwinGram(GRAMS[name]())
    assert twins.n == 80
    np.testing.assert_array_equal(whole(twins), np.tile(K, (2, 2)))
    np.testing.assert_array_equal(twins.diagonal(), np.tile(GRAMS[name]().diagonal(), 2))
    assert twins.precisions == GRAMS[name]().precisions
    assert twins.cost == GRAMS[name]().cost


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@every_gram
def test_parts(name, dtype):
    if np.dtype(dtype) not in GRAMS[name]().precisions and dtype == np.float32:
        dtype = np.float64
    K, twins = np.tile(whole(GRAMS[name]()), (2, 2)), TwinGram(GRAMS[name]())
    for some, others in [
        ([3, 43, 79, 0], [41, 1, 7]),  # twins of one another, in no order
        ([5], [5, 45]),
        (list(range(80)), [10]),
        ([], [1]),
        ([1], []),
    ]:
        rows, cols = np.array(some, np.intp), np.array(others, np.intp)
        block = np.empty((rows.size, cols.size), dtype)
        if block.size:
            twins.block(rows, cols, block)
            np.testing.assert_allclose(block, K[np.ix_(rows, cols)], rtol=1e-12)
        coef = RNG.normal(size=cols.size)
        out = np.ones(rows.size + 2)  # what is behind the rows is somebody else's
        twins.apply(rows, cols, coef, out, np.dtype(dtype))
        expected = 1.0 + K[np.ix_(rows, cols)] @ coef
        np.testing.assert_allclose(out[: rows.size], expected, rtol=1e-10, atol=1e-12)
        assert (out[rows.size :] == 1.0).all()


def test_opposite_twins_cancel_exactly():
    twins = TwinGram(GRAMS["dense"]())
    everyone = np.arange(80, dtype=np.intp)
    beta = RNG.normal(size=40)
    out = np.zeros(80)
    twins.apply(
        everyone, everyone, np.concatenate([beta, -beta]), out, np.dtype(np.float64)
    )
    assert not out.any()


def test_twins_get_the_same_bits():
    twins = TwinGram(GRAMS["dense"]())
    everyone, some = np.arange(80, dtype=np.intp), np.array([3, 44, 12], np.intp)
    out = np.zeros(80)
    twins.apply(everyone, some, RNG.normal(size=3), out, np.dtype(np.float64))
    assert out[:40].tobytes() == out[40:].tobytes()


def test_a_value_is_computed_once_for_both():
    gram = GRAMS["dense"]()
    twins = TwinGram(gram)
    before = twins.n_kernel
    everyone = np.arange(80, dtype=np.intp)
    twins.apply(everyone, everyone, np.ones(80), np.zeros(80), np.dtype(np.float64))
    assert twins.n_kernel - before == gram.n**2
    assert twins.n_kernel == gram.n_kernel
