"""Kernels of pairs of rows: k(x, z) = closing(Σ_k term(x_k, z_k)), a term a feature.

Each is one block, as in :mod:`~maxmargin.kernels.dot_products`: a record with its
formula, and the kernel object.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import scipy.sparse as sp

from maxmargin._elementary import exp
from maxmargin.errors import InputError
from maxmargin.kernels.algebra import Kernel
from maxmargin.kernels.gram.contract import Family
from maxmargin.kernels.parameters import positive


class PairKernel(Kernel):
    """The base of kernels of pairs of rows.

    The record that :meth:`compiled` returns has two methods, which are compiled (by
    Numba) and see float64 numbers. Records are classes of a module, not of a function:
    Numba's disk cache finds them by name.

    - ``term(self, x, z)``: what one feature adds to the sum. It is symmetric in x and z,
      bit for bit, and 0 for x = z = 0.
    - ``closing(self, total)``: the kernel value of the sum.
    """

    family = Family.PAIRS

    def compiled(self) -> Any:
        """Return the record."""
        raise NotImplementedError


# --- Laplacian --------------------------------------------------------------------------


class LaplacianRecord(NamedTuple):
    """k(x, z) = exp(−gamma·‖x − z‖₁)."""

    gamma: float

    def term(self, x, z):
        """|x − z|."""
        return abs(x - z)

    def closing(self, total):
        """exp(−gamma·total)."""
        return exp(-self.gamma * total)


class Laplacian(PairKernel):
    """k(x, z) = exp(−gamma·‖x − z‖₁), gamma positive."""

    is_semidefinite_by_construction = True

    gamma: float

    def __init__(self, gamma: float) -> None:
        self._set(gamma=positive("Laplacian", "gamma", gamma))

    def compiled(self) -> LaplacianRecord:
        """Return the record."""
        return LaplacianRecord(self.gamma)


# --- χ² ---------------------------------------------------------------------------------


class ChiSquaredRecord(NamedTuple):
    """k(x, z) = exp(−gamma·Σ (x_k − z_k)²/(x_k + z_k)), 0/0 = 0."""

    gamma: float

    def term(self, x, z):
        """(x − z)²/(x + z)."""
        total, apart = x + z, x - z
        # The quotient first: it is at most 1, so that nothing overflows.
        return apart * (apart / (total if total > 0.0 else 1.0))

    def closing(self, total):
        """exp(−gamma·total)."""
        return exp(-self.gamma * total)


class ChiSquared(PairKernel):
    """k(x, z) = exp(−gamma·Σ (x_k − z_k)²/(x_k + z_k)) with 0/0 = 0; for rows ≥ 0."""

    is_semidefinite_by_construction = True

    gamma: float

    def __init__(self, gamma: float) -> None:
        self._set(gamma=positive("ChiSquared", "gamma", gamma))

    def check_rows(self, X: Any, *, name: str = "X") -> None:
        """Refuse negative values."""
        values = X.data if sp.issparse(X) else X
        lowest = float(values.min(initial=0.0))
        if lowest < 0.0:
            msg = (
                f"{name} contains {lowest:.6g}: ChiSquared compares amounts and is "
                "defined for rows without negative values; use MinMaxScaler, or another "
                "kernel such as RBF or Laplacian"
            )
            raise InputError(msg)

    def compiled(self) -> ChiSquaredRecord:
        """Return the record."""
        return ChiSquaredRecord(self.gamma)
