"""What compilation costs and leaves behind."""

import gc

import numba
import numpy as np
import pytest
from numba.core.errors import NumbaError
from numba.extending import overload

from maxmargin._jit import inlined, njit

SEEN = []


def asked(x):
    """Where it is compiled, whether the collector is on is noted."""


@overload(asked)
def _asked(x):
    SEEN.append(gc.isenabled())
    return lambda x: x + 1.0


def asking(x):
    return asked(x)


def making(x):
    made = np.empty(3)
    made[0] = x
    return made[0]


def handing_on(x):
    return x[1:]


def half(x):
    return 0.5 * x if x > 0.0 else x


def compiled(module):
    """As if it were of that module; not on disk, where nobody would find the module."""
    SEEN.clear()
    asking.__module__ = module
    return numba.njit(asking)


def test_the_collector_rests_while_our_functions_are_compiled():
    assert gc.isenabled()
    assert compiled("maxmargin.some")(1.0) == 2.0
    assert not any(SEEN)
    assert gc.isenabled()


def test_the_functions_of_others_are_compiled_as_they_were():
    assert compiled("maxmarginal")(np.float32(1.0)) == 2.0
    assert all(SEEN)


def test_the_collector_stays_off_where_it_was():
    gc.disable()
    try:
        assert compiled("maxmargin.some")(1) == 2.0
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
