"""What holds for every test: a fresh Numba cache, and skips where data are absent."""

import os
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
