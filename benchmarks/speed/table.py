"""The figures as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.peers import ALL, OURS
from benchmarks.speed import score
from benchmarks.speed.growth import exponent

if TYPE_CHECKING:
    from benchmarks.speed.score import Line, Standing

__all__ = [
    "NONE",
    "fits",
    "goals",
    "grid",
    "growth",
    "legend",
    "machine",
    "means",
    "memory",
    "notes",
    "predictions",
    "quality",
    "seconds",
    "times",
    "warming",
]

NONE = "–"
NEAR = 4.0  # units of the unavoidable work that are near the limit


def seconds(value: float | None) -> str:
    """Three digits, whatever the size."""
    if value is None:
        return NONE
    digits = 0 if value >= 99.95 else 1 if value >= 9.995 else 2 if value >= 0.9995 else 3
    return f"{value:.{digits}f}" if value >= 0.0995 else f"{value:.2g}"


def times(value: float | None, *, bound: bool = False) -> str:
    """A ratio, or a lower bound on it."""
    if value is None:
        return NONE
    text = f"{value:.0f}" if value >= 99.5 else f"{value:.1f}" if value >= 9.95 else ""
    return ("≥ " if bound else "") + (text or f"{value:.2f}") + "×"


def grid(head: list[str], body: list[list[str]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *body]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _libraries(found: list[Line]) -> list[str]:
    return [name for name in ALL if any(name in line.machines for line in found)]


def _fit(one: Standing | None, *, best: bool, spread: bool) -> str:
    if one is None or one.fit is None:
        return NONE
    if one.capped:
        return f">{one.fit:.0f}{one.mark}{_first(one)}"
    text = seconds(one.fit)
    if spread and one.spread and one.spread[0] < one.spread[1]:
        text += f" ({seconds(one.spread[0])} to {seconds(one.spread[1])})"
    text = (f"**{text}**" if best else text) + one.mark
    return text + _first(one)


def _first(one: Standing) -> str:
    """What a library that was timed again had taken at first."""
    if one.mark != score.RETIMED or one.first is None:
        return ""
    return f" (at tol {seconds(one.first)})"


def _title(line: Line) -> str:
    row = line.row
    greek = {"gamma": "γ", "nu": "ν"}
    told = ", ".join(f"{greek.get(k, k)}={v:.3g}" for k, v in row["parameters"].items())
    kind = "" if row["kind"] == "SVC" else f"{row['kind']}; "
    return f"**{row['set']}** ({row['shape']}; {kind}{told})"


def _ratio(line: Line) -> str:
    """The ratio to the fastest peer, and what it were if all first runs counted."""
    text = times(line.fastest, bound=line.fastest_is_bound)
    if line.unmarked is None or line.unmarked == line.fastest:
        return text
    return f"{text} ({times(line.unmarked)})"


def fits(found: list[Line], *, spread: bool = False) -> str:
    """Fit seconds of every library; the fastest that solved the problem in bold."""
    names = _libraries(found)
    ratio = "fastest peer ÷ ours"
    head = ["set", *names, ratio, "ours ÷ limit", f"predict: {ratio}"]
    body = []
    for line in found:
        solved = [one.fit for one in line.machines.values() if one.counts and one.fit]
        best = min(solved, default=None)
        cells = [
            _fit(one, best=bool(one and one.counts and one.fit == best), spread=spread)
            for one in map(line.machines.get, names)
        ]
        cells.append(_ratio(line))
        cells += [times(line.limit), times(line.decide_fastest)]
        body.append([_title(line), *cells])
    return grid(head, body)


def predictions(found: list[Line]) -> str:
    """Seconds of the decision values of the test rows."""
    names = _libraries(found)
    body = []
    for line in found:
        known = [line.machines.get(name, score.NOT_RUN) for name in names]
        done = [one.decide for one in known if one.decide and not one.decide_capped]
        best = min(done, default=None)
        cells = [
            f">{one.decide:.0f}"
            if one.decide_capped
            else f"**{seconds(one.decide)}**"
            if one.decide and one.decide == best
            else seconds(one.decide)
            for one in known
        ]
        ratios = [times(line.decide_fastest), times(line.decide_reference)]
        body.append([f"**{line.row['set']}**", *cells, *ratios])
    head = ["set", *names, "fastest peer ÷ ours", "scikit-learn ÷ ours"]
    return grid(head, body)


def quality(found: list[Line]) -> str:
    """Violation of every answer, and how far its objective is below the best."""
    names = _libraries(found)
    body = []
    for line in found:
        cells = []
        for one in map(line.machines.get, names):
            if one is None or one.violation is None:
                cells.append((one.reason if one else "") or NONE)
            else:
                missed = NONE if one.missed is None else f"{max(0.0, one.missed):.0e}"
                cells.append(f"{one.violation:.6f}{one.mark}, {missed}")
        body.append([f"**{line.row['set']}**", *cells])
    return grid(["violation, objective missed by", *names], body)


def _mean(some: list[Line], attribute: str, *, bound: str = "") -> str:
    """The geometric mean of a ratio, and of how many rows if not of all."""
    known = [line for line in some if getattr(line, attribute) is not None]
    mean = score.geometric_mean(getattr(line, attribute) for line in known)
    below = bool(bound) and any(getattr(line, bound) for line in known)
    text = times(mean, bound=below)
    return text if len(known) in (0, len(some)) else f"{text} of {len(known)} rows"


def means(found: dict[str, list[Line]]) -> str:
    """Geometric means of the ratios of all rows, and without the small ones."""
    head = [
        "geometric mean of", "rows", "fit: fastest peer ÷ ours", "if † and ‡ counted",
        "scikit-learn ÷ ours", "if † and ‡ counted", "ours ÷ limit",
        "predict: fastest peer ÷ ours", "scikit-learn ÷ ours",
    ]  # fmt: skip
    body = []
    for dtype, every in found.items():
        large = [line for line in every if not line.small]
        for title, some in ((dtype, every), (f"{dtype}, without the small rows", large)):
            body.append(
                [
                    title,
                    str(len(some)),
                    _mean(some, "fastest", bound="fastest_is_bound"),
                    _mean(some, "unmarked"),
                    _mean(some, "reference", bound="reference_is_bound"),
                    _mean(some, "reference_unmarked", bound="reference_is_bound"),
                    _mean(some, "limit"),
                    _mean(some, "decide_fastest"),
                    _mean(some, "decide_reference"),
                ]
            )
    return grid(head, body)


def goals(found: dict[str, list[Line]]) -> str:
    """What was aimed for, and what came of it: of all rows, small ones included."""
    asked = [
        ("fit: fastest peer ÷ ours, mean", "≥ 4×",
         lambda every: _mean(every, "fastest", bound="fastest_is_bound")),
        ("fit: no peer is faster; a small row takes twice as long at most", "all rows",
         _lost),
        ("fit: scikit-learn ÷ ours, mean", "≥ 10×",
         lambda every: _mean(every, "reference", bound="reference_is_bound")),
        ("predict: fastest peer ÷ ours, mean", "≥ 2×",
         lambda every: _mean(every, "decide_fastest")),
        ("predict: scikit-learn ÷ ours, mean", "≥ 15×",
         lambda every: _mean(every, "decide_reference")),
        ("our answers: violation ≤ tol, no objective missed", "all rows", _wrong),
        ("fit: ours ÷ limit", "≤ 4×", _near),
    ]  # fmt: skip
    body = [[what, goal, *(tell(some) for some in found.values())]
            for what, goal, tell in asked]  # fmt: skip
    return grid(["goal", "aim", *found], body)


def _lost(every: list[Line]) -> str:
    """The rows in which a peer is faster by more than is allowed."""
    least = {True: 0.5, False: 1.0}
    lost = [
        f"{line.row['set']} {times(line.fastest)}"
        for line in every
        if line.fastest is not None and line.fastest < least[line.small]
    ]
    return _all_but(lost + _unsolved(every))


def _wrong(every: list[Line]) -> str:
    """The rows in which we have no answer that counts."""
    return _all_but(_unsolved(every))


def _unsolved(every: list[Line]) -> list[str]:
    ours = [(line.row["set"], line.machines.get(OURS, score.NOT_RUN)) for line in every]
    return [name for name, one in ours if not one.counts]


def _all_but(some: list[str]) -> str:
    return "all but " + ", ".join(some) if some else "all rows"


def _near(every: list[Line]) -> str:
    near = [line.row["set"] for line in every if line.limit and line.limit <= NEAR]
    known = sum(line.limit is not None for line in every)
    names = f" ({', '.join(near)})" if near else ""
    return f"{len(near)} of {known} rows{names}"


def legend(found: list[Line], tol: float) -> str:
    """What the marks say, of those that occur, and why cells are empty."""
    every = [one for line in found for one in line.machines.values()]
    marks = {one.mark for one in every}
    told = []
    if score.RETIMED in marks:
        told.append(f"† stopped above tol = {tol:g}: timed again at tol/2.")
    if score.WRONG in marks:
        told.append(
            f"‡ wrong: above tol at tol/2 too, or an objective that misses the best by "
            f"more than {score.MISSED:g} of it; not counted."
        )
    if score.CONVERTED in marks:
        told.append(
            "§ no solution in float32 (whose violation is told): the seconds are those "
            "of float64 rows."
        )
    if marks & {score.RETIMED, score.WRONG}:
        told.append("In parentheses the ratio if every peer's run at tol counted.")
    if score.UNJUDGED in marks:
        told.append("? the referee has no answer to judge; not counted.")
    if any(one.capped for one in every):
        told.append("\\> ended after so many seconds; ratios with it are lower bounds.")
    reasons = {
        f"{name} on {line.row['set']}: {one.reason}."
        for line in found
        for name, one in line.machines.items()
        if one.reason
    }
    return " ".join([*told, *sorted(reasons)])


def growth(curves: dict[str, list[Any]]) -> str:
    """Seconds at every size, and the exponent of n."""
    sizes = sorted({n for curve in curves.values() for n, _ in curve})
    body = []
    for name, curve in curves.items():
        known = dict(map(tuple, curve))
        power = exponent(curve)
        cells = [seconds(known.get(n)) for n in sizes]
        body.append([name, *cells, NONE if power is None else f"{power:.2f}"])
    return grid(["rows", *(f"{n:,}" for n in sizes), "exponent"], body)


def memory(records: list[dict[str, Any]]) -> str:
    """Peak memory of a fit."""
    body = []
    for one in records:
        allowed = f"{one['allowed']:.0f}" if one["machine"] == OURS else NONE
        above = f"{one['above']:.0f}" if "above" in one else one["reason"]
        worst = f"{one['violation']:.6f}" if "violation" in one else NONE
        cells = [f"{one['cache']:.0f}", above, allowed, worst]
        body.append([one["set"], one["machine"], *cells])
    head = ["set", "library", "cache MB", "above warm-up MB", "allowed", "violation"]
    return grid(head, body)


def notes(run: dict[str, Any]) -> list[str]:
    """What a run says of itself, and with which commits, where there are several."""
    return [_commits(run["rows"]), *run.get("notes", [])]


def warming(rows: list[dict[str, Any]]) -> str:
    """How the rows were warmed up, told by themselves: older ones knew no whole run."""
    longest = max((one.get("warm", 0.0) for one in rows), default=0.0)
    if not longest:
        return ""
    cold = dict.fromkeys(one["set"] for one in rows if not one.get("warm"))
    return (
        "Warm-up on the real shape, timed apart: before its turns every library makes "
        "one whole fit, and one whole prediction, that no table shows; one that takes "
        f"over {longest:g} s is not repeated for that, and is the first timed run."
        + (f" Not so: {', '.join(cold)}." if cold else "")
    )


def _commits(rows: list[dict[str, Any]]) -> str:
    sets: dict[str, list[str]] = {}
    several = len({one.get("processor") for one in rows}) > 1
    for one in rows:
        origin = one.get("commit", "")
        if several:
            origin += f" on {one.get('processor', 'an earlier machine')}"
        names = sets.setdefault(origin, [])
        if one["set"] not in names:
            names.append(one["set"])
    if len(sets) < 2:
        return ""
    told = [f"{', '.join(names)} with {commit}" for commit, names in sets.items()]
    return f"Measured set by set, all libraries by turns: {'; '.join(told)}."


def machine(about: dict[str, Any]) -> str:
    """One sentence on where the run was made."""
    packages = ", ".join(f"{name} {v}" for name, v in about["packages"].items())
    commit = f", commit {about['commit']}" if about["commit"] else ""
    return (
        f"{about['date'][:10]}, {about['processor']}, {about['cores']} cores, "
        f"Python {about['python']}{commit}; {packages}."
    )
