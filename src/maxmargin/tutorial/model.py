r"""The result of training, and its predictions.

.. math:: f(x) = \sum_i \alpha_i y_i K(x_i, x) + b, \qquad
          \text{class } 1 \text{ where } f(x) \ge 0

Seed S3, section 3.1 (the tutorial's equation of f and its ``svmPredict``).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.errors import InputError, InputTypeError
from maxmargin.kernels.factory import expansion
from maxmargin.kernels.naming import as_kernel, kind_of
from maxmargin.parallel import Workers
from maxmargin.solvers.step import Step
from maxmargin.tutorial._checks import points

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin._arrays import Matrix, Vector


@dataclass(frozen=True, eq=False, repr=False)
class TutorialModel:
    """A trained (or random) machine of the tutorial.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        All training points.
    y : ndarray of shape (n,)
        Their labels, −1.0 and 1.0.
    C : float
        Upper bound of every α.
    kernel : "linear", Kernel or callable
        K(x, z).
    alphas : ndarray of shape (n,)
        One multiplier for every point; those of support vectors are positive.
    b : float
        The threshold.
    n_iter : int
        Sweeps over the data, the last one perhaps unfinished.
    converged : bool
        Whether the optimality conditions hold within ``tol``.
    step : Step
        The last step of the algorithm: ``model.step.words``, ``model.step.points``.
    """

    X: Matrix
    y: Vector
    C: float
    kernel: Any
    alphas: Vector
    b: float
    n_iter: int = 0
    converged: bool = False
    step: Step = field(default_factory=lambda: Step("Nothing done yet."))

    @property
    def beta(self) -> Vector:
        """Coefficients yα of the kernel functions."""
        return self.y * self.alphas

    @property
    def support(self) -> NDArray[np.intp]:
        """Indices of the support vectors (α > 0)."""
        return np.flatnonzero(self.alphas)

    @property
    def linear(self) -> bool:
        """Whether f is w·x + b."""
        return kind_of(self.kernel).is_linear

    @cached_property
    def w(self) -> Vector | None:
        """Σ yαx, the normal of the boundary; None where the kernel is not linear."""
        return self.beta @ self.X if self.linear else None

    @cached_property
    def squared_norm(self) -> float:
        """‖w‖² = Σ yα·(f(x) − b), in the features of the kernel."""
        some = self.support
        return float(self.beta[some] @ (self.decision(self.X[some]) - self.b))

    @property
    def margin(self) -> float:
        """Width 2/‖w‖ of the margin, in the features of the kernel; inf for w = 0.

        nan where an indefinite kernel makes ‖w‖² negative: there is no width then.
        """
        squared = self.squared_norm
        if squared > 0.0:
            return 2.0 / float(np.sqrt(squared))
        return float("inf") if squared == 0.0 else float("nan")

    @property
    def dual(self) -> float:
        """The objective of training, which it maximises: Σα − ½‖w‖²."""
        return float(self.alphas.sum()) - 0.5 * self.squared_norm

    def decision(self, X: Any) -> Vector:
        """Return f(x) of every row of X.

        Parameters
        ----------
        X : array-like of shape (m, d)
            Points.
        """
        rows = points(X)
        if rows.shape[1] != self.X.shape[1]:
            msg = (
                f"X has {rows.shape[1]} features and the model was trained on "
                f"{self.X.shape[1]}: give points of the same kind"
            )
            raise InputError(msg)
        if self.w is not None:
            return rows @ self.w + self.b
        kernel = as_kernel(self.kernel)
        kernel.check_rows(rows)
        some = self.support
        coef = np.ascontiguousarray(self.beta[some]).reshape(1, -1)
        with Workers(None) as workers:
            values = expansion(kernel, rows, self.X[some], coef, workers=workers)
        return values[:, 0] + self.b

    def __repr__(self) -> str:
        end = "converged" if self.converged else "not converged"
        return (
            f"<TutorialModel: {self.y.size} points, {self.support.size} support vectors, "
            f"kernel {self.kernel}, C={self.C:g}, {self.n_iter} sweeps, {end}>"
        )


def svm_predict(model: TutorialModel, X: Any) -> NDArray[np.int64]:
    """Predict 1 where f(x) ≥ 0, else 0: the tutorial's ``svmPredict``.

    Parameters
    ----------
    model : TutorialModel
        From :func:`~maxmargin.tutorial.svm_train`.
    X : array-like of shape (m, d)
        A point in every row.

    Returns
    -------
    ndarray of shape (m,), int64
        Zeros and ones.
    """
    if not isinstance(model, TutorialModel):
        msg = (
            f"model is a {type(model).__name__}: give what svm_train returned (machines "
            "such as SVC have predict themselves)"
        )
        raise InputTypeError(msg)
    return (model.decision(X) >= 0.0).astype(np.int64)
