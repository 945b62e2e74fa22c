r"""From an interior point to a vertex of its answer: exact bounds, exact free ones.

An interior-point method ends a little inside every bound. Here β within 1e-6 of the width
of its box of an end is set to it, and the free ones F with the multipliers b of the sums
are solved anew from what optimality says of them,

.. math:: \begin{pmatrix}Q_{FF} & \mathbf 1\\ \mathbf 1^\top & 0\end{pmatrix}
          \begin{pmatrix}\delta\\ b\end{pmatrix} =
          \begin{pmatrix}-(F_F \pm \varepsilon)\\ t - \mathbf 1^\top\beta\end{pmatrix},
          \qquad Q = K + \mathrm{diag}(r),

by the shortest δ, because Q_FF is singular for a linear kernel or repeated points. A β
that leaves its box is put at the end it left by, one that is held at an end against the
sign of its multiplier is let go, and the rest is solved again, a bounded number of times:
steps of an active-set method (J. Nocedal and S. Wright, "Numerical Optimization", 2006,
§16.5) that begins next to its end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.linalg

from maxmargin.problem import Problem, imbalance, model_of, scores, violation

if TYPE_CHECKING:
    from maxmargin._arrays import Flags as Mask
    from maxmargin._arrays import Matrix, Vector

_SNAP = 1e-6  # policy: share of a box's width within which β is moved to its end
_RANK = 1e-13  # rounding: share of the largest singular value that counts as 0
_ROUNDS = 25  # policy: solves for the free points that are always allowed; 1 is usual
_MOST_ROUNDS = 500  # policy: … and while the cubes of their numbers sum to less than
_WORK = 5e8
_BALANCED = 1e-12  # rounding: |Σβ − t|/Σ|β| up to which an answer is accepted
_ROUNDING = 1e-15  # rounding: relative error of one F


def snapped(problem: Problem, beta: Vector) -> Vector:
    """β with what is next to an end of its box, or to the kink 0, exactly there.

    Next to is 1e-6 of the width of the box, of max |β| where that is infinite. The sums
    are right again afterwards: by the free ones, by all where those have no room.
    """
    low, high = problem.lower, problem.upper
    beta = np.clip(beta, low, high)
    width = high - low
    near = _SNAP * np.where(np.isfinite(width), width, np.abs(beta).max(initial=0.0))
    if problem.epsilon > 0.0:
        beta = np.where(np.abs(beta) <= near, np.clip(0.0, low, high), beta)
    beta = np.where(high - beta <= near, high, beta)
    beta = np.where(beta - low <= near, low, beta)
    beta = _balanced(problem, beta, _free(problem, beta))
    if imbalance(problem, beta) > _BALANCED:
        beta = _balanced(problem, beta, np.ones(problem.n, np.bool_))
    return beta


def _ends(problem: Problem, beta: Vector) -> tuple[Vector, Vector]:
    """The next end below and above every β: of its box, or the kink of |β|."""
    if problem.epsilon == 0.0:
        return problem.lower, problem.upper
    return (
        np.where(beta > 0.0, np.maximum(problem.lower, 0.0), problem.lower),
        np.where(beta < 0.0, np.minimum(problem.upper, 0.0), problem.upper),
    )


def _free(problem: Problem, beta: Vector) -> Mask:
    """Whether β is strictly between two ends."""
    low, high = _ends(problem, beta)
    inside: Mask = (beta > low) & (beta < high)
    return inside & (beta != 0.0) if problem.epsilon > 0.0 else inside


def _balanced(problem: Problem, beta: Vector, carriers: Mask) -> Vector:
    """Bring every sum to its value, each of the ``carriers`` by its share of the room."""
    beta = beta.copy()
    for s, total in enumerate(problem.sums):
        mine = problem.side == s
        for _ in range(2):  # the first time leaves rounding
            missing = total - float(beta[mine].sum())
            ends = _ends(problem, beta)[1 if missing > 0.0 else 0]
            room = np.where(mine & carriers, np.abs(ends - beta), 0.0)
            if np.isinf(room).any():
                room = np.where(np.isinf(room), abs(missing), 0.0)
            if missing != 0.0 and room.any():
                share = min(1.0, abs(missing) / float(room.sum()))
                moved = beta + np.copysign(share, missing) * room
                beta = np.clip(moved, problem.lower, problem.upper)
    return beta


def resolved(
    problem: Problem, Q: Matrix, beta: Vector, worst: float
) -> tuple[Vector, int]:
    """Solve the free ones again: the best β met, and the rounds it took (0: the given).

    Every β has a piece [low, high] on which the programme is smooth and which it may not
    leave; low = high = β where it is held. What is met counts only where its sums are
    right and its violation is no worse than ``worst``, that of the given β.
    """
    best, taken = beta, 0
    free = _free(problem, beta)
    low, high = (np.where(free, end, beta) for end in _ends(problem, beta))
    kept, careful = (beta, low, high), False
    work = 0.0
    for k in range(_MOST_ROUNDS):
        work += float((low < high).sum()) ** 3
        if k >= _ROUNDS and work > _WORK:
            break
        delta = _correction(problem, Q, beta, low, high)
        beta, left = _moved(beta, delta, low, high, careful)
        low, high = np.where(left, beta, low), np.where(left, beta, high)
        if left.any():
            continue
        free = low < high
        beta = _balanced(problem, beta, free)
        if imbalance(problem, beta) > _BALANCED:
            if careful:
                break
            # Too many left at once, and no point is left to make up the sum.
            (beta, low, high), careful = kept, True
            continue
        F = Q @ beta + problem.p
        now = violation(problem, beta, F)
        slow = now > 0.5 * worst
        if now < worst:
            best, taken, worst = beta, k + 1, now
        # Whoever is held against the sign of its multiplier is let go, the worst first.
        rises, falls = _wishes(problem, beta, F)
        wrong = np.where(free, 0.0, np.maximum(rises, falls))
        noise = _ROUNDING * float(Q.diagonal().max() * np.abs(beta).sum())
        loose = wrong > max(0.5 * float(wrong.max(initial=0.0)), noise)
        if now <= noise or (slow and not loose.any()):
            break
        down, up = _ends(problem, beta)
        low = np.where(loose & (falls > rises), down, low)
        high = np.where(loose & (rises >= falls), up, high)
        kept = beta, low, high
    return best, taken


def _moved(
    beta: Vector, delta: Vector, low: Vector, high: Vector, careful: bool
) -> tuple[Vector, Mask]:
    """β + δ within the pieces, and the points at an end; careful: only the first."""
    free = low < high
    new = beta + delta
    left = free & ((new <= low) | (new >= high))
    if careful and left.any():
        room = np.where(delta > 0.0, high - beta, beta - low)
        share = np.divide(room, np.abs(delta), out=np.full_like(beta, 1.0), where=left)
        first = float(share[left].min())
        left = left & (share <= first)
        new = beta + first * delta
        new[left] = np.where(delta > 0.0, high, low)[left]
    return np.clip(new, low, high), left


def _wishes(problem: Problem, beta: Vector, F: Vector) -> tuple[Vector, Vector]:
    """Gain of every β by rising and by falling, per unit, given the intercepts."""
    model = model_of(problem, beta, F)
    b = np.array([model.bias + model.split, model.bias - model.split])[problem.side]
    rise, fall = scores(problem, beta, F)
    return -(rise + b), fall + b


def _correction(
    problem: Problem, Q: Matrix, beta: Vector, low: Vector, high: Vector
) -> Vector:
    """The shortest δ that makes the free ones stationary and every sum right."""
    delta = np.zeros_like(beta)
    free = np.flatnonzero(low < high)
    if free.size == 0:
        return delta
    price = np.where(high > 0.0, problem.epsilon, -problem.epsilon)  # of |β| on its piece
    F = (Q @ beta + problem.p + price)[free]
    side, m = problem.side[free], free.size
    present = [s for s in range(len(problem.sums)) if (side == s).any()]
    scale = float(Q[free, free].mean()) or 1.0  # the border in the units of Q
    system = np.zeros((m + len(present), m + len(present)))
    system[:m, :m] = Q[np.ix_(free, free)]
    right = np.zeros(m + len(present))
    right[:m] = -F
    for row, s in enumerate(present, m):
        mine = side == s
        system[row, :m] = system[:m, row] = np.where(mine, scale, 0.0)
        right[:m] += np.where(
            mine, F[mine].mean(), 0.0
        )  # a first b: its unknown is small
        have = float(beta[problem.side == s].sum())
        right[row] = scale * (problem.sums[s] - have)
    found = scipy.linalg.lstsq(system, right, cond=_RANK, lapack_driver="gelsy")[0]
    delta[free] = found[:m]
    return delta
