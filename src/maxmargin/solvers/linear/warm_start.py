"""Warm starts of linear solvers: from the model of a fit with another C.

Newton's methods begin at w. With another C the w of an earlier fit is nearer to the next
answer than X'β: with C three times as large, β of rows at their bounds triples, β of the
others is not known yet, and w is a small difference of the two sums. β is the centre of
proximal Newton (:mod:`~maxmargin.solvers.linear.newton.proximal_newton`).

Coordinate descent begins at a β and needs its X'β, a pass over all rows. For a multiple
t·β it is t·X'β without a pass, and the dual along t is a parabola: on a path of C descent
begins at the best t within the box. 20 newsgroups, three classes, ten C to 1e-4: 1.72 s,
against 2.17 s with the β at their bounds moved to the new ones, and 2.56 s from β = 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from maxmargin.problem import WarmStart

if TYPE_CHECKING:
    from maxmargin._arrays import Table, Vector
    from maxmargin.problem import LinearJointProblem, LinearProblem

_FULL = 1.0 - 1e-12  # rounding: share of a bound, which is a product, that counts as it
_FAR = 10.0  # policy: growth of C from which a kinked loss is solved from nothing


def moved(problem: LinearProblem, warm: WarmStart) -> Vector:
    """The β of a warm start; entries at their old bounds are moved to the new ones."""
    beta = np.array(warm.beta, np.float64)
    return _grown(beta, np.abs(beta), _bound(problem, beta), warm.growth)


def moved_classes(problem: LinearJointProblem, warm: WarmStart) -> Table:
    """The same for all classes in one problem, where a row's own class has the bound."""
    beta = np.array(warm.beta, np.float64, order="C")
    if beta.shape != (problem.n, problem.n_classes):
        return beta  # refused where it is made feasible
    own = beta[np.arange(problem.n), problem.codes]
    return _grown(beta, own, problem.C, warm.growth)


def with_weights(problem: LinearProblem, warm: WarmStart | None) -> WarmStart | None:
    """A warm start for Newton's methods: β as far up its box as before, and w.

    Without usable weights β alone; None where a kinked loss is faster from nothing.
    """
    if warm is None:
        return None
    w = warm.w
    # A machine of other columns, or one that was altered, has a β at least.
    if w is None or w.size != problem.design.width or not np.isfinite(w).all():
        return WarmStart(beta=moved(problem, warm))
    beta = np.asarray(warm.beta, np.float64)
    growth = warm.growth or _growth(np.abs(beta), _bound(problem, beta))
    if not problem.squared and not 1.0 / _FAR <= growth <= _FAR:
        return None
    return WarmStart(beta=growth * beta, w=w, bias=warm.bias)


def best_multiple(problem: LinearProblem, warm: WarmStart) -> tuple[Vector, Vector]:
    """The multiple of β with the largest dual that fits into the box, and its X'β."""
    beta, pull = np.asarray(warm.beta, np.float64), warm.pull
    assert pull is not None  # what makes it cheap
    size = np.abs(beta)
    some = size > 0.0
    room = float(np.min(_bound(problem, beta)[some] / size[some], initial=np.inf))
    linear, curved = problem.loss.promises(beta)
    curved += float(pull @ pull)
    top = -linear / curved if curved > 0.0 else 0.0
    t = max(0.0, min(top, room))
    # Rounding may leave the box by a hair.
    return np.clip(t * beta, problem.lower, problem.upper), t * pull


def _bound(problem: LinearProblem, beta: Vector) -> Vector:
    """The bound on the side of every β; none for a loss that is smooth as it is."""
    if not problem.boxed:
        return np.full(beta.shape, np.inf)
    return np.where(beta > 0.0, problem.upper, -problem.lower)


def _grown(beta: Table, size: Vector, bound: Vector, growth: float | None) -> Table:
    """β with every entry at its bound multiplied by the growth of C."""
    if growth is not None and growth != 1.0:
        beta[(growth * size >= _FULL * bound) & (size > 0.0)] *= growth
    return beta


def _growth(size: Vector, bound: Vector) -> float:
    """Growth of C, estimated from the dual variables; 1 where they do not show it.

    Variables at their old bounds are all at the same share of the new bounds, and no
    other is above: two equal largest shares are taken for bounds.
    """
    share = size[bound > 0.0] / bound[bound > 0.0]
    top = float(share.max(initial=0.0))
    full = int(np.count_nonzero(share >= _FULL * top))
    return 1.0 / top if top > 0.0 and full > 1 else 1.0
