"""Shared by solvers that work on a few points at a time, all others held fixed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from maxmargin.problem import Problem, extremes, hulls_meet, scores
from maxmargin.solvers.smo import pairs as _pairs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from maxmargin._arrays import Index, Vector

SLICE = 1 << 25  # policy: operations of one unit, where a step takes more than that
_DOUBLE = np.dtype(np.float64)


def middles(ends: Sequence[tuple[float, float]] | Vector) -> Vector:
    """The middle of (min F↑, max F↓) for every sum; where one is open, the other end."""
    found = np.array(ends)
    closed = np.isfinite(found)
    total = np.where(closed, found, 0.0).sum(axis=1)
    return np.asarray(total / np.maximum(closed.sum(axis=1), 1), np.float64)


def gained(
    problem: Problem,
    members: Index,
    before: tuple[Vector, Vector],
    after: tuple[Vector, Vector],
) -> float:
    r"""Gain of the dual from changes of ``members`` alone.

    .. math:: -\sum_k \Bigl[(\beta'_k - \beta_k)\bigl(\tfrac12(F_k + F'_k) + b\bigr)
              + \varepsilon(|\beta'_k| - |\beta_k|)\Bigr]

    exact for a quadratic; b may be anything since the changes of a sum add up to 0. The
    b of ``before`` keeps the terms as small as the gain, of which the difference of two
    duals would leave no digit near the optimum.

    Parameters
    ----------
    problem : Problem
        The problem.
    members : ndarray of int
        The points that moved.
    before, after : tuple of two ndarrays
        Their β and F.
    """
    (old, F), (new, G) = before, after
    if np.array_equal(old, new):
        return 0.0
    centre = np.zeros(members.size)
    if problem.sums:
        part = restricted(problem, members)
        centre = middles(extremes(part, *scores(part, old, F)))[part.side]
    smooth = (new - old) * (0.5 * (F + G) - centre)
    return -float((smooth + problem.epsilon * (np.abs(new) - np.abs(old))).sum())


def pair_steps(
    problem: Problem,
    members: Index,
    K: NDArray[np.float64],
    diagonal: Vector,
    beta: Vector,
    F: Vector,
    *,
    stop_at: float,
    left: int,
) -> tuple[int, int, float]:
    """One slice of the programme of ``members``, whose β and F change in place.

    ``left`` pairs at most, and as many as one unit may take.
    Returns the code of :func:`~maxmargin.solvers.smo.pairs.move`, the pairs moved, and
    what the dual gained.
    """
    before = beta.copy(), F.copy()
    limit = min(max(64, SLICE // max(256, members.size)), left)
    code, done = _pairs.move(
        problem, members, K, F, beta, diagonal,
        noise=_pairs.DOUBLE_NOISE, stop_at=stop_at, limit=limit,
    )  # fmt: skip
    return code, done, gained(problem, members, before, (beta, F))


def restricted(problem: Problem, points: Index) -> Problem:
    """The problem of some points: their p, boxes and sides (``gram`` is that of all).

    Enough for prices, extremes and the dual value, in O(points) instead of O(n).
    """
    return Problem(
        gram=problem.gram,
        p=problem.p[points],
        lower=problem.lower[points],
        upper=problem.upper[points],
        ridge=problem.ridge[points],
        sums=problem.sums,
        epsilon=problem.epsilon,
    )


def add_columns(
    problem: Problem, points: Index, factor: Vector, gradient: Vector
) -> None:
    """``gradient += (K + diag(r))[:, points]·factor`` for all points, in float64."""
    if points.size:
        everyone = np.arange(problem.n, dtype=np.intp)
        problem.gram.apply(everyone, points, factor, gradient, _DOUBLE)
        gradient[points] += problem.ridge[points] * factor


def add_products(problem: Problem, beta: Vector, gradient: Vector) -> None:
    """``gradient += (K + diag(r))β`` for all points, in float64."""
    support = np.flatnonzero(beta)
    add_columns(problem, support, beta[support], gradient)


def overlap_shown(problem: Problem, beta: Vector, members: Index, F: Vector) -> bool:
    """Hard margin: whether the classes are seen to be inseparable.

    It can be said while ``members``, whose gradients are ``F``, hold all weight of β.
    """
    if not problem.separating:
        return False
    mine = beta[members]
    whole = np.abs(mine).sum() >= 0.999 * np.abs(beta).sum()
    size = float(np.sqrt(problem.diagonal.max()))
    return bool(whole) and hulls_meet(problem, mine, F, members, size)


def attainable(wanted: float, F: Vector) -> float:
    """A violation at which to stop: the wanted one, or what rounding of F allows.

    Below it steps of the last bit go to and fro, and a programme would not end.
    """
    rounding = 4.0 * float(np.finfo(np.float64).eps)
    return max(wanted, rounding * float(np.abs(F).max(initial=0.0)))


def counted(number: int, noun: str) -> str:
    """``1 pair``, ``2 pairs``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
