"""LIBSVM's Python interface: a program that has

    from libsvm.svmutil import *

and calls the functions below goes on with ``from maxmargin.libsvm import *``, and its
model files with it. Of ``svmutil`` these are not here: ``csr_scale`` and
``csr_find_scale_param`` (``maxmargin svm-scale`` scales), and what belongs to LIBSVM's C
structures, ``libsvm``, ``c_double``, ``svm_node``, ``gen_svm_nodearray``, ``toPyModel``,
``svm_forms``, ``kernel_names``, ``print_null`` and ``PRINT_STRING_FUN``.

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
