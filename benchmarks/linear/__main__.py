"""Fit seconds of linear machines, ours and the peers', at equal measured duality gaps.

    python -m benchmarks.linear                 everything; rewrites the pages
    python -m benchmarks.linear a9a w8a         a part: printed, kept in .cache/linear
    python -m benchmarks.linear --quick         a look in under 3 minutes
    python -m benchmarks.linear a9a --merge     measure a part anew, put it in the results
    python -m benchmarks.linear --curves        growth and memory alone, into the results
    python -m benchmarks.linear --pages         the pages from the stored results
    python -m benchmarks.linear covtype --solvers auto newton     solvers of ours

Every library works in a process of its own and they take turns; only the calls of the
library are timed. One referee measures all gaps; a library's own tol for a gap is
searched for before the clock starts. The machine should have nothing else to do.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tests.data import DataMissing

from benchmarks.linear import footprint, growth, pages, table
from benchmarks.linear.child import Child
from benchmarks.linear.datasets import LOSSES, SETS, load, problem_of
from benchmarks.linear.measure import row
from benchmarks.linear.race import Plan
from benchmarks.linear.score import lines
from benchmarks.page import HOME, STORED
from benchmarks.peers.linear import ALL, versions
from benchmarks.speed import machine, memory

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

RESULTS = STORED / "linear.json"
PARTS = HOME / ".cache" / "linear"
QUICK = Plan(repeat=1, cap=1.0, start=30.0, rows=1000, patience=10.0)
QUICK_SETS = ("covtype", "synthetic-C1", "a9a", "w8a", "sparse1m", "houses", "abalone")
QUICK_SIZES = (5000, 10_000, 20_000)


def arguments(given: list[str] | None = None) -> argparse.Namespace:
    """What the caller wants."""
    parser = argparse.ArgumentParser(
        prog="benchmarks.linear",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("sets", nargs="*", metavar="SET", help=", ".join(SETS))
    parser.add_argument("--machines", nargs="+", choices=ALL, default=list(ALL))
    parser.add_argument("--solvers", nargs="+", default=["auto"], help="of ours (auto)")
    parser.add_argument("--repeat", type=int, default=3, help="runs of one row (3)")
    parser.add_argument("--rows", type=int, help="only so many rows of every set")
    parser.add_argument("--cap", type=float, default=60.0, help="seconds of a run (60)")
    parser.add_argument("--quick", action="store_true", help="few rows, one repetition")
    parser.add_argument("--merge", action="store_true", help="into the stored results")
    parser.add_argument(
        "--curves", action="store_true", help="only growth and memory, into the results"
    )
    parser.add_argument("--pages", action="store_true", help="measure nothing")
    chosen = parser.parse_args(given)
    unknown = [name for name in chosen.sets if name not in SETS]
    if unknown:
        parser.error(f"no such set: {', '.join(unknown)}; there are {', '.join(SETS)}")
    narrow = (
        chosen.machines != list(ALL)
        or chosen.solvers != ["auto"]
        or chosen.rows is not None
    )
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


def rows_of(
    run: dict[str, Any], children: list[Child], chosen: argparse.Namespace, plan: Plan
) -> Iterator[None]:
    """Every set with both its losses, each printed as soon as it is there."""
    for name in chosen.sets or (QUICK_SETS if chosen.quick else SETS):
        with told(run, name):
            loaded = load(name, plan.rows)
            for loss in LOSSES[SETS[name].kind]:
                problem = problem_of(name, loss, loaded, plan.rows)
                run["rows"].append(row(children, name, problem, plan, chosen.solvers))
                for target in plan.targets:
                    last = lines(run["rows"][-1:], target)
                    print(f"\ngap {target:g}", table.fits(last), sep="\n", flush=True)
                yield


def measure(chosen: argparse.Namespace, plan: Plan, kept: Path) -> dict[str, Any]:
    """All that was asked for; what there is so far is kept after every row."""
    run: dict[str, Any] = {
        "machine": machine.describe() | {"packages": versions()},
        "targets": list(plan.targets),
        "rows": [],
        "notes": [],
    }
    children = [Child(name) for name in chosen.machines]
    try:
        for _ in rows_of(run, children, chosen, plan):
            save(run, kept)
        if not chosen.sets:
            grow(run, children, plan, kept, quick=chosen.quick)
    finally:
        for child in children:
            child.stop()
    if not chosen.sets:
        weigh(run, plan, quick=chosen.quick)
    return run


def grow(
    run: dict[str, Any], children: list[Child], plan: Plan, kept: Path, *, quick: bool
) -> None:
    """Curves of growth; what there is so far is kept after every one."""
    sizes = QUICK_SIZES if quick else growth.SIZES
    for case in growth.CASES[-1:] if quick else growth.CASES:
        about = f"{case[0]}, {case[1].replace('_', ' ')}"
        with told(run, f"growth of {about}"):
            curves = growth.measure(children, case, sizes, plan)
            run.setdefault("growth", {})[about] = curves
        save(run, kept)


def weigh(run: dict[str, Any], plan: Plan, *, quick: bool) -> None:
    """Memory, where it can be measured."""
    if memory.available():
        with told(run, "memory"):
            cases = footprint.CASES[:1] if quick else footprint.CASES
            run["memory"] = footprint.measure(cases, plan)


def add_curves(plan: Plan) -> None:
    """Memory and growth alone, into the stored results as they come."""
    run = json.loads(RESULTS.read_text(encoding="utf-8"))
    weigh(run, plan, quick=False)
    save(run, RESULTS)
    children = [Child(name) for name in ALL]
    try:
        grow(run, children, plan, RESULTS, quick=False)
    finally:
        for child in children:
            child.stop()
    pages.publish(run)


def merged(stored: dict[str, Any], part: dict[str, Any]) -> dict[str, Any]:
    """The stored run with the rows of a part in place of its own."""
    every = {(one["set"], one["loss"]): one for one in [*stored["rows"], *part["rows"]]}
    order = [(name, loss) for name in SETS for loss in LOSSES[SETS[name].kind]]
    rows = [every[key] for key in order if key in every]
    notes = [*stored["notes"], *part["notes"], *machine.other_versions(stored, part)]
    return {**stored, "rows": rows, "notes": notes}


def main(given: list[str] | None = None) -> None:
    """Measure, print, and write the results."""
    # Ended from outside, the children must end too: as after any other exception.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    chosen = arguments(given)
    if chosen.pages:
        pages.publish(json.loads(RESULTS.read_text(encoding="utf-8")))
        return
    plan = Plan(repeat=chosen.repeat, cap=chosen.cap, rows=chosen.rows)
    if chosen.curves:
        add_curves(plan)
        return
    if chosen.quick:  # a look is often taken on a busy machine: wait asleep, not awake
        os.environ.setdefault("OMP_WAIT_POLICY", "passive")
        plan = QUICK
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
    else:
        pages.draw(run, PARTS)
    page = PARTS / f"{name}.md"
    page.write_text(pages.text(run, "."), encoding="utf-8")
    print(pages.text(run, "."), f"\nkept: {kept}, {page}", sep="\n")


if __name__ == "__main__":
    main()
