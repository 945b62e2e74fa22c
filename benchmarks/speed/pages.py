"""A stored run as text and pictures; a whole run also goes into docs/results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks import page, ratios
from benchmarks.speed import plots, score, table
from benchmarks.speed.growth import ASYMPTOTIC, STOP

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.speed.score import Line

__all__ = ["draw", "publish", "text"]

PAGE = page.RESULTS / "kernel-machines.md"
STOPPED = (
    f"Exponents from {ASYMPTOTIC:,} rows on. – not run: a library is asked for no more "
    f"rows after a run over {STOP:.0f} s, or none. ThunderSVM works in float32; answers "
    "are not judged here."
)
BARS, GROWTH = "speed_ratios.png", "speed_growth.png"


def _found(run: dict[str, Any]) -> dict[str, list[Line]]:
    both = {dtype: score.lines(run["rows"], dtype) for dtype in ("float64", "float32")}
    return {dtype: lines for dtype, lines in both.items() if lines}


def _legend(run: dict[str, Any], lines: list[Line]) -> str:
    return table.legend(lines, run["rows"][0]["tol"])


def text(run: dict[str, Any], images: str = "../images") -> str:
    """Everything that was measured, as Markdown."""
    found = _found(run)
    parts = [table.machine(run["machine"]), *table.notes(run)]
    parts.append(table.warming(run["rows"]))
    parts += ["## Means", table.means(found), "## Goals", table.goals(found)]
    if run.get("drawn"):
        parts.append(f"![Ratios to the fastest peer, set by set]({images}/{BARS})")
    for dtype, lines in found.items():
        parts += [
            f"## Fit seconds, {dtype}: median (least to most)",
            table.fits(lines, spread=True),
            _legend(run, lines),
        ]
    for dtype, lines in found.items():
        parts += [f"## Decision values of the test rows, seconds, {dtype}"]
        parts += [table.predictions(lines)]
    for dtype, lines in found.items():
        parts += [f"## Answers, {dtype}", table.quality(lines)]
    if run.get("growth"):
        parts += ["## Growth: fit seconds on covtype, float64 rows"]
        parts += [table.growth(run["growth"]), STOPPED]
        parts.append(f"![Fit seconds against rows]({images}/{GROWTH})")
    if run.get("memory"):
        parts += ["## Memory", table.memory(run["memory"])]
    return "\n\n".join(part for part in parts if part)


def draw(run: dict[str, Any], folder: Path) -> None:
    """Both pictures into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    plots.bars(_found(run), folder / BARS)
    if run.get("growth"):
        plots.curves(run["growth"], folder / GROWTH)
    run["drawn"] = True


def publish(run: dict[str, Any]) -> None:
    """Write the whole run to its page, and the README's ratios from what is stored."""
    draw(run, page.IMAGES)
    page.write("speed", text(run), PAGE)
    ratios.publish()
