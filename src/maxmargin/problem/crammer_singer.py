r"""One machine for all classes: the programme of Crammer and Singer.

.. math:: \min_W\ \tfrac12\sum_m\|w_m\|^2
          + \sum_i C_i\max_m\bigl(e_{im} + w_m\cdot\varphi(x_i)
          - w_{y_i}\cdot\varphi(x_i)\bigr),
          \qquad e_{im} = 1[m\ne y_i]

without intercepts. Its dual, in the sign convention of the template, is

.. math:: \min_\beta\ \tfrac12\sum_m\beta_m^\top K\beta_m + \sum_{im} e_{im}\beta_{im}
          \quad\text{subject to}\quad \sum_m\beta_{im} = 0,\quad
          \beta_{im} \le C_i\,1[m = y_i]

so that :math:`f_m(x) = \sum_i\beta_{im}k(x_i, x)` **is the decision of class m**, and the
largest one is predicted. (This β is LIBLINEAR's α, and C times Crammer and Singer's τ.)
The gradient is :math:`G_{im} = f_m(x_i) + e_{im}`, the loss of a point
:math:`\max_m G_{im} - G_{iy_i}`.

Optimality: for every point, no class that may still rise (β below its bound) has a
gradient under the largest one. Hence the violation, what LIBLINEAR stops on,

.. math:: \max_i\Bigl[\max_m G_{im} - \min_{m:\ \beta_{im} < C_i 1[m=y_i]} G_{im}\Bigr]

and primal − dual is at most :math:`\sum_i C_i` times it. With two classes
:math:`f_1 = -f_0`, and :math:`f_1 - f_0` is the decision of a C-SVC without intercept
with 2C, whose primal is twice this one.

Reference: K. Crammer and Y. Singer, "On the algorithmic implementation of multiclass
kernel-based vector machines", JMLR 2, 2001.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from maxmargin.errors import InputError
from maxmargin.problem.contract import AnyProblem, Evidence, Measures, Objective

if TYPE_CHECKING:
    from maxmargin._arrays import Index, Table, Vector
    from maxmargin.kernels.gram.contract import Gram


def check_classes(codes: Index, C: Vector, n_classes: int, of: str, n: int) -> None:
    """Refuse classes and prices that do not fit n points.

    Parameters
    ----------
    codes, C, n_classes : ndarray, ndarray, int
        Class and price of every point; number of classes.
    of, n : str, int
        Their owner and its number of points: ``"a kernel matrix of {} points"``.
    """
    if codes.shape != (n,) or C.shape != (n,):
        msg = (
            f"codes has shape {codes.shape} and C {C.shape}; {of.format(n)} needs ({n},) "
            "for both"
        )
        raise InputError(msg)
    if n_classes < 2:
        msg = f"n_classes={n_classes}: there must be at least two classes"
        raise InputError(msg)
    if n and not (0 <= codes.min() and codes.max() < n_classes):
        msg = (
            f"codes go from {codes.min()} to {codes.max()}; they number {n_classes} "
            f"classes and go from 0 to {n_classes - 1}"
        )
        raise InputError(msg)
    if not (np.isfinite(C).all() and C.min(initial=0.0) >= 0.0):
        msg = (
            "C must be finite and not negative for every point: the joint machine has no "
            "hard margin; give a large C instead of inf"
        )
        raise InputError(msg)


def class_imbalance(beta: Table) -> float:
    """How far the worst point misses Σ_m β = 0, relative to the largest Σ_m |β|."""
    size = float(np.abs(beta).sum(axis=1).max(initial=0.0))
    missed = float(np.abs(beta.sum(axis=1)).max(initial=0.0))
    return missed / size if size > 0.0 else missed


@dataclass(frozen=True)
class JointProblem(AnyProblem):
    """One instance of Crammer and Singer's programme.

    Parameters
    ----------
    gram : Gram
        The kernel matrix K of the n points, never stored here, only asked.
    codes : ndarray of shape (n,), intp
        Class of every point, 0 … n_classes − 1.
    C : ndarray of shape (n,), float64
        Price of each point's loss: C · class weight · sample weight, finite. A point
        with price 0 has no part in the machine.
    n_classes : int
        Number of classes, at least 2; not all of them need points.
    """

    gram: Gram
    codes: Index
    C: Vector
    n_classes: int
    hard = separating = False  # every price is finite
    maker: ClassVar[str] = "SVC(multi_class='crammer_singer').problem(X, y)"
    solver: ClassVar[str] = "CrammerSinger"

    def __post_init__(self) -> None:
        of = "a kernel matrix of {} points"
        check_classes(self.codes, self.C, self.n_classes, of, self.gram.n)

    @property
    def n(self) -> int:
        """Number of points."""
        return int(self.codes.size)

    @property
    def n_kernel(self) -> int:
        """Kernel values computed so far."""
        return self.gram.n_kernel

    @cached_property
    def offset(self) -> Table:
        """The margin asked for, e: 1, and 0 in the column of a point's class; (n, K)."""
        table = np.ones((self.n, self.n_classes))
        table[np.arange(self.n), self.codes] = 0.0
        return table

    @cached_property
    def upper(self) -> Table:
        """Upper bound of β: C in the column of a point's class, else 0; (n, K)."""
        table = np.zeros((self.n, self.n_classes))
        table[np.arange(self.n), self.codes] = self.C
        return table

    def violations(self, beta: Table, gradient: Table) -> Vector:
        """Violation of every point: the largest G minus the least that may rise, or 0."""
        rising = np.where(beta < self.upper, gradient, np.inf)
        worst: Vector = np.maximum(gradient.max(axis=1) - rising.min(axis=1), 0.0)
        return worst

    def violation(self, beta: Table, gradient: Table) -> float:
        """The worst violation over the points, never negative: what ``tol`` bounds."""
        return float(self.violations(beta, gradient).max(initial=0.0))

    def dual(self, beta: Table, gradient: Table) -> float:
        """The dual of β, from its gradient: −½Σβ(G + e)."""
        return -0.5 * float(np.vdot(beta, gradient + self.offset))

    def objective(self, model: JointModel) -> Objective:
        """Primal and dual value of a model."""
        beta, gradient = model.beta, model.gradient
        own = gradient[np.arange(self.n), self.codes]
        loss = float(self.C @ (gradient.max(axis=1) - own))
        norms = float(np.vdot(beta, gradient - self.offset))  # Σ‖w_m‖²
        return Objective(0.5 * norms + loss, self.dual(beta, gradient))

    def measures(self, model: JointModel) -> Measures:
        """Primal, dual and violation."""
        both = self.objective(model)
        worst = self.violation(model.beta, model.gradient)
        return Measures(both.primal, both.dual, worst)

    def evidence(self, model: JointModel) -> Evidence:
        """Figures and support vectors of a model."""
        beta = model.beta
        own = beta[np.arange(self.n), self.codes]
        return Evidence(
            self.measures(model),
            int(np.count_nonzero(beta.any(axis=1))),
            int(np.count_nonzero((own == self.C) & (own > 0.0))),
            class_imbalance(beta),
        )


class JointModel(NamedTuple):
    """The answer of a solver, ready to predict.

    β and its gradient G, both (n, K). There are no intercepts; ``bias`` and ``interval``
    are 0, as fields of every :class:`~maxmargin.problem.template.Model`.
    """

    beta: Table
    gradient: Table
    bias: float = 0.0
    interval: tuple[float, float] = (0.0, 0.0)
