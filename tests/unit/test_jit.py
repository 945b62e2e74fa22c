"""What compilation costs and leaves behind."""

import gc

import numpy as np
import pytest
from numba.core.errors import NumbaError

from maxmargin._jit import inlined, njit


def ours(function):
    """As if it were a function of the library."""
    function.__module__ = "maxmargin.tests"
    return function


@ours
def collecting(x):
    return x + 1.0


@ours
def making(x):
    made = np.empty(3)
    made[0] = x
    return made[0]


@ours
def handing_on(x):
    return x[1:]


@ours
def half(x):
    return 0.5 * x if x > 0.0 else x


def test_the_collector_is_on_again_after_compilation():
    assert gc.isenabled()
    assert njit(collecting)(1.0) == 2.0
    assert gc.isenabled()


def test_the_collector_stays_off_where_it_was():
    gc.disable()
    try:
        assert njit(collecting)(np.float32(1.0)) == 2.0
        assert not gc.isenabled()
    finally:
        gc.enable()


@pytest.mark.parametrize(("function", "x"), [(making, 1.0), (handing_on, np.zeros(3))])
def test_who_says_not_to_allocate_must_not(function, x):
    with pytest.raises((NumbaError, TypeError)):
        njit(function, allocates=False)(x)
    assert gc.isenabled()


def test_what_is_inlined_can_be_called_all_the_same():
    assert inlined(half)(3.0) == 1.5
