"""Are the probabilities any good? Ours against scikit-learn's way to get them.

``python -m benchmarks.calibration`` fits ``SVC(probability=True)`` and scikit-learn's
``CalibratedClassifierCV(SVC(), ensemble=False)`` with the same parameters on real data,
for several seeds of the folds, and measures on test rows

- the Brier score Σ_k (p_k − [y = k])², mean over rows (lower is better),
- the reliability error: confidence of the predicted class against its accuracy, in ten
  equally full bins, mean absolute difference (lower is better),
- the seconds of a fit, interleaved, ours warmed up.

Results go to ``benchmarks/results/calibration.json`` and docs/results/calibration.md;
``--pages`` writes the page from what is stored.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC as PeerSVC  # noqa: N811
from tests import data

import maxmargin
from benchmarks import page
from benchmarks.speed import table as common
from benchmarks.speed.machine import describe

if TYPE_CHECKING:
    from collections.abc import Callable

RESULTS = page.STORED / "calibration.json"


class Case(NamedTuple):
    """One row of the table."""

    load: Callable[[], data.Split]
    parameters: dict[str, float]
    shape: str


SETS: dict[str, Case] = {
    "svmguide1": Case(data.svmguide1, {"C": 2.0, "gamma": 2.0}, "3,089 × 4"),
    "a9a sample": Case(
        lambda: data.a9a().first(8000), {"C": 1.0, "gamma": 1 / 32}, "8,000 × 123, sparse"
    ),
    "usps": Case(data.usps, {"C": 10.0, "gamma": 1 / 64}, "7,291 × 256, 10 classes"),
}


def brier(p: np.ndarray, y: np.ndarray, classes: np.ndarray) -> float:
    """Mean squared distance of the probabilities from the truth, over all classes."""
    return float(((p - (y[:, None] == classes)) ** 2).sum(axis=1).mean())


def reliability(p: np.ndarray, y: np.ndarray, classes: np.ndarray) -> float:
    """How far confidence and accuracy are apart, over ten bins of equal size."""
    sure = p.max(axis=1)
    right = classes[p.argmax(axis=1)] == y
    bins = np.array_split(np.argsort(sure, kind="stable"), 10)
    return float(np.mean([abs(sure[one].mean() - right[one].mean()) for one in bins]))


def machines(case: Case, seed: int) -> dict[str, Any]:
    """Ours and the peer, with folds of the same seed."""
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    return {
        "maxmargin": maxmargin.SVC(
            probability=True, random_state=seed, **case.parameters
        ),
        "scikit-learn": CalibratedClassifierCV(
            PeerSVC(cache_size=2000, **case.parameters), ensemble=False, cv=folds
        ),
    }


def measure(name: str, seeds: int) -> list[dict[str, Any]]:
    """One row for each machine on one set, means over the seeds."""
    case = SETS[name]
    split = case.load()
    step = max(1, split.X.shape[0] // 3000)
    machines(case, 0)["maxmargin"].fit(split.X[::step], split.y[::step])
    found: dict[str, list[tuple[float, ...]]] = {}
    for seed in range(seeds):
        for machine, model in machines(case, seed).items():
            began = time.perf_counter()
            model.fit(split.X, split.y)
            seconds = time.perf_counter() - began
            p = model.predict_proba(split.X_test)
            right = float((model.predict(split.X_test) == split.y_test).mean())
            figures = [f(p, split.y_test, model.classes_) for f in (brier, reliability)]
            found.setdefault(machine, []).append((*figures, right, seconds))
    rows = []
    for machine, figures in found.items():
        scores, errors, rights, seconds = zip(*figures, strict=True)
        rows.append(
            {
                "set": name,
                "shape": case.shape,
                "machine": machine,
                "brier": statistics.mean(scores),
                "spread": max(scores) - min(scores),
                "reliability": statistics.mean(errors),
                "accuracy": statistics.mean(rights),
                "seconds": statistics.median(seconds),
            }
        )
        print(rows[-1], flush=True)
    return rows


def table(rows: list[dict[str, Any]]) -> str:
    """The rows as Markdown."""
    lines = [
        "| set | machine | Brier score | reliability error | test accuracy | fit s |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        first = row["machine"] == "maxmargin"
        where = f"**{row['set']}** ({row['shape']})" if first else ""
        lines.append(
            f"| {where} | {row['machine']} | {row['brier']:.4f} | "
            f"{row['reliability']:.4f} | {100 * row['accuracy']:.2f} % | "
            f"{row['seconds']:.2f} |"
        )
    return "\n".join(lines)


def text(run: dict[str, Any]) -> str:
    """A stored run as Markdown."""
    about = run["machine"]  # a sentence in runs from before versions were recorded
    where = about if isinstance(about, str) else common.machine(about)
    return f"{table(run['rows'])}\n\n{where}"


def publish(run: dict[str, Any]) -> None:
    """Write a run to its page."""
    page.write("calibration", text(run), page.RESULTS / "calibration.md")


def main() -> None:
    """Measure, print, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", metavar="SET")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--pages", action="store_true", help="measure nothing")
    chosen = parser.parse_args()
    if chosen.pages:
        publish(json.loads(RESULTS.read_text(encoding="utf-8")))
        return
    rows = [row for name in chosen.sets or SETS for row in measure(name, chosen.seeds)]
    run = {"machine": describe(), "seeds": chosen.seeds, "rows": rows}
    print(text(run))
    if not chosen.sets:
        RESULTS.write_text(json.dumps(run, indent=1) + "\n", encoding="utf-8")
        publish(run)


if __name__ == "__main__":
    main()
