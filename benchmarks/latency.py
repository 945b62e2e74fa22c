"""How long people wait before anything happens, against the budgets of the design.

    python -m benchmarks.latency [--json] [--publish]

Every figure is the median over fresh processes of the time inside the process, without
the start of the interpreter. A first fit is counted over scikit-learn's import, which
the user of a drop-in replacement has paid already; Numba's import is ours and counts.
The exit status is 1 when a budget is exceeded.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import page
from benchmarks.speed import machine, table

SRC = Path(__file__).resolve().parents[1] / "src"
RESULTS = page.STORED / "latency.json"

IMPORT = """
import time
began = time.perf_counter()
import maxmargin
print(time.perf_counter() - began)
"""

# A whole process, the start of Python included: what a person waits for.
HELP = """
import subprocess, sys, time
began = time.perf_counter()
subprocess.run([sys.executable, "-m", "maxmargin", "--help"], check=True, stdout=-3)
print(time.perf_counter() - began)
"""

FIT = """
import time
import sklearn.svm
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler
X, y = load_breast_cancer(return_X_y=True)
X = StandardScaler().fit_transform(X)
began = time.perf_counter()
from maxmargin import SVC
SVC().fit(X, y)
print(time.perf_counter() - began)
"""


# Above 1000 rows kernel values are float32 first: more is compiled.
LARGE = FIT.replace(
    "began =",
    "import numpy\nX = numpy.r_[X, -X, X[::-1]]\ny = numpy.r_[y, 1 - y, y]\nbegan =",
)


class Row(NamedTuple):
    """One figure: the seconds of every run, and what they may be."""

    name: str
    budget: float
    runs: list[float]

    @property
    def median(self) -> float:
        """The figure that is judged."""
        return statistics.median(self.runs)

    @property
    def kept(self) -> bool:
        """Whether the budget is kept."""
        return self.median <= self.budget


def seconds(code: str, cache: Path | str) -> float:
    """Run ``code`` in a new process with this Numba cache; return what it prints."""
    env = os.environ | {"PYTHONPATH": str(SRC), "NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=env,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return float(done.stdout.split()[-1])


def measure(repeats: int = 5, cold_repeats: int = 3) -> list[Row]:
    """All rows; the cold fits come first, and the last of them fills the cache."""
    with tempfile.TemporaryDirectory() as folder:
        caches = [Path(folder, f"numba{k}") for k in range(cold_repeats)]
        cold = [seconds(FIT, cache) for cache in caches]
        warm = [seconds(FIT, caches[-1]) for _ in range(repeats)]
        large = [Path(folder, f"large{k}") for k in range(cold_repeats)]
        cold_large = [seconds(LARGE, cache) for cache in large]
        imports = [seconds(IMPORT, caches[-1]) for _ in range(repeats)]
        helps = [seconds(HELP, caches[-1]) for _ in range(repeats)]
    return [
        Row("import maxmargin", 0.3, imports),
        Row("maxmargin --help, the whole process", 0.3, helps),
        Row("first fit in a new process, cache filled", 1.0, warm),
        Row("first fit ever, cache empty, 569 rows", 8.0, cold),
        Row("first fit ever, cache empty, 1,707 rows", 8.0, cold_large),
    ]


def records(rows: list[Row]) -> list[dict[str, Any]]:
    """The rows as JSON can hold them."""
    return [
        {"name": r.name, "median": r.median, "budget": r.budget, "runs": r.runs}
        for r in rows
    ]


def text(run: dict[str, Any]) -> str:
    """A stored run as Markdown."""
    body = [[r["name"], f"{r['median']:.2f}", f"{r['budget']:g}"] for r in run["rows"]]
    rows = table.grid(["", "median s", "budget s"], body)
    return f"{rows}\n\n{table.machine(run['machine'])}"


def publish(rows: list[Row]) -> None:
    """Store the rows, and write them to their page."""
    run = {"machine": machine.describe(), "rows": records(rows)}
    RESULTS.write_text(json.dumps(run, indent=1) + "\n", encoding="utf-8")
    page.write("latency", text(run), page.RESULTS / "latency.md")


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.latency", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--json", action="store_true", help="print JSON, not a table")
    parser.add_argument("--publish", action="store_true", help="also in docs/results")
    args = parser.parse_args()
    rows = measure()
    if args.publish:
        publish(rows)
    if args.json:
        print(json.dumps(records(rows), indent=2))
    else:
        print(f"{'seconds, in fresh processes':42}{'median':>8}{'budget':>8}  verdict")
        for row in rows:
            verdict = "kept" if row.kept else "EXCEEDED"
            print(f"{row.name:42}{row.median:8.3f}{row.budget:8.1f}  {verdict}")
    return 0 if all(row.kept for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
