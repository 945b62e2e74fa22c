"""Support vector classification with scikit-learn's interface."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from maxmargin._callback_bridge import CallbackSupport, bridge_for, with_callbacks
from maxmargin.certificate import worst_of
from maxmargin.errors import InputError
from maxmargin.estimators.fitting import (
    Task,
    fitted_attributes,
    model_to_go_on_from,
    solve_all,
    warm_betas,
    warn_if_early,
)
from maxmargin.estimators.kernel_input import check_precomputed
from maxmargin.estimators.multiclass import class_pairs, gather, ovr_scores, votes
from maxmargin.estimators.parameters import check_parameters, effective_gamma
from maxmargin.estimators.prediction import checked_model, decision_blocks, weights
from maxmargin.parallel import Workers
from maxmargin.validation import (
    encode_labels,
    prediction_rows,
    sample_weights,
    training_rows,
)

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import ArrayLike, NDArray

    from maxmargin.certificate import Certificate
    from maxmargin.solvers.base import Snapshot

    Vector = NDArray[np.float64]

__all__ = ["SVC"]


class SVC(CallbackSupport, ClassifierMixin, BaseEstimator):
    r"""Support vector classification that certifies its answer.

    Solves, for the rows :math:`x_i` with labels :math:`y_i=\pm1`,

    .. math:: \min_{w,b}\ \tfrac12\|w\|^2 + \sum_i C_i\,\ell\bigl(y_i(\langle w,
              \varphi(x_i)\rangle + b)\bigr), \qquad \ell(m) = \max(0, 1-m),

    one against one for more than two classes. Parameters, methods and attributes that
    scikit-learn's ``SVC`` has too mean the same here.

    Parameters
    ----------
    C : float, default=1.0
        Price of a margin error; ``inf`` is the hard margin.
    kernel : {'linear', 'poly', 'rbf', 'sigmoid', 'precomputed'} or callable, \
            default='rbf'
        What "similar" means. A callable gets two blocks of rows and returns the matrix
        of their kernel values; its rows may be anything that can be put in an array.
    degree : int, default=3
        Degree of 'poly'.
    gamma : {'scale', 'auto'} or float, default='scale'
        Scale of 'rbf', 'poly' and 'sigmoid'. 'scale' is 1 / (n_features · X.var()), every
        row counted as often as its weight says; 'auto' is 1 / n_features.
    coef0 : float, default=0.0
        Constant of 'poly' and 'sigmoid'.
    shrinking : bool, default=True
        Whether the solver may leave points at a bound aside for a while.
    tol : float, default=1e-3
        The solver stops when the optimality conditions hold within ``tol``, verified
        in float64; 'pegasos' when the relative duality gap is at most ``tol``.
    cache_size : float, default=200
        Memory for kernel values, in MB.
    class_weight : dict, 'balanced' or None, default=None
        Factors of C for each class. 'balanced' is inversely proportional to
        their size, every row counted as often as its weight says.
    verbose : bool or int, default=False
        Show a progress bar on stderr.
    max_iter : int, default=-1
        Limit on the solver's iterations in every binary problem; -1 leaves it to the
        solver, whose own limit is out of reach of all but hopeless problems.
    decision_function_shape : {'ovr', 'ovo'}, default='ovr'
        Whether ``decision_function`` of more than two classes returns a score for each
        class, or the decision of each pair.
    break_ties : bool, default=False
        Whether ``predict`` breaks ties of votes by the 'ovr' scores; otherwise the
        lowest class wins.
    random_state : int, RandomState or None, default=None
        Seed of ``solver='pegasos'``; 'smo' is deterministic.
    loss : {'hinge', 'squared_hinge'}, default='hinge'
        What a margin error costs.
    fit_intercept : bool, default=True
        Whether there is an intercept.
    solver : {'smo', 'pegasos'}, default='smo'
        Decomposition with a working set, or stochastic subgradients (which needs
        ``fit_intercept=False``).
    n_jobs : int or None, default=None
        Threads; None uses every core available. Results are the same for all.
    time_limit : float or None, default=None
        Seconds after which the solver stops with what it has.
    callbacks : observer, callable, list of them, or None, default=None
        Told of the run after every 50 ms or so; see :mod:`maxmargin.observers`.
    warm_start : bool, default=False
        Whether ``fit`` goes on from the model of the fit before, on the same rows.

    Attributes
    ----------
    support_ : ndarray of shape (n_SV,)
        Rows of X that are support vectors, grouped by class.
    support_vectors_ : ndarray or CSR of shape (n_SV, n_features)
        Those rows; empty for a precomputed kernel.
    n_support_ : ndarray of shape (n_classes,)
        Number of support vectors of each class.
    dual_coef_ : ndarray or CSR of shape (n_classes - 1, n_SV)
        Coefficients of the support vectors, in LIBSVM's layout.
    coef_ : ndarray or CSR of shape (n_pairs, n_features)
        Weights of the features, for the linear kernel.
    intercept_ : ndarray of shape (n_pairs,)
        Intercepts.
    gamma_ : float
        The number that ``gamma`` stood for.
    classes_, class_weight_ : ndarray of shape (n_classes,)
        Labels, sorted, and the factors of C that go with them.
    n_iter_ : ndarray of shape (n_pairs,)
        Iterations of the solver.
    fit_status_ : int
        0 when the solver converged, 1 when it stopped early.
    shape_fit_ : tuple of int
        Shape of the X of the fit.
    certificate_ : Certificate
        Proof of how good the answer is.
    margin_ : float or ndarray of shape (n_pairs,)
        Width 2/‖w‖ of the margin, in feature space.
    n_features_in_, feature_names_in_ : int, ndarray
        What X looked like.

    Notes
    -----
    A row of ``sample_weight`` 2 counts as two rows; one of weight ≤ 0 is left out, and a
    class none of whose rows has weight does not exist.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import SVC
    >>> X = np.array([[-1.0, -1.0], [-2.0, -1.0], [1.0, 1.0], [2.0, 1.0]])
    >>> clf = SVC(kernel="linear").fit(X, ["a", "a", "b", "b"])
    >>> clf.predict([[-0.8, -1.0], [3.0, 2.0]]).tolist()
    ['a', 'b']
    >>> clf.support_.tolist()
    [0, 2]
    >>> round(clf.margin_, 3)
    2.828
    """

    classes_: NDArray[Any]
    support_: NDArray[np.int32]
    certificate_: Certificate

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        tol: float = 1e-3,
        cache_size: float = 200,
        class_weight: Any = None,
        verbose: bool | int = False,
        max_iter: int = -1,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        random_state: Any = None,
        loss: str = "hinge",
        fit_intercept: bool = True,
        solver: str = "smo",
        n_jobs: int | None = None,
        time_limit: float | None = None,
        callbacks: Any = None,
        warm_start: bool = False,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.n_jobs = n_jobs
        self.time_limit = time_limit
        self.callbacks = callbacks
        self.warm_start = warm_start

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        precomputed = isinstance(self.kernel, str) and self.kernel == "precomputed"
        tags.input_tags.pairwise = precomputed
        tags.input_tags.sparse = not precomputed
        return tags

    # --- fitting --------------------------------------------------------------------

    @with_callbacks  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Find the support vectors.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; for a precomputed kernel, the square matrix of kernel values.
        y : array-like of shape (n_samples,)
            Labels of any type.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts; rows of weight ≤ 0 are left out.

        Returns
        -------
        self : object
            The fitted machine.
        """
        began = time.perf_counter()
        check_parameters(self)
        before = model_to_go_on_from(self)
        task = self._task(X, y, sample_weight)
        warm = None if before is None else warm_betas(before, task)
        metadata = {} if sample_weight is None else {"sample_weight": sample_weight}

        def attributes(snapshot: Snapshot) -> dict[str, Any] | None:
            if len(task.pairs) > 1:
                return None
            index = np.flatnonzero(task.codes >= 0)
            duals = gather(task.codes, 2, [(task.pairs[0], index, snapshot.model)])
            return fitted_attributes(task, duals)

        bridges = bridge_for(
            self, X, y, attributes, metadata=metadata, total=len(task.pairs)
        )
        solved, n_kernel = solve_all(self, task, warm, bridges)
        parts = [(one.pair, one.rows, one.model) for one in solved]
        duals = gather(task.codes, len(task.classes), parts)
        self.__dict__.update(fitted_attributes(task, duals))
        self.n_iter_ = np.array([one.n_iter for one in solved], dtype=np.int32)
        self.fit_status_ = int(not all(one.stop.converged for one in solved))
        margins = np.array([one.margin for one in solved])
        self.margin_ = float(margins[0]) if margins.size == 1 else margins
        self.certificate_ = worst_of(
            [one.certificate for one in solved],
            n_support=int(duals.support.size),
            n_kernel=n_kernel,
            seconds=time.perf_counter() - began,
        )
        warn_if_early(self, solved)
        for bridge in bridges:
            bridge.finish()
        return self

    def _task(self, X: Any, y: Any, sample_weight: Any) -> Task:
        """Check what ``fit`` was given."""
        rows, given = training_rows(self, X, y)
        weight = sample_weights(sample_weight, rows.shape[0], rows.shape)
        labels = encode_labels(given, weight, self.class_weight)
        precomputed = isinstance(self.kernel, str) and self.kernel == "precomputed"
        if precomputed:
            check_precomputed(rows)
        price = float(self.C) * labels.class_weight[labels.codes]
        if weight is not None:
            np.multiply(price, weight, out=price, where=weight > 0.0)
        return Task(
            rows=rows,
            precomputed=precomputed,
            gamma=effective_gamma(self, rows, weight),
            classes=labels.classes,
            class_weight=labels.class_weight,
            codes=labels.codes,
            price=price,
            pairs=class_pairs(labels.classes),
        )

    # --- predicting -----------------------------------------------------------------

    def decision_function(self, X: Any) -> Vector:
        """How far on which side of the boundary every row lies; ±1 is the margin.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; for a precomputed kernel, their kernel values with every row of the
            training set.

        Returns
        -------
        decision : ndarray of shape (n_samples,), (n_samples, n_classes) or \
                (n_samples, n_pairs)
            With two classes, positive for ``classes_[1]``. With more, a score for each
            class ('ovr'), or for each pair, positive for its first class ('ovo').
        """
        check_is_fitted(self)
        return self._decide(X, ovr=self.decision_function_shape == "ovr")

    def predict(self, X: Any) -> NDArray[Any]:
        """Label of every row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; for a precomputed kernel, their kernel values with every row of the
            training set.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Winners of the votes of all pairs.
        """
        check_is_fitted(self)
        if self.break_ties and self.decision_function_shape == "ovo":
            msg = "break_ties must be False when decision_function_shape is 'ovo'"
            raise InputError(msg)
        check_parameters(self)
        rows = prediction_rows(self, X)
        model = checked_model(self)
        winner = np.empty(rows.shape[0], dtype=np.intp)
        with Workers(self.n_jobs) as workers:
            for some, values in decision_blocks(
                self, rows, model, workers=workers, whole=False
            ):
                if model.k == 2:
                    winner[some] = values[:, 0] >= 0.0
                elif self.break_ties:
                    winner[some] = ovr_scores(values, model.k).argmax(axis=1)
                else:
                    winner[some] = votes(values, model.k)
        return np.asarray(self.classes_).take(winner)

    def _decide(self, X: Any, *, ovr: bool) -> Vector:
        check_parameters(self)
        rows = prediction_rows(self, X)
        model = checked_model(self)
        scores = ovr and model.k > 2
        parts = []
        with Workers(self.n_jobs) as workers:
            for _, values in decision_blocks(
                self, rows, model, workers=workers, whole=not scores
            ):
                parts.append(ovr_scores(values, model.k) if scores else values)
        decision: Vector = parts[0] if len(parts) == 1 else np.concatenate(parts)
        return decision.ravel() if model.k == 2 else decision

    @property
    def coef_(self) -> Any:
        """Weights of the features, when ``kernel='linear'``; read-only."""
        if not (isinstance(self.kernel, str) and self.kernel == "linear"):
            msg = "coef_ is only available when using a linear kernel"
            raise AttributeError(msg)
        check_is_fitted(self)
        coef = weights(checked_model(self))
        (coef.data if sparse.issparse(coef) else coef).flags.writeable = False
        return coef
