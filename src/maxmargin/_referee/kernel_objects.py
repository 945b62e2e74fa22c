"""Kernel objects, read by the name of their class and their public parameters.

Their own ``__call__`` is not used: it is the code of the library that is judged.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin._referee.formulas import (
    chi_squared,
    columns_of,
    dots,
    laplacian,
    pairwise,
    polynomial,
    rbf,
    sigmoid,
)
from maxmargin._referee.tables import number_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from maxmargin._arrays import Vector

SIMPLE = {
    "Linear", "Polynomial", "RBF", "Sigmoid", "Laplacian", "ChiSquared", "Precomputed",
    "FunctionKernel",
}  # fmt: skip
COMBINED = {"Sum", "Product", "Scaled", "Power"}


@dataclass(frozen=True)
class Formula:
    """How values are made: of two blocks of rows, or of rows and column numbers."""

    values: Callable[[Any, Any], Vector]
    dense: bool = False  # sparse rows must be written out
    by_index: bool = False  # of rows and column numbers


def is_object(kernel: Any) -> bool:
    """Tell whether a kernel is an object of ``maxmargin.kernels`` that is known here."""
    kind = type(kernel)
    at_home = kind.__module__.startswith("maxmargin.kernels")
    return at_home and kind.__name__ in SIMPLE | COMBINED


def name_of(kernel: Any) -> str:
    """Name a kernel as the parameter ``kernel`` does, where it has such a name."""
    if not is_object(kernel):
        return kernel if isinstance(kernel, str) else ""
    return {"Linear": "linear", "Precomputed": "precomputed"}.get(
        type(kernel).__name__, ""
    )


def formula_of(kernel: Any, centre: Vector) -> Formula:
    """Build the values of a kernel object, its parts included."""
    kind = type(kernel).__name__
    if kind in {"Sum", "Product"}:
        parts = [formula_of(part, centre) for part in (kernel.left, kernel.right)]
        join = np.add if kind == "Sum" else np.multiply
        left, right = (part.values for part in parts)
        return Formula(
            lambda A, B: join(left(A, B), right(A, B)), any(part.dense for part in parts)
        )
    if kind in {"Scaled", "Power"}:
        part = formula_of(kernel.part, centre)
        if kind == "Scaled":
            factor = number_of(kernel, "factor", 1.0)
            return Formula(lambda A, B: factor * part.values(A, B), part.dense)
        exponent = number_of(kernel, "exponent", 1.0)
        return Formula(lambda A, B: part.values(A, B) ** exponent, part.dense)
    return _simple(kind, kernel, centre)


def _simple(kind: str, kernel: Any, centre: Vector) -> Formula:
    if kind == "FunctionKernel":
        return Formula(partial(pairwise, function=kernel.function), dense=True)
    if kind == "Sigmoid":
        a, r = number_of(kernel, "a", 1.0), number_of(kernel, "r", 0.0)
        return Formula(partial(sigmoid, gamma=a, coef0=r))
    gamma = number_of(kernel, "gamma", 1.0)
    coef0, degree = number_of(kernel, "coef0", 0.0), number_of(kernel, "degree", 1.0)
    power = partial(polynomial, gamma=gamma, coef0=coef0, degree=degree)
    return {
        "Linear": Formula(dots),
        "Precomputed": Formula(columns_of, by_index=True),
        "Polynomial": Formula(power),
        "RBF": Formula(partial(rbf, gamma=gamma, centre=centre)),
        "Laplacian": Formula(partial(laplacian, gamma=gamma), dense=True),
        "ChiSquared": Formula(partial(chi_squared, gamma=gamma), dense=True),
    }[kind]
