r"""Crammer and Singer's machine: row by row, then Newton's method where that is slow.

Problem: :class:`~maxmargin.problem.LinearJointProblem`.

Update: that of :class:`~maxmargin.solvers.linear.LinearCrammerSinger`, and where it
is slow (:mod:`~maxmargin.solvers.relay`) that of
:class:`~maxmargin.solvers.linear.JointNewton`, which goes on from its β, if all classes
together have few weights. Visits are slow where columns differ much in size or rows are
far from the origin, and faster elsewhere: digits, C = 1, 0.1 s (Newton's 0.5).

Stop: relative duality gap ≤ tol.

Cost: that of the solver at work.

References: those of the two solvers.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from maxmargin.problem import LinearJointProblem, WarmStart
from maxmargin.solvers.linear.classes.crammer_singer import LinearCrammerSinger
from maxmargin.solvers.linear.classes.newton import JointNewton
from maxmargin.solvers.relay import Relay

if TYPE_CHECKING:
    from maxmargin.problem import LinearJointModel

_FEW = 2500  # policy: weights of all classes at most; factored in half a second
_PRODUCTS = 2e10  # policy: rows · weights² at most; the Hessian takes a second or two
_STEPS = 35  # policy: Newton steps of a usual fit
_STEP = 5e6  # policy: cost of a step besides its Hessian and factor, in multiplications
_VISIT, _READ = 4000, 20  # policy: cost of a visit, and of every number of its row


class JointRelay(Relay):
    """A sequential dual method, and Newton's method for all classes where that is slow.

    The parameters are those of :class:`~maxmargin.solvers.relay.Relay`.
    """

    solves = LinearJointProblem
    taste = 0.35  # conjugate gradients help the first late, and then all at once

    def _first(self, problem: LinearJointProblem) -> LinearCrammerSinger:  # noqa: ARG002
        return LinearCrammerSinger(tol=self.tol, max_iter=self.max_iter, seed=self.seed)

    def _second(self, limit: int) -> JointNewton:
        return JointNewton(tol=self.tol, max_iter=limit)

    def _worth(self, problem: LinearJointProblem) -> float:
        n, width = problem.n, problem.design.width
        weights = problem.n_classes * width
        if weights > _FEW or n * weights**2 > _PRODUCTS:
            return math.inf
        # Two classes of a row are not at their bounds, on the average of all steps.
        step = _STEP + weights**3 / 3.0 + 2.0 * n * weights * width
        epoch = _VISIT * n + _READ * problem.design.stored
        return _STEPS * step / max(1, epoch)

    def _handed(self, model: LinearJointModel) -> WarmStart:
        return WarmStart(beta=model.beta)
