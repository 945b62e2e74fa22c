"""The base of OneClassSVM and SVDD: outliers among rows without labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import OutlierMixin

from maxmargin.errors import InputError
from maxmargin.estimators.kernel.machine import KernelMachine
from maxmargin.validation import counted_rows, sample_weights

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import ArrayLike, NDArray

    from maxmargin._arrays import Index, Vector
    from maxmargin.estimators.kernel.fit.parts import Part
    from maxmargin.estimators.kernel.fit.solving import Task


class OutlierMachine(OutlierMixin, KernelMachine):
    """A machine that finds outliers, by one problem."""

    def _part(self, rows: Index, weight: Vector) -> Part:
        """Return the problem of these rows."""
        raise NotImplementedError

    def _decisions(self, X: Any) -> Vector:
        """Return values that are positive inside and negative outside."""
        raise NotImplementedError

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Find the support vectors.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; for a precomputed kernel, the square matrix of kernel values.
        y : ignored
            Here for scikit-learn's convention.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts; rows of weight ≤ 0 are left out.

        Returns
        -------
        self : object
            The fitted machine.
        """
        machine: Self = super().fit(X, y, sample_weight)
        return machine

    def _task(self, X: Any, y: Any, sample_weight: Any) -> Task:  # noqa: ARG002
        rows, _ = self._rows(X, target="none")
        weight = sample_weights(sample_weight, rows.shape[0], rows.shape)
        at = counted_rows(weight, rows.shape[0])
        count = np.ones(at.size) if weight is None else weight[at]
        return self._kernel_task(rows, weight, [self._part(at, count)])

    def decision_function(self, X: Any) -> Vector:
        """Return the decision values: positive inside, negative outside.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; for a precomputed kernel, their kernel values with every row of the
            training set.

        Returns
        -------
        decision : ndarray of shape (n_samples,)
            ``score_samples(X) - offset_``.
        """
        return self._decisions(X)

    def score_samples(self, X: Any) -> Vector:
        """Return the decision values without the threshold ``offset_``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows, as for ``decision_function``.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            ``decision_function(X) + offset_``.
        """
        scores: Vector = self._decisions(X) + self._number("offset_")
        return scores

    def _number(self, attribute: str) -> float:
        """Return a fitted attribute; raise an error unless it is one finite number."""
        try:
            value = float(np.asarray(getattr(self, attribute), np.float64).reshape(()))
        except (AttributeError, TypeError, ValueError):
            value = np.nan
        if np.isfinite(value):
            return value
        msg = (
            f"The internal representation of {type(self).__name__} was altered: "
            f"{attribute} is not a finite number; fit it anew"
        )
        raise InputError(msg)

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Return +1 for rows inside, −1 for outliers.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows, as for ``decision_function``.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            +1 or −1.
        """
        return np.where(self._decisions(X) >= 0.0, 1, -1).astype(np.intp)
