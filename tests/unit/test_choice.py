"""Who enters the working set, against a plain sort."""

import numpy as np
import pytest

from maxmargin.solvers.smo import selection as _choice


def chosen(merit, count, *, above):
    falls = np.full(merit.size, above)
    inside = np.zeros(merit.size, bool)
    out = np.full(merit.size, -1, np.intp)
    end = _choice.worst(merit, falls, inside, above, count, out, 0)
    return out[:end]


@pytest.mark.parametrize("above", [False, True])
def test_the_worst_violator_always_enters(above):
    rng = np.random.default_rng(0)
    for _ in range(200):
        # all within a bin of each other: only rounding could tell them apart
        merit = 1.0 + 1e-4 * rng.random(50)
        assert chosen(merit, 1, above=above).tolist() == [int(merit.argmax())]


@pytest.mark.parametrize("count", [1, 7, 40, 100])
def test_about_the_worst_enter(count):
    merit = np.random.default_rng(1).normal(size=80)
    got = chosen(merit, count, above=True)
    assert got.size == min(count, np.count_nonzero(merit > 0.0))
    assert (merit[got] > 0.0).all()
    left = np.setdiff1d(np.flatnonzero(merit > 0.0), got)
    if left.size:  # never worse than those taken by more than a bin
        assert merit[left].max() <= merit[got].min() + merit.max() / (_choice.BINS - 2)


def test_denormal_merits_stay_inside_the_bins():
    merit = np.full(5, 5e-324)
    assert chosen(merit, 3, above=False).size == 3
