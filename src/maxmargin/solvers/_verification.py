"""Which gradients must be known in float64 before an answer is accepted.

A gradient F accumulated from float32 kernel values is wrong by some drift. It matters
for two claims: that the violation is at most tol, which a few points near the extremes
decide, and that primal and dual are what the certificate says, for which the support
vectors count (points beyond the margin without weight add nothing to either).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin.problem import Problem

    Index = NDArray[np.intp]
    Vector = NDArray[np.float64]

__all__ = ["deciding_points", "first_slack", "hulls_meet", "objective_is_vague"]

_VAGUE = 1e-6  # relative error of the objective that is not accepted
_SEPARATED = 1e-6  # hard margin: hulls closer than this, relative to the data, overlap


def first_slack(tol: float, F: Vector) -> float:
    """A distance well over the rounding error that F usually has."""
    return tol + 1e-5 * (1.0 + float(np.abs(F).max(initial=0.0)))


def deciding_points(problem: Problem, beta: Vector, F: Vector, slack: float) -> Index:
    """Points that may rise or fall and whose F is within ``slack`` of violating.

    With an intercept F is compared with the extremes of the other side, without one
    with 0.
    """
    up, low = beta < problem.upper, beta > problem.lower
    ceiling = floor = 0.0
    if problem.balanced:
        ceiling = float(F[low].max(initial=-np.inf))
        floor = float(F[up].min(initial=np.inf))
    return np.flatnonzero((up & (F < ceiling + slack)) | (low & (F > floor - slack)))


def objective_is_vague(problem: Problem, beta: Vector, F: Vector, drift: float) -> bool:
    """Whether errors of size ``drift`` in F would show in the objective.

    Rounding errors are independent, so their sum with β grows with ‖β‖₂; 4 is caution.
    """
    dual = 0.5 * abs(float(beta @ (F + problem.p)))
    return 4.0 * drift * float(np.linalg.norm(beta)) > _VAGUE * dual


def hulls_meet(
    problem: Problem, beta: Vector, F: Vector, members: Index, size: float
) -> bool:
    """Hard margin: whether the convex hulls of the classes touch, as far as one can see.

    β/Σ|β| names a point in either hull, 2‖w‖/Σ|β| apart, an upper bound of the margin:
    when it vanishes against ``size``, the largest norm of a point, there is none.
    ``F`` and ``beta`` are those of ``members``, which hold all weight.
    """
    total = float(np.abs(beta).sum())
    norm = np.sqrt(max(0.0, float(beta @ (F - problem.p[members]))))
    return total > 0.0 and bool(2.0 * norm < _SEPARATED * size * total)
