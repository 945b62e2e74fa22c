"""One row of the table: every library on one set, taking turns."""

from __future__ import annotations

import datetime as dt
import math
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from benchmarks.peers import ALL, OURS
from benchmarks.speed.datasets import SETS, Problem, Task, problem_of
from benchmarks.speed.remote import Late, Remote, Unable

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["JUDGING", "Plan", "Record", "fits", "row"]

Record = dict[str, Any]
JUDGING = 900.0  # seconds that the referee may take for one answer
REST = 0.02  # seconds between two runs: threads of the one before may still be spinning


@dataclass(frozen=True)
class Plan:
    """How often, how long, and how exactly."""

    repeat: int = 3
    tol: float = 1e-3
    cap: float = 180.0  # seconds after which a run is ended
    start: float = 60.0  # seconds for a process to start and import, above the cap
    once: float = 60.0  # a run longer than this is not repeated
    brief: float = 0.3  # a run shorter than this is repeated five times as often
    hopeless: float = math.inf  # times the fastest, after which a run is ended too
    least: float = 30.0  # … but not before so many seconds
    warm: float = 10.0  # a first whole run longer than this counts; others warm up only
    rows: int | None = None  # only so many rows of every set

    def patience(self, fastest: float | None) -> float:
        """Seconds that a run may take where another library took ``fastest``."""
        if fastest is None:
            return self.cap
        return min(self.cap, max(self.least, self.hopeless * fastest))

    def repeats(self, seconds: float) -> int:
        """How often a run is made that took so long the first time."""
        if seconds > self.once or self.repeat == 1:
            return 1
        return 5 * self.repeat if seconds < self.brief else self.repeat


def _in_turn(verb: str, able: dict[Remote, Record], key: str, plan: Plan) -> None:
    """Every library once, then every library again: what disturbs one disturbs all.

    Before that each makes one whole run that only warms up, on the shape that counts:
    its seconds are kept apart. A long one is not thrown away, for it would double the
    hours and change little: it takes the place of the first turn.
    """
    for remote, record in list(able.items()):
        record[key] = []
        taken = _timed(verb, remote, able, key, plan)
        if taken is not None and taken > plan.warm:
            record[key].append(taken)
        elif taken is not None:
            record[f"{key}_warm"] = taken
    for number in range(5 * plan.repeat):
        for remote, record in _rotated(list(able.items()), number):
            done = record[key]
            if len(done) > number or (number and number >= plan.repeats(done[0])):
                continue
            taken = _timed(verb, remote, able, key, plan)
            if taken is not None:
                done.append(taken)


def _timed(
    verb: str, remote: Remote, able: dict[Remote, Record], key: str, plan: Plan
) -> float | None:
    """Seconds of one run; of one that was ended or failed none, and it is not able."""
    record = able[remote]
    # Ours does not count: a peer is slow by the standard of its peers.
    peers = [one for one in able if one.name not in (remote.name, OURS)]
    runs = [run for one in peers for run in _runs(able[one], key)]
    patience = plan.patience(min(runs, default=None))
    # Who was in time once is not ended by a later run that takes a little more.
    if own := _runs(record, key):
        patience = max(patience, 2.0 * own[0])
    time.sleep(REST)
    try:
        return float(remote.call(verb, seconds=patience))
    except Late:
        record[f"{key}_capped"] = round(patience)
    except Unable as why:
        record["reason" if key == "fit" else f"{key}_reason"] = str(why)
    del able[remote]
    return None


def _runs(record: Record, key: str) -> list[float]:
    """Seconds of all whole runs so far, that which warmed up first."""
    warm = [record[f"{key}_warm"]] if f"{key}_warm" in record else []
    return warm + record.get(key, [])


def _rotated(some: list[Any], number: int) -> list[Any]:
    """Another one begins each time: nobody always follows the same neighbour."""
    start = number % max(1, len(some))
    return some[start:] + some[:start]


def _ask(remote: Remote, record: Record, key: str, *args: Any, seconds: float) -> bool:
    """One question; whether there was an answer, and if not why in the record."""
    try:
        record[key] = remote.call(*args, seconds=seconds)
    except Unable as why:
        record["reason" if key == "warm_up" else f"{key}_reason"] = str(why)
        return False
    return True


def fits(remotes: Iterable[Remote], problem: Problem, plan: Plan) -> dict[Remote, Record]:
    """Fit seconds of each library, and nothing else: what growth is drawn from."""
    records: dict[Remote, Record] = {remote: {} for remote in remotes}
    able = {
        remote: record
        for remote, record in records.items()
        if _ask(
            remote, record, "warm_up", "prepare", problem, plan.tol, None,
            seconds=plan.start + plan.least,
        )
    }  # fmt: skip
    _in_turn("run", able, "fit", plan)
    return records


def _again(some: list[Remote], problem: Problem, plan: Plan) -> dict[Remote, Record]:
    """Libraries that stopped above tol, asked for half of it, by turns."""
    records = fits(some, problem, replace(plan, tol=plan.tol / 2))
    _judge(records)
    return records


def _judge(records: dict[Remote, Record]) -> dict[Remote, Record]:
    """The referee's figures on every last fit; those that have some.

    A process that was ended in a later run has taken its answer with it.
    """
    judged = {}
    for remote, record in records.items():
        if not record.get("fit") or "reason" in record:
            continue
        if "fit_capped" in record:
            record["verdict_reason"] = f"ended in a run of {record['fit_capped']} s"
        elif _ask(remote, record, "verdict", "judge", seconds=JUDGING):
            judged[remote] = record
    return judged


def row(remotes: list[Remote], task: Task, plan: Plan) -> Record:
    """All that is measured on one set in one precision."""
    problem = problem_of(task._replace(rows=plan.rows))
    able_here = [r for r in remotes if task.dtype in ALL[r.name].precisions]
    records = fits(able_here, problem, plan)
    judged = _judge(records)
    _in_turn("decide", dict(judged), "decide", plan)
    one = SETS[task.name]
    found: Record = {
        "set": task.name,
        "dtype": task.dtype,
        "kind": one.kind,
        "shape": one.shape if plan.rows is None else f"{problem.n:,} rows",
        "parameters": one.parameters,
        "small": one.small,
        "tol": plan.tol,
        "warm": plan.warm,
        "measured": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        "machines": {remote.name: record for remote, record in records.items()},
    }
    for remote in judged:
        if remote.name == OURS:
            patience = plan.start + plan.cap  # tiles may have to be compiled
            _ask(remote, found, "limit", "limit", plan.repeat, seconds=patience)
    late = [
        remote
        for remote, record in judged.items()
        if remote.name != OURS and record["verdict"]["violation"] > plan.tol
    ]
    for remote, record in _again(late, problem, plan).items():
        judged[remote]["tight"] = record
    return found
