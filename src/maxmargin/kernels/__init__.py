"""Kernels: similarities of rows, and the kernel matrices that solvers ask for.

Kernel objects are loaded on first use. Numba, which compiles their formulas, is loaded
when the first value is computed.

- :mod:`~maxmargin.kernels.parameters`: what a parameter of a kernel object may be.
- :mod:`~maxmargin.kernels.algebra`: the base of kernel objects; sums and products.
- :mod:`~maxmargin.kernels.dot_products`: linear, polynomial, Gaussian and sigmoid.
- :mod:`~maxmargin.kernels.row_pairs`: Laplacian and χ².
- :mod:`~maxmargin.kernels.function`: a Python function of two rows, compiled.
- :mod:`~maxmargin.kernels.outside`: a given matrix, or a function of blocks of rows.
- :mod:`~maxmargin.kernels.naming`: from the parameter ``kernel`` to a kernel object.
- :mod:`~maxmargin.kernels.scale`: the number that ``gamma="scale"`` stands for.
- :mod:`~maxmargin.kernels.inputs`: rows that a kernel object may be called with.
- :mod:`~maxmargin.kernels.gram`: kernel matrices, asked for in parts.
- :mod:`~maxmargin.kernels.factory`: from a kernel object to its matrix and its sums.
- :mod:`~maxmargin.kernels.maths`: feature maps, and Mercer's condition.

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
from maxmargin._registry import Entry, Registry

if TYPE_CHECKING:
    from maxmargin.kernels.algebra import Kernel
    from maxmargin.kernels.dot_products import (
        RBF,
        DotKernel,
        Linear,
        Polynomial,
        Sigmoid,
    )
    from maxmargin.kernels.function import FunctionKernel, kernel
    from maxmargin.kernels.maths.feature_map import feature_map
    from maxmargin.kernels.maths.mercer import eigenvector_map, mercer
    from maxmargin.kernels.outside import Precomputed
    from maxmargin.kernels.row_pairs import ChiSquared, Laplacian, PairKernel

KERNELS = Registry(
    "maxmargin.kernels",
    "kernel",
    [
        Entry("Linear", "dot_products", "linear"),
        Entry("Polynomial", "dot_products", "poly"),
        Entry("RBF", "dot_products", "rbf"),
        Entry("Sigmoid", "dot_products", "sigmoid"),
        Entry("Precomputed", "outside", "precomputed", "matrix"),
        Entry("Laplacian", "row_pairs"),
        Entry("ChiSquared", "row_pairs"),
        Entry("Sum", "algebra"),
        Entry("Product", "algebra"),
        Entry("Scaled", "algebra"),
        Entry("Power", "algebra"),
    ],
)
"""Every kernel; those with a name can be ``SVC(kernel=name)``.

A kernel of task ``"matrix"`` takes values instead of rows.
"""

register = KERNELS.register

_HOME = {
    **KERNELS.homes(),
    "DotKernel": "dot_products",
    "FunctionKernel": "function",
    "Kernel": "algebra",
    "PairKernel": "row_pairs",
    "eigenvector_map": "maths.mercer",
    "feature_map": "maths.feature_map",
    "kernel": "function",
    "mercer": "maths.mercer",
}

__all__ = [
    "KERNELS",
    "RBF",
    "ChiSquared",
    "DotKernel",
    "FunctionKernel",
    "Kernel",
    "Laplacian",
    "Linear",
    "PairKernel",
    "Polynomial",
    "Precomputed",
    "Sigmoid",
    "eigenvector_map",
    "feature_map",
    "kernel",
    "mercer",
    "register",
]

__getattr__, __dir__ = exports(__name__, _HOME)
