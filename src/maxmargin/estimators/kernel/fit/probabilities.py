"""Probabilities of a classifier: learnt from out-of-fold scores, coupled over classes.

Each binary problem has its own calibrator, a sigmoid (Platt) or an isotonic function of
the decision for the problem's first class (``classes_[0]`` of two), as in LIBSVM.
Probabilities of pairs are coupled; those against the rest are divided by their sum.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import NotFittedError

from maxmargin.errors import InputError
from maxmargin.probability import (
    Isotonic,
    Sigmoid,
    couple,
    fit_isotonic,
    fit_sigmoid,
    normalise,
)

if TYPE_CHECKING:
    from maxmargin._arrays import Vector
    from maxmargin.estimators.kernel.prediction import Fitted
    from maxmargin.estimators.machine import Solution


def calibrated(solution: Solution, kind: str, k: int) -> dict[str, Any]:
    """Return the fitted attributes of the calibrators of all problems.

    Parameters
    ----------
    solution : Solution
        With out-of-fold scores of every part.
    kind : {"sigmoid", "isotonic"}
        The kind of calibrators.
    k : int
        Number of classes.
    """
    sign = -1.0 if k == 2 else 1.0  # two classes: decisions are positive for the second
    found = []
    for one, scores in zip(solution.solved, solution.held_out, strict=True):
        part: Any = one.part
        fit = fit_sigmoid if kind == "sigmoid" else fit_isotonic
        found.append(fit(sign * scores, sign * part.y > 0.0, part.weight))
    if kind == "isotonic":
        return {"calibrators_": found}
    return {
        "probA_": np.array([one.A for one in found]),  # type: ignore[union-attr]
        "probB_": np.array([one.B for one in found]),  # type: ignore[union-attr]
    }


def are_fitted(estimator: Any) -> bool:
    """Return whether the fit learnt probabilities; ``probability`` may have changed."""
    return any(hasattr(estimator, name) for name in ("calibrators_", "probA_", "probB_"))


def probabilities(estimator: Any, values: Vector, model: Fitted) -> Vector:
    """Return P(class | x) from decision values of shape (rows, problems)."""
    first = -values if model.k == 2 else values
    calibrators = _calibrators(estimator, first.shape[1])
    each = np.column_stack(
        [one(first[:, column]) for column, one in enumerate(calibrators)]
    )
    whole: Vector = couple(each) if model.k == 2 or model.pairwise else normalise(each)
    return whole


def _calibrators(estimator: Any, count: int) -> list[Any]:
    """Return the fitted calibrators; raise an error if they were altered."""
    if not are_fitted(estimator):
        msg = (
            "predict_proba is not available when fitted with probability=False; fit "
            "again with probability=True"
        )
        raise NotFittedError(msg)
    if hasattr(estimator, "calibrators_"):
        name = "calibrators_"
        found: list[Any] = estimator.calibrators_
        sound = isinstance(found, list) and all(isinstance(f, Isotonic) for f in found)
    else:
        name, found = "probA_ and probB_", []
        table = [vars(estimator).get(one) for one in ("probA_", "probB_")]
        sound = all(_are_finite(one) and len(one) == count for one in table)
        if sound:
            found = [Sigmoid(float(a), float(b)) for a, b in zip(*table, strict=True)]
    if not sound or len(found) != count:
        msg = (
            f"The internal representation of {type(estimator).__name__} was altered: "
            f"{name} must hold {count} finite entries; fit it anew"
        )
        raise InputError(msg)
    return found


def _are_finite(values: Any) -> bool:
    if not isinstance(values, np.ndarray) or values.ndim != 1:
        return False
    return values.dtype.kind in "fiu" and bool(np.isfinite(values).all())
