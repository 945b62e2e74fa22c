"""What a C-path of linear machines costs, against separate fits of the same.

    python -m benchmarks.linear_path            every set below; rewrites docs/results
    python -m benchmarks.linear_path a9a        some of them

Ten prices from 0.001 to 10, tol = 1e-4; a path and its separate fits by turns, medians of
three. Both give machines with the same certificate: a gap of at most tol for every C.
"""

from __future__ import annotations

import statistics
import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

import maxmargin
from benchmarks import page
from benchmarks.linear.datasets import LOSSES, SETS, load
from benchmarks.speed import table as common
from benchmarks.speed.machine import describe
from maxmargin import LinearSVC, LinearSVR

if TYPE_CHECKING:
    from collections.abc import Callable

PRICES = np.geomspace(1e-3, 10.0, 10)
CHOSEN = ("covtype", "synthetic-C1", "a9a", "w8a", "20news", "houses", "abalone")
REPEAT = 3


def seconds(task: Callable[[], Any]) -> float:
    """Of one call."""
    began = time.perf_counter()
    task()
    return time.perf_counter() - began


def compared(model: Any, X: Any, y: Any) -> tuple[float, float]:
    """Median seconds of a path, and of separate fits."""

    def along() -> None:
        maxmargin.path(model, X, y, PRICES)

    def apart() -> None:
        for C in PRICES:
            clone(model).set_params(C=C).fit(X, y)

    along()  # compiles
    both = [(seconds(along), seconds(apart)) for _ in range(REPEAT)]
    return tuple(statistics.median(runs) for runs in zip(*both, strict=True))  # type: ignore[return-value]


def table(ratios: dict[str, list[float]]) -> str:
    """The ratios of every set, hinge or tube before its square, as Markdown."""
    body = [[name, *(f"{ratio:.2f}" for ratio in two)] for name, two in ratios.items()]
    return common.grid(["set", "hinge or tube", "squared"], body)


def main(names: list[str]) -> None:
    """One line for every set and loss; of all sets also the page."""
    print("| set | path s | separate s | separate ÷ path |\n|---|---:|---:|---:|")
    ratios: dict[str, list[float]] = {}
    for name in names or CHOSEN:
        X, y = load(name)
        kind = SETS[name].kind
        for loss in LOSSES[kind]:
            machine: Any = LinearSVC if kind == "SVC" else LinearSVR
            path, separate = compared(machine(loss=loss, random_state=0), X, y)
            about = f"{name}, {loss.replace('_', ' ')}"
            ratio = separate / path
            ratios.setdefault(name, []).append(ratio)
            print(f"| {about} | {path:.3g} | {separate:.3g} | {ratio:.2f} |", flush=True)
    if not names:
        text = f"{table(ratios)}\n\n{common.machine(describe())}"
        page.write("paths", text, page.RESULTS / "linear-paths.md")


if __name__ == "__main__":
    main(sys.argv[1:])
