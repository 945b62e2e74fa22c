"""Fit time against the number of rows, to a gap of 1e-3."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from benchmarks.linear.child import contestants
from benchmarks.linear.datasets import load, problem_of
from benchmarks.linear.race import median, race, reference
from benchmarks.speed.remote import Unable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.linear.child import Child
    from benchmarks.linear.race import Plan

__all__ = ["CASES", "SIZES", "TARGET", "measure"]

Curves = dict[str, list[Any]]
CASES = (
    ("covtype", "hinge"),
    ("covtype", "squared_hinge"),
    ("sparse1m", "hinge"),
    ("sparse1m", "squared_hinge"),
)
SIZES = (5_000, 15_000, 50_000, 150_000, 500_000)
TARGET = 1e-3
STOP = 60.0  # seconds after which a library grows no further


def measure(
    children: Sequence[Child], case: tuple[str, str], sizes: Sequence[int], plan: Plan
) -> Curves:
    """Median seconds at every size; a library stops growing after a run over a minute."""
    name, loss = case
    plan = replace(plan, targets=(TARGET,), cap=min(plan.cap, STOP), once=STOP / 6)
    loaded = load(name, max(sizes))
    going = contestants(children, loss)
    curves: Curves = {one.name: [] for one in going}
    for n in sizes:
        problem = problem_of(name, loss, loaded, n)
        for child in children:
            child.give(problem)
        try:
            known = reference(going, problem.squared, plan)
        except Unable as why:
            print(f"growth of {name}, {loss}, ends before {n} rows: {why}", flush=True)
            break
        for who, record in race(going, known, plan).items():
            seconds = median(record, TARGET)
            if seconds is None:
                going = [one for one in going if one.name != who]
            else:
                curves[who].append((n, seconds))
    return {who: curve for who, curve in curves.items() if curve}
