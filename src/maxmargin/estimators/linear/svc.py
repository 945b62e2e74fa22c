"""Linear classification with scikit-learn's interface."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from maxmargin.errors import InputError
from maxmargin.estimators.linear.machine import (
    COMMON_RULES,
    LinearMachine,
    check_combination,
    loss_rule,
)
from maxmargin.estimators.linear.scores import LinearScores
from maxmargin.estimators.parameters import one_of
from maxmargin.losses import LOSSES
from maxmargin.problem import LinearJointProblem, linear_problem
from maxmargin.validation import Labels, encode_labels, sample_weights, training_rows

if TYPE_CHECKING:
    from typing import Self

    from maxmargin._arrays import Vector
    from maxmargin.design.operator import Design
    from maxmargin.estimators.linear.solving import LinearTask
    from maxmargin.problem import LinearProblem


class LinearSVC(LinearScores, ClassifierMixin, LinearMachine):
    r"""Linear support vector classification that certifies its answer.

    Solves, for rows :math:`x_i` with labels :math:`y_i = \pm1`,

    .. math:: \min_{w,b}\ \tfrac12\|w\|^2\ (+ \tfrac12(b/s)^2)
              + \sum_i C_i\max(0, 1 - y_i(w\cdot x_i + b))^2

    or the loss without the square, or with ‖w‖₁ for the penalty; s is
    ``intercept_scaling``, and the term in brackets is there unless the intercept is free.
    Of several classes, each has a problem against all others.

    Parameters
    ----------
    penalty : {'l1', 'l2'}, default='l2'
        Penalty of the weights; 'l1' leaves most of them 0, and needs the squared hinge.
    loss : {'hinge', 'squared_hinge'}, default='squared_hinge'
        Price of a margin error; 'hinge' is that of :class:`~maxmargin.SVC`.
    dual : bool or 'auto', default='auto'
        Accepted where scikit-learn accepts it; every solver computes both.
    tol : float, default=1e-4
        Relative duality gap at which the solver stops.
    C : float, default=1.0
        Price of an error.
    multi_class : {'ovr', 'crammer_singer'}, default='ovr'
        Each class against the rest; or Crammer and Singer's one problem for all, where
        the loss of a row depends on the strongest other class. There ``penalty``,
        ``loss`` and ``dual`` have no effect, and the intercept cannot be free.
    fit_intercept : bool, default=True
        Whether there is an intercept.
    intercept_scaling : float, default=1
        Value of the constant feature; its weight is the intercept: the larger, the less
        it is regularised.
    class_weight : dict, 'balanced' or None, default=None
        Factors of C for the rows of each class; against the rest, as in LIBLINEAR, for
        the rows of the one class alone.
    verbose : bool or int, default=0
        Show a progress bar on stderr.
    random_state : int, RandomState instance or None, default=None
        Order of the rows in coordinate descent, draws of Pegasos.
    max_iter : int, default=1000
        Limit, in the unit of the solver that runs: epochs, Newton steps, iterations.
    intercept : {'regularised', 'free'}, default='regularised'
        'free': the intercept costs nothing, as in :class:`~maxmargin.SVC`.
    solver : {'auto', 'dual-descent', 'newton', 'newton-cg', 'proximal-newton', \
            'gram', 'lasso-newton', 'lasso-descent', 'lasso-interior', 'lasso-relay', \
            'crammer-singer', 'joint-newton', 'joint-relay', 'pegasos'} or solver, \
            default='auto'
        See :mod:`maxmargin.estimators.linear.choice`; ``certificate_.solver`` is the name
        of the one used.
    n_jobs : int or None, default=None
        Threads; None uses every core available. Results are the same for all.
    time_limit : float or None, default=None
        Seconds after which the solver stops with what it has.
    callbacks : observer, callable, list of them, or None, default=None
        Called during the run; see :mod:`maxmargin.observers`.
    warm_start : bool, default=False
        Whether ``fit`` continues from the fit before: its dual variables, or with the
        penalty l1 its weights.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights of the features.
    intercept_ : ndarray of shape (1,) or (n_classes,), or 0.0
        Intercepts.
    dual_coef_ : ndarray of shape (1, n_samples) or (n_classes, n_samples)
        Dual variables β, the other half of the proof; near X'β = w at the end. A line for
        each of two classes, too, with Crammer and Singer.
    classes_, class_weight_ : ndarray of shape (n_classes,)
        Labels, sorted, and the factors of C of their rows.
    n_iter_ : int
        Iterations, in the unit of the solver; the most of all classes.
    certificate_ : Certificate
        Proof of how good the answer is.
    n_features_in_, feature_names_in_ : int, ndarray
        Number and names of the columns of X.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import LinearSVC
    >>> X = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])
    >>> model = LinearSVC().fit(X, [0, 0, 1, 1])
    >>> model.predict([[0.5, 0.5], [2.5, 2.5]]).tolist()
    [0, 1]
    >>> model.certificate_.ok
    True
    """

    _own_rules = {  # noqa: RUF012 - as in every machine
        **COMMON_RULES,
        "penalty": one_of("l1", "l2"),
        "loss": loss_rule(),
        "multi_class": one_of("ovr", "crammer_singer"),
    }

    def __init__(
        self,
        penalty: str = "l2",
        loss: str = "squared_hinge",
        *,
        dual: Any = "auto",
        tol: float = 1e-4,
        C: float = 1.0,
        multi_class: str = "ovr",
        fit_intercept: bool = True,
        intercept_scaling: float = 1,
        class_weight: Any = None,
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
        self.penalty = penalty
        self.loss = loss
        self.dual = dual
        self.tol = tol
        self.C = C
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.intercept = intercept
        self.solver = solver
        self.n_jobs = n_jobs
        self.time_limit = time_limit
        self.callbacks = callbacks
        self.warm_start = warm_start

    def _task(self, X: Any, y: Any, sample_weight: Any) -> LinearTask:
        self._check_combination()
        rows, given = training_rows(self, X, y, ordered=False)
        weight = sample_weights(sample_weight, rows.shape[0], rows.shape)
        labels = encode_labels(given, weight, self.class_weight)
        count = np.ones(rows.shape[0]) if weight is None else np.maximum(weight, 0.0)
        known = {"classes_": labels.classes, "class_weight_": labels.class_weight}
        if self.multi_class == "crammer_singer":
            make: Any = partial(_joint_problem, labels, count)
            name = ["all classes at once"]
            return self._linear_task(rows, name, make, known, len(labels.classes))
        classes = labels.classes
        names = [f"{one} against the rest" for one in classes]
        if len(classes) == 2:
            names = [f"{classes[0]} against {classes[1]}"]
        kind = {
            "loss": LOSSES[self.loss],
            "free": self.fit_intercept and self.intercept == "free",
            "lasso": self.penalty == "l1",
        }
        make = partial(_problem, labels, count, kind)
        return self._linear_task(rows, names, make, known, len(names))

    def _check_combination(self) -> None:
        """Refuse parameters that exclude each other."""
        free = self.fit_intercept and self.intercept == "free"
        if self.multi_class == "crammer_singer":
            if free:
                msg = (
                    "intercept='free' with multi_class='crammer_singer': its intercepts "
                    "are always regularised; use 'regularised', or multi_class='ovr'"
                )
                raise InputError(msg)
            return
        check_combination(self.penalty, self.loss, self.dual)
        if free and self.penalty == "l1":
            msg = (
                "intercept='free' with penalty='l1': its solvers regularise the "
                "intercept; use intercept='regularised'"
            )
            raise InputError(msg)

    def sparsify(self) -> Self:
        """Keep the weights as CSR, for a penalty that leaves most of them 0."""
        check_is_fitted(self)
        self.coef_ = sparse.csr_matrix(self.coef_)
        return self

    def densify(self) -> Self:
        """Keep the weights as an array again."""
        check_is_fitted(self)
        if sparse.issparse(self.coef_):
            self.coef_ = self.coef_.toarray()
        return self


def _problem(
    labels: Labels,
    count: Vector,
    kind: dict[str, Any],
    number: int,
    design: Design,
    C: float,
) -> LinearProblem:
    """Return the problem of one class against the other, or against the rest."""
    classes, codes, factor = labels
    two = len(classes) == 2
    own = codes == (1 if two else number)
    price = C * count
    # Against the rest, LIBLINEAR weights the one class alone.
    price *= factor[codes] if two else np.where(own, factor[number], 1.0)
    price[codes < 0] = 0.0
    return linear_problem(design, np.where(own, 1.0, -1.0), price, **kind)


def _joint_problem(
    labels: Labels,
    count: Vector,
    number: int,  # noqa: ARG001 - there is one
    design: Design,
    C: float,
) -> LinearJointProblem:
    """Return Crammer and Singer's problem of all classes."""
    classes, codes, factor = labels
    price = C * count * factor[codes] * (codes >= 0)
    return LinearJointProblem(design, np.maximum(codes, 0), price, len(classes))
