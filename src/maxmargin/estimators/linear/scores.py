"""Outputs, decisions and labels from the public attributes of a linear machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from maxmargin.design import Design
from maxmargin.errors import InputError
from maxmargin.parallel import Workers
from maxmargin.validation import prediction_rows
from maxmargin.validation.csr import check_structure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[np.float64]

__all__ = ["LinearScores", "n_problems", "outputs_of"]

BLOCK = 1 << 22  # numbers of float32 rows that are float64 at a time
LARGE = 1 << 19  # numbers from which a second thread pays


def n_problems(classes: int) -> int:
    """One problem of two classes, one for each of more."""
    return classes if classes > 2 else 1


def outputs_of(estimator: Any, X: Any, lines: int) -> Vector:
    """XW' + b of ``lines`` problems, one product.

    Parameters
    ----------
    estimator : estimator
        What has ``coef_`` and ``intercept_``.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Rows, not checked yet.
    lines : int
        How many outputs every row has.
    """
    check_is_fitted(estimator)
    coef, intercept = _checked_weights(estimator, lines)
    # NaN and inf in X are found in the outputs, which costs no pass over X.
    rows = prediction_rows(estimator, X, finite=False)
    with np.errstate(over="ignore", invalid="ignore"):  # refused just below
        products = _products(rows, coef, getattr(estimator, "n_jobs", None))
        outputs: Vector = products[:, :lines] + intercept
    if not np.isfinite(products).all():
        prediction_rows(estimator, X)  # which says so if X is not finite
    if not np.isfinite(outputs).all():
        msg = (
            "the decision overflows on this X, whose values are far larger than "
            "those of the fit; scale it as the training rows were scaled"
        )
        raise InputError(msg)
    return outputs


def _products(rows: Any, coef: Vector, n_jobs: int | None) -> Vector:
    """XW', and perhaps a column more; not finite if anything in X is not.

    A BLAS may leave out what is times 0. SciPy's sparse products do not, nor do ours,
    which for one line of weights are also the fastest, and whose bits depend on the row
    alone; for several lines a column of ones, as one line more, leaves out nothing.
    """
    if sparse.issparse(rows):
        return np.asarray(rows @ coef.T)
    n, width = rows.shape
    if len(coef) == 1:
        if rows.size < LARGE:
            return Design(rows, 0.0, Workers(1)).times(coef[0])[:, None]
        with Workers(n_jobs) as workers:
            return Design(rows, 0.0, workers).times(coef[0])[:, None]
    columns = coef.T if coef.all() else np.column_stack([coef.T, np.ones(width)])
    if rows.dtype == columns.dtype:
        return np.asarray(rows @ columns)
    step = max(1, BLOCK // width)
    return np.concatenate([rows[at : at + step] @ columns for at in range(0, n, step)])


def _checked_weights(estimator: Any, lines: int) -> tuple[Vector, Vector]:
    """The public attributes, which anybody may have changed."""
    width = estimator.n_features_in_
    coef = np.atleast_2d(_numbers(estimator.coef_))
    intercept = _numbers(estimator.intercept_)
    if intercept.ndim == 0:  # 0.0: none was fitted
        intercept = np.full(lines, float(intercept))
    right = coef.shape == (lines, width) and intercept.shape == (lines,)
    if not (right and np.isfinite(coef).all() and np.isfinite(intercept).all()):
        msg = (
            f"The internal representation of {type(estimator).__name__} was altered: "
            f"coef_ has shape {coef.shape} and intercept_ {intercept.shape}; they "
            f"must hold {lines} × {width} and {lines} finite numbers; fit it anew"
        )
        raise InputError(msg)
    return coef, intercept


def _numbers(given: Any) -> Vector:
    """As an array; an empty one where that is not possible."""
    try:
        if sparse.issparse(given):
            check_structure(given)  # which SciPy believes
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
    """``decision_function`` and ``predict`` of what has ``coef_`` and ``intercept_``."""

    classes_: NDArray[Any]

    def decision_function(self, X: Any) -> Vector:
        """How far on which side of the boundary every row lies; ±1 is the margin.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        decision : ndarray of shape (n_samples,) or (n_samples, n_classes)
            With two classes, positive for ``classes_[1]``; with more, a score for each.
        """
        check_is_fitted(self)
        decision = outputs_of(self, X, n_problems(_count_of_classes(self)))
        return decision.ravel() if decision.shape[1] == 1 else decision

    def predict(self, X: Any) -> NDArray[Any]:
        """Label of every row: the class with the largest decision.

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
