r"""Linear machines: the template with the rows themselves instead of a kernel.

.. math:: \min_{w,b}\ \tfrac12\|w\|^2 + \sum_i \max_{l_i\le\beta\le u_i}\bigl[
          -(f_i + p_i)\beta - \varepsilon|\beta| - \tfrac12 r_i\beta^2\bigr],
          \qquad f = Xw + b

The sum is the loss (:mod:`~maxmargin.problem.row_losses`), as a rule the conjugate of
every point's box in the template of :mod:`~maxmargin.problem.template`, of which this is
the instance :math:`K = XX^\top`.
:math:`C\max(0, 1 - yf)` is the box between 0 and :math:`yC` with :math:`p = -y`, its
square a ridge :math:`r = 1/(2C)` and no bound, a regression's tube the price ε of |β|.

The dual value of any feasible β is :math:`-\tfrac12\|X^\top\beta\|^2 -
\tfrac12\sum r\beta^2 - p^\top\beta - \varepsilon\|\beta\|_1`, so a pair (w, β) proves its
own distance to the optimum, whether or not :math:`w = X^\top\beta` already.

The intercept is one of three: none; LIBLINEAR's, the weight of a constant column of the
design, which ½‖w‖² counts like any other; or ``free``, which costs nothing and
demands Σβ = 0, as in :class:`maxmargin.SVC`.

With ``lasso`` ‖w‖₁ takes the place of ½‖w‖², and :math:`\|X^\top\beta\|_\infty\le1` the
place of its conjugate: a β beyond it is scaled back before it is valued.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from maxmargin.errors import LINEAR_OVERFLOW, InputError
from maxmargin.losses import hinge, squared_hinge
from maxmargin.problem.contract import (
    AnyProblem,
    Evidence,
    Measures,
    Objective,
    WarmStart,
)
from maxmargin.problem.row_losses import BoxLoss, SmoothLoss
from maxmargin.problem.template import NO_PRICE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin._arrays import Table, Vector
    from maxmargin.design.operator import Design
    from maxmargin.losses import MarginLoss

_NOTHING = 1e-6  # policy: share of P(0) below which losses are computed afresh


@dataclass(frozen=True, repr=False)
class LinearProblem(AnyProblem):
    """One linear machine.

    Parameters
    ----------
    design : Design
        The rows. A constant column, if it has one, is LIBLINEAR's intercept.
    loss : BoxLoss or SmoothLoss
        The losses of all rows.
    free : bool
        Whether there is an intercept that costs nothing; the design then has none.
    lasso : bool
        Whether the penalty is ‖w‖₁.
    """

    design: Design
    loss: Any
    free: bool = False
    lasso: bool = False
    maker: ClassVar[str] = "LinearSVC(...).problem(X, y)"
    solver: ClassVar[str] = "linear.DualDescent"
    overflow: ClassVar[str] = LINEAR_OVERFLOW

    def __repr__(self) -> str:
        kind = "sparse" if self.design.sparse else "dense"
        return f"<LinearProblem: {self.n} × {self.design.width}, {kind}>"

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.design.n)

    # Most solvers read the arrays of a BoxLoss directly.

    @property
    def boxed(self) -> bool:
        """Whether the loss is the conjugate of a box."""
        return isinstance(self.loss, BoxLoss)

    @property
    def p(self) -> Vector:
        """Linear term of the dual."""
        return self.loss.p  # type: ignore[no-any-return]

    @property
    def lower(self) -> Vector:
        """Lower bounds of β."""
        return self.loss.lower  # type: ignore[no-any-return]

    @property
    def upper(self) -> Vector:
        """Upper bounds of β."""
        return self.loss.upper  # type: ignore[no-any-return]

    @property
    def ridge(self) -> Vector:
        """Ridge of the dual."""
        return self.loss.ridge  # type: ignore[no-any-return]

    @property
    def epsilon(self) -> float:
        """Half the width of a regression's tube."""
        return float(self.loss.epsilon)

    @cached_property
    def squared(self) -> bool:
        """Whether the loss has a curvature: a ridge in the dual, or smooth as it is."""
        return not self.boxed or bool(self.ridge.any())

    @cached_property
    def side(self) -> NDArray[np.uint8]:
        """Number of the one sum that there may be."""
        return np.zeros(self.n, np.uint8)

    @property
    def unfitted(self) -> float:
        """The primal of w = 0."""
        return float(self.loss.paid(np.zeros(self.n)))

    def objective(self, model: LinearModel) -> Objective:
        """Primal of (w, b) and dual of β."""
        w, pull, beta = model.w, model.pull, model.beta
        loss = self.loss.paid(model.outputs)
        if self.lasso:
            linear, curved = self.loss.promises(beta)
            # The best multiple of β among the feasible ones.
            peak = float(np.abs(pull).max(initial=0.0))
            best = -linear / curved if curved > 0.0 else 0.0
            fit = max(0.0, min(best, 1.0 / peak if peak > 0.0 else np.inf))
            dual = -fit * linear - 0.5 * fit * fit * curved
            return Objective(float(np.abs(w).sum()) + loss, dual)
        return Objective(0.5 * float(w @ w) + loss, self.dual(beta, pull))

    def dual(self, beta: Vector, pull: Vector) -> float:
        """The dual of β with the penalty ½‖w‖²; ``pull`` is X'β."""
        linear, curved = self.loss.promises(beta)
        return float(-0.5 * (float(pull @ pull) + curved) - linear)

    def violation(self, model: LinearModel) -> float:
        """How far β is from answering f."""
        bias = model.bias if self.free else None
        return float(self.loss.violation(model.outputs, model.beta, bias))

    def measures(self, model: LinearModel) -> Measures:
        """Primal, dual and violation."""
        both = self.objective(model)
        return Measures(both.primal, both.dual, self.violation(model))

    def evidence(self, model: LinearModel) -> Evidence:
        """Figures and support vectors, from outputs made afresh where that matters."""
        model = self._afresh(model)
        support = model.beta != 0.0
        size = float(np.abs(model.beta).sum())
        missed = abs(float(model.beta.sum())) if self.free else 0.0
        return Evidence(
            self.measures(model),
            int(np.count_nonzero(support)),
            int(np.count_nonzero(support & self.loss.at_bound(model.beta))),
            missed / size if size > 0.0 else missed,
        )

    def lines(self, model: LinearModel) -> tuple[Table, Vector, Table]:
        """Weights, intercepts and dual variables, with a line each."""
        return model.w[None], np.array([model.bias]), model.beta[None]

    def _afresh(self, model: LinearModel) -> LinearModel:
        """Compute the outputs again where the loss is nearly 0.

        Rounding in the outputs that a solver carried along may then be all that is paid:
        separable rows of length 1e6 have P = 1e-10, and C·1e-12 is more.
        """
        if self.squared or self.lasso:
            return model
        dear = float((self.upper - self.lower) @ np.abs(self.p))
        if self.objective(model).primal > _NOTHING * dear:
            return model
        outputs = self.design.times(model.w)
        return model._replace(outputs=outputs + (model.bias if self.free else 0.0))

    def warm_start(self, given: Any) -> WarmStart | None:
        """A bare array is β; with the penalty ‖w‖₁ it is w."""
        warm = super().warm_start(given)
        if self.lasso and warm is not None and warm.w is None:
            return WarmStart(w=warm.beta)
        return warm


