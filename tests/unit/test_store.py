"""Stored rows equal computed ones, and are computed once."""

import pickle

import numpy as np
import pytest

from maxmargin.kernels import RBF
from maxmargin.kernels.gram import class_tables
from maxmargin.kernels.gram import row_cache as store
from maxmargin.kernels.gram.class_tables import ClassTables, PairGrams
from maxmargin.kernels.gram.dot_products import VectorGram
from maxmargin.kernels.gram.row_cache import StoredGram, binary_gram
from maxmargin.kernels.gram.table import TableGram
from maxmargin.parallel import Workers

SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)
N, BORDER = 120, 50  # points; those of the first class come first
ALONE = Workers(1)
both = pytest.mark.parametrize("dtype", [SINGLE, DOUBLE], ids=str)


def plain(dtype=DOUBLE, n=N, d=4):
    X = np.random.default_rng(0).normal(size=(n, d))
    return VectorGram(RBF(gamma=0.2), X, ALONE).subset(np.arange(n), dtype)


def tables(dtype, n_jobs=1):
    members = [np.arange(BORDER), np.arange(BORDER, N)]
    with Workers(n_jobs) as workers:
        return ClassTables(plain(), members, dtype, workers)


def stored(dtype, with_tables=False):
    if not with_tables:
        return StoredGram(plain(dtype))
    kept = tables(dtype)
    return StoredGram(plain(dtype), (kept.table(0), kept.table(1)))


def block(gram, rows, cols, dtype):
    out = np.full((len(rows), len(cols)), np.nan, dtype)
    gram.block(np.asarray(rows, np.intp), np.asarray(cols, np.intp), out)
    return out


@both
@pytest.mark.parametrize("with_tables", [False, True])
def test_values_have_the_bits_of_the_plain_gram(dtype, with_tables):
    gram = stored(dtype, with_tables)
    rng = np.random.default_rng(1)
    for count in (1, 7, N):
        rows, cols = rng.permutation(N)[:count], rng.permutation(N)[: N - 3]
        for asked in (SINGLE, DOUBLE):  # the other precision is passed on
            expected = block(plain(), rows, cols, asked)
            assert block(gram, rows, cols, asked).tobytes() == expected.tobytes()
    np.testing.assert_array_equal(gram.diagonal(), plain().diagonal())
    assert gram.precisions == plain(dtype).precisions
    assert gram.n == N


@both
@pytest.mark.parametrize("with_tables", [False, True])
def test_products_are_those_of_the_plain_gram(dtype, with_tables):
    gram, rng = stored(dtype, with_tables), np.random.default_rng(2)
    everyone, some = np.arange(N, dtype=np.intp), rng.permutation(N)[:30].astype(np.intp)
    for rows, cols in ((everyone, some), (some, everyone), (some, some[:3])):
        coef = rng.normal(size=cols.size)
        got, expected = np.ones(rows.size), np.ones(rows.size)
        gram.apply(rows, cols, coef, got, dtype)
        plain().apply(rows, cols, coef, expected, dtype)
        np.testing.assert_allclose(got, expected, rtol=1e-12)


@both
def test_rows_in_any_order(dtype):
    gram, rng = stored(dtype), np.random.default_rng(3)
    rows, cols = rng.permutation(N).astype(np.intp), np.arange(9, dtype=np.intp)
    got, expected = np.zeros(N), np.zeros(N)
    gram.apply(rows, cols, np.ones(9), got, dtype)
    plain().apply(rows, cols, np.ones(9), expected, dtype)
    np.testing.assert_allclose(got, expected, rtol=1e-12)


@both
def test_every_row_is_computed_once(dtype):
    gram = stored(dtype)
    everyone, few = np.arange(N, dtype=np.intp), np.arange(10, dtype=np.intp)
    block(gram, few, few, dtype)
    assert gram.n_kernel == 10 * N
    gram.apply(everyone, few, np.ones(10), np.zeros(N), dtype)
    block(gram, range(5, 15), everyone, dtype)
    assert gram.n_kernel == 15 * N
    block(gram, everyone, everyone, dtype)
    block(gram, everyone, everyone, dtype)
    assert gram.n_kernel == N * N


