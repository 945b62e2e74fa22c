"""The model that a linear fit starts from: that of an earlier fit, moved to the new C.

When the box of the dual variables grows by a factor, they grow with it. On a path,
coordinate descent, which keeps w = X'β, starts at the best multiple of both; where X'β
is not known, it scales only the β at their bounds: most of these rows stay inside the
margin. Newton's methods start at w itself, and every β at the same fraction of its box.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from maxmargin.errors import InputError
from maxmargin.problem import WarmStart

if TYPE_CHECKING:
    from collections.abc import Sequence

    from maxmargin._arrays import Table, Vector
    from maxmargin.estimators.linear.solving import LinearTask

_TREND = 0.5  # policy: share of the extrapolated step, since w changes ever more slowly


class Before(NamedTuple):
    """A model to start from."""

    beta: Table
    weights: Table  # that of the constant column, if there is one, behind the others
    bias: Vector  # the intercepts
    growth: float | None = None  # factor of C since then; None if unknown
    trend: Table | None = None  # expected change of the weights, from the models before
    pulls: Sequence[Vector | None] = ()  # X'β of every problem, where it is known
    wanted: bool = False  # whether a solver that cannot start from it must raise an error

    @classmethod
    def of(
        cls, machine: Any, task: LinearTask, pulls: Sequence[Vector | None] = ()
    ) -> Before:
        """Return the model of a fitted machine, if it fits the task.

        ``pulls``, X'β, come from its solvers: users may have altered the attributes.
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
        if task.scaling:
            weights = np.column_stack([weights, bias / task.scaling])
        return cls(beta, weights, bias, pulls=pulls, wanted=machine.warm_start)

    def along(
        self, price: float, earlier: tuple[float, Before] | None, now: float
    ) -> Before:
        """Return the model extrapolated from C = price to C = now.

        w is a piecewise smooth function of log C: a line through the last two models
        predicts the next one.
        """
        trend = None
        if earlier is not None and earlier[0] < price:
            pace = math.log(now / price) / math.log(price / earlier[0])
            trend = _TREND * pace * (self.weights - earlier[1].weights)
        return self._replace(growth=now / price, trend=trend)

    def start(self, number: int, *, joint: bool) -> WarmStart:
        """Return the start of one problem; ``joint``: one problem for all classes."""
        if joint:
            return WarmStart(beta=self.beta.T, growth=self.growth)
        pull = self.pulls[number] if self.pulls else None
        w = np.array(self.weights[number], np.float64)
        if self.trend is not None:
            w += self.trend[number]
        bias = float(self.bias[number])
        return WarmStart(self.beta[number], w, bias, pull, self.growth)
