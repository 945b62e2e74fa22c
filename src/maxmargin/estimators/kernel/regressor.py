"""The base of SVR and NuSVR: targets are numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import RegressorMixin

from maxmargin.estimators.kernel.machine import KernelMachine
from maxmargin.validation import counted_rows, sample_weights

if TYPE_CHECKING:
    from maxmargin._arrays import Index, Vector
    from maxmargin.estimators.kernel.fit.parts import Part
    from maxmargin.estimators.kernel.fit.solving import Task


class KernelRegressor(RegressorMixin, KernelMachine):
    """A machine that predicts a number, by one problem."""

    def _part(self, rows: Index, z: Vector, weight: Vector) -> Part:
        """Return the problem of these rows and targets z."""
        raise NotImplementedError

    def _task(self, X: Any, y: Any, sample_weight: Any) -> Task:
        rows, z = self._rows(X, y, target="numbers")
        weight = sample_weights(sample_weight, rows.shape[0], rows.shape)
        at = counted_rows(weight, rows.shape[0])
        count = np.ones(at.size) if weight is None else weight[at]
        return self._kernel_task(rows, weight, [self._part(at, z[at], count)])

    def predict(self, X: Any) -> Vector:
        """Return the predicted number of every row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; for a precomputed kernel, their kernel values with every row of the
            training set.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            f(x) = Σ coef·k(x_i, x) + b.
        """
        ((_, values, _, _),) = self._values(X)
        predicted: Vector = values[:, 0]
        return predicted
