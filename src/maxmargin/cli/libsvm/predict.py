"""``maxmargin svm-predict``: LIBSVM's command."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from maxmargin.cli.libsvm.frame import opened, run_program
from maxmargin.cli.output import checked_output

if TYPE_CHECKING:
    from collections.abc import Iterator

    from maxmargin.libsvm.model import svm_model
    from maxmargin.libsvm.prediction import Predicted

PROGRAM = "svm-predict"
USAGE = """\
Usage: svm-predict [options] test_file model_file output_file
options (as LIBSVM's):
-b probability_estimates : whether to predict probabilities, 0 or 1 (default 0)
-q : quiet
"""


def main(argv: list[str]) -> int:
    """Run ``svm-predict`` with these arguments; returns the exit code."""
    return run_program(PROGRAM, USAGE, _run, argv)


def _run(argv: list[str]) -> int:
    from maxmargin.data_files.opened import opened_for_writing
    from maxmargin.data_files.svmlight import read_svmlight
    from maxmargin.errors import FileError, InputError, ModelFileError
    from maxmargin.libsvm.evaluation import evaluations
    from maxmargin.libsvm.model import svm_model
    from maxmargin.libsvm.options import UsageError, parse_predict
    from maxmargin.libsvm.prediction import predict
    from maxmargin.libsvm.problem import Rows, split_table
    from maxmargin.libsvm.svmutil import figures_lines, notice
    from maxmargin.persist.libsvm_model import read_libsvm_model

    options, files = parse_predict(argv)
    if len(files) != 3:
        msg = f"{len(files)} files given, where it takes test_file model_file output_file"
        raise UsageError(msg)
    test, model_file, output = files
    checked_output(output, test, model_file)
    model = svm_model(read_libsvm_model(model_file))
    precomputed = model.layout.serial is not None
    source, name = opened(test)
    X, y, max_index = read_svmlight(source, zero_based=precomputed, name=name)
    likely = bool(options.probability)
    try:
        rows = split_table(X) if precomputed else Rows(X, max_index)
        told_before = notice(model, probability=likely)
        found = predict(model.layout, rows, probability=likely)
    except FileError:
        raise
    except InputError as error:  # they do not go together
        raise ModelFileError(model_file, 0, str(error)) from error
    with opened_for_writing(output) as stream:
        stream.writelines(
            line.encode("ascii") for line in _lines(model, found, probability=likely)
        )
    if not options.quiet:
        figures = evaluations(y, found.labels)
        sys.stdout.write(told_before + figures_lines(model, figures, y.size))
    return 0


def _lines(model: svm_model, found: Predicted, *, probability: bool) -> Iterator[str]:
    """Lines of the output file: predictions, or labels with probabilities (6 digits)."""
    layout: Any = model.layout
    if not probability or layout.regresses:
        for label in found.labels.tolist():
            yield f"{label:.17g}\n"
        return
    heads = model.get_labels() if layout.classifies else ["normal", "outlier"]
    yield " ".join(["labels", *map(str, heads)]) + "\n"
    for label, values in zip(found.labels.tolist(), found.values.tolist(), strict=True):
        yield " ".join([f"{label:g}", *(f"{value:g}" for value in values)]) + "\n"
