"""Outputs, decisions and labels from the public attributes of a linear machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from maxmargin.design.outputs import linear_outputs
from maxmargin.errors import InputError
from maxmargin.validation import prediction_rows
from maxmargin.validation.csr import check_structure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin._arrays import Vector


def n_problems(classes: int) -> int:
    """Return the number of problems: one for two classes, else one for each."""
    return classes if classes > 2 else 1


def outputs_of(estimator: Any, X: Any, lines: int) -> Vector:
    """Return XW' + b of ``lines`` problems, as one product.

    Parameters
    ----------
    estimator : estimator
        A fitted machine with ``coef_`` and ``intercept_``.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Rows, not checked yet.
    lines : int
        Number of outputs of every row.
    """
    _refuse_unfitted(estimator)
    coef, intercept = _weights(estimator, lines)
    rows = prediction_rows(estimator, X, finite=False)  # seen in the outputs
    outputs, finite = linear_outputs(rows, coef, intercept, estimator.n_jobs)
    if not finite:
        _refuse_altered(estimator, coef, intercept)
        prediction_rows(estimator, X)  # which says so if X is not finite
        if not np.isfinite(outputs).all():
            msg = (
                "the decision overflows on this X, whose values are far larger than "
                "those of the fit; scale it as the training rows were scaled"
            )
            raise InputError(msg)
    return outputs


def _refuse_unfitted(estimator: Any) -> None:
    """Call scikit-learn's check only if needed: it is slow beside a small product."""
    if not hasattr(estimator, "coef_"):
        check_is_fitted(estimator)


def _weights(estimator: Any, lines: int) -> tuple[Vector, Vector]:
    """Return the public attributes, which users may have changed, in the right shapes."""
    coef = np.atleast_2d(_numbers(estimator.coef_))
    intercept = _numbers(estimator.intercept_)
    if intercept.ndim == 0:  # 0.0: none was fitted
        intercept = np.full(lines, float(intercept))
    if coef.shape != (lines, estimator.n_features_in_) or intercept.shape != (lines,):
        _altered(estimator, coef, intercept, lines)
    return coef, intercept


def _refuse_altered(estimator: Any, coef: Vector, intercept: Vector) -> None:
    """Refuse weights that are not finite; called only if an output is not finite.

    Checking all of W takes some thousand times as long as the product with a short row.
    """
    if not (np.isfinite(coef).all() and np.isfinite(intercept).all()):
        _altered(estimator, coef, intercept, len(coef))


def _altered(estimator: Any, coef: Vector, intercept: Vector, lines: int) -> NoReturn:
    msg = (
        f"The internal representation of {type(estimator).__name__} was altered: "
        f"coef_ has shape {coef.shape} and intercept_ {intercept.shape}; they must hold "
        f"{lines} × {estimator.n_features_in_} and {lines} finite numbers; fit it anew"
    )
    raise InputError(msg)


def _numbers(given: Any) -> Vector:
    """Return an array; an empty one where that is not possible."""
    try:
        if sparse.issparse(given):
            check_structure(given)  # SciPy does not check it
            given = given.toarray()
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        return np.empty((0, 0))


def _count_of_classes(estimator: Any) -> int:
    classes = estimator.classes_
    count = classes.size if isinstance(classes, np.ndarray) else 0
    if count < 2:
        msg = (
            f"The internal representation of {type(estimator).__name__} was altered: "
            f"classes_ is {classes!r}; it must hold two labels at least; fit it anew"
        )
        raise InputError(msg)
    return count


class LinearScores:
    """``decision_function`` and ``predict`` of machines with ``coef_``."""

    classes_: NDArray[Any]
    n_jobs: int | None = None

    def decision_function(self, X: Any) -> Vector:
        """Return the decision values: the sign is the side, ±1 is the margin.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        decision : ndarray of shape (n_samples,) or (n_samples, n_classes)
            With two classes, positive for ``classes_[1]``; with more, a score for each.
        """
        _refuse_unfitted(self)
        decision = outputs_of(self, X, n_problems(_count_of_classes(self)))
        return decision.ravel() if decision.shape[1] == 1 else decision

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label of every row: the class with the largest decision.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            A decision of 0, or a tie, goes to the lowest class.
        """
        decision = self.decision_function(X)
        winner = decision.argmax(axis=1) if decision.ndim == 2 else decision > 0.0
        return np.asarray(self.classes_).take(winner.astype(np.intp))
