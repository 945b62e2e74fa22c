"""What the records of a run say: who reached the gap, how fast, and by how much.

A peer that ended above the gap whatever its tol (‡), or that was ended by the clock (>),
is no rival; where no peer is one, the ratio is that to the time at which the clock ended
them, and never counted as more than 10.
"""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.peers.linear import OURS

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["EARLY", "GOALS", "MOST", "Line", "Standing", "lines", "title"]

Record = dict[str, Any]
EARLY = "‡"
MOST = 10.0  # the ratio to a peer that never got there
GOALS = {"dense": 5.0, "sparse": 2.0, "regression": 3.0}


class Standing(NamedTuple):
    """One contestant in one row, for one gap."""

    fit: float | None = None  # median seconds; where the clock ended it, those
    spread: tuple[float, float] | None = None
    gap: float | None = None  # the largest that the referee found in its timed runs
    tol: float | None = None  # of its own, that it took
    capped: bool = False
    early: bool = False
    reason: str = ""

    @property
    def counts(self) -> bool:
        """Whether its time is that of the gap asked for."""
        return self.fit is not None and not self.capped and not self.early


class Line(NamedTuple):
    """One row of the table for one gap."""

    row: Record
    target: float
    standings: dict[str, Standing]
    fastest: float | None  # the fastest peer's seconds over ours
    is_bound: bool  # no peer reached the gap

    @property
    def lost(self) -> bool:
        """Whether a peer was faster."""
        return self.fastest is not None and self.fastest < 1.0 and not self.is_bound


def title(row: Record) -> str:
    """Set and loss in a few words."""
    return f"{row['set']}, {row['loss'].replace('_', ' ')}"


def _standing(entry: Record) -> Standing:
    if entry.get("fit"):
        runs = entry["fit"]
        spread = (min(runs), max(runs))
        return Standing(statistics.median(runs), spread, entry["gap"], entry["tol"])
    if "capped" in entry:
        return Standing(entry["capped"], capped=True)
    if "stopped" in entry:
        seconds, gap, tol = entry["seconds"], entry["stopped"], entry["tol"]
        return Standing(seconds, None, gap, tol, early=True)
    return Standing(reason=entry.get("reason", "not run"))


def _ratio(peers: Iterable[Standing], ours: float) -> tuple[float | None, bool]:
    known = list(peers)
    times = [one.fit for one in known if one.counts and one.fit is not None]
    if times:
        return min(times) / ours, False
    bounds = [MOST for one in known if one.early]
    bounds += [one.fit / ours for one in known if one.capped and one.fit is not None]
    return (min(MOST, *bounds), True) if bounds else (None, False)


def lines(rows: Iterable[Record], target: float) -> list[Line]:
    """The lines of one gap, in the order of the rows."""
    found = []
    for row in rows:
        entries = {
            name: record["targets"].get(f"{target:g}")
            for name, record in row["machines"].items()
        }
        every = {name: _standing(entry) for name, entry in entries.items() if entry}
        ours = every.get(OURS, Standing())
        peers = [one for name, one in every.items() if not name.startswith(OURS)]
        fastest: tuple[float | None, bool] = (None, False)
        if ours.counts and ours.fit is not None:  # else we did not get there ourselves
            fastest = _ratio(peers, ours.fit)
        found.append(Line(row, target, every, *fastest))
    return found
