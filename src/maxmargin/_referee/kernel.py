"""The kernel of a fitted machine, built anew from its public parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scipy.sparse import issparse

from maxmargin._referee.known_kernels import Formula, formula_of, is_foreign
from maxmargin._referee.tables import is_numeric, narrow, take

if TYPE_CHECKING:
    from maxmargin._arrays import Index, Vector


@dataclass(frozen=True)
class Kernel:
    """A kernel of two blocks of rows, in float64."""

    formula: Formula
    dense: bool  # whether sparse tiles are written out
    foreign: bool  # the caller's function, which may take rows of any kind

    @property
    def linear(self) -> bool:
        """Whether the expansion goes through w."""
        return self.formula.linear

    @property
    def by_index(self) -> bool:
        """Whether the values are columns of A, so that B is not looked at."""
        return self.formula.by_index

    @classmethod
    def of(cls, estimator: Any, table: Any) -> Kernel:
        """The kernel that a machine used on the rows of a table."""
        formula, sparse = formula_of(estimator, table), issparse(table)
        foreign = is_foreign(estimator.kernel)
        flat = foreign or formula.linear or formula.by_index
        written = formula.dense or (not flat and narrow(table.shape[1]))
        return cls(formula, dense=not sparse or written, foreign=foreign)

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
