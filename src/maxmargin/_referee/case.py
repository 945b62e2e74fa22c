"""A fitted kernel machine beside the rows that it was fitted on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse

from maxmargin._referee.expansion import expansion
from maxmargin._referee.fitted import Fitted
from maxmargin._referee.given import codes_of, prices_of
from maxmargin._referee.known_kernels import is_foreign
from maxmargin._referee.tables import as_objects, as_table, require, take, tiles
from maxmargin.errors import InputError

if TYPE_CHECKING:
    from maxmargin._arrays import Index, Vector
    from maxmargin._referee.given import Given


@dataclass(frozen=True, eq=False)
class Case:
    """A fitted kernel machine, the rows of its fit, and what each of them costs."""

    model: Fitted
    table: Any
    code: Index  # the class of each row; 0 where there are no classes
    price: Vector  # of each row; -1 for the rows that are left out

    @classmethod
    def of(cls, given: Given) -> Case:
        """Read the model, the rows and their prices, and find its support vectors."""
        anything = is_foreign(getattr(given.estimator, "kernel", None))
        table = as_objects(given.X) if anything else as_table("X", given.X)
        model, n = Fitted.read(given, table), table.shape[0]
        if model.classes.size:
            code = codes_of(model.classes, given.y, n, given.sample_weight)
        else:
            code = np.zeros(n, dtype=np.intp)
        price = prices_of(model, code, given.sample_weight)
        model = _located(model, table, code, price)
        require((price > 0.0).any(), "no row has a positive weight")
        return cls(model, table, code, price)

    @cached_property
    def rows(self) -> Index:
        """The rows of X that are in the problem."""
        return np.flatnonzero(self.price >= 0.0)

    def beta(self, lines: Vector) -> Vector:
        """Spread the coefficients of the support vectors over all rows of X."""
        spread = np.zeros((self.price.size, *lines.shape[1:]))
        spread[self.model.support] = lines
        return spread

    def g(self, rows: Index, lines: Vector) -> Vector:
        """Kβ at some rows; a column for each column of ``lines``."""
        return expansion(self.model, self.table, rows, lines)


def _located(model: Fitted, table: Any, code: Index, price: Vector) -> Fitted:
    """Find the rows of X that ``support_`` means, and their classes.

    scikit-learn (1.9) counts only the rows of positive weight there, whatever its
    documentation says; so where rows are left out, both readings are tried, for its own
    machines that one first.
    """
    kept = np.flatnonzero(price >= 0.0)
    readings = [model.support]
    if kept.size < price.size and model.support.max(initial=-1) < kept.size:
        readings.append(kept[model.support])
    if model.package == "sklearn":
        readings.reverse()
    for rows in readings:
        owner = code[rows]
        counts = np.bincount(owner, minlength=model.counts.size)
        if (
            np.array_equal(counts, model.counts)
            and (price[rows] > 0.0).all()
            and _same_rows(model.vectors, table, rows)
        ):
            return replace(model, support=rows, owner=owner)
    what = "these classes and positive" if model.classes.size else "positive"
    msg = (
        f"the support vectors are no rows of this X with {what} weights: pass the X, y "
        "and sample_weight of the fit, in the same order"
    )
    raise InputError(msg)


def _same_rows(vectors: Any, table: Any, rows: Index) -> bool:
    """Compare loosely: a float32 model may be shown the float64 X it was rounded from."""
    if vectors is None:
        return True
    sparse = issparse(table) and issparse(vectors)
    for some in tiles(rows.size, 1 if sparse else table.shape[1]):
        A, B = take(vectors, some), take(table, rows[some])
        if abs(A - B).max() > 1e-6 * abs(B).max():
            return False
    return True
