"""S1's example of coordinate ascent as a Problem."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.kernels.gram.table import TableGram
from maxmargin.problem import Problem


def coordinate_example() -> Problem:
    r""":math:`W(\alpha) = -2\alpha_1^2-\alpha_2^2-\alpha_1\alpha_2`, to be maximised.

    It is the dual of a template whose K is [[4, 1], [1, 2]], whose p is 0, and where
    nothing bounds α, so that the maximum is W = 0 at α = 0. Coordinate ascent goes
    α₁ ← −α₂/4, α₂ ← −α₁/2, each round an eighth of the one before (S1, "Coordinate
    ascent"). As no margin stands behind it, its primal is infinite everywhere but at
    the maximum.

    Returns
    -------
    Problem
        For :class:`maxmargin.solvers.lectures.coordinate_ascent.CoordinateAscent`; give
        it a start, ``steps(problem, warm=numpy.array([2.0, -2.0]))``, since 0 is the
        answer.
    """
    table: Any = TableGram(np.array([[4.0, 1.0], [1.0, 2.0]]))
    return Problem(
        gram=table,
        p=np.zeros(2),
        lower=np.full(2, -np.inf),
        upper=np.full(2, np.inf),
        ridge=np.zeros(2),
        sums=(),
    )
