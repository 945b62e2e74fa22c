"""A survey of a file of data: problems, oddities and main figures."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from maxmargin.data_files.columns.cells import shortest, show
from maxmargin.data_files.columns.target import guessed_task
from maxmargin.data_files.formats import TITLES
from maxmargin.data_files.reading import read_table
from maxmargin.data_files.table import MOST_COLUMNS, Table, absent_in, is_words
from maxmargin.errors import DataFileError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin.workflow.choices import Choices

IMBALANCED = 10.0  # policy: largest class over smallest; more is an oddity
SPREAD = 100.0  # policy: largest range of a feature over smallest; more is an oddity
MOST_NAMES = 5  # policy: names of columns in one line


@dataclass
class Survey:
    """The findings about one file."""

    source: str
    problems: list[DataFileError] = field(default_factory=list)
    oddities: list[str] = field(default_factory=list)
    lines: list[tuple[str, str]] = field(default_factory=list)
    notes: tuple[str, ...] = ()
    facts: dict[str, Any] = field(default_factory=dict)

    def blame(self, line: int, reason: str) -> None:
        """One more problem."""
        self.problems.append(DataFileError(self.source, line, reason))


def surveyed(path: str, choices: Choices) -> Survey:
    """Read a file as far as possible, and examine features, target and duplicates."""
    task, impute = choices.task, choices.impute
    found = Survey("<stdin>" if path == "-" else path)
    try:
        table = read_table(
            path,
            format=choices.format,
            target=choices.target,
            guess="name" if task == "outliers" else "last",
            report=found.problems.append,
        )
    except DataFileError as error:
        found.problems.append(error)
        return found
    found.notes = table.notes
    rows, columns = table.shape
    found.lines.append(("data", f"{rows:,} rows × {columns:,} ({TITLES[table.format]})"))
    found.facts |= {"rows": rows, "columns": columns, "format": table.format}
    _look_at_features(table, found, impute)
    if table.y is not None:
        _look_at_target(table, found, task)
    elif task != "outliers":
        found.blame(0, "there is no target to learn from")
    _look_for_duplicates(table, found)
    found.problems.sort(key=lambda one: one.line)
    return found


def _look_at_features(table: Table, found: Survey, impute: str | None) -> None:
    if not table.named:
        _look_at_matrix(table, found, impute)
        return
    constant, lowest, highest = [], [], []
    words = 0
    for name, column in table.columns.items():
        absent = absent_in(column)
        if impute is None:
            for row in np.flatnonzero(absent):
                reason = f"no value in column {show(name)}"
                found.blame(table.line_of(int(row)), reason)
        known = column[~absent]
        if known.size == 0:
            found.blame(0, f"column {show(name)} has no value at all")
            continue
        if is_words(column):
            words += 1
            many = len(set(known.tolist()))
            if many > max(20, 0.5 * table.n_rows):
                found.oddities.append(
                    f"column {show(name)} has {many:,} different words in "
                    f"{table.n_rows:,} rows: an identifier?"
                )
        else:
            many = 1 if known.min() == known.max() else 2
            lowest.append(float(known.min()))
            highest.append(float(known.max()))
        if many == 1:
            constant.append(name)
    numbers = table.n_columns - words
    found.lines.append(("columns", f"{numbers} of numbers, {words} of words"))
    found.facts |= {"n_numeric": numbers, "n_words": words}
    _tell_constant([show(name) for name in constant], found)
    _tell_ranges(np.array(lowest), np.array(highest), found)


def _look_at_matrix(table: Table, found: Survey, impute: str | None) -> None:
    X = table.matrix
    if sparse.issparse(X):
        share = X.nnz / (X.shape[0] * X.shape[1])
        found.lines.append(("stored", f"{X.nnz:,} numbers ({100 * share:.3g} %)"))
        found.facts["density"] = share
        places = np.arange(min(X.shape[1], MOST_COLUMNS))
        if X.shape[1] > places.size:  # of so many, those that are used
            places = np.unique(X.indices)
            X = sparse.csr_matrix(
                (X.data, np.searchsorted(places, X.indices), X.indptr),
                shape=(X.shape[0], places.size),
            )
        low = np.asarray(X.min(axis=0).todense()).ravel()
        high = np.asarray(X.max(axis=0).todense()).ravel()
    else:
        places = np.arange(X.shape[1])
        absent = np.isnan(X)
        if impute is None:
            for row, column in np.argwhere(absent)[:1000]:
                found.blame(0, f"row {row + 1}: no value in column {column + 1}")
        with np.errstate(invalid="ignore"):
            low, high = np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0)
    _tell_constant([str(one + 1) for one in places[low == high].tolist()], found)
    _tell_ranges(low, high, found)


def _tell_constant(names: list[str], found: Survey) -> None:
    found.facts["constant_columns"] = names
    if names:
        some = ", ".join(names[:MOST_NAMES]) + (", …" if len(names) > MOST_NAMES else "")
        plural = "columns hold" if len(names) > 1 else "column holds"
        found.oddities.append(f"{len(names):,} {plural} one value only: {some}")


def _tell_ranges(low: NDArray[Any], high: NDArray[Any], found: Survey) -> None:
    spans = (high - low)[high > low]
    if spans.size == 0:
        return
    found.lines.append(("values", f"from {low.min():.6g} to {high.max():.6g}"))
    ratio = float(spans.max() / spans.min())
    found.facts |= {"lowest": low.min(), "highest": high.max(), "range_ratio": ratio}
    if ratio > SPREAD:
        found.oddities.append(
            f"the widest feature spans {ratio:,.0f} times the narrowest: "
            "train with --scale standard"
        )


def _look_at_target(table: Table, found: Survey, task: str | None) -> None:
    y = table.y
    assert y is not None
    absent = absent_in(y) if is_words(y) else ~np.isfinite(y)
    name = f"the target {show(table.target_name)}" if table.target_name else "the target"
    for row in np.flatnonzero(absent):
        found.blame(table.line_of(int(row)), f"{name} is missing")
    known = y[~absent]
    if known.size == 0:
        return
    guessed, why = guessed_task(known)
    chosen = task or guessed
    found.facts |= {"task": chosen, "target": table.target_name}
    if chosen == "outliers":
        return
    if chosen == "regress":
        if is_words(known):
            found.blame(0, f"{name} is text, and a regression predicts numbers")
            return
        spread = (known.mean(), known.std(), known.min(), known.max())
        text = "mean {:.6g}, standard deviation {:.6g}, from {:.6g} to {:.6g}"
        found.lines.append(("target", f"regression, as {why}; " + text.format(*spread)))
        return
    _look_at_classes(known, why, found)


def _look_at_classes(y: NDArray[Any], why: str, found: Survey) -> None:
    classes, counts = np.unique(y.astype(str) if is_words(y) else y, return_counts=True)
    names = [one if is_words(y) else shortest(one) for one in classes.tolist()]
    order = np.argsort(-counts, kind="stable")
    shown = ", ".join(f"{names[place]} {counts[place]:,}" for place in order[:10])
    more = ", …" if len(names) > 10 else ""
    found.lines.append(("target", f"{len(names)} classes, as {why}: {shown}{more}"))
    found.facts["classes"] = dict(zip(names, counts.tolist(), strict=True))
    if len(names) < 2:
        found.blame(0, f"all rows have the class {names[0]!r}: nothing to tell apart")
        return
    ratio = float(counts.max() / counts.min())
    found.facts["imbalance"] = ratio
    if ratio > IMBALANCED:
        found.oddities.append(
            f"the largest class has {ratio:,.1f} times the rows of the smallest: "
            "consider --class-weight balanced"
        )


def _look_for_duplicates(table: Table, found: Survey) -> None:
    """Count rows that repeat an earlier one, and those with another target."""
    keys = _row_keys(table)
    _, first, codes = np.unique(keys, return_index=True, return_inverse=True)
    copies = int(codes.size - first.size)
    against = 0
    if copies and table.y is not None:
        y = table.y.astype(str) if is_words(table.y) else table.y
        against = int((y != y[first][codes.ravel()]).sum())
    found.facts |= {"duplicates": copies, "contradicting_duplicates": against}
    if copies:
        text = f"{copies:,} rows repeat an earlier one"
        if against:
            text += f", {against:,} of them with another target"
        found.oddities.append(text)


def _row_keys(table: Table) -> NDArray[Any]:
    """A number for each row, equal for equal rows (and, by 64 bits, for no others)."""
    total = np.zeros(table.n_rows, np.uint64)
    if not table.named and sparse.issparse(table.matrix):
        X = table.matrix.tocsr()
        stored, values = X.data != 0.0, X.data.astype(np.float64)
        mixed = _mixed(values.view(np.uint64), X.indices.astype(np.uint64))
        rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        np.add.at(total, rows[stored], mixed[stored])
        return total
    columns = list(table.columns.values()) if table.named else table.matrix.T
    for place, column in enumerate(columns):
        if is_words(column):
            words = np.array(["\0" if one is None else one for one in column], dtype=str)
            codes = np.unique(words, return_inverse=True)[1].ravel().astype(np.uint64)
        else:
            numbers = np.ascontiguousarray(column, dtype=np.float64) + 0.0
            codes = numbers.view(np.uint64)
        total += _mixed(codes, np.full(codes.size, place, np.uint64))
    return total


def _mixed(values: NDArray[np.uint64], places: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """SplitMix64 (Steele, Lea and Flood 2014) of a value and its column."""
    with np.errstate(over="ignore"):
        z = values + (places + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mixed: NDArray[np.uint64] = z ^ (z >> np.uint64(31))
    return mixed
