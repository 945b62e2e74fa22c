"""While a fit's threads work, the BLAS has none of its own; then it has them back."""

import threading

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController

from maxmargin import SVC
from maxmargin.parallel import Workers, one_blas_thread


def threads() -> set[int]:
    found = ThreadpoolController().select(user_api="blas").info()
    return {library["num_threads"] for library in found}


def test_one_inside_and_all_again_afterwards():
    before = threads()
    with one_blas_thread():
        assert threads() == {1}
        with one_blas_thread():
            assert threads() == {1}
        assert threads() == {1}
    assert threads() == before


def test_fits_that_overlap_leave_no_limit_behind():
    """The second begins within the first and outlives it."""
    first_is_in, second_is_in = threading.Event(), threading.Event()
    before = threads()

    def begins():
        with one_blas_thread():
            first_is_in.set()
            assert second_is_in.wait(10)

    def outlives():
        assert first_is_in.wait(10)
        with one_blas_thread():
            second_is_in.set()
            first.join(10)

    first, second = threading.Thread(target=begins), threading.Thread(target=outlives)
    first.start()
    second.start()
    second.join(20)
    assert threads() == before


def test_an_error_lifts_the_limit():
    before = threads()
    with pytest.raises(ZeroDivisionError), Workers(2) as workers:
        workers.map(lambda number: 1 / number, [1, 0])
    assert threads() == before


def test_a_fit_has_one_and_gives_them_back():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), rng.integers(0, 2, 200)
    before, seen = threads(), []
    machine = SVC(C=100.0, callbacks=lambda snapshot: seen.append(threads()))
    machine.fit(X, y).predict(X)
    assert seen
    assert all(one == {1} for one in seen)
    assert threads() == before


def test_whoever_ends_first_leaves_the_other_its_limit():
    before, first, second = threads(), one_blas_thread(), one_blas_thread()
    done = threading.Event()
    first.__enter__()
    late = threading.Thread(target=lambda: (second.__enter__(), done.set()))
    late.start()
    assert done.wait(10)
    first.__exit__(None, None, None)
    assert threads() == {1}
    second.__exit__(None, None, None)
    assert threads() == before
