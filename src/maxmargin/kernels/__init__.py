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

from typing import TYPE_CHECKING

from maxmargin._lazy import exports

if TYPE_CHECKING:
    from maxmargin.kernels.algebra import Kernel
    from maxmargin.kernels.function import FunctionKernel, kernel
    from maxmargin.kernels.maths.feature_map import feature_map
    from maxmargin.kernels.maths.mercer import eigenvector_map, mercer
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
    "RBF": "objects",
    "ChiSquared": "objects",
    "FunctionKernel": "function",
    "Kernel": "algebra",
    "Laplacian": "objects",
    "Linear": "objects",
    "Polynomial": "objects",
    "Precomputed": "objects",
    "Sigmoid": "objects",
    "eigenvector_map": "maths.mercer",
    "feature_map": "maths.feature_map",
    "kernel": "function",
    "mercer": "maths.mercer",
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
    "eigenvector_map",
    "feature_map",
    "kernel",
    "mercer",
]

__getattr__, __dir__ = exports(__name__, _HOME)
