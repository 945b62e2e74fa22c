"""Scores of predictions against a known truth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.data_files.table import absent_in, is_words

if TYPE_CHECKING:
    from numpy.typing import NDArray


def score_of(task: str, truth: NDArray[Any], predicted: NDArray[Any]) -> float:
    """Return the share of right labels, or the coefficient of determination R²."""
    if task != "regress":
        return float(np.mean(truth == predicted))
    rest = float(np.sum((truth - predicted) ** 2))
    spread = float(np.sum((truth - np.mean(truth)) ** 2))
    if spread == 0.0:
        return 1.0 if rest == 0.0 else 0.0
    return 1.0 - rest / spread


def task_of_model(machine: Any) -> str:
    """Return the task that a fitted machine has learnt."""
    if hasattr(machine, "classes_"):
        return "classify"
    return "outliers" if hasattr(machine, "offset_") else "regress"


def known_truth(machine: Any, y: NDArray[Any] | None) -> NDArray[Any] | None:
    """Return the target in the type of the predictions; None if they do not compare."""
    if y is None:
        return None
    words = is_words(y)
    if (absent_in(y) if words else ~np.isfinite(y)).any():
        return None
    task = task_of_model(machine)
    if task == "classify" and machine.classes_.dtype.kind in "US":
        return y.astype(str) if words else None
    if words:
        return None
    if task == "outliers":
        return y if np.isin(y, (-1.0, 1.0)).all() else None
    return y
