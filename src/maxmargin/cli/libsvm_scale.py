"""``maxmargin svm-scale``: LIBSVM's command."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from pathlib import Path

from maxmargin.cli.libsvm_frame import complain, guarded, opened

__all__ = ["main"]

PROGRAM = "svm-scale"
USAGE = """\
Usage: svm-scale [options] data_filename
options (as LIBSVM's):
-l lower : lower end of features (default -1)
-u upper : upper end of features (default +1)
-y y_lower y_upper : ends of labels (default: labels stay as they are)
-s save_filename : write the ranges that were found to save_filename
-r restore_filename : use the ranges of restore_filename
The scaled data go to standard output.
"""


def main(argv: list[str]) -> int:
    """Run ``svm-scale`` with these arguments; returns the exit code."""
    if not argv:
        sys.stdout.write(USAGE)
        return 2
    return guarded(PROGRAM, lambda: _run(argv))


@dataclass
class _Options:
    lower: float = -1.0
    upper: float = 1.0
    target: tuple[float, float] | None = None
    save: str | None = None
    restore: str | None = None


def _parsed(argv: list[str]) -> tuple[_Options, str]:
    from maxmargin.libsvm.options import UsageError

    words, found = list(argv), _Options()

    def value(option: str) -> str:
        if not words:
            msg = f"{option} has no value behind it"
            raise UsageError(msg)
        return words.pop(0)

    def number(option: str) -> float:
        text = value(option)
        try:
            parsed = float(text)
        except ValueError:
            parsed = math.nan
        if not math.isfinite(parsed):
            msg = f"{option} {text}: it takes finite numbers"
            raise UsageError(msg)
        return parsed

    while words and words[0].startswith("-") and words[0] != "-":
        option = words.pop(0)
        if option == "-l":
            found.lower = number(option)
        elif option == "-u":
            found.upper = number(option)
        elif option == "-y":
            found.target = (number(option), number(option))
        elif option == "-s":
            found.save = value(option)
        elif option == "-r":
            found.restore = value(option)
        else:
            msg = f"unknown option {option}"
            raise UsageError(msg)
    ends = [(found.lower, found.upper), found.target or (0.0, 1.0)]
    if any(not lower < upper for lower, upper in ends):
        msg = "inconsistent lower/upper specification: lower must be below upper"
        raise UsageError(msg)
    if found.save and found.restore:
        msg = "cannot use -r and -s simultaneously"
        raise UsageError(msg)
    if len(words) != 1:
        msg = f"{len(words)} files given, where it takes one data_filename"
        raise UsageError(msg)
    return found, words[0]


def _run(argv: list[str]) -> int:
    from maxmargin.data_files.svmlight import read_svmlight
    from maxmargin.libsvm.scaling import ranges_of, read_ranges, scaled_lines, unseen

    options, path = _parsed(argv)
    restored = read_ranges(options.restore) if options.restore else None
    source, name = opened(path)
    X, y, _ = read_svmlight(source, name=name)
    if restored is None:
        ranges = ranges_of(X, y, options.lower, options.upper, options.target)
    else:
        ranges = restored
        for index in unseen(X, ranges):
            complain(
                PROGRAM,
                f"WARNING: feature index {index} appeared in file {name} was not seen in "
                f"the scaling factor file {options.restore}. The feature is scaled to 0.",
            )
    if options.save:
        Path(options.save).write_text(ranges.text(), encoding="ascii", newline="\n")
    count = 0
    for line, features in scaled_lines(X, y, ranges):
        sys.stdout.write(line)
        count += features
    sys.stdout.flush()
    if count > X.nnz:
        complain(
            PROGRAM,
            f"WARNING: original #nonzeros {X.nnz} > new #nonzeros {count}. If feature "
            "values are non-negative and sparse, use -l 0 rather than the default -l -1",
        )
    return 0
