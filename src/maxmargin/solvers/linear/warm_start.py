"""A model to begin with: what solvers take in the place of a β alone.

Newton's methods stand at a w, and that of a fit before is nearer to the next answer than
X'β is once β follows another C: with C three times as large, rows at their bounds pull
three times as hard, what the others pull against them is not known yet, and w is a small
difference of the two. The β is where the kinks of a hinge or a tube are rounded off
(:mod:`~maxmargin.solvers.linear.newton.proximal_newton`).

Coordinates stand at a β and need its X'β, a pass over all rows. Of a multiple t·β it is
t·X'β, no pass, and the dual along it a parabola: the best t within the box is where they
begin on a path of C. 20 newsgroups, three classes, ten C to 1e-4: 1.72 s for 2.17 s with
the β at their bounds moved to the new ones, and 2.56 s from nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from maxmargin.problem import linear_promises

if TYPE_CHECKING:
    from maxmargin._arrays import Vector
    from maxmargin.problem import LinearProblem


class Warm(NamedTuple):
    """β, and the w and free intercept that stand beside it; w need not be X'β."""

    beta: Vector
    w: Vector
    bias: float = 0.0


class Ray(NamedTuple):
    """β, and the X'β that is known of it: any multiple is as well known."""

    beta: Vector
    pull: Vector

    def best(self, problem: LinearProblem) -> Ray:
        """The multiple with the largest dual that fits into the box of a problem."""
        size = np.abs(self.beta)
        bound = np.where(self.beta > 0.0, problem.upper, -problem.lower)
        some = size > 0.0
        room = float(np.min(bound[some] / size[some], initial=np.inf))
        linear, curved = linear_promises(problem, self.beta)
        curved += float(self.pull @ self.pull)
        top = -linear / curved if curved > 0.0 else 0.0
        t = max(0.0, min(top, room))
        # Rounding may leave the box by a hair.
        beta = np.clip(t * self.beta, problem.lower, problem.upper)
        return Ray(beta, t * self.pull)
