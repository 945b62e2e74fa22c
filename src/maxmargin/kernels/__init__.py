"""What "similar" means: kernels, and the kernel matrices solvers ask.

Kernel objects are loaded on first use, and what evaluates them (Numba) when one is
first evaluated.

Examples
--------
>>> from maxmargin import kernels
>>> k = kernels.RBF(sigma=1.0) + 0.5 * kernels.Linear()
>>> k
RBF(sigma=1.0) + 0.5 * Linear()
>>> k([[0.0, 1.0]], [[0.0, 1.0], [0.0, 0.0]]).round(4)
array([[1.5   , 0.6065]])
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from maxmargin.kernels.algebra import Kernel
    from maxmargin.kernels.function import FunctionKernel, kernel
    from maxmargin.kernels.objects import (
        RBF,
        ChiSquared,
        Laplacian,
        Linear,
        Polynomial,
        Precomputed,
        Sigmoid,
    )

_HOME = {
    "RBF": "maxmargin.kernels.objects",
    "ChiSquared": "maxmargin.kernels.objects",
    "FunctionKernel": "maxmargin.kernels.function",
    "Kernel": "maxmargin.kernels.algebra",
    "Laplacian": "maxmargin.kernels.objects",
    "Linear": "maxmargin.kernels.objects",
    "Polynomial": "maxmargin.kernels.objects",
    "Precomputed": "maxmargin.kernels.objects",
    "Sigmoid": "maxmargin.kernels.objects",
    "kernel": "maxmargin.kernels.function",
}

__all__ = [
    "RBF",
    "ChiSquared",
    "FunctionKernel",
    "Kernel",
    "Laplacian",
    "Linear",
    "Polynomial",
    "Precomputed",
    "Sigmoid",
    "kernel",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
