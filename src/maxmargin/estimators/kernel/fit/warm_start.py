"""``warm_start``: a fit that starts from the model of the fit before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from maxmargin.errors import InputError
from maxmargin.estimators.kernel.prediction import checked_model

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin._arrays import Index, Vector
    from maxmargin.estimators.kernel.fit.solving import Task
    from maxmargin.estimators.kernel.prediction import Fitted


class Earlier(NamedTuple):
    """The fitted model that a warm start begins with."""

    shape: tuple[int, ...]
    classes: NDArray[Any] | None
    support: Index
    model: Fitted

    def coefficients(self, task: Task) -> list[Vector]:
        """Return the coefficients of every part; the model must have the same rows."""
        support, model = self.support, self.model
        same = self.shape == task.rows.shape
        if same and task.scheme is not None:
            same = self.classes is not None and np.array_equal(
                self.classes, task.scheme.classes
            )
            same = same and model.dual_coef.shape[0] == task.scheme.lines
        if same and task.scheme is not None:
            owner = np.repeat(np.arange(model.k), np.diff(model.bounds))
            now = task.scheme.codes[support]
            same = bool(((now == owner) | (now == -1)).all())
        if same and not task.precomputed:
            same = _same_rows(task.rows[support], model.vectors)
        if not same:
            scheme, old = task.scheme, self.classes
            classes = "" if scheme is None else f", classes {scheme.classes.tolist()}"
            known = "" if old is None else f" with classes {old.tolist()}"
            msg = (
                "warm_start=True goes on from the model of the fit before, so X and y "
                f"must be its X and y: it was fitted on shape {self.shape}{known}, and "
                f"this X has shape {task.rows.shape}{classes} or other rows; set "
                "warm_start=False to start anew"
            )
            raise InputError(msg)
        if task.scheme is not None:
            return task.scheme.restarts(task.parts, support, model.dual_coef)
        coef = np.zeros(task.rows.shape[0])
        coef[support] = model.dual_coef[0]
        return [coef[task.parts[0].rows]]


def earlier_model(estimator: Any) -> Earlier:
    """Return the model of a fitted machine, before validation changes attributes."""
    model = checked_model(estimator)
    support = np.asarray(estimator.support_, dtype=np.intp)
    classes = vars(estimator).get("classes_")
    return Earlier(estimator.shape_fit_, classes, support, model)


def _same_rows(rows: Any, vectors: Any) -> bool:
    """Return whether two blocks of rows are equal, dense or sparse."""
    if rows.shape != vectors.shape:
        return False
    if sparse.issparse(rows) or sparse.issparse(vectors):
        kind = type(rows) if sparse.issparse(rows) else type(vectors)
        return bool((kind(rows) != kind(vectors)).nnz == 0)
    return bool(np.array_equal(rows, vectors))
