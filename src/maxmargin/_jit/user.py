"""Functions of users, compiled anew in every process, without a disk cache.

Numba's disk cache notices edits in a function's own file only, not in the files of its
callees, and fixes the values of globals when it compiles. Cached functions of users could
therefore be out of date.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numba

from maxmargin._jit import types
from maxmargin.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

# Read-only, so that a function that writes into its rows does not compile.
_ROW = types.Array(types.float64, 1, "C", readonly=True)
_REAL = (types.Float, types.Integer, types.Boolean)
_LONGEST = 240  # characters of Numba's reason in an error message, at most


def uncached(function: Callable[..., Any]) -> Any:
    """Compile with the library's flags, without the disk cache."""
    return numba.njit(nogil=True, error_model="numpy")(function)


def compiled_pair(function: Callable[..., Any]) -> Any:
    """Compile a scalar k(x, z) of two float64 rows, or say why that cannot be done."""
    name = getattr(function, "__name__", "k")
    dispatcher = uncached(function)
    try:
        # Like a call from compiled code: further arguments take their defaults.
        dispatcher.get_call_template((_ROW, _ROW), {})
    except Exception as error:
        # Numba raises its own errors, NotImplementedError, KeyError, …
        msg = (
            f"kernel {name} cannot be compiled: {_reason(error)}; write it with numbers, "
            "loops and NumPy (helpers under numba.njit), or pass an undecorated function "
            "k(A, B) that returns the matrix of all values"
        )
        raise InputError(msg) from error
    (compiled,) = dispatcher.overloads.values()
    found = compiled.signature.return_type
    if not isinstance(found, _REAL):
        msg = (
            f"kernel {name} returns {_plain(str(found))} for two rows; k(x, z) must "
            "return one real number"
        )
        raise InputError(msg)
    return dispatcher


def _reason(error: Exception) -> str:
    """Return Numba's reason in one sentence, with the line of the user's code."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    place = re.search(r'File "([^"]*)", line (\d+)', text)
    said: list[str] = []
    for line in text.splitlines():
        words = _plain(line)
        if words.startswith(("File ", "There are ", "During: ")):
            break
        if words and not words.startswith("Failed in "):
            said.append(words)
    reason = " ".join(said) or type(error).__name__
    if "setitem(readonly array" in reason:
        reason = "it writes into x or z, which are read-only (copy them first)"
    if len(reason) > _LONGEST:
        reason = reason[: _LONGEST - 1].rstrip() + "…"
    where = f" (line {place.group(2)} of {place.group(1)})" if place else ""
    return reason.rstrip(".;:") + where


def _plain(text: str) -> str:
    """Return the text as one line, without the marks of Numba's listings."""
    return " ".join(text.replace(">>>", " ").split())
