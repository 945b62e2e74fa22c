"""The checked arguments of ``fit`` and ``partial_fit`` of a stochastic machine."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from maxmargin.errors import InputError
from maxmargin.estimators.linear.scores import n_problems
from maxmargin.estimators.magnitude import check_magnitude
from maxmargin.validation import (
    Labels,
    counted_rows,
    encode_labels,
    prediction_rows,
    sample_weights,
    training_rows,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin._arrays import Index, Vector


class Task(NamedTuple):
    """The checked arguments of a fit."""

    rows: Any
    classes: NDArray[Any]
    codes: Index  # class of every row; −1: left out
    weight: Vector  # of every row, class weights included, adding up to 1
    known: dict[str, Any]  # fitted attributes known before the solution

    @property
    def n_problems(self) -> int:
        """Number of problems: one for two classes, else one for each class."""
        return n_problems(self.classes.size)

    @property
    def names(self) -> list[str]:
        """A name for every problem."""
        if self.classes.size == 2:
            return [f"{self.classes[0]} against {self.classes[1]}"]
        return [f"{one} against the rest" for one in self.classes]


def whole_task(machine: Any, X: Any, y: Any, sample_weight: Any) -> Task:
    """Return the task of all rows of ``fit``."""
    rows, given = training_rows(machine, X, y, ordered=False)
    weight = sample_weights(sample_weight, rows.shape[0], rows.shape)
    labels = encode_labels(given, weight, machine.class_weight)
    return _task(machine, rows, labels, weight)


def partial_task(machine: Any, X: Any, y: Any, classes: Any, sample_weight: Any) -> Task:
    """Return the task of one ``partial_fit``, whose rows may lack some classes."""
    first = not hasattr(machine, "classes_")
    if isinstance(machine.class_weight, str):
        msg = (
            "class_weight='balanced' is not supported for partial_fit, which does not "
            "see all rows: give a dict of weights, such as those of "
            "sklearn.utils.class_weight.compute_class_weight"
        )
        raise InputError(msg)
    if first and classes is None:
        msg = (
            "classes must be passed on the first call to partial_fit: later rows may "
            "have labels that these have not; give classes=np.unique(all labels)"
        )
        raise InputError(msg)
    # Rows of a later call must have the columns of the first.
    rows = X if first else prediction_rows(machine, X)
    rows, given = training_rows(machine if first else copy(machine), rows, y)
    # Encoding every class once sorts the classes and gives them their weights.
    announced = np.ravel(machine.classes_ if classes is None else classes)
    labels = encode_labels(announced, None, machine.class_weight)
    if not first and not np.array_equal(labels.classes, machine.classes_):
        msg = (
            f"classes={labels.classes.tolist()!r} is not the same as on last call to "
            f"partial_fit, was: {machine.classes_.tolist()!r}"
        )
        raise InputError(msg)
    weight = sample_weights(sample_weight, rows.shape[0], rows.shape)
    codes = _codes(given, labels.classes)
    kept = counted_rows(weight, codes.size)
    left = np.full(codes.size, -1, dtype=np.intp)
    left[kept] = codes[kept]
    return _task(machine, rows, labels._replace(codes=left), weight)


def _task(machine: Any, rows: Any, labels: Labels, weight: Vector | None) -> Task:
    smallest = min(1.0, float(machine.lam))
    check_magnitude(rows, lambda norm2: norm2 / smallest**2)
    there = labels.codes >= 0
    count = np.where(there, labels.class_weight[labels.codes], 0.0)
    if weight is not None:
        np.multiply(count, weight, out=count, where=there)
    known = {"classes_": labels.classes, "class_weight_": labels.class_weight}
    return Task(rows, labels.classes, labels.codes, count / count.sum(), known)


def _codes(given: NDArray[Any], classes: NDArray[Any]) -> Index:
    """Return the positions of labels among the classes of the first call."""
    place = {label: k for k, label in enumerate(classes.tolist())}
    labels, inverse = given, np.arange(given.size)
    if not given.dtype.hasobject:  # objects may have no order
        labels, inverse = np.unique(given, return_inverse=True)
    unknown = [label for label in labels.tolist() if label not in place]
    if unknown:
        msg = (
            f"y contains {unknown[0]!r}, which is not among the classes of the first "
            f"call: {classes.tolist()!r}; name all labels there"
        )
        raise InputError(msg)
    codes: Index = np.array([place[label] for label in labels.tolist()], dtype=np.intp)
    return codes[inverse]