@both
def test_values_within_a_class_are_not_computed_again(dtype):
    gram = stored(dtype, with_tables=True)
    everyone = np.arange(N, dtype=np.intp)
    block(gram, everyone, everyone, dtype)
    assert gram.n_kernel == 2 * BORDER * (N - BORDER)


@both
def test_class_tables(dtype):
    kept = tables(dtype)
    first, second = np.arange(BORDER), np.arange(BORDER, N)
    assert kept.table(0).tobytes() == block(plain(), first, first, dtype).tobytes()
    assert kept.table(1).tobytes() == block(plain(), second, second, dtype).tobytes()
    assert kept.table(0).dtype == dtype
    assert kept.n_kernel == BORDER**2 + (N - BORDER) ** 2
    threaded = tables(dtype, n_jobs=2)
    assert threaded.table(1).tobytes() == kept.table(1).tobytes()
    assert threaded.n_kernel == kept.n_kernel


def test_values_stay_behind_when_pickled():
    gram = stored(DOUBLE)
    everyone = np.arange(N, dtype=np.intp)
    expected = block(gram, everyone, everyone, DOUBLE)
    frozen = pickle.dumps(gram)
    assert len(frozen) < expected.nbytes / 2
    again = pickle.loads(frozen)
    assert block(again, everyone, everyone, DOUBLE).tobytes() == expected.tobytes()


# --- what is stored, and how much -------------------------------------------------------


