"""What holds for every test: a fresh Numba cache, and skips where data are absent.

And what several ask for: a Ctrl-C that is heard.
"""

import os
import signal
import sys

import pytest

from tests.data import DataMissing
from tests.numba_cache import cache_dir

# Numba reads NUMBA_CACHE_DIR once, when it is imported.
if "NUMBA_CACHE_DIR" not in os.environ:
    if "numba" in sys.modules:
        raise pytest.UsageError(
            "numba was imported before tests/conftest.py could choose its cache, so "
            "compiled code may be stale: set NUMBA_CACHE_DIR, or run `make test`"
        )
    os.environ["NUMBA_CACHE_DIR"] = str(cache_dir())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item):
    try:
        return (yield)
    except DataMissing as missing:
        pytest.skip(str(missing))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    try:
        return (yield)
    except DataMissing as missing:
        pytest.skip(str(missing))


@pytest.fixture
def ctrl_c():
    """Ctrl-C does what it does at a terminal, here and in processes started meanwhile.

    A shell without job control starts what is to run in the background with SIGINT
    ignored. Children inherit that, and a press would go unheard. A handler of Python's
    is not inherited: in a new program the signal has its default again.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
