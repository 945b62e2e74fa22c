"""Stored rows equal computed ones, and are computed once."""

import pickle

import numpy as np
import pytest

from maxmargin.kernels.gram import VectorGram
from maxmargin.kernels.store import ClassTables, StoredGram, precision_of, stored_bytes
from maxmargin.kernels.vector import Rbf
from maxmargin.parallel import Workers

SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)
N, BORDER = 120, 50  # points; those of the first class come first
ALONE = Workers(1)
both = pytest.mark.parametrize("dtype", [SINGLE, DOUBLE], ids=str)


def plain():
    X = np.random.default_rng(0).normal(size=(N, 4))
    return VectorGram(Rbf(0.2), X, ALONE)


def tables(gram, dtype, n_jobs=1):
    members = [np.arange(BORDER), np.arange(BORDER, N)]
    with Workers(n_jobs) as workers:
        return ClassTables(gram, members, dtype, workers)


def stored(gram, dtype, with_tables):
    if not with_tables:
        return StoredGram(gram, dtype)
    kept = tables(plain(), dtype)
    return StoredGram(gram, dtype, (kept.table(0), kept.table(1)))


def block(gram, rows, cols, dtype):
    out = np.full((len(rows), len(cols)), np.nan, dtype)
    gram.block(np.asarray(rows, np.intp), np.asarray(cols, np.intp), out)
    return out


@both
@pytest.mark.parametrize("with_tables", [False, True])
def test_values_have_the_bits_of_the_plain_gram(dtype, with_tables):
    gram = stored(plain(), dtype, with_tables)
    rng = np.random.default_rng(1)
    for count in (1, 7, N):
        rows, cols = rng.permutation(N)[:count], rng.permutation(N)[: N - 3]
        for asked in (SINGLE, DOUBLE):  # the other precision is passed on
            expected = block(plain(), rows, cols, asked)
            assert block(gram, rows, cols, asked).tobytes() == expected.tobytes()
    np.testing.assert_array_equal(gram.diagonal(), plain().diagonal())
    assert gram.precisions == plain().precisions


@both
@pytest.mark.parametrize("with_tables", [False, True])
def test_products_are_those_of_the_plain_gram(dtype, with_tables):
    gram, rng = stored(plain(), dtype, with_tables), np.random.default_rng(2)
    everyone, some = np.arange(N, dtype=np.intp), rng.permutation(N)[:30].astype(np.intp)
    for rows, cols in ((everyone, some), (some, everyone), (some, some[:3])):
        coef = rng.normal(size=cols.size)
        got, expected = np.ones(rows.size), np.ones(rows.size)
        gram.apply(rows, cols, coef, got, dtype)
        plain().apply(rows, cols, coef, expected, dtype)
        np.testing.assert_allclose(got, expected, rtol=1e-12)


@both
def test_rows_in_any_order(dtype):
    gram, rng = StoredGram(plain(), dtype), np.random.default_rng(3)
    rows, cols = rng.permutation(N).astype(np.intp), np.arange(9, dtype=np.intp)
    got, expected = np.zeros(N), np.zeros(N)
    gram.apply(rows, cols, np.ones(9), got, dtype)
    plain().apply(rows, cols, np.ones(9), expected, dtype)
    np.testing.assert_allclose(got, expected, rtol=1e-12)


@both
def test_every_row_is_computed_once(dtype):
    inner = plain()
    gram = StoredGram(inner, dtype)
    everyone, few = np.arange(N, dtype=np.intp), np.arange(10, dtype=np.intp)
    block(gram, few, few, dtype)
    assert gram.n_kernel == 10 * N
    gram.apply(everyone, few, np.ones(10), np.zeros(N), dtype)
    block(gram, range(5, 15), everyone, dtype)
    assert gram.n_kernel == 15 * N
    block(gram, everyone, everyone, dtype)
    block(gram, everyone, everyone, dtype)
    assert gram.n_kernel == inner.n_kernel == N * N


@both
def test_values_within_a_class_are_not_computed_again(dtype):
    gram = stored(plain(), dtype, with_tables=True)
    everyone = np.arange(N, dtype=np.intp)
    block(gram, everyone, everyone, dtype)
    assert gram.n_kernel == 2 * BORDER * (N - BORDER)


@both
def test_class_tables(dtype):
    gram = plain()
    kept = tables(gram, dtype)
    first, second = np.arange(BORDER), np.arange(BORDER, N)
    assert kept.table(0).tobytes() == block(plain(), first, first, dtype).tobytes()
    assert kept.table(1).tobytes() == block(plain(), second, second, dtype).tobytes()
    assert kept.dtype == dtype
    assert kept.n_kernel == BORDER**2 + (N - BORDER) ** 2
    threaded = tables(plain(), dtype, n_jobs=2)
    assert threaded.table(1).tobytes() == kept.table(1).tobytes()
    assert threaded.n_kernel == kept.n_kernel


def test_values_stay_behind_when_pickled():
    gram = StoredGram(plain(), DOUBLE)
    everyone = np.arange(N, dtype=np.intp)
    expected = block(gram, everyone, everyone, DOUBLE)
    frozen = pickle.dumps(gram)
    assert len(frozen) < expected.nbytes / 2
    again = pickle.loads(frozen)
    assert block(again, everyone, everyone, DOUBLE).tobytes() == expected.tobytes()


def test_where_it_pays():
    assert precision_of(plain(), 1000) == DOUBLE
    assert precision_of(plain(), 1001) == SINGLE
    wide = VectorGram(Rbf(1e35), np.ones((3, 2)), ALONE)
    assert precision_of(wide, 10**6) == DOUBLE
    assert stored_bytes(1000, SINGLE) == 4_000_000
