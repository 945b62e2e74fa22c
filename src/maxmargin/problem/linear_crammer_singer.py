r"""Crammer and Singer's programme for the rows themselves, without a kernel.

.. math:: \min_W\ \tfrac12\sum_m\|w_m\|^2
          + \sum_i C_i\max_m\bigl(e_{im} + w_m\cdot x_i - w_{y_i}\cdot x_i\bigr),
          \qquad e_{im} = 1[m\ne y_i]

It is :mod:`~maxmargin.problem.crammer_singer` with :math:`K = XX^\top`, in the same
signs: β sums to 0 over the classes of every row, is at most :math:`C_i` for its own class
and at most 0 for the others; :math:`w_m = \sum_i\beta_{im}x_i`, :math:`f_m(x) = w_m\cdot
x` is the decision of class m, and :math:`G_{im} = f_m(x_i) + e_{im}` the gradient. The
dual value is :math:`-\tfrac12\sum_m\|w_m\|^2 - \sum_{im}e_{im}\beta_{im}`.

Intercepts, where there are any, are the weights of a constant column of the design,
which the penalty counts like all others: LIBLINEAR's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from maxmargin._jit import ASSOCIATIVE, njit
from maxmargin.errors import LINEAR_OVERFLOW
from maxmargin.problem.contract import AnyProblem, Evidence, Measures, Objective
from maxmargin.problem.crammer_singer import check_classes, class_imbalance

if TYPE_CHECKING:
    from maxmargin._arrays import Index, Table, Vector
    from maxmargin.design.operator import Design


@dataclass(frozen=True, repr=False)
class LinearJointProblem(AnyProblem):
    """One linear machine for all classes.

    Parameters
    ----------
    design : Design
        The rows. A constant column, if it has one, is LIBLINEAR's intercept.
    codes : ndarray of shape (n,), intp
        Class of every row, 0 … n_classes − 1.
    C : ndarray of shape (n,), float64
        Price of each row's loss: C · class weight · sample weight, finite. A row with
        price 0 has no part in the machine.
    n_classes : int
        Number of classes, at least 2; not all of them need rows.
    """

    design: Design
    codes: Index
    C: Vector
    n_classes: int
    maker: ClassVar[str] = "LinearSVC(multi_class='crammer_singer').problem(X, y)"
    solver: ClassVar[str] = "linear.LinearCrammerSinger"
    overflow: ClassVar[str] = LINEAR_OVERFLOW

    def __post_init__(self) -> None:
        of = "a design of {} rows"
        check_classes(self.codes, self.C, self.n_classes, of, self.design.n)

    def __repr__(self) -> str:
        kind = "sparse" if self.design.sparse else "dense"
        size = f"{self.n} × {self.design.width}"
        return f"<LinearJointProblem: {size}, {kind}, {self.n_classes} classes>"

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.codes.size)

    def measures(self, model: LinearJointModel) -> Measures:
        """Primal, dual and violation in one pass over all rows.

        The violation is the worst row's largest G minus its least that may rise.
        """
        found = np.empty(3)
        _worth(model.outputs, model.beta, self.codes, self.C, found)
        loss, own, worst = found.tolist()
        # Compiled, for the BLAS adds up by the number of its threads; W may be a
        # transpose.
        penalty = 0.5 * float(_square(model.W.ravel(order="K")))
        made = penalty
        if model.pull is not None:
            made = 0.5 * float(_square(model.pull.ravel(order="K")))
        # Σβ = 0 over the classes of a row: the others hold what its own one has.
        return Measures(penalty + loss, own - made, worst)

    def objective(self, model: LinearJointModel) -> Objective:
        """Primal of W and dual of β."""
        found = self.measures(model)
        return Objective(found.primal, found.dual)

    def violation(self, model: LinearJointModel) -> float:
        """The worst row's violation, never negative."""
        return self.measures(model).violation

    def lines(self, model: LinearJointModel) -> tuple[Table, Vector, Table]:
        """Weights, intercepts and dual variables, a line for every class."""
        return model.W, model.bias, model.beta.T

    def evidence(self, model: LinearJointModel) -> Evidence:
        """Figures and support vectors of a model."""
        own = model.beta[np.arange(self.n), self.codes]
        return Evidence(
            self.measures(model),
            int(np.count_nonzero(model.beta.any(axis=1))),
            int(np.count_nonzero((own == self.C) & (own > 0.0))),
            class_imbalance(model.beta),
        )


class LinearJointModel(NamedTuple):
    """The answer of a solver.

    ``W`` has a line for every class and in it a weight for every column of the design;
    ``bias`` are the intercepts of the classes, 0 without a constant column; ``beta`` and
    ``outputs`` = XW' have a line for every row. ``pull`` is β'X, None where that is W.
    """

    W: Table
    bias: Vector
    beta: Table
    outputs: Table
    pull: Table | None = None


@njit(fastmath=set(ASSOCIATIVE))
def _square(flat):
    """The sum of squares."""
    total = 0.0
    for k in range(flat.size):
        total += flat[k] * flat[k]
    return total


@njit
def _worth(outputs, beta, codes, C, found):
    """Found = the losses, Σβ of the own classes, and the worst violation."""
    loss, own, worst = 0.0, 0.0, 0.0
    for i in range(codes.size):
        y, f, b = codes[i], outputs[i], beta[i]
        top, low = f[y], np.inf
        for m in range(f.size):
            G = f[m] if m == y else f[m] + 1.0
            # NaN is kept: no number is above it.
            if G > top or np.isnan(G):
                top = G
            if b[m] < (C[i] if m == y else 0.0) and G < low:
                low = G
        loss += C[i] * (top - f[y])
        own += b[y]
        if low < np.inf and not top - low <= worst:
            worst = top - low
    found[0], found[1], found[2] = loss, own, worst
