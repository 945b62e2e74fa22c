"""Decisions of a fitted machine, asked with rows in X's own kind of table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import is_classifier, is_outlier_detector
from sklearn.utils.validation import check_is_fitted

from maxmargin.errors import InputError, InputTypeError
from maxmargin.validation import is_precomputed

if TYPE_CHECKING:
    from numpy.typing import NDArray


def check_drawable(machine: Any, core: Any) -> None:
    """Refuse a machine that has no boundary to draw."""
    check_is_fitted(machine)
    if not (is_classifier(machine) or is_outlier_detector(machine)):
        msg = (
            f"{type(machine).__name__} has no boundary: give a classifier or a detector "
            "of outliers"
        )
        raise InputTypeError(msg)
    if is_precomputed(getattr(core, "kernel", None)):
        msg = (
            "a precomputed kernel has no values between the points, so nothing can be "
            "drawn there: fit with a kernel's name, object or function"
        )
        raise InputError(msg)


def like(X: Any, rows: Any) -> Any:
    """Return rows in the kind of table that X is, so that names of columns agree."""
    if hasattr(X, "iloc"):
        return type(X)(rows, columns=X.columns)
    if hasattr(X, "columns"):
        return type(X)(rows, schema=list(X.columns))
    return rows


def response(machine: Any, grid: Any) -> tuple[NDArray[Any], bool]:
    """Return decision values; numbers of classes if a row has several values or none."""
    if hasattr(machine, "decision_function"):
        values = np.asarray(machine.decision_function(grid), dtype=np.float64)
        if values.ndim == 1:
            return values, False
    found = np.asarray(machine.predict(grid))
    return np.searchsorted(machine.classes_, found).astype(np.float64), True


def decided(machine: Any, rows: Any, regions: bool) -> Any:
    """Return the predicted class: by the decision value, if that is drawn."""
    if regions or is_outlier_detector(machine):
        return machine.predict(rows)
    return machine.classes_[(machine.decision_function(rows) >= 0.0).astype(np.intp)]
