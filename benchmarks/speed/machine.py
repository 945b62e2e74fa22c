"""Where and with what a run was made."""

from __future__ import annotations

import datetime as dt
import importlib.metadata
import os
import platform
import subprocess
from pathlib import Path
from typing import Any

from benchmarks.peers import ALL

__all__ = ["commit", "describe", "other_versions"]

ALSO = ("numpy", "scipy", "numba")


def _processor() -> str:
    """The model of the processor, by Linux's file where there is one."""
    path = Path("/proc/cpuinfo")
    if path.exists():
        for line in path.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def commit() -> str:
    """What is checked out; empty without git, as in an unpacked archive."""
    try:
        done = subprocess.run(
            ["git", "describe", "--always", "--dirty"],
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return ""
    return done.stdout.strip()


def describe() -> dict[str, Any]:
    """Processor, cores, versions and date."""
    packages = [*(kind.package for kind in ALL.values()), *ALSO]
    return {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "commit": commit(),
        "date": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        "load": list(os.getloadavg()) if hasattr(os, "getloadavg") else None,
        "packages": {package: _version(package) for package in packages},
    }


def other_versions(stored: dict[str, Any], part: dict[str, Any]) -> list[str]:
    """A sentence on the versions of a part, where they are not those of the rest."""
    before, now = (one["machine"]["packages"] for one in (stored, part))
    other = [f"{name} {now[name]}" for name in now if now[name] != before.get(name)]
    sets = ", ".join(dict.fromkeys(one["set"] for one in part["rows"]))
    return [f"Measured with {', '.join(other)}: {sets}."] if other else []
