"""How many threads, and that nothing depends on how many."""

import pickle
import threading
import time

import joblib
import numpy as np
import pytest

from maxmargin.errors import InputError
from maxmargin.parallel import Tally, Workers, effective_jobs


@pytest.fixture
def four_cores(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(joblib, "cpu_count", lambda: 4)
    monkeypatch.setattr(joblib, "effective_n_jobs", lambda n_jobs: 4)


@pytest.mark.usefixtures("four_cores")
@pytest.mark.parametrize(
    ("n_jobs", "count"), [(None, 4), (-1, 4), (-2, 3), (-9, 1), (1, 1), (7, 7)]
)
def test_n_jobs_as_joblib_counts(n_jobs, count):
    assert effective_jobs(n_jobs) == count


@pytest.mark.usefixtures("four_cores")
@pytest.mark.parametrize(
    ("limit", "count"), [("2", 2), ("2,1", 2), ("64", 4), ("", 4), ("0", 4), ("all", 4)]
)
def test_omp_num_threads_is_a_ceiling(monkeypatch, limit, count):
    monkeypatch.setenv("OMP_NUM_THREADS", limit)
    assert effective_jobs(None) == count
    assert effective_jobs(3) == 3, "an explicit number is obeyed"


def test_zero_jobs_is_the_callers_mistake():
    with pytest.raises(InputError, match=r"n_jobs=0.*None or -1"):
        effective_jobs(0)


def test_one_thread_inside_a_worker_of_joblib():
    inside = joblib.Parallel(n_jobs=2, backend="threading")(
        joblib.delayed(effective_jobs)(None) for _ in range(2)
    )
    assert all(1 <= count <= effective_jobs(None) for count in inside)


@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize("n", [0, 1, 7, 100])
@pytest.mark.parametrize("grain", [0, 1, 30])
def test_slabs_cover_every_index_once(count, n, grain):
    seen = np.zeros(n, dtype=int)
    slabs = []

    def mark(start, stop):
        seen[start:stop] += 1
        slabs.append(stop - start)

    with Workers(count) as workers:
        workers.spread(mark, n, grain)
    assert (seen == 1).all()
    assert len(slabs) <= (1 if count == 1 else 4 * count)  # who comes late has fewer
    assert len(slabs) == 1 or min(slabs) >= grain


@pytest.mark.parametrize("count", [1, 3])
def test_map_keeps_the_order(count):
    def late_first(item):
        time.sleep(0.002 * (5 - item))
        return item * item

    with Workers(count) as workers:
        assert workers.map(late_first, range(5)) == [0, 1, 4, 9, 16]


@pytest.mark.parametrize("count", [1, 2])
def test_a_failure_in_a_thread_reaches_the_caller(count):
    def fail(start, stop):
        if stop == 10:
            raise ValueError("slab")

    def fail_item(item):
        raise ValueError("item")

    with Workers(count) as workers:
        with pytest.raises(ValueError, match="slab"):
            workers.spread(fail, 10, 1)
        with pytest.raises(ValueError, match="item"):
            workers.map(fail_item, [1, 2])


def test_threads_end_with_the_block():
    def alive():
        return [t for t in threading.enumerate() if t.name.startswith("maxmargin")]

    before = len(alive())
    with Workers(2) as workers:
        workers.map(str, range(4))
        assert len(alive()) > before
    assert len(alive()) == before


def test_workers_pickle_without_their_threads():
    with Workers(2) as workers:
        workers.map(str, range(4))
        again = pickle.loads(pickle.dumps(workers))
    with again:
        assert again.count == 2
        assert again.map(str, range(3)) == ["0", "1", "2"]


def test_threads_are_told_of_a_failure_before_they_are_waited_for():
    abandoned, begun, told = threading.Event(), threading.Event(), []

    def work(number):
        if number == 0:
            assert begun.wait(10)
            raise KeyboardInterrupt
        begun.set()
        told.append(abandoned.wait(10))

    with pytest.raises(KeyboardInterrupt), Workers(2, abandoned.set) as workers:
        workers.map(work, [0, 1])
    assert told == [True]


def test_a_block_that_ends_well_fails_nobody():
    with Workers(2, pytest.fail) as workers:
        assert workers.map(abs, [-1, -2]) == [1, 2]


def test_no_count_is_lost():
    tally = Tally()
    gate = threading.Barrier(4, timeout=60)

    def add():
        gate.wait()
        for _ in range(20_000):
            tally.add(3)

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert tally.total == 4 * 20_000 * 3
    assert pickle.loads(pickle.dumps(tally)).total == tally.total
