"""``maxmargin svm-scale``: LIBSVM's command."""

from __future__ import annotations

import sys

from maxmargin.cli.failures import DONE
from maxmargin.cli.libsvm.frame import opened, run_program, warn
from maxmargin.cli.output import checked_output

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
    return run_program(PROGRAM, USAGE, _run, argv)


def _run(argv: list[str]) -> int:
    from maxmargin.data_files.opened import opened_for_writing
    from maxmargin.data_files.svmlight import read_svmlight
    from maxmargin.libsvm.options import UsageError, parse_scale
    from maxmargin.libsvm.scaling import ranges_of, read_ranges, scaled_lines, unseen

    options, files = parse_scale(argv)
    if len(files) != 1:
        msg = f"{len(files)} files given, where it takes one data_filename"
        raise UsageError(msg)
    checked_output(options.save, files[0])
    restored = read_ranges(options.restore) if options.restore else None
    source, name = opened(files[0])
    X, y, _ = read_svmlight(source, name=name)
    if restored is None:
        ranges = ranges_of(X, y, options.lower, options.upper, options.target)
    else:
        ranges = restored
        for index in unseen(X, ranges):
            warn(
                PROGRAM,
                f"feature index {index} appeared in file {name} was not seen in the "
                f"scaling factor file {options.restore}. The feature is scaled to 0.",
            )
    if options.save:
        with opened_for_writing(options.save) as file:
            file.write(ranges.text().encode("ascii"))
    count = 0
    for line, features in scaled_lines(X, y, ranges):
        sys.stdout.write(line)
        count += features
    sys.stdout.flush()
    if count > X.nnz:
        warn(
            PROGRAM,
            f"original #nonzeros {X.nnz} > new #nonzeros {count}. If feature values are "
            "non-negative and sparse, use -l 0 rather than the default -l -1",
        )
    return DONE
