r"""The best weight of the constant column for outputs that are known: no pass over X.

Along it the primal is :math:`\tfrac12(w_0 + \delta)^2 + \sum_i\text{loss}_i(f_i +
s\delta)` and its slope :math:`w_0 + \delta - s\sum_i\beta_i(f_i + s\delta)`, with the β
of these outputs. The slope never falls: a bracket around its zero is made
smaller by false position (the Illinois way, which moves both ends).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from maxmargin._jit import ASSOCIATIVE, njit

if TYPE_CHECKING:
    from maxmargin._arrays import Vector
    from maxmargin.problem import LinearProblem

_FIRST = 1e-3  # policy: length of the first try, where no earlier shift is known
_GROWTH = 4.0  # policy: factor of the tries until the slope has another sign
_TRIES, _CUTS = 30, 8  # policy: tries, and cuts of the bracket, at most
_FLAT = 0.05  # policy: share of the first slope; a smaller one counts as 0


@njit(fastmath=set(ASSOCIATIVE))
def _asked(f, p, lower, upper, ridge, epsilon, shift):
    """Σβ of the outputs f + shift."""
    total = 0.0
    for i in range(f.size):
        v = -(f[i] + shift + p[i])
        # What is left of it beyond the tube.
        left = max(v - epsilon, 0.0) + min(v + epsilon, 0.0)
        if ridge[i] > 0.0:
            total += min(max(left / ridge[i], lower[i]), upper[i])
        elif left != 0.0:
            total += upper[i] if left > 0.0 else lower[i]
    return total


def best_shift(
    problem: LinearProblem, outputs: Vector, weight: float, about: float
) -> float:
    """δ with a primal no larger than that of 0, and nearly the least.

    ``about`` is its likely size, 0 if unknown.
    """
    s = problem.design.scaling

    def slope(delta: float) -> float:
        beta = _asked(
            outputs, problem.p, problem.lower, problem.upper, problem.ridge,
            problem.epsilon, s * delta,
        )  # fmt: skip
        return weight + delta - s * float(beta)

    first = slope(0.0)
    if not np.isfinite(first) or first == 0.0:
        return 0.0
    near, far, at_near, at_far = 0.0, -np.copysign(about or _FIRST, first), first, first
    for _ in range(_TRIES):
        at_far = slope(far)
        if at_far * first <= 0.0:
            break
        near, at_near, far = far, at_far, _GROWTH * far
    else:
        return near
    for _ in range(_CUTS):
        if abs(at_near) <= _FLAT * abs(first) or near == far:
            break
        at = near - at_near * (far - near) / (at_far - at_near)
        found = slope(at)
        if found * first > 0.0:
            near, at_near, at_far = at, found, 0.5 * at_far
        else:
            far, at_far, at_near = at, found, 0.5 * at_near
    return near
