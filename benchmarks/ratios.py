"""The README's eight ratios, from the stored runs of both panels.

    python -m benchmarks.ratios

The rows are chosen by rule, so that no loss can be left out: means, and the worst row of
fits with a kernel, of predictions with one, and of fits without one.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks import page
from benchmarks.linear import score as linear
from benchmarks.peers import OURS
from benchmarks.speed import score, table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

DTYPES = ("float64", "float32")
TARGET = 1e-3  # duality gap of the linear rows
GROUPS = ("dense", "sparse")


class Ratio(NamedTuple):
    """One row: the peer's seconds over ours, above 1 where we are faster."""

    what: str
    data: str
    peer: str
    value: float
    bound: bool = False

    @property
    def cells(self) -> list[str]:
        """The row as the table shows it."""
        told = table.times(self.value, bound=self.bound)
        if self.value < 1.0:
            told = f"**{told}**, slower"
        return [self.what, self.data, self.peer, told]


def _mean(
    what: str, peer: str, known: Sequence[tuple[float | None, bool]], noun: str
) -> Ratio:
    """The geometric mean of the rows that have a ratio; flags say which are bounds."""
    some = [(value, bound) for value, bound in known if value is not None]
    mean = score.geometric_mean(value for value, _ in some)
    if mean is None:
        msg = f"no row has a ratio: {what}, {peer}"
        raise ValueError(msg)
    count = str(len(some)) if len(some) == len(known) else f"{len(some)} of {len(known)}"
    bound = any(bound for _, bound in some)
    return Ratio(what, f"mean of {count} {noun}", peer, mean, bound)


def _first(standings: dict[str, Any], seconds: Callable[[Any], float | None]) -> str:
    """The peer that took least, of those that count."""
    known = {
        name: taken
        for name, one in standings.items()
        if not name.startswith(OURS) and (taken := seconds(one)) is not None
    }
    return min(known, key=known.__getitem__, default="none in time")


def _fit(one: Any) -> float | None:
    return one.fit if one.counts else None


def _decide(one: Any) -> float | None:
    return None if one.decide_capped else one.decide


def _named(row: dict[str, Any]) -> str:
    return f"{row['set']} ({row['shape']}; {row['dtype']})"


def _of_kernels(run: dict[str, Any]) -> list[Ratio]:
    every = [line for dtype in DTYPES for line in score.lines(run["rows"], dtype)]
    doubles = [line for line in every if line.row["dtype"] == "float64"]
    fit, decide = "fit, RBF kernel", "decision values, RBF kernel"
    any_peer, reference = "the fastest of each set", "scikit-learn"
    fits = [(line.fastest, line.fastest_is_bound) for line in doubles]
    against = [(line.reference, line.reference_is_bound) for line in doubles]
    decisions = [(line.decide_fastest, False) for line in doubles]
    slow = min(every, key=lambda line: line.fastest or float("inf"))
    late = min(every, key=lambda line: line.decide_fastest or float("inf"))
    slowest = (slow.fastest or 0.0, slow.fastest_is_bound)
    latest = late.decide_fastest or 0.0
    winner, other = _first(slow.machines, _fit), _first(late.machines, _decide)
    return [
        _mean(fit, any_peer, fits, "sets"),
        _mean(fit, reference, against, "sets"),
        Ratio(f"{fit}: our worst set", _named(slow.row), winner, *slowest),
        _mean(decide, any_peer, decisions, "sets"),
        Ratio(f"{decide}: our worst set", _named(late.row), other, latest),
    ]


def _of_linear(run: dict[str, Any]) -> list[Ratio]:
    every = linear.lines(run["rows"], TARGET)
    found = []
    for group in GROUPS:
        some = [line for line in every if line.row["group"] == group]
        known = [(line.fastest, line.is_bound) for line in some]
        found.append(
            _mean(f"fit, linear, {group}", "the fastest of each row", known, "rows")
        )
    worst = min(every, key=lambda line: line.fastest or float("inf"))
    data = f"{linear.title(worst.row)} ({worst.row['shape']})"
    peer = _first(worst.standings, _fit).replace("multicore", "multicore LIBLINEAR")
    what, value = "fit, linear: our worst row", worst.fastest or 0.0
    return [*found, Ratio(what, data, peer, value, worst.is_bound)]


def ratios(kernel: dict[str, Any], flat: dict[str, Any]) -> list[Ratio]:
    """The eight rows, of a run with kernels and one without."""
    return [*_of_kernels(kernel), *_of_linear(flat)]


def _origin(run: dict[str, Any]) -> str:
    return f"{run['machine']['date'][:10]}, commit {run['machine']['commit']}"


def text() -> str:
    """The table, where it was measured, and what the first fits take."""
    kernel, flat, latency = (
        json.loads((page.STORED / f"{name}.json").read_text(encoding="utf-8"))
        for name in ("speed", "linear", "latency")
    )
    head = ["what", "data", "peer", "peer's time ÷ ours"]
    body = [one.cells for one in ratios(kernel, flat)]
    first = {one["name"]: one["median"] for one in latency["rows"]}
    cold = first["first fit ever, cache empty, 569 rows"]
    warm = first["first fit in a new process, cache filled"]
    about = kernel["machine"]
    notes = (
        f"Means are geometric. {about['processor']}, {about['cores']} cores; RBF kernel: "
        f"{_origin(kernel)}; linear: {_origin(flat)}.\n"
        "Not in these times: the first fit ever compiles, once for all processes "
        f"({cold:.1f} s);\nthe first fit of a new process loads Numba and the compiled "
        f"code ({warm:.2f} s)."
    )
    return f"{table.grid(head, body)}\n\n{notes}"


def publish() -> None:
    """Write the table into the README."""
    page.write("ratios", text(), page.README)


if __name__ == "__main__":
    publish()
