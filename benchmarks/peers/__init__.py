"""Every library that the benchmarks time, ours included, behind one interface.

Peers are imported only when they are asked to prepare, each in its own process.
"""

from __future__ import annotations

from benchmarks.peers.base import Machine, Missing
from benchmarks.peers.libsvm import Libsvm
from benchmarks.peers.sklearn_like import Maxmargin, ScikitLearn, Sklearnex
from benchmarks.peers.thunder import ThunderSvm

__all__ = ["ALL", "OURS", "Machine", "Missing", "create"]

ALL: dict[str, type[Machine]] = {
    kind.name: kind for kind in (Maxmargin, ScikitLearn, Sklearnex, Libsvm, ThunderSvm)
}
OURS = Maxmargin.name


def create(name: str) -> Machine:
    """A machine by the name of its library."""
    return ALL[name]()
