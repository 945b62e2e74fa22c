r"""The β that a Newton step foresees, whose dual value is better than that of w's own.

Newton's equation :math:`(I + X^\top DX)s = X^\top\beta - w` over the active rows reads
:math:`X^\top\beta^+ = w + s` with :math:`\beta^+ = \beta - DXs`, so that the dual of
:math:`\beta^+` needs no pass over X. Of the gap it leaves what rows add that change sides
on the way, in place of half the squared gradient, which stays large where columns are: a
tube on 22,784 × 8 rows is closed to 6e-4 and not to 3e-2. What is outside the box is cut
off, and X' times it taken from w + s.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from maxmargin._jit import njit
from maxmargin.solvers.linear._some_rows import back
from maxmargin.solvers.linear._vectors import dot

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin.problem import LinearProblem
    from maxmargin.solvers.linear._squared import Loss

    Vector = NDArray[np.float64]

__all__ = ["foreseen"]


def foreseen(
    problem: LinearProblem, loss: Loss, beta: Vector, u: Vector, ahead: Vector
) -> tuple[Vector, float]:
    """β⁺ within its box and its dual value, of all rows: ``u`` is Xs, ``ahead`` w + s."""
    plus, cut, found = np.empty_like(beta), np.empty_like(beta), np.empty(3)
    _ahead(beta, u, loss.rise, loss.fall, loss.epsilon, problem.p, plus, cut, found)
    curved, linear, cuts = found.tolist()
    pull = ahead
    if cuts:
        pull = ahead - back(problem.design, np.arange(problem.n), cut)
    return plus, -0.5 * (dot(pull, pull) + curved) - linear


def _ahead(beta, u, rise, fall, epsilon, p, plus, cut, found):
    """β⁺ and what is cut off it; Σrβ², pβ + ε|β| and how many are cut."""
    curved, linear, cuts = 0.0, 0.0, 0.0
    for i in range(beta.size):
        strength = max(rise[i], fall[i])
        one, rest = 0.0, 0.0
        if beta[i] != 0.0:
            one = beta[i] - strength * u[i]
            if (rise[i] == 0.0 and one > 0.0) or (fall[i] == 0.0 and one < 0.0):
                one, rest = 0.0, one
                cuts += 1.0
            curved += one * one / strength
            linear += p[i] * one + epsilon * abs(one)
        plus[i], cut[i] = one, rest
    found[0], found[1], found[2] = curved, linear, cuts


_ahead = njit(_ahead)
