"""Support vector machines that are fast, and prove how good their answers are.

The public names are loaded on first use, so that ``import maxmargin`` costs next to
nothing; the first machine imports scikit-learn and Numba.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from maxmargin._referee import certify
    from maxmargin.certificate import Certificate
    from maxmargin.errors import (
        ConvergenceWarning,
        IndefiniteKernelWarning,
        InputError,
        InputTypeError,
        NumericalError,
        VanishingMarginWarning,
    )
    from maxmargin.estimators.nu_svc import NuSVC
    from maxmargin.estimators.nu_svr import NuSVR
    from maxmargin.estimators.one_class import OneClassSVM
    from maxmargin.estimators.path import path
    from maxmargin.estimators.svc import SVC
    from maxmargin.estimators.svdd import SVDD
    from maxmargin.estimators.svr import SVR
    from maxmargin.kernels.function import kernel

__version__ = "0.1.0"

_HOME = {
    "SVC": "maxmargin.estimators.svc",
    "NuSVC": "maxmargin.estimators.nu_svc",
    "SVR": "maxmargin.estimators.svr",
    "NuSVR": "maxmargin.estimators.nu_svr",
    "OneClassSVM": "maxmargin.estimators.one_class",
    "SVDD": "maxmargin.estimators.svdd",
    "path": "maxmargin.estimators.path",
    "kernel": "maxmargin.kernels.function",
    "certify": "maxmargin._referee",
    "Certificate": "maxmargin.certificate",
    "ConvergenceWarning": "maxmargin.errors",
    "IndefiniteKernelWarning": "maxmargin.errors",
    "InputError": "maxmargin.errors",
    "InputTypeError": "maxmargin.errors",
    "NumericalError": "maxmargin.errors",
    "VanishingMarginWarning": "maxmargin.errors",
}

__all__ = [
    "SVC",
    "SVDD",
    "SVR",
    "Certificate",
    "ConvergenceWarning",
    "IndefiniteKernelWarning",
    "InputError",
    "InputTypeError",
    "NuSVC",
    "NuSVR",
    "NumericalError",
    "OneClassSVM",
    "VanishingMarginWarning",
    "certify",
    "kernel",
    "path",
]


_SUBMODULES = ("kernels", "observers")


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        return importlib.import_module(f"maxmargin.{name}")
    if name not in _HOME:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME, *_SUBMODULES})
