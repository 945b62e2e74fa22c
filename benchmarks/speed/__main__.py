"""Fit and predict seconds of this library and its peers, judged by one referee.

    python -m benchmarks.speed                 everything; rewrites the pages
    python -m benchmarks.speed usps letter     a part: printed, kept in .cache/speed
    python -m benchmarks.speed --quick         a look at everything in under 3 minutes
    python -m benchmarks.speed usps --merge    measure a part anew, put it in the results
    python -m benchmarks.speed --pages         the pages from the stored results
    python -m benchmarks.speed --pages FILE    … from a run that was kept: now the stored

Every library works in a process of its own and they take turns; only the calls of the
library are timed. The machine should have nothing else to do: two libraries wait busily
for their threads, and one disturbed thread delays them more than the others.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.data import DataMissing

from benchmarks import latency
from benchmarks.page import HOME, STORED
from benchmarks.peers import ALL
from benchmarks.speed import footprint, growth, machine, memory, pages, table
from benchmarks.speed.datasets import SETS, Task
from benchmarks.speed.measure import Plan, row
from benchmarks.speed.remote import Remote
from benchmarks.speed.score import lines

if TYPE_CHECKING:
    from collections.abc import Iterator

RESULTS = STORED / "speed.json"
PARTS = HOME / ".cache" / "speed"
DTYPES = ("float64", "float32")
REPEAT = 3  # what the pages promise
QUICK = Plan(repeat=1, cap=5.0, start=15.0, rows=1100, warm=0.0)  # first runs count
QUICK_SETS = [name for name in SETS if name != "mnist60k"]  # as few rows of it: mnist10k
QUICK_SIZES = (500, 1000, 2000)


def arguments(given: list[str] | None = None) -> argparse.Namespace:
    """What the caller wants."""
    parser = argparse.ArgumentParser(
        prog="benchmarks.speed",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("sets", nargs="*", metavar="SET", help=", ".join(SETS))
    parser.add_argument("--machines", nargs="+", choices=ALL, default=list(ALL))
    parser.add_argument("--dtypes", nargs="+", choices=DTYPES, default=list(DTYPES))
    parser.add_argument("--repeat", type=int, default=REPEAT, help="runs of one row (3)")
    parser.add_argument("--quick", action="store_true", help="few rows, one repetition")
    parser.add_argument("--merge", action="store_true", help="into the stored results")
    parser.add_argument("--pages", nargs="?", const=RESULTS, type=Path,
                        metavar="FILE", help="measure nothing")  # fmt: skip
    chosen = parser.parse_args(given)
    unknown = [name for name in chosen.sets if name not in SETS]
    if unknown:
        parser.error(f"no such set: {', '.join(unknown)}; there are {', '.join(SETS)}")
    narrow = chosen.machines != list(ALL) or chosen.dtypes != list(DTYPES)
    narrow = narrow or chosen.repeat < REPEAT
    if chosen.merge and (not chosen.sets or chosen.quick or narrow):
        parser.error("--merge takes whole rows of named sets")
    chosen.whole = not (chosen.sets or chosen.quick or narrow)
    return chosen


def save(run: dict[str, Any], path: Path) -> None:
    """As JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(run, indent=1) + "\n", encoding="utf-8")


@contextmanager
def told(run: dict[str, Any], what: str) -> Iterator[None]:
    """Go on without a set that is not on this machine, and say so on the page."""
    try:
        yield
    except DataMissing as missing:
        run["notes"].append(f"Not measured: {what}; {missing}.")
        print(run["notes"][-1], flush=True)


def measure(chosen: argparse.Namespace, plan: Plan, kept: Path) -> dict[str, Any]:
    """All that was asked for; what there is so far is kept after every row."""
    here = machine.describe()
    run: dict[str, Any] = {"machine": here, "rows": [], "notes": []}
    origin = {key: here[key] for key in ("commit", "processor")}  # before anybody edits
    remotes = [Remote(name) for name in chosen.machines]
    try:
        for name in chosen.sets or (QUICK_SETS if chosen.quick else SETS):
            for dtype in chosen.dtypes:
                with told(run, f"{name}, {dtype}"):
                    run["rows"].append(row(remotes, Task(name, dtype), plan) | origin)
                    last = lines(run["rows"], dtype)[-1:]
                    print(table.fits(last, spread=True), flush=True)
                save(run, kept)
        if chosen.sets:
            return run
        sizes = QUICK_SIZES if chosen.quick else growth.SIZES
        with told(run, "growth"):
            run["growth"] = growth.measure(remotes, sizes, replace(plan, rows=None))
        save(run, kept)
    finally:
        for remote in remotes:
            remote.stop()
    if memory.available():
        cases = footprint.CASES[:1] if chosen.quick else footprint.CASES
        with told(run, "memory"):
            run["memory"] = footprint.measure(cases, plan)
        save(run, kept)
    return run


def merged(stored: dict[str, Any], part: dict[str, Any]) -> dict[str, Any]:
    """The stored run with the rows of a part in place of its own."""
    new = {(one["set"], one["dtype"]): one for one in part["rows"]}
    old = {(one["set"], one["dtype"]): one for one in stored["rows"]}
    every = {**old, **new}
    order = [(name, dtype) for name in SETS for dtype in DTYPES]
    rows = [every[key] for key in order if key in every]
    notes = [*stored["notes"], *part["notes"], *machine.other_versions(stored, part)]
    return {**stored, "rows": rows, "notes": notes}


def main(given: list[str] | None = None) -> None:
    """Measure, print, and write the results."""
    # Ended from outside, the children must end too: as after any other exception.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    chosen = arguments(given)
    if chosen.pages:
        run = json.loads(chosen.pages.read_text(encoding="utf-8"))
        save(run, RESULTS)
        pages.publish(run)
        return
    if chosen.quick:  # a look is often taken on a busy machine: wait asleep, not awake
        os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    plan = QUICK if chosen.quick else Plan(repeat=chosen.repeat)
    name = "quick" if chosen.quick else "whole" if chosen.whole else "part"
    kept = PARTS / f"{name}.json"
    run = measure(chosen, plan, kept)
    save(run, kept)
    if not run["rows"]:
        sys.exit("nothing was measured")
    if chosen.merge:
        run = merged(json.loads(RESULTS.read_text(encoding="utf-8")), run)
    if chosen.whole or chosen.merge:
        save(run, RESULTS)
        pages.publish(run)
        if chosen.whole:
            latency.publish(latency.measure())
    else:
        pages.draw(run, PARTS)
    page = PARTS / f"{name}.md"
    page.write_text(pages.text(run, "."), encoding="utf-8")
    print(pages.text(run, "."), f"\nkept: {kept}, {page}", sep="\n")


if __name__ == "__main__":
    main()
