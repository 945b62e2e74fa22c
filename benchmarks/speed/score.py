"""What the records of a run say: who solved the problem, how fast, and by how much.

A library whose answer the referee finds above ``tol`` is judged by its run at tol/2 (†).
An answer that is above tol even there, or whose objective misses the best one by more
than a relative 1e-6, is wrong (‡): no time of it is counted as a peer's. In rows of
float32 data the libraries that only know float64 keep the figures of their float64 row:
they would convert the data and do the same. So does one whose answer in float32 is no
solution, if that in float64 is: its user would convert the data.

A violation 0.1 % above tol is enough for †, and tol/2 may take twice as long; a peer that
is wrong counts nowhere. Both favour whoever is exact, that is us: so every ratio of fits
is also given as it would be if all peers' first runs counted (``unmarked``).
"""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.peers import ALL, OURS

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Line", "Standing", "geometric_mean", "lines"]

Record = dict[str, Any]
MISSED = 1e-6  # relative distance of an objective from the best
RETIMED, WRONG, UNJUDGED, CONVERTED = "†", "‡", "?", "§"


class Standing(NamedTuple):
    """One library in one row."""

    fit: float | None  # median seconds; the cap where a run was ended by it
    spread: tuple[float, float] | None
    decide: float | None  # the same
    violation: float | None
    missed: float | None  # how far its objective is below the best, relative
    mark: str = ""
    capped: bool = False
    decide_capped: bool = False
    first: float | None = None  # median seconds of the run at tol, whatever its answer
    reason: str = ""  # why a figure is not there

    @property
    def counts(self) -> bool:
        """Whether its time is that of a solved problem."""
        solved = self.mark in ("", RETIMED, CONVERTED)
        return self.fit is not None and not self.capped and solved


NOT_RUN = Standing(None, None, None, None, None, reason="not run")


class Line(NamedTuple):
    """One row of the table; ratios are theirs over ours, above 1 where we are faster."""

    row: Record
    machines: dict[str, Standing]
    fastest: float | None
    fastest_is_bound: bool  # every peer was ended by the cap
    unmarked: float | None  # the same if every peer's first run counted
    reference: float | None  # against scikit-learn
    reference_is_bound: bool
    reference_unmarked: float | None  # the same if its first run counted
    limit: float | None  # our time in units of the unavoidable work
    decide_fastest: float | None
    decide_reference: float | None

    @property
    def small(self) -> bool:
        """Whether the row is about latency."""
        return bool(self.row["small"])


def geometric_mean(values: Iterable[float | None]) -> float | None:
    """The mean of the ratios that there are."""
    known = [value for value in values if value is not None]
    return math.exp(statistics.fmean(map(math.log, known))) if known else None


def _final(record: Record, tol: float) -> tuple[Record, str]:
    """The record that counts: of the run at tol/2 where the first was above tol."""
    verdict = record.get("verdict")
    if verdict is None or verdict["violation"] <= tol:
        return record, ""
    tight = record.get("tight", {})
    again = tight.get("verdict")
    if again is not None and again["violation"] <= tol:
        return {**record, **tight}, RETIMED
    if tight.get("fit_capped") is not None:
        return tight, RETIMED
    return record, WRONG


def _best(finals: Iterable[Record]) -> float | None:
    """The largest dual objective of a feasible answer: all of them bound the optimum."""
    verdicts = [final["verdict"] for final in finals if "verdict" in final]
    return max((one["objective"] for one in verdicts if one["feasible"]), default=None)


def _median(runs: list[float] | None) -> float | None:
    return statistics.median(runs) if runs else None


