"""Fit time against the number of rows, and the power of n that it follows."""

from __future__ import annotations

import statistics
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.speed.datasets import Task, problem_of
from benchmarks.speed.measure import fits

if TYPE_CHECKING:
    from benchmarks.speed.measure import Plan
    from benchmarks.speed.remote import Remote

__all__ = ["ASYMPTOTIC", "SIZES", "STOP", "exponent", "measure"]

Curve = list[tuple[int, float]]
SET = "covtype50k"
SIZES = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000)
ASYMPTOTIC = 5_000  # below this a fit is partly fixed costs
STOP = 60.0  # seconds after which a library grows no further
ONCE = 10.0  # seconds above which one run is enough for a point of a curve
HOPELESS = 10.0  # times the fastest, after which a library grows no further


def measure(
    remotes: list[Remote], sizes: tuple[int, ...], plan: Plan
) -> dict[str, Curve]:
    """Median seconds at every size; a library stops after a run over a minute."""
    plan = replace(plan, once=ONCE, hopeless=HOPELESS)
    curves: dict[str, Curve] = {remote.name: [] for remote in remotes}
    going = list(remotes)
    for n in sizes:
        problem = problem_of(Task(SET, "float64", n))
        for remote, record in fits(going, problem, plan).items():
            if record.get("fit"):
                curves[remote.name].append((n, statistics.median(record["fit"])))
            if not record.get("fit") or record["fit"][0] > STOP:
                going.remove(remote)
    return curves


def exponent(curve: list[Any]) -> float | None:
    """The slope of log t against log n, by least squares, from 5,000 rows on."""
    tail = [(n, seconds) for n, seconds in curve if n >= ASYMPTOTIC]
    if len(tail) < 2:
        return None
    n, seconds = np.log(np.array(tail)).T
    return float(np.polyfit(n, seconds, 1)[0])
