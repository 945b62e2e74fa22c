"""What a linear fit begins with: the model of a fit before, moved to the new C.

The dual variables of a box that grew by a factor grow with it. Coordinates, which hold
w = X'β, begin on a path at the best multiple of both; where X'β is not known, they move
the β at their bounds alone: those of rows inside the margin, most of which stay there.
Newton's methods begin at w itself, and with every β as far up its box as before.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from maxmargin.errors import InputError
from maxmargin.problem import LinearJointProblem
from maxmargin.solvers.linear.warm_start import Ray, Warm

if TYPE_CHECKING:
    from collections.abc import Sequence

    from maxmargin._arrays import Table, Vector
    from maxmargin.estimators.linear.solving import LinearTask

_FULL = 1.0 - 1e-12  # of a bound, which is a product and may be rounded
_FAR = 10.0  # times the C before: a kinked loss is solved from nothing in fewer steps
_TREND = 0.5  # of what the last two fits foretell: w goes ever more slowly


class Before(NamedTuple):
    """A model to begin with."""

    beta: Table
    weights: Table  # that of the constant column, if there is one, behind the others
    bias: Vector  # the intercepts
    growth: float | None = None  # of C since then; None where nobody knows
    trend: Table | None = None  # how the weights will go on, by those before
    pulls: Sequence[Vector | None] = ()  # X'β of every problem, where it is known

    @classmethod
    def of(
        cls, machine: Any, task: LinearTask, pulls: Sequence[Vector | None] = ()
    ) -> Before:
        """What a fitted machine knows, if that can help with a task.

        ``pulls`` are those of its solvers: of attributes that anybody may have altered
        nobody knows X'β.
        """
        beta, shape = machine.dual_coef_, (task.lines, task.rows.shape[0])
        if beta.shape != shape:
            msg = (
                f"warm_start=True: the model before has dual variables of shape "
                f"{beta.shape}, these data need {shape}; fit the same rows and "
                "classes, or use warm_start=False"
            )
            raise InputError(msg)
        known = machine.coef_
        weights = np.atleast_2d(known.toarray() if issparse(known) else known)
        # One number, 0.0, for all classes where the fit before had no intercept.
        bias = np.broadcast_to(machine.intercept_, len(weights))
        if scaling_of(machine):
            weights = np.column_stack([weights, bias / scaling_of(machine)])
        return cls(beta, weights, bias, pulls=pulls)

    def along(
        self, price: float, earlier: tuple[float, Before] | None, now: float
    ) -> Any:
        """The same model on a path of prices: at ``price``, on the way to ``now``.

        w is a smooth function of log C, but for kinks: a line through the last two
        foretells where it goes.
        """
        trend = None
        if earlier is not None and earlier[0] < price:
            pace = math.log(now / price) / math.log(price / earlier[0])
            trend = _TREND * pace * (self.weights - earlier[1].weights)
        return self._replace(growth=now / price, trend=trend)

    def start(self, problem: Any, number: int, solver: Any) -> Any:
        """What a solver of one problem begins with.

        β; w where the penalty is ‖w‖₁; both, or β and X'β, for a solver that takes them.
        """
        if isinstance(problem, LinearJointProblem):
            # A copy: the model before keeps its own.
            beta = np.array(self.beta.T, np.float64, order="C")
            own = beta[np.arange(problem.n), problem.codes]
            return self._moved(beta, own, problem.C)
        if problem.lasso:
            return np.asarray(self.weights[number], np.float64)
        beta = np.array(self.beta[number], np.float64)
        pull = self.pulls[number] if self.pulls else None
        if pull is not None and getattr(solver, "takes_rays", False):
            return Ray(beta, pull)
        bound = np.where(beta > 0.0, problem.upper, -problem.lower)
        w = np.array(self.weights[number], np.float64)
        # A machine of other columns, or one that was altered, has a β at least.
        whole = w.size == problem.design.width and np.isfinite(w).all()
        if not (whole and getattr(solver, "takes_weights", False)):
            return self._moved(beta, np.abs(beta), bound)
        growth = self.growth or _growth(np.abs(beta), bound)
        if not problem.squared and not 1.0 / _FAR <= growth <= _FAR:
            return None
        if self.trend is not None:
            w += self.trend[number]
        return Warm(growth * beta, w, float(self.bias[number]))

    def _moved(self, beta: Table, size: Vector, bound: Vector) -> Table:
        """β, and what was at a bound at what that has grown to; ``size`` is that of β."""
        growth = self.growth or 1.0
        if growth != 1.0:
            beta[(growth * size >= _FULL * bound) & (size > 0.0)] *= growth
        return beta


def _growth(size: Vector, bound: Vector) -> float:
    """By how much a C has grown, as its dual variables tell; 1 where they do not.

    Those at their bounds were all at the same share of what the bounds are now, and none
    was above: two that share the first place are no coincidence.
    """
    share = size[bound > 0.0] / bound[bound > 0.0]
    top = float(share.max(initial=0.0))
    full = int(np.count_nonzero(share >= _FULL * top))
    return 1.0 / top if top > 0.0 and full > 1 else 1.0


def scaling_of(estimator: Any) -> float:
    """The value of the constant column; 0 without one."""
    regularised = estimator.fit_intercept and estimator.intercept != "free"
    return float(estimator.intercept_scaling) if regularised else 0.0
