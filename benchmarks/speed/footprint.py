"""Memory of a fit above that after warm-up, each in a fresh process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.peers import OURS
from benchmarks.speed.datasets import Task, problem_of
from benchmarks.speed.measure import JUDGING
from benchmarks.speed.remote import Remote, Unable

if TYPE_CHECKING:
    from benchmarks.speed.measure import Plan

__all__ = ["CASES", "measure"]

CACHE = 200.0  # MB of kernel values; our default
ALLOWED = CACHE + 300.0
# The peer only where it takes seconds: its figure is for comparison.
CASES = (
    ("a9a", OURS),
    ("a9a", "sklearnex"),
    ("covtype50k", OURS),
    ("mnist60k", OURS),
)


def measure(cases: tuple[tuple[str, str], ...], plan: Plan) -> list[dict[str, Any]]:
    """One record for every case, in MB; a reason where there is no figure."""
    found, patience = [], plan.start + plan.cap
    for name, library in cases:
        record: dict[str, Any] = {"set": name, "machine": library, "cache": CACHE}
        remote = Remote(library)
        try:
            problem = problem_of(Task(name, "float64", plan.rows))
            remote.call("prepare", problem, plan.tol, CACHE, seconds=patience)
            record |= remote.call("peak", seconds=plan.cap)
            record["violation"] = remote.call("judge", seconds=JUDGING)["violation"]
        except Unable as why:
            record["reason"] = str(why)
        finally:
            remote.stop()
        if library == OURS:
            record["allowed"] = ALLOWED
        found.append(record)
    return found
