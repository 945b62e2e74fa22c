"""How good are the answers? One referee for us, scikit-learn and sklearnex.

``python -m benchmarks.quality [sets…]`` fits every machine on real data at the same
tolerance, lets :func:`maxmargin.certify` measure each answer in float64, and writes
``benchmarks/results/quality.json`` and the table between the markers in README.md.

Fits of one set run one after the other in one process, ours warmed up on a part of the
data so that compilation is not counted. Seconds are medians of ``--repeat`` runs.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sklearn import svm
from tests import data

import maxmargin

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = Path(__file__).parent
README = HERE.parent / "README.md"
MARKS = ("<!-- quality: begin -->", "<!-- quality: end -->")
TOL = 1e-3

SETS: dict[str, tuple[Callable[[], Any], float, float, str]] = {
    "svmguide1": (data.svmguide1, 2.0, 2.0, "3,089 × 4, 2 classes"),
    "usps": (data.usps, 10.0, 1 / 64, "7,291 × 256, 10 classes"),
    "letter": (data.letter, 16.0, 4.0, "15,000 × 16, 26 classes"),
    "ijcnn1": (data.ijcnn1, 32.0, 2.0, "49,990 × 22, 2 classes"),
    "a9a": (data.a9a, 1.0, 1 / 32, "32,561 × 123, 2 classes, sparse"),
}


def machines(C: float, gamma: float) -> dict[str, Any]:
    """The machines to compare, all with the same parameters."""
    found: dict[str, Any] = {
        "maxmargin": maxmargin.SVC(C=C, gamma=gamma, tol=TOL),
        "scikit-learn": svm.SVC(C=C, gamma=gamma, tol=TOL, cache_size=2000),
    }
    try:
        from sklearnex.svm import SVC as PatchedSVC  # noqa: N811
    except ImportError:
        return found
    found["sklearnex"] = PatchedSVC(C=C, gamma=gamma, tol=TOL, cache_size=2000)
    return found


def measure(name: str, repeat: int) -> list[dict[str, Any]]:
    """One row for each machine on one set."""
    load, C, gamma, shape = SETS[name]
    split = load()
    every = machines(C, gamma)
    step = max(1, split.X.shape[0] // 3000)
    every["maxmargin"].fit(split.X[::step], split.y[::step])
    seconds: dict[str, list[float]] = {machine: [] for machine in every}
    for number in range(repeat):
        for machine, model in every.items():
            if number and seconds[machine][0] > 60.0:
                continue  # once is enough
            began = time.perf_counter()
            model.fit(split.X, split.y)
            seconds[machine].append(time.perf_counter() - began)
    rows = []
    for machine, model in every.items():
        verdict = maxmargin.certify(model, split.X, split.y)
        problems = verdict.problems or (verdict,)
        rows.append(
            {
                "set": name,
                "shape": shape,
                "C": C,
                "gamma": gamma,
                "machine": machine,
                "violation": verdict.violation,
                "dual": sum(one.dual for one in problems),
                "primal": sum(one.primal for one in problems),
                "seconds": statistics.median(seconds[machine]),
                "accuracy": float(model.score(split.X_test, split.y_test)),
            }
        )
        print(rows[-1], flush=True)
    return rows


def table(rows: list[dict[str, Any]]) -> str:
    """The rows as Markdown; the objective is the sum over all binary problems."""
    lines = [
        "| set | machine | violation | ≤ tol | dual objective | fit s | test accuracy |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        first = row["machine"] == "maxmargin"
        where = (
            f"**{row['set']}** ({row['shape']}; C={row['C']:g}, γ={row['gamma']:.3g})"
            if first
            else ""
        )
        verdict = "yes" if row["violation"] <= TOL else "**no**"
        lines.append(
            f"| {where} | {row['machine']} | {row['violation']:.7g} | {verdict} "
            f"| {row['dual']:.4f} | {row['seconds']:.2f} "
            f"| {100 * row['accuracy']:.2f} % |"
        )
    return "\n".join(lines)


def main() -> None:
    """Measure, print, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", metavar="SET")
    parser.add_argument("--repeat", type=int, default=3)
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")  # a peer's own warnings are not ours to show
    results = HERE / "results"
    results.mkdir(exist_ok=True)
    stored = results / "quality.json"
    known = json.loads(stored.read_text())["rows"] if stored.exists() else []
    by_set = {name: [row for row in known if row["set"] == name] for name in SETS}
    for name in chosen.sets or SETS:
        by_set[name] = measure(name, chosen.repeat)
    rows = [row for name in SETS for row in by_set[name]]
    text = table(rows)
    print(text)
    machine = f"{platform.processor() or platform.machine()}, {platform.platform()}"
    stored.write_text(
        json.dumps({"machine": machine, "tol": TOL, "rows": rows}, indent=1) + "\n"
    )
    page = README.read_text()
    head, rest = page.split(MARKS[0])
    tail = rest.split(MARKS[1])[1]
    README.write_text(f"{head}{MARKS[0]}\n{text}\n{MARKS[1]}{tail}")


if __name__ == "__main__":
    main()
