"""Support vector data description."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.errors import InputError
from maxmargin.estimators.kernel.fit.parts import Expansion, NuPart
from maxmargin.estimators.kernel.outliers import OutlierMachine
from maxmargin.estimators.parameters import kernel_of
from maxmargin.kernels.factory import self_values
from maxmargin.problem import svdd

if TYPE_CHECKING:
    from maxmargin._arrays import Index, Vector
    from maxmargin.estimators.kernel.fit.parts import Part
    from maxmargin.estimators.kernel.fit.solving import Task
    from maxmargin.estimators.machine import Solution
    from maxmargin.kernels.gram.contract import Gram
    from maxmargin.problem import Model, Problem


@dataclass(frozen=True, eq=False)
class Ball(NuPart):
    """SVDD; the coefficients are those of the centre, Σα = 1."""

    @property
    def mass(self) -> float:
        """M = νN, the sum of the problem's β."""
        return self.nu * float(self.weight.sum())

    def instance(self, gram: Gram, weight: Vector) -> Problem:
        """Return SVDD with these weights."""
        return svdd(gram, weight, self.nu)

    def expansion(self, problem: Problem, model: Model) -> Expansion:  # noqa: ARG002
        """Return the centre a = Σα·φ(x_i); for the intercept see :meth:`radius2`."""
        return Expansion(model.beta / self.mass, model.bias)

    def restart(self, coef: Vector) -> Vector:
        """Return β = Mα."""
        return coef * self.mass

    def radius2(self, model: Model, scores: Vector) -> tuple[float, float]:
        """Return R² = ‖a‖² + 2b/M, and ‖a‖² = α·Kα, from the scores Kβ + b."""
        # M may be as small as ν: M² could underflow
        alpha = model.beta / self.mass
        centre2 = float(alpha @ (scores - model.bias)) / self.mass
        return max(0.0, centre2 + 2.0 * model.bias / self.mass), centre2


