"""S2's SGD for Soft-SVM with scikit-learn's interface."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from maxmargin.estimators.linear.stochastic import StochasticClassifier
from maxmargin.solvers.linear.stochastic.averaged_sgd import AveragedSgd

if TYPE_CHECKING:
    from maxmargin.solvers.linear.stochastic.walk import StochasticSolver


class AveragedSGDClassifier(StochasticClassifier):
    r"""Linear classification by S2's SGD; the model is the average of all iterates.

    Minimises, for rows :math:`x_i` with labels :math:`y_i=\pm1`,

    .. math:: f(w) = \tfrac\lambda2\|w\|^2 + \frac1n\sum_i\max(0, 1 - y_i\langle w,
              x_i\rangle)

    by steps on single rows, one class against the rest for more than two. S2's listing
    divides by λ·0 in its first step; here, as is meant, the walk starts at
    :math:`w_0 = 0` (:mod:`maxmargin.solvers.linear.stochastic.averaged_sgd`).

    Parameters
    ----------
    lam : float, default=1e-3
        λ, which is 1/(C·n) (:func:`maxmargin.theory.from_C`) and scikit-learn's
        ``alpha``.
    fit_intercept : bool, default=True
        Whether there is an intercept: the weight of a constant column, which
        :math:`\|w\|^2` counts like any other.
    intercept_scaling : float, default=1.0
        The value of that column.
    max_iter : int, default=-1
        Epochs at most; -1 stands for 1000, or as many as make a million or 300/λ steps,
        where a tiny λ counts for 10⁹ visits of rows at most.
    tol : float, default=1e-2
        Relative duality gap at which ``fit`` stops.
    replacement : bool, default=True
        Whether every step draws from all rows, as S2 prints it and the bound assumes;
        otherwise every epoch visits all in a new order, which is better in practice.
    class_weight : dict, 'balanced' or None, default=None
        How often rows of a class count. 'balanced' is inversely proportional to its
        size; ``partial_fit`` takes a dict only.
    random_state : int, RandomState or None, default=None
        Seed of the draws.
    warm_start : bool, default=False
        Whether ``fit`` continues where the fit before ended, with its step counter.
    n_jobs : int or None, default=None
        Threads, for fits of several classes and predictions of many rows; None uses
        every core available. Results are the same for all.
    verbose : bool or int, default=False
        Show a progress bar on stderr.
    time_limit : float or None, default=None
        Seconds after which the solver stops with what it has.
    callbacks : observer, callable, list of them, or None, default=None
        Called about every 50 ms of the run; see :mod:`maxmargin.observers`.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights of the features.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts.
    classes_, class_weight_ : ndarray of shape (n_classes,)
        Labels, sorted, and how much their rows count.
    n_iter_ : int
        Epochs of the last call, of the class that needed most.
    t_ : int or ndarray of shape (n_classes,)
        Steps so far, those of earlier calls included.
    distance_ : float or ndarray of shape (n_classes,)
        Measured: primal − dual in the form above, which f(w) − min f does not exceed.
        After ``partial_fit``, for the rows of that call, and loose: the dual knows one
        epoch.
    bound_ : DescentBound or None
        Promised: what theory says of that distance after ``t_`` steps, with the theorem's
        name, and where the run is not one that it is about; None before the first step.
        For several classes, of the one with the fewest steps.
    certificate_ : Certificate
        Proof of how good the answer is, in the C-form: f/λ.
    fit_status_ : int
        0 when the gap is within ``tol``, 1 when the solver stopped early.
    n_features_in_, feature_names_in_ : int, ndarray
        Number and names of the columns of X.

    Notes
    -----
    A row of ``sample_weight`` 2 is drawn as often as two rows; one of weight ≤ 0 is left
    out.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.estimators.linear.averaged_sgd import AveragedSGDClassifier
    >>> X = np.array([[-1.0, -1.0], [-2.0, -1.0], [1.0, 1.0], [2.0, 1.0]])
    >>> clf = AveragedSGDClassifier(lam=0.1, random_state=0).fit(X, [0, 0, 1, 1])
    >>> clf.predict([[-0.8, -1.0], [3.0, 2.0]]).tolist()
    [0, 1]
    >>> clf.bound_.applies, bool(clf.distance_ < clf.bound_.bound)
    (True, True)
    """

    def __init__(
        self,
        *,
        lam: float = 1e-3,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        max_iter: int = -1,
        tol: float = 1e-2,
        replacement: bool = True,
        class_weight: Any = None,
        random_state: Any = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: bool | int = False,
        time_limit: float | None = None,
        callbacks: Any = None,
    ) -> None:
        self.lam = lam
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.max_iter = max_iter
        self.tol = tol
        self.replacement = replacement
        self.class_weight = class_weight
        self.random_state = random_state
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.time_limit = time_limit
        self.callbacks = callbacks

    def _solver(self, *, tol: float, max_iter: int) -> StochasticSolver:
        return AveragedSgd(tol=tol, max_iter=max_iter, replacement=bool(self.replacement))
