"""X'DX made in short parts, so that a run can be stopped between them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from maxmargin.design.hessian import curvature

if TYPE_CHECKING:
    from maxmargin._arrays import Index, Matrix, Vector
    from maxmargin.design.operator import Design

_PRODUCTS = 1 << 33  # policy: multiplications in a part, half a second of one thread


@dataclass(slots=True)
class Growing:
    """The lower triangle of Σ weight·x̃x̃', and the number of rows in it so far."""

    square: Matrix = field(default_factory=lambda: np.zeros((0, 0)))
    done: int = 0

    def grow(self, design: Design, constant: float, weight: Vector, some: Index) -> bool:
        """Add the next of the rows ``some``; return whether these were the last.

        ``constant`` and ``weight`` are those of
        :func:`~maxmargin.design.hessian.curvature`. When all are done it
        begins anew with the next call, and :attr:`square` belongs to the caller.
        """
        size = int(design.X.shape[1]) + (constant != 0.0)
        rows = max(1, _PRODUCTS // max(1, size * size))
        part = slice(self.done, self.done + rows)
        more = curvature(design, constant, weight[part], some[part])
        self.square = self.square + more if self.done else more
        self.done += rows
        if self.done < some.size:
            return False
        self.done = 0
        return True
