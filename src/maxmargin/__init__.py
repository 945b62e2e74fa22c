"""Support vector machines that are fast, and prove how good their answers are.

The public names are loaded on first use, so that ``import maxmargin`` costs next to
nothing; the first machine imports scikit-learn and Numba.

- :mod:`~maxmargin.estimators`: the machines, with scikit-learn's interface.
- :mod:`~maxmargin.validation`: users' arrays, checked once.
- :mod:`~maxmargin.rows`: X as compiled code reads it.
- :mod:`~maxmargin.kernels`: similarities of rows, and their matrices.
- :mod:`~maxmargin.design`: X as the matrix of a linear machine.
- :mod:`~maxmargin.losses`: losses of the margin, a record each.
- :mod:`~maxmargin.problem`: the optimisation problems behind the machines.
- :mod:`~maxmargin.solvers`: how they are solved, one algorithm a file.
- :mod:`~maxmargin.observers`: history, progress and limits of a run.
- :mod:`~maxmargin.certificate`: the proof of how good an answer is.
- :mod:`~maxmargin._referee`: ``certify``, which shares no code with what it judges.
- :mod:`~maxmargin.probability`: scores to probabilities.
- :mod:`~maxmargin.persist`: models in files.
- :mod:`~maxmargin.plots`: pictures, a display each.
- :mod:`~maxmargin.theory`: bounds and worked examples of the lectures.
- :mod:`~maxmargin.tutorial`: the functions of the tutorial.
- :mod:`~maxmargin.libsvm`: LIBSVM's calls.
- :mod:`~maxmargin.data_files`: files of data to tables and back.
- :mod:`~maxmargin.workflow`: file, table, plan, fit, model.
- :mod:`~maxmargin.cli`: the command line.
- :mod:`~maxmargin.__main__`: ``python -m maxmargin``.
- :mod:`~maxmargin.errors`: exceptions, warnings, and why a solver stopped.
- :mod:`~maxmargin.parallel`: threads.
- :mod:`~maxmargin._registry`: one table for every kind of thing.
- :mod:`~maxmargin._lazy`: names that load on first use.
- :mod:`~maxmargin._arrays`: types of arrays.
- :mod:`~maxmargin._elementary`: exp, the same in plain and in compiled code.
- :mod:`~maxmargin._jit`: the only code that imports Numba.
- :mod:`~maxmargin._atomic`: files written as a whole or not at all.
- :mod:`~maxmargin._interrupt`: Ctrl-C.
- :mod:`~maxmargin._callback_bridge`: scikit-learn's callbacks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from maxmargin._lazy import exports
from maxmargin.estimators import MACHINES

if TYPE_CHECKING:
    from maxmargin._referee import certify
    from maxmargin.certificate import Certificate
    from maxmargin.errors import (
        ConvergenceWarning,
        DataFileError,
        FileError,
        IndefiniteKernelWarning,
        InputError,
        InputTypeError,
        MissingExtraError,
        ModelFileError,
        NumericalError,
        VanishingMarginWarning,
    )
    from maxmargin.estimators.kernel.nu_svc import NuSVC
    from maxmargin.estimators.kernel.nu_svr import NuSVR
    from maxmargin.estimators.kernel.one_class import OneClassSVM
    from maxmargin.estimators.kernel.svc import SVC
    from maxmargin.estimators.kernel.svdd import SVDD
    from maxmargin.estimators.kernel.svr import SVR
    from maxmargin.estimators.linear.averaged_sgd import AveragedSGDClassifier
    from maxmargin.estimators.linear.l1_min_c import l1_min_c
    from maxmargin.estimators.linear.pegasos import PegasosClassifier
    from maxmargin.estimators.linear.svc import LinearSVC
    from maxmargin.estimators.linear.svr import LinearSVR
    from maxmargin.estimators.path import path
    from maxmargin.kernels.function import kernel
    from maxmargin.persist.own_format import load, save

__version__ = "0.1.0"

_HOME = {
    **MACHINES.homes(),
    "l1_min_c": "estimators.linear.l1_min_c",
    "path": "estimators.path",
    "kernel": "kernels.function",
    "load": "persist.own_format",
    "save": "persist.own_format",
    "certify": "_referee",
    "Certificate": "certificate",
    "ConvergenceWarning": "errors",
    "DataFileError": "errors",
    "FileError": "errors",
    "ModelFileError": "errors",
    "IndefiniteKernelWarning": "errors",
    "InputError": "errors",
    "InputTypeError": "errors",
    "MissingExtraError": "errors",
    "NumericalError": "errors",
    "VanishingMarginWarning": "errors",
}

__all__ = [
    "SVC",
    "SVDD",
    "SVR",
    "AveragedSGDClassifier",
    "Certificate",
    "ConvergenceWarning",
    "DataFileError",
    "FileError",
    "IndefiniteKernelWarning",
    "InputError",
    "InputTypeError",
    "LinearSVC",
    "LinearSVR",
    "MissingExtraError",
    "ModelFileError",
    "NuSVC",
    "NuSVR",
    "NumericalError",
    "OneClassSVM",
    "PegasosClassifier",
    "VanishingMarginWarning",
    "certify",
    "kernel",
    "l1_min_c",
    "load",
    "path",
    "save",
]

_SUBMODULES = (
    "data_files",
    "kernels",
    "libsvm",
    "losses",
    "observers",
    "persist",
    "plots",
    "problem",
    "solvers",
    "theory",
    "tutorial",
)

__getattr__, __dir__ = exports(__name__, _HOME, _SUBMODULES)