def _standing(record: Record, tol: float, best: float | None) -> Standing:
    final, mark = _final(record, tol)
    first = _median(record.get("fit"))
    runs, verdict = final.get("fit"), final.get("verdict")
    reason = final.get("reason", "")
    if final.get("fit_capped") is not None and not runs:
        cap, decided = final["fit_capped"], _median(record.get("decide"))
        return Standing(cap, None, decided, None, None, mark, capped=True, first=first)
    if not runs or reason:
        return Standing(None, None, None, None, None, reason=reason or "not run")
    decided, decide_cap = final.get("decide"), final.get("decide_capped")
    missed, reason = None, final.get("decide_reason", "")
    if verdict is None:
        mark, reason = UNJUDGED, final.get("verdict_reason", "not judged")
    elif best is not None:
        missed = (best - verdict["objective"]) / (abs(best) or 1.0)
        # Without feasibility an objective above the best is as wrong as one below.
        if (missed if verdict["feasible"] else abs(missed)) > MISSED:
            mark = WRONG
    return Standing(
        statistics.median(runs),
        (min(runs), max(runs)),
        _median(decided) or decide_cap,
        verdict["violation"] if verdict else None,
        missed,
        mark,
        decide_capped=not decided and decide_cap is not None,
        first=first,
        reason=reason,
    )


def _ratio(theirs: float | None, ours: float | None) -> float | None:
    return theirs / ours if theirs and ours else None


def _fastest(peers: list[Standing]) -> tuple[float | None, bool]:
    """Seconds of the fastest peer, and whether they are only a lower bound."""
    times = [one.fit for one in peers if one.counts and one.fit is not None]
    if times:
        return min(times), False
    caps = [one.fit for one in peers if one.capped and one.fit is not None]
    return (min(caps), True) if caps else (None, False)


def _standings(row: Record) -> dict[str, Standing]:
    """Every library that worked on this row; objectives are of the same data."""
    records, tol = row["machines"], row["tol"]
    best = _best(_final(record, tol)[0] for record in records.values())
    return {name: _standing(record, tol, best) for name, record in records.items()}


def _line(row: Record, machines: dict[str, Standing]) -> Line:
    ours = machines.get(OURS, NOT_RUN)
    theirs = machines.get("scikit-learn", NOT_RUN)
    peers = [one for name, one in machines.items() if name != OURS]
    fastest, is_bound = _fastest(peers)
    firsts = [one.first for one in peers if one.first is not None]
    known = theirs.counts or theirs.capped
    theirs_first = theirs.first or (theirs.fit if theirs.capped else None)
    mine = ours.fit if ours.counts else None  # a wrong answer of ours wins nothing
    # An answer that is wrong in the sixth digit has as many support vectors.
    decides = [one.decide for one in peers if one.decide and not one.decide_capped]
    return Line(
        row=row,
        machines=machines,
        fastest=_ratio(fastest, mine),
        fastest_is_bound=is_bound,
        unmarked=_ratio(min(firsts, default=fastest), mine),
        reference=_ratio(theirs.fit if known else None, mine),
        reference_is_bound=theirs.capped,
        reference_unmarked=_ratio(theirs_first, mine),
        limit=_ratio(mine, row.get("limit", {}).get("seconds")),
        decide_fastest=_ratio(min(decides, default=None), ours.decide),
        decide_reference=_ratio(
            None if theirs.decide_capped else theirs.decide, ours.decide
        ),
    )


def _converted(double: Standing, single: Standing) -> Standing:
    """The seconds of float64 rows, for a library that cannot solve them in float32.

    What its answer in float32 was worth is told, if it had one.
    """
    firsts = [one.first for one in (double, single) if one.first is not None]
    judged = single if single.violation is not None else double
    return double._replace(
        mark=CONVERTED,
        decide=single.decide or double.decide,
        first=min(firsts),
        violation=judged.violation,
        missed=judged.missed,
    )


def lines(rows: list[Record], dtype: str) -> list[Line]:
    """The lines of one precision, in the order of the rows."""
    doubles = {row["set"]: row for row in rows if row["dtype"] == "float64"}
    found = []
    for row in rows:
        if row["dtype"] != dtype:
            continue
        machines = _standings(row)
        if row["set"] in doubles:
            for name, standing in _standings(doubles[row["set"]]).items():
                here = machines.get(name, NOT_RUN)
                if dtype not in ALL[name].precisions:
                    machines[name] = standing
                elif name != OURS and standing.counts and not here.counts:
                    machines[name] = _converted(standing, here)
        ordered = {name: machines[name] for name in ALL if name in machines}
        found.append(_line(row, ordered))
    return found
