"""Which kernel a fitted machine used, built anew from its public parameters."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse

from maxmargin._referee.formulas import (
    blocks,
    columns_of,
    dots,
    polynomial,
    rbf,
    sigmoid,
)
from maxmargin._referee.kernel_objects import Formula, formula_of, is_object, name_of
from maxmargin._referee.tables import (
    is_numeric,
    moments,
    narrow,
    number_of,
    require,
    take,
)

if TYPE_CHECKING:
    from maxmargin._arrays import Index, Vector

KERNELS = ("linear", "poly", "rbf", "sigmoid", "precomputed")


@dataclass(frozen=True)
class Kernel:
    """A kernel of two blocks of rows, in float64."""

    formula: Formula
    linear: bool  # goes through w
    dense: bool  # whether sparse tiles are written out
    foreign: bool  # the caller's function, which may take rows of any kind

    @property
    def by_index(self) -> bool:
        """Whether the values are columns of A, so that B is not looked at."""
        return self.formula.by_index

    @classmethod
    def of(cls, estimator: Any, table: Any) -> Kernel:
        kind, sparse = estimator.kernel, issparse(table)
        if is_foreign(kind):
            formula = Formula(partial(blocks, function=kind))
            return cls(formula, linear=False, dense=not sparse, foreign=True)
        require(
            is_object(kind) or kind in KERNELS,
            f"kernel={kind!r}: it must be a callable or one of {', '.join(KERNELS)}",
        )
        width, name = table.shape[1], name_of(kind)
        flat = name in {"linear", "precomputed"}
        centre, variance = (np.zeros(1), 1.0) if flat else moments(table)
        if is_object(kind):
            formula = formula_of(kind, centre)
        else:
            formula = _named(estimator, width, centre, variance)
        spread = formula.dense or (not flat and narrow(width))
        return cls(
            formula,
            linear=name == "linear",
            dense=not sparse or spread,
            foreign=False,
        )

    def rows(self, table: Any, some: Any) -> Any:
        """Read some rows as the formula wants them."""
        if self.foreign and not is_numeric(table):
            return table[some]
        return take(table, some, dense=self.dense)

    def __call__(self, A: Any, B: Any, columns: Index) -> Vector:
        """Values of the rows A and B, B being the given rows of X."""
        if self.by_index:
            return self.formula.values(A, columns)
        return self.formula.values(A, B)


def is_foreign(kernel: Any) -> bool:
    """Tell whether a kernel is a function of the caller, called as k(A, B)."""
    return callable(kernel) and not is_object(kernel)


def _named(estimator: Any, width: int, centre: Vector, variance: float) -> Formula:
    # Ours says what gamma was; it may depend on weights, scikit-learn's does not.
    asked = getattr(estimator, "gamma_", getattr(estimator, "gamma", "auto"))
    known = {
        "auto": 1.0 / width,
        "scale": 1.0 / (width * variance) if variance else 1.0,
    }
    if asked not in known:
        require(isinstance(asked, Real), f"gamma={asked!r}: it must be a number")
    gamma = float(known.get(asked, asked))
    require(gamma >= 0.0, f"gamma={gamma}: it must not be negative")
    degree = number_of(estimator, "degree", 3.0)
    coef0 = number_of(estimator, "coef0", 0.0)
    return {
        "linear": Formula(dots),
        "poly": Formula(partial(polynomial, gamma=gamma, coef0=coef0, degree=degree)),
        "rbf": Formula(partial(rbf, gamma=gamma, centre=centre)),
        "sigmoid": Formula(partial(sigmoid, gamma=gamma, coef0=coef0)),
        "precomputed": Formula(columns_of, by_index=True),
    }[estimator.kernel]
