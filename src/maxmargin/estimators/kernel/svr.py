"""ε-regression with scikit-learn's interface."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from maxmargin.estimators.kernel.fit.parts import Part
from maxmargin.estimators.kernel.regressor import KernelRegressor
from maxmargin.problem import epsilon_svr, is_inside, row_prices

if TYPE_CHECKING:
    from maxmargin._arrays import Index, Vector
    from maxmargin.kernels.gram.contract import Gram
    from maxmargin.problem import Model, Problem


@dataclass(frozen=True, eq=False)
class Tube(Part):
    """ε-regression on the targets ``z``."""

    z: Vector
    C: float
    epsilon: float

    def instance(self, gram: Gram, weight: Vector) -> Problem:
        """Return ε-SVR with these weights."""
        return epsilon_svr(gram, self.z, row_prices(self.C, weight), self.epsilon)

    def targets(self) -> Vector:
        """Return the numbers z."""
        return self.z

    def outlives(self, problem: Problem, model: Model) -> bool:
        """Return whether no |β| is at C: then a larger C changes nothing."""
        return is_inside(problem, model.beta)


class SVR(KernelRegressor):
    r"""Support vector regression that certifies its answer.

    Solves, for the rows :math:`x_i` with targets :math:`z_i`,

    .. math:: \min_{w,b}\ \tfrac12\|w\|^2 + \sum_i C_i\max\bigl(0,
              |z_i - \langle w, \varphi(x_i)\rangle - b| - \varepsilon\bigr):

    errors below ε cost nothing.

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
        in float64.
    C : float, default=1.0
        Price of an error outside the tube; ``inf`` allows none.
    epsilon : float, default=0.1
        Half the width of the tube.
    shrinking : bool, default=True
        Whether the solver may skip points at a bound for a while.
    cache_size : float, default=200
        Memory for kernel values, in MB.
    verbose : bool or int, default=False
        Show a progress bar on stderr.
    max_iter : int, default=-1
        Limit on the solver's iterations; -1 leaves it to the solver, which for a linear
        kernel and more than 5,000 rows takes the weights instead of kernel values
        (:mod:`maxmargin.solvers.linear.through_weights`), and counts its steps.
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
    >>> from maxmargin import SVR
    >>> X = np.linspace(0.0, 6.0, 50).reshape(-1, 1)
    >>> model = SVR(C=10.0, epsilon=0.05).fit(X, np.sin(X[:, 0]))
    >>> bool(abs(model.predict(X) - np.sin(X[:, 0])).max() < 0.06)
    True
    """

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        C: float = 1.0,
        epsilon: float = 0.1,
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
        self.C = C
        self.epsilon = epsilon
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.time_limit = time_limit
        self.callbacks = callbacks
        self.warm_start = warm_start

    def _part(self, rows: Index, z: Vector, weight: Vector) -> Part:
        return Tube("", rows, weight, z, C=float(self.C), epsilon=float(self.epsilon))
