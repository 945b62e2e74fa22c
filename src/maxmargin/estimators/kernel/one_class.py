"""The one-class machine with scikit-learn's interface."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.estimators.kernel.fit.parts import NuPart
from maxmargin.estimators.kernel.outliers import OutlierMachine
from maxmargin.problem import one_class

if TYPE_CHECKING:
    from maxmargin._arrays import Index, Vector
    from maxmargin.estimators.kernel.fit.parts import Part
    from maxmargin.estimators.kernel.fit.solving import Task
    from maxmargin.estimators.machine import Solution
    from maxmargin.kernels.gram.contract import Gram
    from maxmargin.problem import Problem


@dataclass(frozen=True, eq=False)
class Support(NuPart):
    """The one-class problem."""

    def instance(self, gram: Gram, weight: Vector) -> Problem:
        """Return the one-class problem with these weights."""
        return one_class(gram, weight, self.nu)


class OneClassSVM(OutlierMachine):
    r"""The support of a distribution: the region where most rows are expected.

    Solves, for the rows :math:`x_i` with weights :math:`w_i`,

    .. math:: \min_{w,\rho}\ \tfrac12\|w\|^2 - \nu N\rho + \sum_i w_i
              \max\bigl(0, \rho - \langle w, \varphi(x_i)\rangle\bigr),
              \qquad N = \sum_i w_i;

    rows with :math:`\langle w, \varphi(x)\rangle < \rho` are outliers.

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
        Coefficients of the support vectors; they add up to νN.
    coef_ : ndarray or CSR of shape (1, n_features)
        Weights of the features, for the linear kernel.
    intercept_ : ndarray of shape (1,)
        −ρ.
    offset_ : ndarray of shape (1,)
        ρ: ``decision_function`` is ``score_samples`` minus it.
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

    Notes
    -----
    A row of ``sample_weight`` 2 counts as two rows; one of weight ≤ 0 is left out.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import OneClassSVM
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> machine = OneClassSVM(nu=0.1).fit(X)
    >>> machine.predict([[0.0, 0.0], [9.0, 9.0]]).tolist()
    [1, -1]
    """

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
        return Support("", rows, weight, nu=float(self.nu))

    def _attributes(self, task: Task, solution: Solution) -> dict[str, Any]:
        found = super()._attributes(task, solution)
        return {**found, "offset_": np.array([-solution.solved[0].model.bias])}

    def _decisions(self, X: Any) -> Vector:
        ((_, values, _, _),) = self._values(X)
        decisions: Vector = values[:, 0]
        return decisions
