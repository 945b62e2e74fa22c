"""Any loss with a curvature along a line: logistic, Huber's, a user's own.

It is given by value, slope and curvature
(:mod:`~maxmargin.problem.row_losses`), row by row in NumPy; pure squares have compiled
sums of their own (:mod:`~maxmargin.solvers.linear.newton.squared`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from maxmargin.design.products import dot
from maxmargin.solvers.linear.newton.sums import Sums

if TYPE_CHECKING:
    from maxmargin._arrays import Flags, Index, Vector
    from maxmargin.parallel import Workers


class Smooth(NamedTuple):
    """The losses of many rows; with z = −(f + p) their outputs are f."""

    rows: Any  # BoxLoss with a ridge everywhere, or SmoothLoss
    fixed: bool = False  # whether the curvature of an active row never changes

    def of(self, some: Index) -> Smooth:
        """The losses of some rows, weighted to stand for all."""
        return Smooth(self.rows.of(some))

    def look(
        self,
        workers: Workers,  # noqa: ARG002
        z: Vector,
        u: Vector,
        t: float,
        beta: Vector,
    ) -> Sums:
        """Write β at z − t·u; return its sums."""
        outputs = t * u - z - self.rows.p
        beta[:] = self.rows.answer(outputs)
        bent = self.rows.curvature(outputs) * u
        return Sums(
            paid=self.rows.paid(outputs),
            along=float(dot(beta, u)),
            curved=float(dot(bent, u)),
            total=float(beta.sum()),
            size=float(np.abs(beta).sum()),
        )

    def bends(self, z: Vector, beta: Vector) -> tuple[Vector, Flags]:  # noqa: ARG002
        """The curvature of every row, and which rows have one."""
        curvature = self.rows.curvature(-z - self.rows.p)
        return curvature, curvature > 0.0
