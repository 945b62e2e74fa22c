"""A library in a process of its own that has the problem, again after it was ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.linear.server import Server
from benchmarks.peers.linear import ALL, OURS, SGD
from benchmarks.speed.remote import Remote

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.linear.datasets import Problem

__all__ = ["Child", "Contestant", "contestants"]

TAKING = 300.0  # seconds to start, import, and take the rows
JUDGING = 300.0  # seconds that the referee may take for one answer
LADDER = tuple(10.0**-k for k in range(13))  # of a library's own tol
ROUGH = 1e-3  # the only target that stochastic descent is asked for


class Child:
    """One library; it is sent the problem when something is asked of it.

    Parameters
    ----------
    name : str
        The library.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._remote = Remote(name, Server)
        self._problem: Problem | None = None
        self._sent: Problem | None = None

    def give(self, problem: Problem) -> None:
        """What the next questions are about."""
        self._problem = problem

    def call(self, verb: str, *args: Any, seconds: float) -> Any:
        """Ask, and wait at most so long for the answer."""
        if not self._remote.running or self._sent is not self._problem:
            self._sent = None
            self._remote.call("forget", seconds=TAKING)
            self._remote.call("take", self._problem, seconds=TAKING)
            self._sent = self._problem
        return self._remote.call(verb, *args, seconds=seconds)

    def stop(self) -> None:
        """End the process."""
        self._remote.stop()
        self._sent = None


class Contestant(NamedTuple):
    """One solver of one library."""

    child: Child
    variant: str

    @property
    def ours(self) -> bool:
        """Whether it is one of this library's."""
        return self.child.name == OURS

    @property
    def name(self) -> str:
        """The head of its column."""
        library = self.child.name
        return library if self.variant == "auto" else f"{library} {self.variant}"

    def targets(self, every: Sequence[float]) -> list[float]:
        """The gaps that it is asked for, the largest first."""
        known = sorted(every, reverse=True)
        return [t for t in known if t >= ROUGH] if self.variant == SGD else known

    def rungs(self, target: float) -> tuple[float, ...]:
        """The values of tol to try: ours is the gap itself."""
        return (target,) if self.ours else LADDER

    def run(self, tol: float, seconds: float) -> float:
        """Seconds of one fit."""
        return float(self.child.call("run", self.variant, tol, seconds=seconds))

    def judge(self) -> dict[str, Any]:
        """The referee's figures on that fit."""
        verdict: dict[str, Any] = self.child.call("judge", seconds=JUDGING)
        return verdict


def contestants(
    children: Sequence[Child], loss: str, solvers: Sequence[str] = ("auto",)
) -> list[Contestant]:
    """All that can do this loss; of ours the solvers that were asked for."""
    return [
        Contestant(child, variant)
        for child in children
        for variant in (solvers if child.name == OURS else ALL[child.name].variants(loss))
    ]