class SVDD(OutlierMachine):
    r"""Support vector data description: the smallest ball around the rows.

    Solves, for the rows :math:`x_i` with weights :math:`w_i`,

    .. math:: \min_{a,R}\ R^2 + \frac1{\nu N}\sum_i w_i\max\bigl(0,
              \|\varphi(x_i) - a\|^2 - R^2\bigr),\qquad N = \sum_i w_i;

    rows outside the ball are outliers. For kernels with constant k(x, x), such as the
    Gaussian, the answer is that of :class:`~maxmargin.OneClassSVM`; for others it is not.

    Parameters
    ----------
    kernel : {'linear', 'poly', 'rbf', 'sigmoid', 'precomputed'}, Kernel or callable, \
            default='rbf'
        Measure of similarity: a name, an object of :mod:`maxmargin.kernels`, or a
        function of two blocks of rows.
    degree : int, default=3
        Degree of 'poly'.
    gamma : {'scale', 'auto'} or float, default='scale'
        Scale of 'rbf', 'poly' and 'sigmoid'; see :class:`~maxmargin.SVC`.
    coef0 : float, default=0.0
        Constant of 'poly' and 'sigmoid'.
    tol : float, default=1e-3
        The solver stops when the optimality conditions hold within ``tol``, verified
        in float64; in units of the mean weight and kernel value where these are small
        (``certificate_.tol`` is the number).
    nu : float, default=0.5
        Upper bound on the fraction of training rows left outside, and lower bound on that
        of support vectors; in (0, 1].
    shrinking : bool, default=True
        Whether the solver may skip points at a bound for a while.
    cache_size : float, default=200
        Memory for kernel values, in MB.
    verbose : bool or int, default=False
        Show a progress bar on stderr.
    max_iter : int, default=-1
        Limit on the solver's iterations; -1 leaves it to the solver.
    n_jobs : int or None, default=None
        Threads; None uses every core available. Results are the same for all.
    time_limit : float or None, default=None
        Seconds after which the solver stops with what it has.
    callbacks : observer, callable, list of them, or None, default=None
        Called about every 50 ms of the run; see :mod:`maxmargin.observers`.
    warm_start : bool, default=False
        Whether ``fit`` continues from the model of the fit before, on the same rows.

    Attributes
    ----------
    support_ : ndarray of shape (n_SV,)
        Rows of X that are support vectors.
    support_vectors_ : ndarray or CSR of shape (n_SV, n_features)
        Those rows; empty for a precomputed kernel.
    n_support_ : ndarray of shape (1,)
        Their number.
    dual_coef_ : ndarray or CSR of shape (1, n_SV)
        Coefficients α of the centre a = Σα·φ(x); they add up to 1.
    coef_ : ndarray or CSR of shape (1, n_features)
        The centre a, for the linear kernel.
    self_value_ : float or None
        For a precomputed kernel only: k(x, x) if it is the same for all rows.
    intercept_ : ndarray of shape (1,)
        R² − ‖a‖².
    radius_ : float
        R.
    offset_ : ndarray of shape (1,)
        −R²: ``decision_function`` is ``score_samples`` minus it.
    gamma_ : float
        The number used for ``gamma``.
    n_iter_ : int
        Iterations of the solver.
    fit_status_ : int
        0 when the solver converged, 1 when it stopped early.
    shape_fit_ : tuple of int
        Shape of the X of the fit.
    certificate_ : Certificate
        Proof of how good the answer is.
    n_features_in_, feature_names_in_ : int, ndarray
        Number and names of the columns of X.

    The decision of a row is R² − ‖φ(x) − a‖², that is
    2Σα·k(x_i, x) + ``intercept_`` − k(x, x). The certificate is that of the dual times
    (νN)²/2, in β = νN·α, which is the problem of OneClassSVM up to a constant.

    Notes
    -----
    A row of ``sample_weight`` 2 counts as two rows; one of weight ≤ 0 is left out.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import SVDD
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> ball = SVDD(kernel="linear", nu=0.05).fit(X)
    >>> ball.predict([[0.0, 0.0], [9.0, 9.0]]).tolist()
    [1, -1]
    >>> round(ball.radius_, 1)
    2.4
    """

    _optional = ("self_value_",)  # of a precomputed kernel

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        nu: float = 0.5,
        shrinking: bool = True,
        cache_size: float = 200,
        verbose: bool | int = False,
        max_iter: int = -1,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        callbacks: Any = None,
        warm_start: bool = False,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.nu = nu
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.time_limit = time_limit
        self.callbacks = callbacks
        self.warm_start = warm_start

    def _part(self, rows: Index, weight: Vector) -> Part:
        return Ball("", rows, weight, nu=float(self.nu))

    def _attributes(self, task: Task, solution: Solution) -> dict[str, Any]:
        found = super()._attributes(task, solution)
        one = solution.solved[0]
        part = one.part
        assert isinstance(part, Ball)
        radius2, centre2 = part.radius2(one.model, one.scores)
        found["radius_"] = float(np.sqrt(radius2))
        found["offset_"] = np.array([-radius2])
        found["intercept_"] = np.array([radius2 - centre2])
        if task.precomputed:
            diagonal = np.diagonal(task.rows)[part.rows]
            constant = bool(np.ptp(diagonal) <= 1e-9 * np.abs(diagonal).max())
            found["self_value_"] = float(diagonal.mean()) if constant else None
        return found

    def _decisions(self, X: Any) -> Vector:
        ((_, values, model, rows),) = self._values(X)
        # ‖φ(x) − a‖² = k(x, x) − 2Σα·k(x_i, x) + ‖a‖²; the intercept is R² − ‖a‖².
        expansion = values[:, 0] - model.intercept[0]
        decisions: Vector = values[:, 0] + expansion - self._self_values(rows)
        return decisions

    def _self_values(self, rows: Any) -> Any:
        """Return k(x, x) of every row; a precomputed matrix does not have it."""
        if hasattr(self, "self_value_"):
            if self.self_value_ is not None:
                return self._number("self_value_")
            msg = (
                "SVDD needs k(x, x) of every new row, which a precomputed matrix has not "
                "(in training it was not constant); use a kernel object or a function"
            )
            raise InputError(msg)
        return self_values(kernel_of(self, self.gamma_), rows)
