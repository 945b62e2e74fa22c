"""Decisions of a LIBSVM model, in its own order of labels.

Labels, votes and ties are LIBSVM's: the decision of a pair is positive for its first
label, 0 is a vote for the second, and a tie of votes goes to the label that comes first
in the file.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from maxmargin.errors import InputError
from maxmargin.estimators.kernel.fit.schemes import votes
from maxmargin.estimators.kernel.prediction import checked_model, decision_blocks
from maxmargin.libsvm.problem import WIDE, narrowed
from maxmargin.parallel import Workers
from maxmargin.persist.libsvm_model import MARKS, LibsvmModel, in_file_order, widened
from maxmargin.probability import Sigmoid, couple
from maxmargin.validation import prediction_rows

if TYPE_CHECKING:
    from maxmargin._arrays import Vector
    from maxmargin.libsvm.problem import Rows


class Predicted(NamedTuple):
    """Labels or numbers of rows, and the values that decided."""

    labels: Vector
    values: Vector  # decisions of pairs, or probabilities of labels; a row a row


def decisions(model: LibsvmModel, given: Rows) -> Vector:
    """Decision values of shape (rows, pairs), each positive for its first label.

    Features that only the model or only the rows have count as 0 in the other, as in
    LIBSVM. Of a precomputed kernel the rows need a value for every support vector.
    """
    X = given.X
    if model.serial is not None:
        if X.shape[1] < model.n_features:
            msg = (
                f"rows hold {X.shape[1]} kernel values, and the model needs that with "
                f"training row {model.n_features}: give k(x, x_i) of all training rows"
            )
            raise InputError(msg)
    else:
        model, X = _of_one_width(model, X)
    if X.shape[0] == 0:
        return np.empty((0, model.rho.size))
    estimator = in_file_order(model, X.shape[1])
    rows = prediction_rows(estimator, X, precomputed=model.serial is not None)
    with Workers(None) as workers:
        ((_, values),) = decision_blocks(
            estimator, rows, checked_model(estimator), workers=workers, whole=True
        )
    return -values if model.classifies and model.nr_class == 2 else values


def _of_one_width(model: LibsvmModel, X: Any) -> tuple[LibsvmModel, Any]:
    width = max(X.shape[1], model.SV.shape[1], 1)
    if not sparse.issparse(X):
        return model.widened(width), np.pad(X, ((0, 0), (0, width - X.shape[1])))
    if width > WIDE:
        _, (SV, X) = narrowed(model.SV, X)
        return replace(model, SV=SV), X
    return model.widened(width), widened(X, width)


def predict(model: LibsvmModel, rows: Rows, *, probability: bool = False) -> Predicted:
    """Labels and values, as ``svm_predict`` of LIBSVM gives them.

    With ``probability`` (``-b 1``) values are probabilities of the labels in the model's
    order, and the label is the most probable one. A one-class machine has those of normal
    and outlier; a regression has none, and no values.
    """
    values = decisions(model, rows)
    if model.regresses:
        empty = np.empty((values.shape[0], 0))
        return Predicted(values[:, 0], empty if probability else values)
    if not model.classifies:
        inside = np.where(values[:, 0] > 0.0, 1.0, -1.0)
        return Predicted(
            inside, _normality(model, values[:, 0]) if probability else values
        )
    assert model.label is not None
    labels = model.label.astype(np.float64)
    if not probability:
        return Predicted(labels[votes(values, model.nr_class)], values)
    assert model.probA is not None
    assert model.probB is not None
    each = np.column_stack(
        [
            Sigmoid(float(a), float(b))(values[:, column])
            for column, (a, b) in enumerate(zip(model.probA, model.probB, strict=True))
        ]
    )
    likely = couple(each)
    return Predicted(labels[likely.argmax(axis=1)], likely)


def _normality(model: LibsvmModel, values: Vector) -> Vector:
    """P(normal) and P(outlier): the tenth of the training rows a decision falls in.

    Below all marks 0.001, above all 0.999 (Z. Que and C.-J. Lin, "One-class SVM
    probabilistic outputs", 2022, section 4: binning by density).
    """
    marks = model.prob_density_marks
    assert marks is not None
    passed = np.searchsorted(np.maximum.accumulate(marks), values, side="right")
    normal = passed / MARKS
    normal[values < marks[0]] = 0.001
    normal[values >= marks[-1]] = 0.999
    return np.column_stack([normal, 1.0 - normal])
