"""LIBSVM's Python interface: a program that has

    from libsvm.svmutil import *

and calls the functions below works with ``from maxmargin.libsvm import *``, and so do its
model files. Two groups of names of ``svmutil`` are missing: ``csr_scale`` and
``csr_find_scale_param`` (use ``maxmargin svm-scale``); and those of LIBSVM's C
structures: ``libsvm``, ``c_double``, ``svm_node``, ``gen_svm_nodearray``, ``toPyModel``,
``svm_forms``, ``kernel_names``, ``print_null`` and ``PRINT_STRING_FUN``.

- :mod:`~maxmargin.libsvm.svmutil`: the functions of that interface.
- :mod:`~maxmargin.libsvm.options`: options, as LIBSVM's programs take them.
- :mod:`~maxmargin.libsvm.problem`: the user's x and y, as matrices.
- :mod:`~maxmargin.libsvm.model`: a model with the methods of that interface.
- :mod:`~maxmargin.libsvm.training`: training, reports, cross-validation.
- :mod:`~maxmargin.libsvm.folds`: the folds of LIBSVM's cross-validation.
- :mod:`~maxmargin.libsvm.prediction`: decisions, labels and probabilities.
- :mod:`~maxmargin.libsvm.evaluation`: the three figures of a prediction.
- :mod:`~maxmargin.libsvm.scaling`: features in a common range (``svm-scale``).

Examples
--------
>>> from maxmargin.libsvm import svm_predict, svm_train
>>> y, x = [1, -1], [{1: 1.0, 3: 1.0}, {1: -1.0, 3: -1.0}]
>>> model = svm_train(y, x, "-t 0 -c 4 -q")
>>> labels, (accuracy, error, correlation), values = svm_predict(y, x, model)
Accuracy = 100% (2/2) (classification)
>>> labels, accuracy
([1.0, -1.0], 100.0)
"""

from maxmargin.libsvm.evaluation import evaluations
from maxmargin.libsvm.model import svm_model
from maxmargin.libsvm.svmutil import (
    svm_load_model,
    svm_parameter,
    svm_predict,
    svm_problem,
    svm_read_problem,
    svm_save_model,
    svm_train,
)

__all__ = [
    "evaluations",
    "svm_load_model",
    "svm_model",
    "svm_parameter",
    "svm_predict",
    "svm_problem",
    "svm_read_problem",
    "svm_save_model",
    "svm_train",
]