class LinearModel(NamedTuple):
    """The answer of a solver.

    ``w`` has a weight for every column of the design; ``bias`` is the intercept, be it
    that of the constant column or the free one; ``outputs`` are f = Xw + b, and ``pull``
    is X'β: where it is w, the two sides are one.
    """

    w: Vector
    bias: float
    beta: Vector
    outputs: Vector
    pull: Vector


def linear_problem(
    design: Design,
    y: Vector,
    C: Vector,
    loss: MarginLoss,
    *,
    free: bool = False,
    lasso: bool = False,
) -> LinearProblem:
    """Classification by any loss of the margin; y is −1.0 or +1.0, C the price of a row.

    A row with price 0 has the box [0, 0].
    """
    if loss.box is not None:
        offset, bound, ridge = loss.box
        top, half = _box(C, bound, ridge)
        positive = y > 0.0
        rows: Any = BoxLoss(
            -y if offset == 1.0 else -offset * y,
            np.where(positive, 0.0, -top),
            np.where(positive, top, 0.0),
            half,
        )
        return LinearProblem(design, rows, free=free, lasso=lasso)
    if loss.slope is None or loss.curvature is None or loss.conjugate is None:
        msg = (
            f"loss={loss.name!r}: a linear machine needs a convex loss with slope, "
            "curvature and conjugate, or the conjugate of a box"
        )
        raise InputError(msg)
    if lasso:
        msg = f"loss={loss.name!r} with penalty='l1': give loss='squared_hinge'"
        raise InputError(msg)
    return LinearProblem(design, SmoothLoss(loss, y, C), free=free)


def linear_svc(
    design: Design,
    y: Vector,
    C: Vector,
    *,
    squared: bool = True,
    free: bool = False,
    lasso: bool = False,
) -> LinearProblem:
    """Classification by the hinge or its square; as :func:`linear_problem`."""
    loss = squared_hinge if squared else hinge
    return linear_problem(design, y, C, loss, free=free, lasso=lasso)


def linear_svr(
    design: Design,
    z: Vector,
    C: Vector,
    *,
    epsilon: float = 0.0,
    squared: bool = False,
    free: bool = False,
) -> LinearProblem:
    """Regression of z within a tube of half width ε."""
    top, ridge = _box(C, np.inf, 0.5) if squared else _box(C, 1.0, 0.0)
    return LinearProblem(design, BoxLoss(-z, -top, top, ridge, epsilon), free=free)


def _box(C: Vector, bound: float, ridge: float) -> tuple[Vector, Vector]:
    """The bound of |β| and the ridge of every row."""
    if ridge == 0.0:
        return (C if bound == 1.0 else bound * C), np.zeros_like(C)
    half, priced = np.zeros_like(C), C > NO_PRICE
    np.divide(ridge, C, out=half, where=priced)
    top = np.full_like(C, np.inf) if math.isinf(bound) else bound * C
    return np.where(priced, top, 0.0), half
