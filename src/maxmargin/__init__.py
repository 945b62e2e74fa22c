"""Support vector machines that are fast, and prove how good their answers are.

The public names are loaded on first use, so that ``import maxmargin`` costs next to
nothing; the first machine imports scikit-learn and Numba.
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
