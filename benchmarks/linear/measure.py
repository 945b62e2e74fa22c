"""One row of the table: every library on one set with one loss."""

from __future__ import annotations

import datetime as dt
import statistics
from typing import TYPE_CHECKING, Any

from benchmarks.linear.child import contestants
from benchmarks.linear.datasets import SETS
from benchmarks.linear.race import median, race, reference
from benchmarks.peers.linear import OURS
from benchmarks.speed.machine import commit
from benchmarks.speed.remote import Unable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.linear.child import Child, Contestant
    from benchmarks.linear.datasets import Problem
    from benchmarks.linear.race import Plan, Record

__all__ = ["row"]

DECIDERS = (OURS, "scikit-learn")  # LIBLINEAR's interface makes every row in Python
DECIDING = 9  # repetitions


def _predictions(
    some: Sequence[Contestant], records: dict[str, Record], plan: Plan
) -> dict[str, float]:
    """Seconds of decision values, in turn with one matrix product in our process.

    Each right after one that is not timed: who is asked first after another process has
    worked takes twice as long on large rows, whatever it computes.
    """
    asked: list[tuple[str, Child, str]] = []
    for one in some:
        fitted = any(median(records[one.name], target) for target in plan.targets)
        if fitted and one.child.name in DECIDERS:
            asked.append((one.child.name, one.child, "decide"))
            if one.ours:
                asked.append(("product", one.child, "product"))
    runs: dict[str, list[float]] = {}
    for _ in range(1 if plan.repeat == 1 else DECIDING):
        for name, child, verb in dict.fromkeys(asked):
            child.call(verb, seconds=plan.cap)
            runs.setdefault(name, []).append(child.call(verb, seconds=plan.cap))
    return {name: statistics.median(times) for name, times in runs.items()}


def row(
    children: Sequence[Child],
    name: str,
    problem: Problem,
    plan: Plan,
    solvers: Sequence[str] = ("auto",),
) -> Record:
    """All that is measured on one set with one loss."""
    for child in children:
        child.give(problem)
    some = contestants(children, problem.loss, solvers)
    found: dict[str, Any] = {
        "set": name,
        "loss": problem.loss,
        "group": SETS[name].group,
        "shape": SETS[name].shape if plan.rows is None else f"{problem.n:,} rows",
        "C": problem.C,
        "epsilon": problem.epsilon if problem.kind == "SVR" else None,
        "measured": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        "commit": commit(),
        "machines": {},
    }
    try:
        known = reference(some, problem.squared, plan)
    except Unable as why:
        found["reason"] = str(why)
        return found
    found["reference"] = known._asdict()
    found["machines"] = race(some, known, plan)
    try:
        found["predict"] = _predictions(some, found["machines"], plan)
    except Unable as why:
        found["predict_reason"] = str(why)
    return found
