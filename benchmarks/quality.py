"""How good are the answers? One referee for us, scikit-learn and sklearnex.

``python -m benchmarks.quality [sets…]`` fits every machine on real data at the same
tolerance, lets :func:`maxmargin.certify` measure each answer in float64, and writes
``benchmarks/results/quality.json`` and the table in docs/results/quality.md; ``--pages``
writes the table from what is stored.

Fits of one set run one after the other in one process, ours warmed up on a part of the
data so that compilation is not counted. Seconds are medians of ``--repeat`` runs.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
import warnings
from typing import Any

from sklearn import svm
from tests import data

import maxmargin
from benchmarks import page
from benchmarks.speed import table as common
from benchmarks.speed.datasets import SETS as PANEL
from benchmarks.speed.datasets import Set
from benchmarks.speed.machine import commit, describe

RESULTS = page.STORED / "quality.json"
TOL = 1e-3


# Those of the speed panel, and machines that it does not have.
SETS: dict[str, Set] = {
    "svmguide1": PANEL["svmguide1"],
    "usps": PANEL["usps"],
    "letter": PANEL["letter"],
    "ijcnn1": PANEL["ijcnn1"],
    "a9a": PANEL["a9a-csr"],
    "a9a-8000": Set(
        lambda: data.a9a().first(8000), "NuSVC", {"nu": 0.3, "gamma": 1 / 32},
        "8,000 × 123, CSR",
    ),
    "houses": PANEL["houses"],
    "houses-nu": Set(
        data.houses, "NuSVR", {"C": 1.0, "nu": 0.5, "gamma": 0.125}, "18,576 × 8"
    ),
    "abalone": Set(data.abalone, "SVR", {"C": 10.0, "gamma": 0.1}, "3,760 × 10"),
    "mnist10k-one": PANEL["mnist10k-one"],
}  # fmt: skip


def machines(case: Set) -> dict[str, Any]:
    """The machines to compare, all with the same parameters."""
    found: dict[str, Any] = {
        "maxmargin": getattr(maxmargin, case.kind)(tol=TOL, **case.parameters),
        "scikit-learn": getattr(svm, case.kind)(
            tol=TOL, cache_size=2000, **case.parameters
        ),
    }
    try:
        import sklearnex.svm as patched
    except ImportError:
        return found
    if hasattr(patched, case.kind):
        found["sklearnex"] = getattr(patched, case.kind)(
            tol=TOL, cache_size=2000, **case.parameters
        )
    return found


def score(model: Any, split: Any) -> float:
    """Accuracy or R² on the test part; for one class, the share of it inside."""
    if hasattr(model, "score"):
        return float(model.score(split.X_test, split.y_test))
    return float((model.predict(split.X_test) == 1).mean())


def measure(name: str, repeat: int) -> list[dict[str, Any]]:
    """One row for each machine on one set."""
    case = SETS[name]
    split = case.load()
    y = None if case.kind == "OneClassSVM" else split.y
    every = machines(case)
    step = max(1, split.X.shape[0] // 3000)
    every["maxmargin"].fit(split.X[::step], None if y is None else y[::step])
    seconds: dict[str, list[float]] = {machine: [] for machine in every}
    for number in range(repeat):
        for machine, model in every.items():
            if number and seconds[machine][0] > 60.0:
                continue  # once is enough
            began = time.perf_counter()
            model.fit(split.X, y)
            seconds[machine].append(time.perf_counter() - began)
    rows = []
    for machine, model in every.items():
        verdict = maxmargin.certify(model, split.X, y)
        problems = verdict.problems or (verdict,)
        rows.append(
            {
                "set": name,
                "commit": commit(),
                "kind": case.kind,
                "shape": case.shape,
                "parameters": case.parameters,
                "machine": machine,
                "violation": verdict.violation,
                "dual": sum(one.dual for one in problems),
                "primal": sum(one.primal for one in problems),
                "seconds": statistics.median(seconds[machine]),
                "score": score(model, split),
            }
        )
        print(rows[-1], flush=True)
    return rows


def names(row: dict[str, Any]) -> str:
    """The parameters of a row, in words."""
    greek = {"gamma": "γ", "nu": "ν"}
    return ", ".join(
        f"{greek.get(name, name)}={value:.3g}"
        for name, value in row["parameters"].items()
    )


def table(rows: list[dict[str, Any]]) -> str:
    """The rows as Markdown; the objective is the sum over all problems of a machine."""
    lines = [
        "| set | machine | violation | ≤ tol | dual objective | fit s | test score |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        first = row["machine"] == "maxmargin"
        where = (
            f"**{row['kind']}, {row['set']}** ({row['shape']}; {names(row)})"
            if first
            else ""
        )
        verdict = "yes" if row["violation"] <= TOL else "**no**"
        lines.append(
            f"| {where} | {row['machine']} | {row['violation']:.7g} | {verdict} "
            f"| {row['dual']:.4f} | {row['seconds']:.2f} "
            f"| {100 * row['score']:.2f} % |"
        )
    return "\n".join(lines)


def text(run: dict[str, Any]) -> str:
    """A stored run as Markdown."""
    about = run["machine"]  # a sentence in runs from before versions were recorded
    where = about if isinstance(about, str) else common.machine(about)
    parts = [table(run["rows"]), where, *common.notes(run)]
    return "\n\n".join(part for part in parts if part)


def publish(run: dict[str, Any]) -> None:
    """Write a run to its page."""
    page.write("quality", text(run), page.RESULTS / "quality.md")


def main() -> None:
    """Measure, print, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", metavar="SET")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--pages", action="store_true", help="measure nothing")
    chosen = parser.parse_args()
    known = json.loads(RESULTS.read_text(encoding="utf-8"))
    if chosen.pages:
        publish(known)
        return
    unknown = [name for name in chosen.sets if name not in SETS]
    if unknown:
        parser.error(f"no such set: {', '.join(unknown)}; there are {', '.join(SETS)}")
    warnings.simplefilter("ignore")  # a peer's own warnings are not ours to show
    by_set = {name: [r for r in known["rows"] if r["set"] == name] for name in SETS}
    for name in chosen.sets or SETS:
        by_set[name] = measure(name, chosen.repeat)
    rows = [row for name in SETS for row in by_set[name]]
    run = {"machine": describe(), "tol": TOL, "rows": rows}
    print(text(run))
    RESULTS.write_text(json.dumps(run, indent=1) + "\n", encoding="utf-8")
    publish(run)


if __name__ == "__main__":
    main()
