"""LIBSVM's text, read and written: ours against scikit-learn.

    python -m benchmarks.text_files [--quick] [--repeats 3]

A file of 200 MB (``--quick``: 20 MB) is made by repeating ijcnn1 and a9a, and a second
one with the same rows times π, whose values have 16 or 17 digits. Runs are interleaved,
ours after one that is not timed (it compiles); figures are medians. Both readers must
return the same matrix to the bit, and both writers files that are read back to it. A run
of full size is also written to docs/results/files.md.
"""

from __future__ import annotations

import argparse
import bz2
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.datasets import dump_svmlight_file, load_svmlight_file
from tests import data

from benchmarks import page
from benchmarks.speed import table as common
from benchmarks.speed.machine import describe
from maxmargin.data_files.svmlight import read_svmlight, write_svmlight

if TYPE_CHECKING:
    from collections.abc import Callable

MEGABYTE = 10**6


class Row(NamedTuple):
    """One comparison: the size of the file and the seconds of every run."""

    what: str
    size: int
    ours: list[float]
    one_thread: list[float]
    theirs: list[float]


def repeated(path: Path, size: int) -> None:
    """At least ``size`` bytes of ijcnn1 and a9a in turn."""
    parts = [
        bz2.decompress(data.find(f"libsvm/{name}").read_bytes())
        for name in ("ijcnn1.trn", "a9a")
    ]
    with open(path, "wb") as file:
        while file.tell() < size:
            file.writelines(parts)


def times_pi(path: Path, target: Path) -> None:
    """The same rows with values that need every digit."""
    X, y, _ = read_svmlight(path)
    X.data *= np.pi
    write_svmlight(target, X, y)


def seconds(call: Callable[[], Any]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def interleaved(calls: list[Callable[[], Any]], repeats: int) -> list[list[float]]:
    """Seconds of every call, one of each in turn."""
    rounds = [[seconds(call) for call in calls] for _ in range(repeats)]
    return [list(one) for one in zip(*rounds, strict=True)]


def same(ours: tuple[Any, Any], theirs: tuple[Any, Any]) -> None:
    """Stop unless two readers agree to the bit."""
    (X, y), (X2, y2) = ours, theirs
    agreed = (
        X.shape == X2.shape
        and np.array_equal(X.data.view(np.int64), X2.data.view(np.int64))
        and np.array_equal(X.indices, X2.indices)
        and np.array_equal(X.indptr, X2.indptr)
        and np.array_equal(y, y2)
    )
    if not agreed:
        raise SystemExit("the two readers disagree")


def reading(what: str, path: Path, repeats: int) -> Row:
    def theirs() -> Any:
        return load_svmlight_file(str(path), zero_based=False)

    same(read_svmlight(path)[:2], theirs())
    ours, one, others = interleaved(
        [lambda: read_svmlight(path), lambda: read_svmlight(path, n_jobs=1), theirs],
        repeats,
    )
    return Row(f"read {what}", path.stat().st_size, ours, one, others)


def writing(what: str, path: Path, repeats: int) -> Row:
    X, y, _ = read_svmlight(path)
    target, other = path.with_suffix(".ours"), path.with_suffix(".theirs")

    def theirs() -> None:
        dump_svmlight_file(X, y, str(other), zero_based=False)

    write_svmlight(target, X[:10], y[:10])
    ours, one, others = interleaved(
        [
            lambda: write_svmlight(target, X, y),
            lambda: write_svmlight(target, X, y, n_jobs=1),
            theirs,
        ],
        repeats,
    )
    same(read_svmlight(target, n_features=X.shape[1])[:2], (X, y))
    size = target.stat().st_size
    target.unlink()
    other.unlink()
    return Row(f"write {what}", size, ours, one, others)


def table(rows: list[Row]) -> str:
    """Markdown, medians of seconds."""
    lines = [
        "| | MB | maxmargin s | one thread s | scikit-learn s | times as fast |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for row in rows:
        ours, one, theirs = map(statistics.median, row[2:])
        lines.append(
            f"| {row.what} | {row.size / MEGABYTE:.0f} | {ours:.2f} | {one:.2f} "
            f"| {theirs:.2f} | **{theirs / ours:.1f}** |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.text_files", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--quick", action="store_true", help="20 MB, not 200")
    parser.add_argument("--repeats", type=int, default=3, help="runs of each")
    args = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        short, long = Path(folder, "short.txt"), Path(folder, "long.txt")
        repeated(short, (20 if args.quick else 200) * MEGABYTE)
        times_pi(short, long)
        for what, path in (("ijcnn1 and a9a", short), ("the same, times π", long)):
            rows.append(reading(what, path, args.repeats))
            rows.append(writing(what, path, args.repeats))
            path.unlink()
    text = f"{table(rows)}\n\n{common.machine(describe())}"
    print(text)
    if not args.quick:
        page.write("files", text, page.RESULTS / "files.md")


if __name__ == "__main__":
    main()
