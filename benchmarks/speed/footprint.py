"""Memory of a fit above that after warm-up, each in a fresh process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.peers import OURS
from benchmarks.speed.datasets import Task, problem_of
from benchmarks.speed.measure import JUDGING
from benchmarks.speed.remote import Remote, Unable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.speed.measure import Plan

__all__ = ["CASES", "Case", "measure"]

SPARE = 300.0  # MB that a fit may take above its cache of kernel values


class Case(NamedTuple):
    """One fit whose memory is measured."""

    name: str
    library: str = OURS
    cache: float = 200.0  # MB of kernel values; our default


CASES = (
    Case("a9a"),
    Case("a9a", "sklearnex"),  # only where it takes seconds: it is for comparison
    Case("covtype50k"),
    Case("mnist60k"),
    Case("a9a", cache=2000.0),  # what the fits of the panel are given
    Case("covtype50k", cache=2000.0),
    Case("mnist60k", cache=2000.0),
)


def measure(cases: Sequence[Case], plan: Plan) -> list[dict[str, Any]]:
    """One record for every case, in MB; a reason where there is no figure."""
    found, patience = [], plan.start + plan.cap
    for name, library, cache in cases:
        record: dict[str, Any] = {"set": name, "machine": library, "cache": cache}
        remote = Remote(library)
        try:
            problem = problem_of(Task(name, "float64", plan.rows))
            remote.call("prepare", problem, plan.tol, cache, seconds=patience)
            record |= remote.call("peak", seconds=plan.cap)
            record["violation"] = remote.call("judge", seconds=JUDGING)["violation"]
        except Unable as why:
            record["reason"] = str(why)
        finally:
            remote.stop()
        if library == OURS:
            record["allowed"] = cache + SPARE
        found.append(record)
    return found
