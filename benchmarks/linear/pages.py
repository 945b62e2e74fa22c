"""A stored run as text and pictures; a whole run also goes into docs/results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks import page, ratios
from benchmarks.linear import growth, plots, score, table
from benchmarks.speed import table as common
from benchmarks.speed.plots import curves

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.linear.score import Line

__all__ = ["draw", "publish", "text"]

PAGE = page.RESULTS / "linear-machines.md"
BARS = "linear_ratios.png"
STOPPED = (
    f"To a gap of {growth.TARGET:g}; a library stops growing after a run over "
    f"{growth.STOP:.0f} s or none."
)


def _found(run: dict[str, Any]) -> dict[float, list[Line]]:
    return {target: score.lines(run["rows"], target) for target in run["targets"]}


def _picture(case: str) -> str:
    return f"linear_growth_{case.replace(', ', '_').replace(' ', '_')}.png"


def text(run: dict[str, Any], images: str = "../images") -> str:
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


def publish(run: dict[str, Any]) -> None:
    """Write the whole run to its page, and the README's ratios from what is stored."""
    draw(run, page.IMAGES)
    page.write("linear", text(run), PAGE)
    ratios.publish()
