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
from maxmargin.problem import WarmStart

if TYPE_CHECKING:
    from collections.abc import Sequence

    from maxmargin._arrays import Table, Vector
    from maxmargin.estimators.linear.solving import LinearTask

_TREND = 0.5  # of what the last two fits foretell: w goes ever more slowly


class Before(NamedTuple):
    """A model to begin with."""

    beta: Table
    weights: Table  # that of the constant column, if there is one, behind the others
    bias: Vector  # the intercepts
    growth: float | None = None  # of C since then; None where nobody knows
    trend: Table | None = None  # how the weights will go on, by those before
    pulls: Sequence[Vector | None] = ()  # X'β of every problem, where it is known
    wanted: bool = False  # whether a solver that cannot go on from it shall say so

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
        if task.scaling:
            weights = np.column_stack([weights, bias / task.scaling])
        return cls(beta, weights, bias, pulls=pulls, wanted=machine.warm_start)

    def along(
        self, price: float, earlier: tuple[float, Before] | None, now: float
    ) -> Before:
        """The same model on a path of prices, extrapolated from C = price to C = now.

        w is a smooth function of log C, but for kinks: a line through the last two models
        foretells where it goes.
        """
        trend = None
        if earlier is not None and earlier[0] < price:
            pace = math.log(now / price) / math.log(price / earlier[0])
            trend = _TREND * pace * (self.weights - earlier[1].weights)
        return self._replace(growth=now / price, trend=trend)

    def start(self, number: int, *, joint: bool) -> WarmStart:
        """What a solver of one problem begins with; ``joint``: of all classes in one."""
        if joint:
            return WarmStart(beta=self.beta.T, growth=self.growth)
        pull = self.pulls[number] if self.pulls else None
        w = np.array(self.weights[number], np.float64)
        if self.trend is not None:
            w += self.trend[number]
        bias = float(self.bias[number])
        return WarmStart(self.beta[number], w, bias, pull, self.growth)
