"""The stored block of a working set, and the store of rows, against a NumPy matrix."""

import pickle

import numpy as np
import pytest
from tests.unit.toy_solver import DenseGram

from maxmargin.kernels.gram.table import TableGram
from maxmargin.solvers.gram_memory import RowStore, WorkingMemory, capacity

SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)


def matrix(n=200):
    A = np.random.default_rng(0).normal(size=(n, n))
    return np.ascontiguousarray(A + A.T)


def test_capacity_keeps_the_promise():
    for cache_bytes in (1, 10**3, 10**6, 200 << 20):
        for dtype in (SINGLE, DOUBLE):
            q = capacity(10**6, cache_bytes, dtype)
            assert q >= 2  # a pair must fit, whatever was promised
            assert q == 2 or q * q * dtype.itemsize <= cache_bytes
            assert (q + 1) ** 2 * dtype.itemsize > cache_bytes
    assert capacity(50, 1 << 30, DOUBLE) == 50
    assert capacity(1, 1 << 30, DOUBLE) == 1


@pytest.mark.parametrize("dtype", [SINGLE, DOUBLE], ids=str)
def test_admit_evict_and_move(dtype):
    """A long history of a working set, with the block looked at after every change."""
    K = matrix().astype(dtype)
    diagonal = np.diagonal(K) + np.linspace(1, 2, 200)  # with a ridge on it
    gram, memory = TableGram(K), WorkingMemory(90, dtype)
    rng = np.random.default_rng(1)
    members, q, largest = np.full(90, -1, np.intp), 0, 0
    for _ in range(60):
        leaving = np.sort(rng.permutation(q)[: rng.integers(0, 40)]).astype(np.intp)
        stayed = set(np.delete(members[:q], leaving))
        memory.evict(members, q, leaving)
        q -= leaving.size
        assert set(members[:q]) == stayed
        outside = np.setdiff1d(np.arange(200), members[:q])
        new = rng.permutation(outside)[: min(90 - q, int(rng.integers(0, 70)))]
        members[q : q + new.size] = new
        q += new.size
        inside = members[:q]
        got = memory.block(gram, inside, diagonal[inside])
        expected = K[np.ix_(inside, inside)].copy()
        np.fill_diagonal(expected, diagonal[inside])
        assert np.array_equal(got[:q, :q], expected)
        assert q <= got.shape[0] == got.shape[1] <= 90
        largest = max(largest, q)
    assert largest == 90


def test_only_newcomers_are_computed():
    gram, memory = DenseGram(matrix()), WorkingMemory(50, DOUBLE)
    members = np.arange(30, dtype=np.intp)
    memory.block(gram, members, np.ones(30))
    assert gram.n_kernel == 30 * 30
    memory.block(gram, members, np.ones(30))
    assert gram.n_kernel == 30 * 30
    memory.block(gram, np.arange(33, dtype=np.intp), np.ones(33))
    assert gram.n_kernel == 30 * 30 + 3 * 33


def test_values_stay_behind_when_pickled():
    K = matrix()
    gram, memory = DenseGram(K), WorkingMemory(150, DOUBLE)
    members = np.arange(150, dtype=np.intp)
    before = memory.block(gram, members, np.diagonal(K)[:150])
    frozen = pickle.dumps(memory)
    assert len(frozen) < 500  # the block has 180000 bytes
    again = pickle.loads(frozen)
    after = again.block(gram, members, np.diagonal(K)[:150])
    assert after.tobytes() == before.tobytes()
    assert gram.n_kernel == 2 * 150**2


def test_members_move_alike_whether_or_not_values_are_stored():
    """After a pickle nothing is stored; the order of members decides ties."""
    K = matrix()
    gram, memory = DenseGram(K), WorkingMemory(10, DOUBLE)
    members = np.array([3, 9, 2, 50, 7, 8], np.intp)
    diagonal = np.diagonal(K).copy()
    memory.block(gram, members, diagonal[members])
    again, moved = pickle.loads(pickle.dumps(memory)), members.copy()
    for one, order in ((memory, members), (again, moved)):
        one.evict(order, 6, np.array([0, 3, 5], np.intp))
    np.testing.assert_array_equal(members[:3], moved[:3])
    assert set(members[:3]) == {9, 2, 7}
    for one in (memory, again):
        got = one.block(gram, members[:3], diagonal[members[:3]])
        np.testing.assert_array_equal(got[:3, :3], K[np.ix_(members[:3], members[:3])])


# --- rows -------------------------------------------------------------------------------


def test_rows_are_kept_and_the_oldest_gives_way():
    K = matrix(40)
    gram, store = DenseGram(K), RowStore(40, 3 * 8 * 40 + 7)
    assert store.room == 3
    for point in (5, 11, 0):
        store.fetch(gram, point)
    table, slot = store.arrays()
    assert set(np.flatnonzero(slot >= 0)) == {0, 5, 11}
    store.fetch(gram, 20)
    assert set(np.flatnonzero(slot >= 0)) == {0, 11, 20}
    store.fetch(gram, 5)
    assert set(np.flatnonzero(slot >= 0)) == {0, 5, 20}
    for point in (0, 5, 20):
        np.testing.assert_array_equal(table[slot[point]], K[point])
    assert gram.n_kernel == 5 * 40


def test_one_row_always_fits():
    store = RowStore(1000, 1)
    assert store.room == 1
    assert RowStore(10, 1 << 30).room == 10


def test_rows_stay_behind_when_pickled():
    gram, store = DenseGram(matrix()), RowStore(200, 1 << 20)
    store.fetch(gram, 3)
    frozen = pickle.dumps(store)
    assert len(frozen) < 500
    again = pickle.loads(frozen)
    assert (again.arrays()[1] == -1).all()
    again.fetch(gram, 3)
    table, slot = again.arrays()
    np.testing.assert_array_equal(table[slot[3]], gram.table[3])
