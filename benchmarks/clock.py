"""Seconds of a call, and of brief ones in the way that brief calls are made."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["BRIEF", "IN_A_ROW", "seconds_of"]

BRIEF = 0.02  # seconds below which a call is timed with others in a row
IN_A_ROW = 10


def seconds_of(call: Callable[[], Any]) -> float:
    """Seconds of one call; of a brief one the mean of some more in a row.

    After a turn of others the caches hold nothing of this process. A call of a
    millisecond is then mostly memory that is fetched anew, its own code included, and
    that differs twofold from turn to turn. Small calls are made in loops, and timed so.
    """
    began = time.perf_counter()
    call()
    taken = time.perf_counter() - began
    if taken >= BRIEF:
        return taken
    began = time.perf_counter()
    for _ in range(IN_A_ROW):
        call()
    return (time.perf_counter() - began) / IN_A_ROW
