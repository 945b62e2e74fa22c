"""``@maxmargin.kernel``: a scalar Python function k(x, z) as a compiled kernel."""

from __future__ import annotations

import importlib
import inspect
import sys
import threading
import uuid
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from maxmargin.errors import InputTypeError
from maxmargin.kernels.row_pairs import PairKernel

if TYPE_CHECKING:
    from collections.abc import Callable

_lock = threading.Lock()


class _Compiled(NamedTuple):
    """The function and the loops around it; Numba specialises the loops by the rows."""

    pair: Any
    product: Any
    diagonal: Any


def kernel(function: Callable[[Any, Any], float]) -> FunctionKernel:
    """Turn a scalar function of two rows into a kernel that runs at native speed.

    The function is compiled by Numba when the kernel is first evaluated, with the
    globals and closures of that moment, once for each decoration and process: nothing
    is cached on disk, so old code never runs in the place of an edited function. It
    sees two read-only float64 rows; sparse rows are written out for it.

    Parameters
    ----------
    function : callable
        ``k(x, z)`` → number, symmetric, written with numbers, loops and NumPy.
        Further arguments need defaults.

    Returns
    -------
    FunctionKernel
        Takes part in sums and products as every kernel object; ``.function`` is the
        function as it was. It is pickled by reference when it can be imported, else
        (notebooks, ``__main__``, local functions) by value.

    Raises
    ------
    InputError
        At the first evaluation, if Numba cannot compile the function.

    Examples
    --------
    >>> from maxmargin.kernels import kernel
    >>> @kernel
    ... def intersection(x, z):
    ...     total = 0.0
    ...     for k in range(x.size):
    ...         total += min(x[k], z[k])
    ...     return total
    >>> intersection([[1.0, 2.0]], [[2.0, 0.5], [1.0, 1.0]])
    array([[1.5, 2. ]])
    """
    return FunctionKernel(function)


class FunctionKernel(PairKernel):
    """k(x, z) is what a function returns; made by :func:`kernel`.

    Two of them are equal when they stem from the same decoration: the same code may
    mean something else once a global has changed.
    """

    is_function = True

    function: Callable[[Any, Any], float]
    __name__: str
    _token: str  # of the decoration
    _built: _Compiled | None

    def __init__(self, function: Callable[[Any, Any], float]) -> None:
        found = getattr(function, "py_func", function)  # of a function under numba.njit
        if not inspect.isfunction(found):
            msg = (
                f"kernel({function!r}): expected a Python function k(x, z); a callable "
                "of another kind can be passed as it is, as a function k(A, B) of blocks"
            )
            raise InputTypeError(msg)
        try:
            inspect.signature(found).bind(None, None)
        except TypeError as error:
            msg = (
                f"kernel {found.__name__}{inspect.signature(found)}: expected a function "
                "of two rows, k(x, z), whose further arguments have defaults"
            )
            raise InputTypeError(msg) from error
        self._set(function=found, _token=uuid.uuid4().hex, _built=None)
        self._set(__name__=found.__name__, __doc__=found.__doc__)

    def __repr__(self) -> str:
        return self.function.__name__

    def _key(self) -> tuple[Any, ...]:
        return (self._token,)

    # --- for Gram matrices ----------------------------------------------------------

    def compiled_pair(self) -> Any:
        """Return the compiled function."""
        return self._compiled().pair

    def compiled_product(self) -> Any:
        """Return its :func:`~maxmargin.kernels.gram.pair_tiles.function_product`."""
        return self._compiled().product

    def compiled_diagonal(self) -> Any:
        """Return its :func:`~maxmargin.kernels.gram.pair_tiles.function_diagonal`."""
        return self._compiled().diagonal

    def _compiled(self) -> _Compiled:
        built: _Compiled | None = self._built
        if built is None:
            from maxmargin._jit.user import compiled_pair, uncached
            from maxmargin.kernels.gram.pair_tiles import (
                function_diagonal,
                function_product,
            )

            with _lock:  # of several threads, one compiles
                built = self._built
                if built is None:
                    # Loops of its own, which are freed with the function.
                    built = _Compiled(
                        compiled_pair(self.function),
                        uncached(function_product),
                        uncached(function_diagonal),
                    )
                    self._set(_built=built)
        return built

    # --- pickling -------------------------------------------------------------------

    def __reduce__(self) -> tuple[Any, ...]:
        """By reference where the name leads to this very object, else by value."""
        module, name = self.function.__module__, self.function.__qualname__
        if module != "__main__" and _found(sys.modules.get(module), name) is self:
            return _imported, (module, name)
        return _rebuilt, (self._token, _cloudpickle().dumps(self.function))


def _cloudpickle() -> Any:
    """Return joblib's cloudpickle: its own up to version 1.5, then a dependency."""
    try:
        return importlib.import_module("joblib.externals.cloudpickle")
    except ModuleNotFoundError:
        return importlib.import_module("cloudpickle")


def _found(module: Any, name: str) -> Any:
    for part in name.split("."):
        module = getattr(module, part, None)
    return module


def _imported(module: str, name: str) -> Any:
    found = _found(importlib.import_module(module), name)
    if not isinstance(found, FunctionKernel):
        msg = (
            f"{module}.{name} is {found!r}, no longer a kernel: it was pickled by "
            "reference; put the function back under @maxmargin.kernel"
        )
        raise InputTypeError(msg)
    return found


@lru_cache(maxsize=8)  # a worker process that gets it with every task compiles it once
def _rebuilt(token: str, payload: bytes) -> FunctionKernel:
    copy = FunctionKernel(_cloudpickle().loads(payload))
    copy._set(_token=token)
    return copy
