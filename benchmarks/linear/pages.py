"""A stored run as text and pictures; of a whole run also in README.md and docs/."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks import page
from benchmarks.linear import growth, plots, score, table
from benchmarks.speed import table as common
from benchmarks.speed.plots import curves

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.linear.score import Line

__all__ = ["draw", "publish", "text"]

MARKS = ("<!-- linear: begin -->", "<!-- linear: end -->")
DOCS = page.README.parent / "docs"
PAGES = (page.README, DOCS / "linear.md")
IMAGES = DOCS / "images"
BARS = "linear_ratios.png"
STOPPED = (
    f"To a gap of {growth.TARGET:g}; a library stops growing after a run over "
    f"{growth.STOP:.0f} s or none."
)


def _found(run: dict[str, Any]) -> dict[float, list[Line]]:
    return {target: score.lines(run["rows"], target) for target in run["targets"]}


def _picture(case: str) -> str:
    return f"linear_growth_{case.replace(', ', '_').replace(' ', '_')}.png"


def text(run: dict[str, Any], images: str = "images") -> str:
    """Everything that was measured, as Markdown."""
    found = _found(run)
    parts = [common.machine(run["machine"]), *common.notes(run)]
    parts += ["## Means", table.means(found)]
    if run.get("drawn"):
        parts.append(f"![Ratios to the fastest peer, row by row]({images}/{BARS})")
    for target, lines in found.items():
        parts += [f"## Fit seconds to a relative duality gap of {target:g}"]
        parts += [table.fits(lines), table.legend(lines)]
    for target, lines in found.items():
        parts += [f"## Answers at {target:g}: measured gap", table.answers(lines)]
    if any(row.get("predict") for row in run["rows"]):
        parts += ["## Decision values of the rows learnt from, seconds"]
        parts += [table.predictions(run["rows"])]
    for case, measured in run.get("growth", {}).items():
        parts += [f"## Growth: fit seconds on {case}", common.growth(measured), STOPPED]
        if run.get("drawn"):
            parts.append(f"![Fit seconds against rows]({images}/{_picture(case)})")
    if run.get("memory"):
        parts += ["## Memory", table.memory(run["memory"])]
    return "\n\n".join(part for part in parts if part)


def draw(run: dict[str, Any], folder: Path) -> None:
    """The pictures into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    plots.bars(_found(run), folder / BARS)
    for case, measured in run.get("growth", {}).items():
        curves(
            measured, folder / _picture(case), f"{case}, to a gap of {growth.TARGET:g}"
        )
    run["drawn"] = True


def publish(run: dict[str, Any]) -> list[str]:
    """README.md shows fits and means, docs/linear.md everything.

    Returns the names of the pages that have no place for it.
    """
    draw(run, IMAGES)
    found = _found(run)
    short = [table.means(found)]
    for target, lines in found.items():
        short += [f"Seconds to a relative duality gap of {target:g}:"]
        short += [table.fits(lines), table.legend(lines)]
    short += [common.machine(run["machine"]), *common.notes(run)]
    without = []
    for where, parts in zip(PAGES, (short, [text(run)]), strict=True):
        whole = where.read_text(encoding="utf-8") if where.exists() else ""
        if all(mark in whole for mark in MARKS):
            content = "\n\n".join(part for part in parts if part)
            page.replace_between(MARKS, content, where)
        else:
            without.append(where.name)
    return without
