"""The picture of the ratios; growth is drawn as for kernel machines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.linear.score import Line, title
from benchmarks.speed.plots import pyplot, ratios

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["bars"]


def bars(found: dict[float, list[Line]], path: Path) -> None:
    """How many times faster than the fastest peer, to either gap."""
    plt = pyplot()
    known = {
        f"to a gap of {target:g}": {title(line.row): line.fastest for line in lines}
        for target, lines in found.items()
    }
    count = max(map(len, known.values()))
    figure, ax = plt.subplots(figsize=(7.2, 1.6 + 0.3 * count), layout="constrained")
    ratios(ax, known, "linear machines")
    handles, labels = ax.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, fontsize="small")
    figure.savefig(path, dpi=110)
    plt.close(figure)
