r"""A Newton step for the dual variables that are between their bounds.

With the others as they are,

.. math:: \varphi(\beta) = \tfrac12\|X^\top\beta\|^2 + \tfrac12\sum r\beta^2 + p^\top\beta
          + \varepsilon\|\beta\|_1

is a quadratic of them as long as none meets a bound (0 is one for a tube: β keeps its
sign). Conjugate gradients minimise it: two products with these rows an iteration. Where
the minimum lies beyond a bound, β moves there and is cut off at its bounds; the step is
halved until φ falls.

Coordinate descent soon finds these variables (the active set), and is slow from then on.

Reference: J. Moré and G. Toraldo, "On the solution of large quadratic programming
problems with bound constraints", SIAM J. Optim. 1, 1991.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from maxmargin.design.products import dot

if TYPE_CHECKING:
    from maxmargin._arrays import Index, Vector
    from maxmargin.problem import LinearProblem

_EXACT = 1e-2  # policy: share of the slope; a smaller residual ends conjugate gradients
_MOST = 50  # policy: iterations at most
_HALVINGS = 10  # policy: lengths of a step that are tried
_FLAT = 1e-14  # rounding: share of a direction's length; a smaller curvature counts as 0


class Moved(NamedTuple):
    """The result of a step."""

    some: Index
    beta: Vector  # theirs
    w: Vector
    met: int  # bounds that were met


def active_set_step(problem: LinearProblem, beta: Vector, w: Vector) -> Moved | None:
    """The step for all β between their bounds; None where φ does not fall."""
    inside = (problem.lower < beta) & (beta < problem.upper)
    if problem.epsilon:
        inside &= beta != 0.0
    some = np.flatnonzero(inside)
    if some.size == 0:
        return None
    design, ridge, old = problem.design, problem.ridge[some], beta[some]
    slope = design.times(w, some) + problem.p[some] + ridge * old
    slope += problem.epsilon * np.sign(old)
    s = _conjugate(problem, some, ridge, slope)
    low, high = problem.lower[some], problem.upper[some]
    if problem.epsilon:
        low, high = np.where(old > 0.0, 0.0, low), np.where(old > 0.0, high, 0.0)
    share = 1.0
    for _ in range(_HALVINGS):
        wish = old + share * s
        new = np.clip(wish, low, high)
        change = new - old
        shift = design.back(change, some)
        # φ after less φ before
        rise = float(slope @ change) + 0.5 * dot(shift, shift)
        rise += 0.5 * float((ridge * change) @ change)
        if rise < 0.0:
            met = int(np.count_nonzero(new != wish))
            return Moved(some, new, w + shift, met)
        share *= 0.5
    return None


def _conjugate(
    problem: LinearProblem, some: Index, ridge: Vector, slope: Vector
) -> Vector:
    """The s that minimises slope·s + ½s'(XX' + r)s, nearly."""
    design = problem.design
    s, r = np.zeros_like(slope), -slope
    d, rr = r.copy(), dot(r, r)
    enough = _EXACT**2 * rr
    for _ in range(_MOST):
        image = design.back(d, some)
        bend = dot(image, image) + float((ridge * d) @ d)
        if bend <= _FLAT * dot(d, d):  # no end in sight: as far as the bounds
            break
        length = rr / bend
        s += length * d
        r -= length * (design.times(image, some) + ridge * d)
        before, rr = rr, dot(r, r)
        if rr <= enough:
            break
        d = r + (rr / before) * d
    return s
