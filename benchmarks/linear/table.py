"""The figures of linear machines as Markdown."""

from __future__ import annotations

from typing import Any

from benchmarks.linear import score
from benchmarks.linear.race import DOUBT, HOPELESS
from benchmarks.linear.score import Line, Standing, title
from benchmarks.peers.linear import ALL, OURS
from benchmarks.speed.score import geometric_mean
from benchmarks.speed.table import NONE, grid, seconds, times

__all__ = ["answers", "fits", "legend", "means", "memory", "predictions"]

ORDER = ("", " primal", " dual", " SGD")


def _columns(found: list[Line]) -> list[str]:
    """Ours with all its solvers, then every library's, those that took part."""
    present = list(dict.fromkeys(name for line in found for name in line.standings))
    known = [f"{library}{variant}" for library in ALL for variant in ORDER]
    mine = [name for name in present if name.startswith(OURS)]
    return mine + [name for name in known if name in present and name not in mine]


def _cell(one: Standing | None, *, best: bool) -> str:
    if one is None or one.fit is None:
        return NONE
    if one.capped:
        return f">{one.fit:.0f}"
    if one.early:
        return f"{seconds(one.fit)}{score.EARLY} ({one.gap:.0e})"
    return f"**{seconds(one.fit)}**" if best else seconds(one.fit)


def _head(line: Line) -> str:
    row = line.row
    return f"**{title(row)}** ({row['shape']}; C={row['C']:g})"


def fits(found: list[Line]) -> str:
    """Seconds to the gap; the fastest in bold."""
    names = _columns(found)
    body = []
    for line in found:
        reached = [one.fit for one in line.standings.values() if one.counts and one.fit]
        best = min(reached, default=None)
        cells = [
            _cell(one, best=bool(one and one.counts and one.fit == best))
            for one in map(line.standings.get, names)
        ]
        body.append([_head(line), *cells, times(line.fastest, bound=line.is_bound)])
    return grid(["set", *names, "fastest peer ÷ ours"], body)


def answers(found: list[Line]) -> str:
    """The gap that was measured, and the library's own tol that it took."""
    names = _columns(found)
    body = []
    for line in found:
        known = line.row.get("reference", {})
        own = NONE if known.get("gap") is None else f"{max(known['gap'], 0.0):.0e}"
        cells = []
        for one in map(line.standings.get, names):
            if one is None or one.gap is None or one.tol is None:
                cells.append((one.reason if one else "") or NONE)
            else:
                mark = score.EARLY if one.early else ""
                cells.append(f"{max(one.gap, 0.0):.1e}{mark} (tol {one.tol:.0e})")
        body.append([f"**{title(line.row)}**", own, *cells])
    return grid(["gap", "reference's own", *names], body)


def means(found: dict[float, list[Line]]) -> str:
    """Geometric means of the ratios of every group, its goal, and the rows lost."""
    head = ["geometric mean of", "gap", "rows", "fastest peer ÷ ours", "goal", "least",
            "a peer is faster on"]  # fmt: skip
    body = []
    for group, goal in score.GOALS.items():
        for target, every in found.items():
            some = [line for line in every if line.row["group"] == group]
            if not some:
                continue
            known = [line for line in some if line.fastest is not None]
            least = min(known, key=lambda line: line.fastest or 0.0, default=None)
            bound = any(line.is_bound for line in known)
            body.append(
                [
                    group,
                    f"{target:g}",
                    str(len(some))
                    if len(known) == len(some)
                    else f"{len(known)} of {len(some)}",
                    times(geometric_mean(line.fastest for line in known), bound=bound),
                    times(goal),
                    times(least.fastest, bound=least.is_bound) if least else NONE,
                    "; ".join(title(line.row) for line in known if line.lost) or "none",
                ]
            )
    return grid(head, body)


def legend(found: list[Line]) -> str:
    """What the marks say, of those that occur, and why cells are empty."""
    every = [one for line in found for one in line.standings.values()]
    told = []
    if any(one.early for one in every):
        told.append(
            f"{score.EARLY} stopped at the gap in parentheses, whatever its tol; the "
            "seconds of its best run."
        )
    if any(one.capped for one in every):
        told.append(
            f"\\> ended there: after the cap, or {HOPELESS:g} times as long as another "
            "peer took."
        )
    if any(line.is_bound for line in found):
        told.append(
            f"≥ no peer reached the gap: counted as the time they were given, at most "
            f"{score.MOST:g}×."
        )
    unproved = [title(line.row) for line in found
                if not line.row.get("reference", {}).get("proved", True)]  # fmt: skip
    if unproved:
        told.append(
            f"Gaps from a primal value, which proves nothing: {'; '.join(unproved)}."
        )
    doubtful = [
        f"{title(line.row)} ({line.row['reference']['gap']:.0e})"
        for line in found
        if (line.row.get("reference", {}).get("gap") or 0.0) > DOUBT * line.target
    ]
    if doubtful:
        told.append(f"The reference itself has a gap: {'; '.join(doubtful)}.")
    told += [f"{title(line.row)}: {line.row['reason']}." for line in found
             if "reason" in line.row]  # fmt: skip
    reasons: dict[str, list[str]] = {}
    for line in found:
        for name, one in line.standings.items():
            if one.reason:
                reasons.setdefault(f"{name}: {one.reason}", []).append(title(line.row))
    told += [f"{reason} ({'; '.join(rows)})." for reason, rows in reasons.items()]
    return " ".join(told)


def predictions(rows: list[dict[str, Any]]) -> str:
    """Seconds of decision values beside one matrix product; one row a set."""
    first = {row["set"]: row for row in reversed(rows) if row.get("predict")}
    body = []
    for row in rows:
        if first.get(row["set"]) is not row:
            continue
        known = row["predict"]
        ours, product = known.get(OURS), known.get("product")
        share = ours / product if ours and product else None
        figures = [seconds(known.get(key)) for key in (OURS, "scikit-learn", "product")]
        body.append([f"**{row['set']}** ({row['shape']})", *figures, times(share)])
    head = ["set", OURS, "scikit-learn", "one matrix product", "ours ÷ product"]
    return grid(head, body)


def memory(records: list[dict[str, Any]]) -> str:
    """Peak memory of a fit above its input."""
    body = []
    for one in records:
        name = f"{one['set']}, {one['loss'].replace('_', ' ')}"
        above = f"{one['above']:.0f}" if "above" in one else one["reason"]
        units = f"{one['above'] / one['unit']:.1f}" if "above" in one else NONE
        body.append([name, one["machine"], f"{one['input']:.0f}", above, units])
    unit = "in units of n + d² numbers (sparse: n + d)"
    return grid(["set", "library", "input MB", "above it MB", unit], body)
