"""Every library that the benchmark of linear machines times, ours included."""

from __future__ import annotations

import importlib.metadata

from benchmarks.peers.linear_base import LinearMachine
from benchmarks.peers.linear_liblinear import Liblinear, Multicore
from benchmarks.peers.linear_sklearn import SGD, Maxmargin, ScikitLearn

__all__ = ["ALL", "OURS", "SGD", "LinearMachine", "create", "versions"]

ALL: dict[str, type[LinearMachine]] = {
    kind.name: kind for kind in (Maxmargin, ScikitLearn, Liblinear, Multicore)
}
OURS = Maxmargin.name
ALSO = ("numpy", "scipy", "numba")


def create(name: str) -> LinearMachine:
    """A machine by the name of its library."""
    return ALL[name]()


def versions() -> dict[str, str]:
    """Of every package that takes part."""
    ours = {kind.package: kind.version() for kind in ALL.values()}
    return ours | {package: importlib.metadata.version(package) for package in ALSO}
