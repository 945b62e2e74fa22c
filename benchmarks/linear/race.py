"""One problem: a reference, the tolerance of every library for a gap, then the clock.

Libraries stop by rules of their own, so tol is searched for, outside the clock: from 1
down by tenths until the referee finds the gap, and then once more half way back, so that
nobody is timed for much more than was asked for. Ours is given the gap itself.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from benchmarks.linear.referee import gap
from benchmarks.peers.linear import SGD
from benchmarks.speed import measure
from benchmarks.speed.remote import Late, Unable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.linear.child import Contestant

__all__ = [
    "DOUBT",
    "HOPELESS",
    "Plan",
    "Record",
    "Reference",
    "median",
    "race",
    "reference",
]

Record = dict[str, Any]
STUCK = 0.9  # of the gap before: a library at its limit of iterations that is no better
# The figure that counts is the fastest peer's. One that takes so many times as long as
# another peer, and at least so many seconds, is ended; one that is beaten by less is not
# run again: the run of the search says all there is to say.
HOPELESS, FLOOR = 4.0, 5.0
BEATEN, BRIEF = 2.0, 1.0
PROMISE = {"primal": 1, "dual": 2, SGD: 3}  # the order of the search; ours before all
DOUBT = 0.1  # of the smallest target: the gap that a reference may have itself
PEER_TOL = (1e-12, 1e-6)  # of a peer that stands in for the reference: squared, or not


@dataclass(frozen=True)
class Plan(measure.Plan):
    """How often, how long, and how exactly."""

    targets: tuple[float, ...] = (1e-3, 1e-6)
    exactly: float = 5e-8  # the gap of the reference
    patience: float = 900.0  # seconds that the reference may take

    def cap_for(self, one: Contestant, fastest: float | None) -> float:
        """Seconds for one run: few for a peer that another has long beaten."""
        if one.ours or fastest is None:
            return self.cap
        return min(self.cap, max(FLOOR, HOPELESS * fastest))


class Reference(NamedTuple):
    """What gaps are measured from."""

    bounds: list[float]  # of every problem: the best dual value known
    gap: float | None  # its own distance to the best primal value
    proved: bool  # else they are primal values, from which gaps only look small
    source: str


class Try(NamedTuple):
    """One run of a search."""

    tol: float
    gap: float
    seconds: float
    exhausted: bool


def reference(some: Sequence[Contestant], squared: bool, plan: Plan) -> Reference:
    """The best dual that there is: of ours; where ours is far off or absent, of a peer.

    A peer gives w only. For a squared loss its slopes are a β; for the others the
    primal value of a long run stands in, which proves nothing.
    """
    mine = [one for one in some if one.ours]
    asked = [(one, tol) for tol in (plan.exactly, min(plan.targets)) for one in mine]
    # The first of scikit-learn's is the primal one where there is a choice.
    asked += [(one, PEER_TOL[not squared]) for one in some if not one.ours][:1]
    bounds = values = np.array([])
    sources, reasons = [], []
    for one, tol in asked:
        try:
            one.run(tol, plan.patience)
            verdict = one.judge()
        except Unable as why:
            reasons.append(f"{one.name}: {why}")
            continue
        source = f"{one.name} at tol {tol:g}"
        if verdict["dual"] is not None:
            best, least = np.array(verdict["dual"]), np.array(verdict["primal"])
            bounds = np.maximum(bounds, best) if bounds.size else best
            values = np.minimum(values, least) if values.size else least
            sources.append(source)
        elif not bounds.size:
            return Reference(verdict["primal"], None, False, source)
        if bounds.size and gap(values, bounds) <= DOUBT * min(plan.targets):
            break
    if not bounds.size:
        raise Unable("no reference; " + "; ".join(dict.fromkeys(reasons)))
    return Reference(bounds.tolist(), gap(values, bounds), True, ", ".join(sources))


def _order(one_try: Try) -> float:
    """By gap; a run that went astray has none."""
    return math.inf if math.isnan(one_try.gap) else one_try.gap


def _attempt(one: Contestant, tol: float, known: Reference, cap: float) -> Try:
    seconds = one.run(tol, cap)
    verdict = one.judge()
    found = gap(verdict["primal"], known.bounds)
    return Try(tol, found, seconds, verdict["exhausted"])


def _reach(
    one: Contestant, target: float, known: Reference, tried: list[Try], cap: float
) -> Try | None:
    """The loosest tol that gives the gap; None where no tol does."""
    past = {one_try.tol: one_try for one_try in tried}

    def attempt(tol: float) -> Try:
        if tol not in past:
            past[tol] = _attempt(one, tol, known, cap)
            tried.append(past[tol])
        return past[tol]

    before: Try | None = None
    for tol in one.rungs(target):
        now = attempt(tol)
        if now.gap <= target:
            between = attempt(math.sqrt(tol * before.tol)) if before else now
            return between if between.gap <= target else now
        if before and now.exhausted and not now.gap < STUCK * before.gap:
            return None
        before = now
    return None


def _search(
    one: Contestant, known: Reference, plan: Plan, fastest: dict[float, float]
) -> Record:
    """What it takes to reach every target, or why it is not reached."""
    tried: list[Try] = []
    entries: Record = {}
    failed: Record | None = None
    for target in one.targets(plan.targets):
        entry = entries[f"{target:g}"] = dict(failed or {})
        if failed is not None:
            continue
        cap = plan.cap_for(one, fastest.get(target))
        try:
            hit = _reach(one, target, known, tried, cap)
        except Late:
            entry["capped"] = cap
        except Unable as why:
            entry["reason"] = str(why)
        else:
            if hit is None:
                best = min(tried, key=_order)
                entry |= {"stopped": best.gap, "seconds": best.seconds, "tol": best.tol}
            else:
                entry |= {"tol": hit.tol, "gap": hit.gap, "seconds": hit.seconds}
                if not one.ours:
                    fastest[target] = min(hit.seconds, fastest.get(target, math.inf))
                continue
        # Ours is asked for every target; what a peer missed it misses by more below.
        failed = None if one.ours and "stopped" in entry else dict(entry)
    return {"tried": [list(one_try) for one_try in tried], "targets": entries}


def _timed(
    entries: list[tuple[Contestant, Record]], target: float, known: Reference, plan: Plan
) -> None:
    """Everyone once, then everyone again: what disturbs one disturbs all.

    With several threads a library may end elsewhere the next time: a run that ends above
    the target is not counted.
    """
    going, first = [], {}
    peers = [entry["seconds"] for one, entry in entries if not one.ours]
    longest = min(plan.once, BEATEN * max(BRIEF, min(peers, default=plan.once)))
    for one, entry in entries:
        entry |= {"fit": [], "missed": 0}
        if one.ours or entry["seconds"] <= longest:  # else it is long, and run already
            going.append((one, entry))
    for number in range(5 * plan.repeat):
        for one, entry in list(going):
            if number and number >= plan.repeats(first[one.name]):
                continue
            try:
                seconds = one.run(entry["tol"], plan.cap)
                found = gap(one.judge()["primal"], known.bounds)
            except Late:
                entry["capped"] = plan.cap
                going.remove((one, entry))
                continue
            except Unable as why:
                entry["reason"] = str(why)
                going.remove((one, entry))
                continue
            first.setdefault(one.name, seconds)
            if found <= target:
                entry["fit"].append(seconds)
                entry["gap"] = max(entry["gap"], found)
            else:
                entry["missed"] += 1
    for _, entry in entries:
        if not entry["fit"] and not {"capped", "reason"} & set(entry):
            entry["fit"] = [entry["seconds"]]  # of the search, which did reach it


def _favourites_first(some: Sequence[Contestant]) -> list[Contestant]:
    """Primal solvers before dual ones and SGD, several cores before one.

    Who is likely to be fast is searched first, and ends the others sooner.
    """
    last_first = list(reversed(some))
    return sorted(last_first, key=lambda one: PROMISE.get(one.variant, 0))


def race(some: Sequence[Contestant], known: Reference, plan: Plan) -> dict[str, Record]:
    """The record of every contestant: its search, and for every target its times."""
    fastest: dict[float, float] = {}
    searched = {
        one.name: _search(one, known, plan, fastest) for one in _favourites_first(some)
    }
    records = {one.name: searched[one.name] for one in some}
    for target in plan.targets:
        key = f"{target:g}"
        reached = [
            (one, records[one.name]["targets"][key])
            for one in some
            if "gap" in records[one.name]["targets"].get(key, {})
        ]
        _timed(reached, target, known, plan)
    return records


def median(record: Record, target: float) -> float | None:
    """Seconds of a contestant that reached the target."""
    entry = record["targets"].get(f"{target:g}", {})
    return statistics.median(entry["fit"]) if entry.get("fit") else None
