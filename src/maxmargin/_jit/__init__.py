"""The only package that imports Numba: compilation flags, disk cache, SIMD and exp.

``njit`` here is Numba's with the library's flags. Compiled functions obey these rules: no
``parallel=True`` (it aborts when two threads enter it), no explicit signatures, no
function arguments (they never hit the disk cache). Kernels and rows are NamedTuples,
specialised through ``overload``.

- :mod:`~maxmargin._jit.simd`: tiles of dot products in vector registers; min, max, fma.
- :mod:`~maxmargin._jit.lanes`: sweeps that find an extremum and its place.
- :mod:`~maxmargin._jit.exponential`: exp as a polynomial.
- :mod:`~maxmargin._jit.random`: random numbers without hidden state.
- :mod:`~maxmargin._jit.prefetch`: a hint to load a cache line.
- :mod:`~maxmargin._jit.user`: functions of users.
"""

from __future__ import annotations

import gc
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar
from typing import overload as typed

import numba
from numba.core import event as events
from numba.core import types
from numba.extending import intrinsic, overload

from maxmargin.errors import warn

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "ASSOCIATIVE",
    "AS_WRITTEN",
    "inlined",
    "intrinsic",
    "is_record",
    "njit",
    "overload",
    "types",
]

# Sums may be reordered and contracted into fma; NaN and infinity keep their meaning.
ASSOCIATIVE = frozenset({"reassoc", "contract", "nsz", "arcp"})
# Not reordered: LLVM would turn a sum of w[indices[e]] into vector gathers. Without them
# short rows, or rows out of order, take less time (half of the rows of 20 newsgroups .89,
# of a9a .92), and all rows in order take more (10⁶ × 10⁵: 1.3).
AS_WRITTEN = frozenset({"contract"})

Function = TypeVar("Function", bound="Callable[..., Any]")

_warned = False


@typed
def njit(function: Function, **options: Any) -> Function: ...


@typed
def njit(*, allocates: bool = True, **options: Any) -> Callable[[Function], Function]: ...


def njit(function: Any = None, *, allocates: bool = True, **options: Any) -> Any:
    """Compile with the library's flags, cached on disk where a directory is writable.

    A decorator, with or without options: ``@njit`` or ``@njit(allocates=False)``.

    Parameters
    ----------
    function : callable
        The function.
    allocates : bool
        False if neither the function nor its callees make or return arrays: then no
        counting of references is compiled (a tenth of the compile time). If it is not
        true, compilation fails.
    options : dict
        Options of Numba's ``njit``.
    """
    if function is None:
        return partial(njit, allocates=allocates, **options)
    flags: dict[str, Any] = {"nogil": True, "error_model": "numpy", **options}
    flags["no_cfunc_wrapper"] = True  # nothing is called from C
    if not allocates:
        flags["_nrt"] = False
    try:
        return numba.njit(cache=True, **flags)(function)
    except RuntimeError as error:
        # Numba raises this at decoration time when no cache directory can be written, as
        # in a read-only installation for a user without a home.
        if "cannot cache" not in str(error):
            raise
        _say_once()
        return numba.njit(**flags)(function)


def inlined(function: Function) -> Function:
    """Compile as a part of its callers, never by itself.

    It is for functions that are small or have one caller: a separately compiled function
    costs 20 to 60 ms whatever its size, and is optimised once more in every caller.
    """
    return njit(inline="always")(function)


class _NoCollector(events.Listener):
    """Turn Python's garbage collector off while our functions are compiled.

    Compilation makes millions of objects and keeps most of them, and the collector visits
    them again and again: a tenth of a first fit, for 5 MB less. Events come one at a
    time, under the compiler's lock; those of callees come between those of their caller.
    """

    def __init__(self) -> None:
        self._depth = 0
        self._was_on = False

    def on_start(self, event: Any) -> None:
        """Remember whether the collector is on, and turn it off."""
        if not _is_ours(event):
            return
        if self._depth == 0:
            self._was_on = gc.isenabled()
            gc.disable()
        self._depth += 1

    def on_end(self, event: Any) -> None:
        """Turn it on again after the outermost function, compiled or not."""
        if not _is_ours(event):
            return
        self._depth -= 1
        if self._depth == 0 and self._was_on:
            gc.enable()


def _is_ours(event: Any) -> bool:
    return str(event.data["dispatcher"].py_func.__module__).startswith("maxmargin.")


events.register("numba:compile", _NoCollector())


def _say_once() -> None:
    global _warned  # noqa: PLW0603
    if not _warned:
        _warned = True
        warn(
            "no writable directory for Numba's cache: every new process compiles for "
            "some seconds; set NUMBA_CACHE_DIR to a writable directory",
            RuntimeWarning,
        )


def is_record(numba_type: Any, record: type) -> bool:
    """Whether a Numba type is that of the NamedTuple class ``record``."""
    named = isinstance(numba_type, types.NamedTuple | types.NamedUniTuple)
    return named and numba_type.instance_class is record
