"""``maxmargin svm-train``: LIBSVM's command, on the machines of this library."""

from __future__ import annotations

import re
import sys
import warnings
from contextlib import contextmanager
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from maxmargin.cli.failures import DONE, INTERRUPTED, Failure
from maxmargin.cli.libsvm.frame import line_of_row, opened, run_program, warn
from maxmargin.cli.output import checked_output

if TYPE_CHECKING:
    from collections.abc import Iterator

    from maxmargin.libsvm.options import TrainOptions
    from maxmargin.libsvm.training import Trained

PROGRAM = "svm-train"
USAGE = """\
Usage: svm-train [options] training_set_file [model_file]
options (as LIBSVM's):
-s svm_type : which machine (default 0)
	0 -- C-SVC		(classes)
	1 -- nu-SVC		(classes)
	2 -- one-class SVM
	3 -- epsilon-SVR	(numbers)
	4 -- nu-SVR		(numbers)
-t kernel_type : which kernel (default 2)
	0 -- linear: u'*v
	1 -- polynomial: (gamma*u'*v + coef0)^degree
	2 -- radial basis function: exp(-gamma*|u-v|^2)
	3 -- sigmoid: tanh(gamma*u'*v + coef0)
	4 -- precomputed kernel (kernel values in training_set_file)
-d degree : degree of the kernel (default 3)
-g gamma : gamma of the kernel (default 1/num_features)
-r coef0 : coef0 of the kernel (default 0)
-c cost : C of C-SVC, epsilon-SVR and nu-SVR (default 1)
-n nu : nu of nu-SVC, one-class SVM and nu-SVR (default 0.5)
-p epsilon : epsilon of epsilon-SVR, half the width of its tube (default 0.1)
-m cachesize : memory for kernel values, in MB (default 100)
-e epsilon : tolerance of the solver (default 0.001)
-h shrinking : whether to leave points at a bound aside, 0 or 1 (default 1)
-b probability_estimates : whether to learn probabilities, 0 or 1 (default 0)
-wi weight : C of class i is weight*C, for C-SVC (default 1)
-v n : cross-validation with n folds; no model is written
-q : quiet
"""


def main(argv: list[str]) -> int:
    """Run ``svm-train`` with these arguments; returns the exit code."""
    return run_program(PROGRAM, USAGE, _run, argv)


def _run(argv: list[str]) -> int:
    from maxmargin.errors import DataFileError, FileError, InputError, NumericalError
    from maxmargin.libsvm.options import UsageError, parse_train
    from maxmargin.libsvm.problem import WrongLabelError
    from maxmargin.libsvm.training import Interrupted
    from maxmargin.persist.libsvm_model import write_libsvm_model

    options, files = parse_train(argv)
    if len(files) not in (1, 2):
        msg = f"{len(files)} files given, where it takes training_set_file [model_file]"
        raise UsageError(msg)
    if files == ["-"] and not options.nr_fold:
        msg = "a model of standard input needs a name: svm-train - model_file"
        raise UsageError(msg)
    target = files[1] if len(files) == 2 else f"{PurePath(files[0]).name}.model"
    if not options.nr_fold:
        checked_output(target, files[0])
    source, name = opened(files[0])
    try:
        with _no_word_of_ctrl_c():
            trained = _trained(source, name, options)
    except WrongLabelError as error:
        line = line_of_row(source, error.row)
        raise DataFileError(name, line, error.reason) from error
    except Interrupted as pressed:
        raise Failure(INTERRUPTED, "interrupted; there is no result") from pressed
    except FileError:
        raise
    except (InputError, NumericalError) as error:
        raise DataFileError(name, 0, f"{error}{_large(options)}") from error
    if trained is None:
        return DONE
    if not options.quiet:
        sys.stdout.write(trained.report)
        sys.stdout.flush()
    write_libsvm_model(trained.model, target)
    if trained.interrupted:
        msg = f"interrupted; the model reached so far is in {target}"
        raise Failure(INTERRUPTED, msg)
    return DONE


def _trained(source: Any, name: str, options: TrainOptions) -> Trained | None:
    """Fit; None after a cross-validation, which has written its result."""
    from maxmargin.data_files.svmlight import read_svmlight
    from maxmargin.libsvm.problem import Rows, split_table
    from maxmargin.libsvm.svmutil import cross_validation_lines
    from maxmargin.libsvm.training import cross_validation, train

    X, y, max_index = read_svmlight(source, zero_based=options.precomputed, name=name)
    rows = split_table(X) if options.precomputed else Rows(X, max_index)
    if options.svm_type == 0:
        for label in options.weights.keys() - set(y.tolist()):
            warn(PROGRAM, f"class label {label} specified in weight is not found")
    if options.nr_fold:
        found = cross_validation(rows, y, options, options.nr_fold)
        sys.stdout.write(cross_validation_lines(y, found, options)[0])
        return None
    return train(rows, y, options)


def _large(options: TrainOptions) -> str:
    """Advice if parameters of the kernel are so large that any data overflow."""
    if options.kernel_type not in (1, 2, 3):
        return ""
    given = {"-g": options.gamma, "-r": abs(options.coef0)}
    if options.kernel_type == 1:
        given["-d"] = 1e4 * options.degree
    found = [option for option, value in given.items() if value > 1e6]
    return f"; or give a smaller {' or '.join(found)}" if found else ""


@contextmanager
def _no_word_of_ctrl_c() -> Iterator[None]:
    """Silence the warning of an interrupted fit: its advice is for Python."""
    from maxmargin.errors import ConvergenceWarning, Stop

    with warnings.catch_warnings():
        warnings.filterwarnings(
            "ignore", f"(?s).*{re.escape(Stop.INTERRUPTED.value)}", ConvergenceWarning
        )
        yield
