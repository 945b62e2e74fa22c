"""The functions of ``libsvm.svmutil``, on the machines of this library."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.errors import InputError, InputTypeError
from maxmargin.libsvm.evaluation import evaluations
from maxmargin.libsvm.model import dictionaries, svm_model
from maxmargin.libsvm.options import TrainOptions, parse_predict, parse_train
from maxmargin.libsvm.prediction import predict
from maxmargin.libsvm.problem import rows_of, targets_of
from maxmargin.libsvm.training import cross_validation, train
from maxmargin.persist.libsvm_model import read_libsvm_model, write_libsvm_model

if TYPE_CHECKING:
    from collections.abc import Sequence


def svm_read_problem(data_source: Any, return_scipy: bool = False) -> tuple[Any, Any]:
    """Read a file in LIBSVM's format.

    Parameters
    ----------
    data_source : path or binary file object
        The file; one that ends in .gz, .bz2 or .xz is unpacked.
    return_scipy : bool
        Arrays instead of lists.

    Returns
    -------
    y, x : list of float, list of dict
        Labels, and rows as {index: value}; with ``return_scipy`` an array and a CSR
        matrix, with index 1 in column 0 unless the file has an index 0.
    """
    from maxmargin.data_files.svmlight import read_svmlight

    X, y, _ = read_svmlight(data_source, zero_based=True)
    if not return_scipy:
        return y.tolist(), dictionaries(X, base=0)
    whole = X.indices.min(initial=1) == 0 or X.shape[1] == 0
    return y, X if whole else X[:, 1:]


def svm_load_model(model_file_name: Any) -> svm_model:
    """Read a model file, LIBSVM's or ours."""
    return svm_model(read_libsvm_model(model_file_name))


def svm_save_model(model_file_name: Any, model: svm_model) -> None:
    """Write a model file that LIBSVM reads too, with all digits."""
    write_libsvm_model(model.layout, model_file_name)


class svm_parameter(TrainOptions):  # noqa: N801 - LIBSVM's name
    """Options of ``svm_train``, parsed.

    Parameters
    ----------
    options : str, list of str or None
        As ``'-c 4 -g 0.1'``.
    """

    def __init__(self, options: str | Sequence[str] | None = None) -> None:
        super().__init__(**vars(_only_options(parse_train(options))))


class svm_problem:  # noqa: N801 - LIBSVM's name
    """Labels and rows, checked once for many trainings.

    Parameters
    ----------
    y : list, tuple or ndarray
        Labels or numbers.
    x : list of dict, list of list, ndarray or sparse matrix
        Rows.
    isKernel : bool
        Whether rows hold kernel values (``-t 4``).
    """

    def __init__(self, y: Any, x: Any, isKernel: bool = False) -> None:
        self.rows = rows_of(x, is_kernel=isKernel)
        self.y = targets_of(y, self.rows.X.shape[0])

    @property
    def l(self) -> int:  # noqa: E743 - LIBSVM's name
        """Number of rows."""
        return int(self.y.size)

    @property
    def n(self) -> int:
        """The largest index."""
        return self.rows.max_index


def _only_options(parsed: tuple[Any, list[str]]) -> Any:
    """The result of a parser of options; no word may follow them."""
    found, rest = parsed
    if rest:
        msg = f"Wrong options: {rest[0]!r} is none; options begin with '-'"
        raise InputError(msg)
    return found


