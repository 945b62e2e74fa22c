"""The table of kernels, by the name of their class and of the parameter ``kernel``.

Of a known kernel object only the parameters are read: its own ``__call__`` is the code of
the library that is judged. A kernel from outside may bring a second formula for the
referee, ``plain(A, B)``.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

from maxmargin._referee.formulas import (
    blocks,
    chi_squared,
    columns_of,
    dots,
    laplacian,
    pairwise,
    polynomial,
    rbf,
    sigmoid,
)
from maxmargin._referee.tables import moments, number_of, require

if TYPE_CHECKING:
    from collections.abc import Callable

    from maxmargin._arrays import Vector


@dataclass(frozen=True)
class Formula:
    """How values are made: of two blocks of rows, or of rows and column numbers."""

    values: Callable[[Any, Any], Vector]
    dense: bool = False  # sparse rows must be written out
    linear: bool = False  # goes through w
    by_index: bool = False


class Numbers(NamedTuple):
    """The parameters of a kernel, and the rows that it is used on."""

    gamma: float
    coef0: float
    degree: float
    table: Any


NAMES = {
    "linear": "Linear",
    "poly": "Polynomial",
    "rbf": "RBF",
    "sigmoid": "Sigmoid",
    "precomputed": "Precomputed",
}
SIMPLE: dict[str, Callable[[Numbers], Formula]] = {
    "Linear": lambda _: Formula(dots, linear=True),
    "Precomputed": lambda _: Formula(columns_of, by_index=True),
    "Polynomial": lambda p: Formula(
        partial(polynomial, gamma=p.gamma, coef0=p.coef0, degree=p.degree)
    ),
    "RBF": lambda p: Formula(partial(rbf, gamma=p.gamma, centre=moments(p.table)[0])),
    "Sigmoid": lambda p: Formula(partial(sigmoid, gamma=p.gamma, coef0=p.coef0)),
    "Laplacian": lambda p: Formula(partial(laplacian, gamma=p.gamma), dense=True),
    "ChiSquared": lambda p: Formula(partial(chi_squared, gamma=p.gamma), dense=True),
}
JOINED = {"Sum": operator.add, "Product": operator.mul}
CHANGED = {"Scaled": ("factor", operator.mul), "Power": ("exponent", operator.pow)}


def is_known(kernel: Any) -> bool:
    """Tell whether a kernel is an object of ``maxmargin.kernels`` in this table."""
    kind = type(kernel)
    at_home = kind.__module__.startswith("maxmargin.kernels")
    return at_home and kind.__name__ in {*SIMPLE, *JOINED, *CHANGED, "FunctionKernel"}


def is_foreign(kernel: Any) -> bool:
    """Tell whether a kernel has no formula but itself, called as k(A, B)."""
    return callable(kernel) and not is_known(kernel) and not hasattr(kernel, "plain")


def formula_of(estimator: Any, table: Any) -> Formula:
    """The values of the kernel that a fitted machine used."""
    kernel = estimator.kernel
    named = isinstance(kernel, str)
    if named and kernel in NAMES:
        return SIMPLE[NAMES[kernel]](_numbers(estimator, table))
    made = getattr(estimator, "kernel_", None) if named else kernel
    require(
        callable(made) or hasattr(made, "plain"),
        f"kernel={kernel!r}: it must be a callable or one of {', '.join(NAMES)}",
    )
    require(
        not (named and is_foreign(made)),
        f"kernel={kernel!r}: it comes from outside of maxmargin, and {made!r} has no "
        "plain(A, B), the formula in NumPy by which certify can judge it",
    )
    return _of_object(made, table)


def _numbers(estimator: Any, table: Any) -> Numbers:
    """The parameters of a machine whose kernel has a name."""
    # Ours says what gamma was; it may depend on weights, scikit-learn's does not.
    asked = getattr(estimator, "gamma_", getattr(estimator, "gamma", "auto"))
    width = table.shape[1]
    if asked == "auto":
        gamma = 1.0 / width
    elif asked == "scale":
        variance = moments(table)[1]
        gamma = 1.0 / (width * variance) if variance else 1.0
    else:
        require(isinstance(asked, Real), f"gamma={asked!r}: it must be a number")
        gamma = float(asked)
    require(gamma >= 0.0, f"gamma={gamma}: it must not be negative")
    degree = number_of(estimator, "degree", 3.0)
    coef0 = number_of(estimator, "coef0", 0.0)
    return Numbers(gamma, coef0, degree, table)


def _of_object(kernel: Any, table: Any) -> Formula:
    """The values of a kernel object, its parts included."""
    if not is_known(kernel):
        plain = getattr(kernel, "plain", None)
        function = kernel if plain is None else plain
        return Formula(partial(blocks, function=function), dense=plain is not None)
    kind = type(kernel).__name__
    if kind in JOINED:
        one, two = (_of_object(part, table) for part in (kernel.left, kernel.right))
        join = JOINED[kind]
        return Formula(
            lambda A, B: join(one.values(A, B), two.values(A, B)), one.dense or two.dense
        )
    if kind in CHANGED:
        (name, change), part = CHANGED[kind], _of_object(kernel.part, table)
        number = number_of(kernel, name, 1.0)
        return Formula(lambda A, B: change(part.values(A, B), number), part.dense)
    if kind == "FunctionKernel":
        return Formula(partial(pairwise, function=kernel.function), dense=True)
    gamma, coef0 = ("a", "r") if kind == "Sigmoid" else ("gamma", "coef0")
    numbers = Numbers(
        number_of(kernel, gamma, 1.0),
        number_of(kernel, coef0, 0.0),
        number_of(kernel, "degree", 1.0),
        table,
    )
    return SIMPLE[kind](numbers)