def test_one_problem_keeps_dear_rows_that_fit():
    dear, need = plain(d=1000), 8 * N * N
    for room in (1, 30, N):
        gram, left = binary_gram(dear, 2 * need * room // N)
        assert isinstance(gram, StoredGram)
        assert (gram.room, gram.keeps_all) == (room, room == N)
        assert left == need * room // N
    assert binary_gram(dear, 8 * N) == (dear, 8 * N)
    table = TableGram(np.eye(5))
    assert binary_gram(table, 1 << 30) == (table, 1 << 30)


def test_a_small_problem_of_cheap_values_keeps_its_matrix():
    cheap, need = plain(d=4), 8 * N * N
    gram, left = binary_gram(cheap, 2 * need)
    assert isinstance(gram, StoredGram)
    assert gram.keeps_all
    assert left == need
    assert binary_gram(cheap, 2 * need - 1) == (cheap, 2 * need - 1)  # no room for all


def test_few_rows_of_many_lie_side_by_side(monkeypatch):
    monkeypatch.setattr(store, "SMALL", N - 1)
    gram, some = StoredGram(plain(d=400), eager=False), np.array([N - 1, 3, N // 2])
    out = np.zeros(N)
    gram.apply(np.arange(N), some, np.ones(3), out, DOUBLE)
    assert gram.whole(DOUBLE) is None
    expected = block(plain(d=400), sorted(some), range(N), DOUBLE)
    np.testing.assert_array_equal(gram._table[:3], expected)
    np.testing.assert_allclose(out, expected.sum(axis=0), rtol=1e-13)


@both
@pytest.mark.parametrize("room", [0, 1, 30])
def test_rows_beyond_the_room_are_computed_whenever_wanted(dtype, room):
    gram, rng = StoredGram(plain(dtype), room=room), np.random.default_rng(2)
    everyone = np.arange(N)
    for count in (20, 20, N, N):
        some = np.sort(rng.permutation(N)[:count])
        coef = rng.normal(size=count)
        for rows in (everyone, some[::2]):
            got, expected = np.zeros(rows.size), np.zeros(rows.size)
            gram.apply(rows, some, coef, got, dtype)
            plain(dtype).apply(rows, some, coef, expected, dtype)
            np.testing.assert_allclose(got, expected, rtol=0, atol=1e-12)
    before = gram.n_kernel
    gram.apply(everyone, everyone, np.ones(N), np.zeros(N), dtype)
    assert gram.n_kernel - before == (N - room) * N


def test_lent_memory_is_given_back():
    space = np.full(N * N, np.nan)
    gram = StoredGram(plain(), space=space)
    expected = block(plain(), range(N), range(N), DOUBLE)
    np.testing.assert_array_equal(gram.whole(DOUBLE), expected)
    assert np.shares_memory(gram.whole(DOUBLE), space)
    gram.forget()
    space[:] = np.nan
    np.testing.assert_array_equal(block(gram, range(N), range(N), DOUBLE), expected)
    assert gram.whole(SINGLE) is None


@pytest.fixture
def worth_keeping(monkeypatch):
    """Small as they are, these matrices are to be kept."""
    monkeypatch.setattr(class_tables, "_MOMENT", 0)


def test_what_takes_a_moment_is_not_kept():
    grams = PairGrams(plain(), MEMBERS, 1 << 30, ALONE)
    assert grams.n_kernel == 0
    assert grams.at_once == 1
    assert not isinstance(grams.pair(0, 1)[1], StoredGram)


MEMBERS = [np.arange(0, 120, 3), np.arange(1, 120, 3), np.arange(2, 120, 3)]


@pytest.mark.parametrize("cache_bytes", [1 << 30, 8 * 3 * 40**2 * 4, 60_000, 1])
@pytest.mark.usefixtures("worth_keeping")
def test_pairs_see_their_own_part_of_the_matrix(cache_bytes):
    everything = plain()
    grams = PairGrams(everything, MEMBERS, cache_bytes, ALONE)
    assert grams.at_once >= 1
    for first, second in ((0, 1), (0, 2), (1, 2)):
        index, gram = grams.pair(first, second)
        expected = np.concatenate([MEMBERS[first], MEMBERS[second]])
        np.testing.assert_array_equal(index, expected)
        got = block(gram, range(80), range(80), DOUBLE)
        assert got.tobytes() == block(plain(), index, index, DOUBLE).tobytes()


@pytest.mark.usefixtures("worth_keeping")
def test_pairs_compute_what_they_share_once():
    grams = PairGrams(plain(), MEMBERS, 1 << 30, ALONE)
    assert grams.n_kernel == 3 * 40**2
    total = grams.n_kernel
    for first, second in ((0, 1), (0, 2), (1, 2)):
        _, gram = grams.pair(first, second)
        block(gram, range(80), range(80), DOUBLE)
        total += gram.n_kernel
    # K[i, j] and K[j, i] between classes are both computed, the rest once.
    assert total == 120**2


@pytest.mark.parametrize("cache_bytes", [1 << 30, 300_000, 60_000, 1000])
@pytest.mark.usefixtures("worth_keeping")
def test_pairs_keep_within_the_promise(cache_bytes):
    grams = PairGrams(plain(), MEMBERS, cache_bytes, ALONE)
    tables = grams.n_kernel * 8
    pairs = 0
    for first, second in ((0, 1), (0, 2), (1, 2)):
        _, gram = grams.pair(first, second)
        if isinstance(gram, StoredGram):
            pairs = gram.room * 80 * 8
            assert pairs <= grams.share
    # every pair at work may hold its rows and as much again for its working set
    at_work = grams.at_once * 2 * min(80**2 * 8, grams.share)
    assert tables + at_work <= cache_bytes


@both
@pytest.mark.parametrize("with_tables", [False, True])
def test_the_whole_matrix_after_some_of_its_rows(dtype, with_tables):
    """Rows that others may be reading stay where they are."""
    gram, everyone = stored(dtype, with_tables), np.arange(N)
    block(gram, [90, 3, 17, 4], everyone, dtype)
    gram.apply(everyone, np.array([5, 60]), np.ones(2), np.zeros(N), dtype)
    before = gram._table[17].ctypes.data
    whole = gram.whole(dtype)
    assert whole.tobytes() == block(plain(), everyone, everyone, dtype).tobytes()
    assert whole[17].ctypes.data == before
    assert block(gram, [90, 3], everyone, dtype).tobytes() == whole[[90, 3]].tobytes()