def svm_train(arg1: Any, arg2: Any = None, arg3: Any = None) -> Any:
    """Train a model, or judge options by cross-validation.

    Called as ``svm_train(y, x, options)`` or ``svm_train(problem, options)``, with
    options as a str, list or :class:`svm_parameter`.

    Returns
    -------
    svm_model or float
        The model; with ``-v n`` the accuracy in percent, or the mean squared error of a
        regression, of n folds.
    """
    known = isinstance(arg1, svm_problem)
    options = arg2 if known else arg3
    if not isinstance(options, TrainOptions):
        options = _only_options(parse_train(options))
    problem = arg1 if known else svm_problem(arg1, arg2, isKernel=options.precomputed)
    if options.precomputed != (problem.rows.serial is not None):
        msg = "-t 4 and svm_problem(..., isKernel=True) belong together"
        raise InputError(msg)
    if not options.nr_fold:
        trained = train(problem.rows, problem.y, options)
        if not options.quiet:
            sys.stdout.write(trained.report)
        return svm_model(trained.model)
    found = cross_validation(problem.rows, problem.y, options, options.nr_fold)
    text, figure = cross_validation_lines(problem.y, found, options)
    sys.stdout.write(text)
    return figure


def cross_validation_lines(
    y: Any, found: Any, options: TrainOptions
) -> tuple[str, float]:
    """LIBSVM's lines about a cross-validation, and the figure that it returns."""
    accuracy, error, correlation = evaluations(y, found)
    if options.regresses:
        text = (
            f"Cross Validation Mean squared error = {error:g}\n"
            f"Cross Validation Squared correlation coefficient = {correlation:g}\n"
        )
        return text, error
    return f"Cross Validation Accuracy = {accuracy:g}%\n", accuracy


def svm_predict(
    y: Any, x: Any, m: svm_model, options: str = ""
) -> tuple[list[float], tuple[float, float, float], list[list[float]]]:
    """Predict, and compare with the truth.

    Parameters
    ----------
    y : list, tuple or ndarray
        True labels or numbers; ``[]`` where they are not known.
    x : list of dict, list of list, ndarray or sparse matrix
        Rows.
    m : svm_model
        The model.
    options : str
        ``'-b 1'`` for probabilities, ``'-q'`` for silence.

    Returns
    -------
    labels : list of float
        Predictions: the winner of all pairs, or with ``-b 1`` the most probable.
    figures : tuple of float
        Accuracy in percent, mean squared error, squared correlation.
    values : list of list
        Decisions of the k(k − 1)/2 pairs, or probabilities, in the order of
        ``m.get_labels()``.
    """
    if not isinstance(m, svm_model):
        msg = (
            f"m is of type {type(m).__name__}: give what svm_train or svm_load_model gave"
        )
        raise InputTypeError(msg)
    how = _only_options(parse_predict(options))
    model = m.layout
    rows = rows_of(x, is_kernel=model.serial is not None)
    n = rows.X.shape[0]
    true = np.zeros(n) if len(y) == 0 else targets_of(y, n)
    lines = [notice(m, probability=bool(how.probability))]
    found = predict(model, rows, probability=bool(how.probability))
    figures = evaluations(true, found.labels)
    lines.append(figures_lines(m, figures, n))
    if not how.quiet:
        sys.stdout.write("".join(lines))
    return found.labels.tolist(), figures, found.values.tolist()


def notice(m: svm_model, *, probability: bool) -> str:
    """LIBSVM's line about probabilities before a prediction."""
    if not probability:
        if m.is_probability_model():
            return "Model supports probability estimates, but disabled in prediction.\n"
        return ""
    if not m.is_probability_model():
        msg = (
            "Model does not support probability estimates: train it with -b 1, or "
            "predict with -b 0"
        )
        raise InputError(msg)
    if not m.layout.regresses:
        return ""
    return (
        "Prob. model for test data: target value = predicted value + z,\n"
        "z: Laplace distribution e^(-|z|/sigma)/(2sigma),sigma="
        f"{m.get_svr_probability():g}\n"
    )


def figures_lines(m: svm_model, figures: tuple[float, float, float], n: int) -> str:
    """The figures of a prediction, as LIBSVM prints them."""
    accuracy, error, correlation = figures
    if m.layout.regresses:
        return (
            f"Mean squared error = {error:g} (regression)\n"
            f"Squared correlation coefficient = {correlation:g} (regression)\n"
        )
    right = round(n * accuracy / 100.0)
    return f"Accuracy = {accuracy:g}% ({right}/{n}) (classification)\n"
