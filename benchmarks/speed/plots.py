"""The pictures: bars of ratios, and growth curves.

matplotlib is imported when something is drawn: every child process imports this module.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.speed.growth import exponent
from maxmargin.plots.canvas.style import (
    BLACK,
    BLUE,
    COLOURS,
    DASHES,
    MARKERS,
    ORANGE,
    cycled,
    legend,
)

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.speed.score import Line

__all__ = ["bars", "curves", "pyplot", "ratios"]

Ratios = dict[str, dict[str, float | None]]  # of every label, then of every row
LOOKS = ({"color": BLUE}, {"color": ORANGE, "hatch": "///"})
TITLE = "covtype, C = 10, γ = 8, float64"


def pyplot() -> Any:
    """``matplotlib.pyplot``, without a screen."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    return plt


def _of(found: dict[str, list[Line]], attribute: str) -> Ratios:
    return {
        dtype: {line.row["set"]: getattr(line, attribute) for line in lines}
        for dtype, lines in found.items()
    }


def ratios(ax: Any, found: Ratios, title: str) -> None:
    """Bars of ratios, one colour a label."""
    sets = list(dict.fromkeys(name for known in found.values() for name in known))
    width = 0.8 / len(found)
    for k, (label, known) in enumerate(found.items()):
        some = [name for name in sets if known.get(name) is not None]
        where = [sets.index(name) + (k - (len(found) - 1) / 2) * width for name in some]
        # From 1, where both are as fast: losses go to the left.
        sizes = [known[name] - 1.0 for name in some]
        ax.barh(
            where, sizes, width, left=1.0, label=label, edgecolor=BLACK, linewidth=0.6,
            **cycled(LOOKS, k),
        )  # fmt: skip
    ax.axvline(1.0, color=BLACK, linewidth=1.2)
    ax.set_xscale("log")
    ax.set_yticks(range(len(sets)), sets)
    ax.invert_yaxis()
    ax.set_xlabel("time of the fastest peer ÷ ours (log scale)")
    ax.set_title(title)
    ticks = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100]
    low, high = ax.get_xlim()
    ax.set_xlim(min(low, 0.8), max(high, 1.25))
    low, high = ax.get_xlim()
    shown = [tick for tick in ticks if low <= tick <= high]
    ax.set_xticks(shown, [f"{tick:g}×" for tick in shown])
    ax.tick_params(axis="x", which="minor", bottom=False, labelbottom=False)
    ax.grid(axis="x", alpha=0.3)
    ax.set_axisbelow(True)


def bars(found: dict[str, list[Line]], path: Path) -> None:
    """How many times faster than the fastest peer, fit and predict."""
    plt = pyplot()
    count = max(map(len, found.values()))
    size = (10.0, 1.5 + 0.36 * count)
    figure, axes = plt.subplots(
        1, 2, figsize=size, layout="constrained", sharey=True, squeeze=True
    )
    ratios(axes[0], _of(found, "fastest"), "fit")
    title = "decision values of the test rows"
    ratios(axes[1], _of(found, "decide_fastest"), title)
    axes[1].invert_yaxis()  # shared, and so turned over twice
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, fontsize="small")
    figure.savefig(path, dpi=110)
    plt.close(figure)


def curves(measured: dict[str, list[Any]], path: Path, title: str = TITLE) -> None:
    """Fit seconds against the number of rows."""
    plt = pyplot()
    figure, ax = plt.subplots(figsize=(6.4, 4.6), layout="constrained")
    for k, (name, curve) in enumerate(measured.items()):
        if not curve:
            continue
        power = exponent(curve)
        label = name if power is None else f"{name}: n^{power:.2f}"
        ax.plot(
            *zip(*curve, strict=True), label=label, color=cycled(COLOURS, k),
            marker=cycled(MARKERS, k), linestyle=cycled(DASHES, k),
        )  # fmt: skip
    ax.set_xscale("log")
    ax.set_yscale("log")
    sizes = sorted({n for curve in measured.values() for n, _ in curve})
    ax.set_xticks(sizes, [f"{n / 1000:g}k" for n in sizes])
    ax.tick_params(axis="x", which="minor", bottom=False, labelbottom=False)
    ax.set_xlabel("rows")
    ax.set_ylabel("fit seconds")
    ax.set_title(title)
    ax.grid(alpha=0.3)
    legend(ax)
    figure.savefig(path, dpi=110)
    plt.close(figure)
