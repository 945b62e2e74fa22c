"""Peak resident memory of a call, as Linux counts it."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["available", "peak_of"]

STATUS = Path("/proc/self/status")
RESET = Path("/proc/self/clear_refs")
RESET_PEAK = "5"  # see proc(5)


def available() -> bool:
    """Tell whether this system counts it."""
    return STATUS.exists() and RESET.exists()


def _megabytes(field: str) -> float:
    for line in STATUS.read_text().splitlines():
        key, _, value = line.partition(":")
        if key == field:
            return int(value.split()[0]) / 1024.0
    raise LookupError(f"{STATUS} has no {field}")


def peak_of(call: Callable[[], object]) -> dict[str, float]:
    """Resident memory before the call, at its peak, and the difference, in MB."""
    gc.collect()
    RESET.write_text(RESET_PEAK)
    before = _megabytes("VmRSS")
    call()
    peak = _megabytes("VmHWM")
    return {"before": before, "peak": peak, "above": peak - before}
