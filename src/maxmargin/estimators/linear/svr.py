"""Linear regression with a tube, and scikit-learn's interface."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import RegressorMixin

from maxmargin.estimators.linear.machine import (
    COMMON_RULES,
    LinearMachine,
    check_combination,
    solver_rule,
)
from maxmargin.estimators.linear.scores import outputs_of
from maxmargin.estimators.parameters import one_of
from maxmargin.problem import linear_svr
from maxmargin.validation import counted_rows, sample_weights, training_rows

if TYPE_CHECKING:
    from maxmargin._arrays import Vector
    from maxmargin.design.operator import Design
    from maxmargin.estimators.linear.solving import LinearTask
    from maxmargin.estimators.machine import Solution
    from maxmargin.problem import LinearProblem


class LinearSVR(RegressorMixin, LinearMachine):
    r"""Linear support vector regression that certifies its answer.

    Solves, for the rows :math:`x_i` with targets :math:`z_i`,

    .. math:: \min_{w,b}\ \tfrac12\|w\|^2\ (+ \tfrac12(b/s)^2) + \sum_i C_i\max\bigl(0,
              |z_i - w\cdot x_i - b| - \varepsilon\bigr)

    or with the square of the loss; s is ``intercept_scaling``, and the term in brackets
    is there unless the intercept is free.

    Parameters
    ----------
    epsilon : float, default=0.0
        Half the width of the tube.
    tol : float, default=1e-4
        Relative duality gap at which the solver stops.
    C : float, default=1.0
        Price of an error outside the tube.
    loss : {'epsilon_insensitive', 'squared_epsilon_insensitive'}, \
            default='epsilon_insensitive'
        The price itself, or its square.
    fit_intercept : bool, default=True
        Whether there is an intercept.
    intercept_scaling : float, default=1.0
        Value of the constant feature; its weight is the intercept: the larger, the less
        it is regularised.
    dual : bool or 'auto', default='auto'
        Accepted where scikit-learn accepts it; every solver knows both sides.
    verbose : bool or int, default=0
        Show a progress bar on stderr.
    random_state : int, RandomState instance or None, default=None
        Order of the rows in coordinate descent.
    max_iter : int, default=1000
        Limit, in the unit of the solver that runs: epochs, Newton steps, iterations.
    intercept : {'regularised', 'free'}, default='regularised'
        'free': the intercept costs nothing, as in :class:`~maxmargin.SVR`.
    solver : {'auto', 'dual-descent', 'newton', 'newton-cg', 'proximal-newton', \
            'gram'} or solver, default='auto'
        See :mod:`maxmargin.estimators.linear.choice`; ``certificate_.solver`` says which
        ran.
    n_jobs : int or None, default=None
        Threads; None uses every core available. Results are the same for all.
    time_limit : float or None, default=None
        Seconds after which the solver stops with what it has.
    callbacks : observer, callable, list of them, or None, default=None
        Called during the run; see :mod:`maxmargin.observers`.
    warm_start : bool, default=False
        Whether ``fit`` continues from the dual variables of the fit before.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights of the features.
    intercept_ : ndarray of shape (1,), or 0.0
        Intercept.
    dual_coef_ : ndarray of shape (1, n_samples)
        Dual variables β, the other half of the proof; near X'β = w at the end.
    n_iter_ : int
        Iterations, in the unit of the solver.
    certificate_ : Certificate
        Proof of how good the answer is.
    n_features_in_, feature_names_in_ : int, ndarray
        Number and names of the columns of X.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import LinearSVR
    >>> X = np.linspace(0.0, 1.0, 50).reshape(-1, 1)
    >>> model = LinearSVR(C=10.0).fit(X, 3.0 * X[:, 0])
    >>> bool(abs(model.coef_[0] - 3.0) < 0.1)
    True
    """

    _own_rules = {  # noqa: RUF012 - as in every machine
        **COMMON_RULES,
        "C": COMMON_RULES["C"]._replace(
            advice="C is the price of an error; for a hard tube use SVR(kernel='linear', "
            "C=inf)"
        ),
        "loss": one_of("epsilon_insensitive", "squared_epsilon_insensitive"),
        "solver": solver_rule(regression=True),
    }

    def __init__(
        self,
        *,
        epsilon: float = 0.0,
        tol: float = 1e-4,
        C: float = 1.0,
        loss: str = "epsilon_insensitive",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        dual: Any = "auto",
        verbose: bool | int = 0,
        random_state: Any = None,
        max_iter: int = 1000,
        intercept: str = "regularised",
        solver: Any = "auto",
        n_jobs: int | None = None,
        time_limit: float | None = None,
        callbacks: Any = None,
        warm_start: bool = False,
    ) -> None:
        self.epsilon = epsilon
        self.tol = tol
        self.C = C
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.dual = dual
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.intercept = intercept
        self.solver = solver
        self.n_jobs = n_jobs
        self.time_limit = time_limit
        self.callbacks = callbacks
        self.warm_start = warm_start

    def _attributes(self, task: LinearTask, solution: Solution) -> dict[str, Any]:
        found = super()._attributes(task, solution)
        return {**found, "coef_": found["coef_"].ravel()}

    def _task(self, X: Any, y: Any, sample_weight: Any) -> LinearTask:
        check_combination("l2", self.loss, self.dual)
        rows, targets = training_rows(self, X, y, target="numbers", ordered=False)
        weight = sample_weights(sample_weight, rows.shape[0], rows.shape)
        counted_rows(weight, rows.shape[0])
        count = np.ones(rows.shape[0]) if weight is None else np.maximum(weight, 0.0)
        squared = self.loss == "squared_epsilon_insensitive"

        def make(number: int, design: Design, C: float) -> LinearProblem:  # noqa: ARG001
            return linear_svr(
                design,
                targets,
                C * count,
                epsilon=float(self.epsilon),
                squared=squared,
                free=self.fit_intercept and self.intercept == "free",
            )

        return self._linear_task(rows, [""], make, {}, 1)

    def predict(self, X: Any) -> Vector:
        """Return the value w·x + b of every row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        """
        return outputs_of(self, X, 1).ravel()
