"""The interface of all problems, and warm starts.

:class:`AnyProblem` is all that the loop (:func:`maxmargin.solvers.drive`), observers,
wrappers and certificates ask of a problem. A new kind of problem is a subclass; none of
them changes.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from maxmargin.errors import OVERFLOW, NumericalError

if TYPE_CHECKING:
    from maxmargin._arrays import Vector


def relative(gap: float, primal: float, dual: float) -> float:
    """The gap over max(|primal|, |dual|); 0 when both are 0."""
    scale = max(abs(primal), abs(dual))
    if not math.isfinite(scale):
        return float("inf")
    return gap / scale if scale > 0.0 else 0.0


class Objective(NamedTuple):
    """Both sides of the duality, the dual as the value that is maximised."""

    primal: float
    dual: float

    @property
    def gap(self) -> float:
        """Primal − dual: an upper bound on the distance of either to the optimum."""
        return self.primal - self.dual

    @property
    def relative_gap(self) -> float:
        """The gap over max(|primal|, |dual|); 0 when both are 0."""
        return relative(self.gap, self.primal, self.dual)


class Measures(NamedTuple):
    """Primal, dual and violation of one answer."""

    primal: float
    dual: float
    violation: float

    @property
    def gap(self) -> float:
        """Duality gap, primal − dual."""
        return self.primal - self.dual

    @property
    def relative_gap(self) -> float:
        """The gap over max(|primal|, |dual|); 0 when both are 0."""
        return relative(self.gap, self.primal, self.dual)


class Evidence(NamedTuple):
    """Figures of a model for its certificate, computed from the model alone.

    ``balance`` tells how far the sums of β miss their values, relative to Σ|β|;
    ``interval`` holds all optimal intercepts, nan where the problem has none to report.
    """

    measures: Measures
    n_support: int
    n_bound: int
    balance: float = 0.0
    interval: tuple[float, float] = (math.nan, math.nan)


class WarmStart(NamedTuple):
    """A model to start from, as far as it is known.

    Attributes
    ----------
    beta : ndarray or None
        Dual variables.
    w : ndarray or None
        Weights that stand beside β; they need not be X'β.
    bias : float
        Free intercept that goes with w.
    pull : ndarray or None
        X'β, where it is known: any multiple of β is then as well known.
    growth : float or None
        By how much C has grown since the model was found; None where that is not known.
    """

    beta: Any = None
    w: Vector | None = None
    bias: float = 0.0
    pull: Vector | None = None
    growth: float | None = 1.0


class AnyProblem:
    """Base of all problems.

    A subclass gives ``n`` (the number of points), :meth:`measures` and :meth:`evidence`.
    """

    maker: ClassVar[str] = "SVC(...).problem(X, y)"  # the call that makes one
    solver: ClassVar[str] = "WorkingSetSmo"  # one in maxmargin.solvers that takes it
    overflow: ClassVar[str] = OVERFLOW  # message of an overflow

    @property
    def boxed(self) -> bool:
        """Whether its losses are conjugates of boxes, as most solvers need them."""
        return True

    @property
    def n_kernel(self) -> int:
        """Kernel values computed so far; 0 where there is no kernel."""
        return 0

    def measures(self, model: Any) -> Measures:
        """Primal, dual and violation of a model."""
        raise NotImplementedError

    def evidence(self, model: Any) -> Evidence:
        """Figures of a model for its certificate."""
        raise NotImplementedError

    def warm_start(self, given: Any) -> WarmStart | None:
        """A warm start from what a user gives: None, a WarmStart, or an array, β."""
        if given is None or isinstance(given, WarmStart):
            return given
        return WarmStart(beta=np.asarray(given, np.float64))

    def check_finite(self, model: Any) -> None:
        """Raise NumericalError where β or the intercept of a model has overflowed."""
        if not (np.isfinite(model.beta).all() and np.isfinite(model.bias).all()):
            raise NumericalError(self.overflow)
