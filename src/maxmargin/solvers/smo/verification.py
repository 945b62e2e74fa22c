"""Which gradients must be known in float64 before an answer is accepted.

A gradient F accumulated from float32 kernel values is wrong by some drift. It matters
for two claims: that the violation is at most tol, which a few points near the extremes
decide, and that primal and dual are what the certificate says, for which the support
vectors count (points beyond the margin without weight add nothing to either).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from maxmargin.problem import dual_value, extremes, scores

if TYPE_CHECKING:
    from maxmargin._arrays import Index, Vector
    from maxmargin.problem import Problem

_WITNESSES = 16  # support vectors that tell how wrong F is, whoever decides
_VAGUE = 1e-6  # relative error of the objective that is not accepted
_SEPARATED = 1e-6  # hard margin: hulls closer than this, relative to the data, overlap


def first_slack(tol: float, F: Vector) -> float:
    """A distance well over the rounding error that F usually has."""
    return tol + 1e-5 * (1.0 + float(np.abs(F).max(initial=0.0)))


def deciding_points(problem: Problem, beta: Vector, F: Vector, slack: float) -> Index:
    """Points whose price of rising or falling is within ``slack`` of violating.

    With a sum it is compared with the extremes of the other kind, without one with 0.
    Some support vectors are always among them: where nobody is near, a wrong F would
    be believed without a look.
    """
    up, low = scores(problem, beta, F)
    if problem.sums:
        ends = np.array(extremes(problem, up, low))[problem.side]
        near = (up < ends[:, 1] + slack) | (low > ends[:, 0] - slack)
    else:
        near = (up < slack) | (low > -slack)
    support = np.flatnonzero(beta)
    near[support[:: max(1, support.size // _WITNESSES)]] = True
    return np.flatnonzero(near)


def objective_is_vague(problem: Problem, beta: Vector, F: Vector, drift: float) -> bool:
    """Whether errors of size ``drift`` in F would show in the objective.

    Rounding errors are independent, so their sum with β grows with ‖β‖₂; 4 is caution.
    """
    dual = abs(dual_value(problem, beta, F))
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
