"""ν-regression with scikit-learn's interface."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from maxmargin.estimators.kernel.fit.parts import Expansion, Part
from maxmargin.estimators.kernel.regressor import KernelRegressor
from maxmargin.estimators.parameters import FINITE_C
from maxmargin.kernels.gram.copies import CopiedGram
from maxmargin.problem import nu_svr, row_prices

if TYPE_CHECKING:
    from maxmargin._arrays import Index, Vector
    from maxmargin.certificate import Certificate, Run
    from maxmargin.estimators.kernel.fit.solving import Task
    from maxmargin.estimators.machine import Solution
    from maxmargin.estimators.parameters import Rule
    from maxmargin.kernels.gram.contract import Gram
    from maxmargin.problem import Model, Problem


@dataclass(frozen=True, eq=False)
class NuTube(Part):
    """ν-regression on the targets ``z``: two variables for every row."""

    z: Vector
    C: float
    nu: float
    merges = False  # the two variables of a row are copies that must stay apart

    def instance(self, gram: Gram, weight: Vector) -> Problem:
        """Return ν-SVR; its points are the rows twice."""
        twice = CopiedGram(gram, np.tile(np.arange(gram.n), 2))
        return nu_svr(twice, self.z, row_prices(self.C, weight), self.nu)

    def expansion(self, problem: Problem, model: Model) -> Expansion:  # noqa: ARG002
        """Return the decision function, with coefficients α − α*."""
        n = self.rows.size
        return Expansion(model.beta[:n] + model.beta[n:], model.bias)

    def certificate(self, problem: Problem, model: Model, run: Run) -> Certificate:
        """Count rows, not variables: a row is at its bound when |α − α*| = C."""
        found = super().certificate(problem, model, run)
        coef, price = self.expansion(problem, model).coef, problem.upper[: self.rows.size]
        n, bound = int(np.count_nonzero(coef)), int((np.abs(coef) == price).sum())
        return replace(found, n_support=n, n_bound=bound, n_free=n - bound)

    def restart(self, coef: Vector) -> Vector:
        """Return α from the positive coefficients, α* from the negative ones."""
        return np.concatenate([np.maximum(coef, 0.0), np.minimum(coef, 0.0)])


class NuSVR(KernelRegressor):
    r"""Support vector regression that finds the width of its tube.

    Solves, for the rows :math:`x_i` with targets :math:`z_i`,

    .. math:: \min_{w,b,\varepsilon}\ \tfrac12\|w\|^2 + \nu\varepsilon\sum_i C_i
              + \sum_i C_i\max\bigl(0,
              |z_i - \langle w, \varphi(x_i)\rangle - b| - \varepsilon\bigr):

    at most a fraction ν of the rows lies outside the tube, at least a fraction ν are
    support vectors.

    Parameters
    ----------
    nu : float, default=0.5
        The fraction, in (0, 1].
    C : float, default=1.0
        Price of an error outside the tube.
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
    shrinking : bool, default=True
        Whether the solver may skip points at a bound for a while.
    tol : float, default=1e-3
        The solver stops when the optimality conditions hold within ``tol``, verified
        in float64.
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
        Coefficients of the support vectors, between −C and C.
    coef_ : ndarray or CSR of shape (1, n_features)
        Weights of the features, for the linear kernel.
    intercept_ : ndarray of shape (1,)
        Intercept.
    epsilon_ : float
        Half the width of the tube that was found.
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
    >>> from maxmargin import NuSVR
    >>> X = np.linspace(0.0, 6.0, 50).reshape(-1, 1)
    >>> z = np.sin(X[:, 0]) + np.tile([-0.1, 0.1], 25)
    >>> model = NuSVR(nu=0.3, C=10.0).fit(X, z)
    >>> bool((abs(z - model.predict(X)) > model.epsilon_ + 1e-2).mean() <= 0.3)
    True
    """

    # The tube is found by a sum of all prices, which must be finite.
    _own_rules: ClassVar[dict[str, Rule]] = {"C": FINITE_C}

    def __init__(
        self,
        *,
        nu: float = 0.5,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        tol: float = 1e-3,
        cache_size: float = 200,
        verbose: bool | int = False,
        max_iter: int = -1,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        callbacks: Any = None,
        warm_start: bool = False,
    ) -> None:
        self.nu = nu
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.tol = tol
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.time_limit = time_limit
        self.callbacks = callbacks
        self.warm_start = warm_start

    def _part(self, rows: Index, z: Vector, weight: Vector) -> Part:
        return NuTube("", rows, weight, z, C=float(self.C), nu=float(self.nu))

    def _attributes(self, task: Task, solution: Solution) -> dict[str, Any]:
        found = super()._attributes(task, solution)
        return {**found, "epsilon_": max(0.0, solution.solved[0].model.split)}
