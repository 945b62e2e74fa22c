"""S1's example of coordinate ascent, as a Problem."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.kernels.gram.table import TableGram
from maxmargin.problem import Problem


def coordinate_example() -> Problem:
    r"""Return the problem :math:`\max_\alpha\,-2\alpha_1^2-\alpha_2^2-\alpha_1\alpha_2`.

    It is the dual W of a template with K = [[4, 1], [1, 2]], p = 0 and no bounds of α, so
    that the maximum is W = 0 at α = 0. Coordinate ascent goes α₁ ← −α₂/4, α₂ ← −α₁/2,
    each round an eighth of the one before (S1, "Coordinate ascent"). There is no margin:
    the primal is infinite everywhere but at the maximum.

    Returns
    -------
    Problem
        For :class:`maxmargin.solvers.lectures.coordinate_ascent.CoordinateAscent`, with a
        start such as ``steps(problem, warm=numpy.array([2.0, -2.0]))``: 0 is the answer.
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
