"""What the caller gave: a model, its rows, and their labels, targets and weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from maxmargin._referee.tables import as_numbers, require

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from maxmargin._arrays import Index, Vector
    from maxmargin._referee.certification import Machine
    from maxmargin._referee.fitted import Fitted


class Given(NamedTuple):
    """The arguments of ``certify``, and the machine that the model is judged as."""

    machine: Machine
    package: str  # where the class of the model comes from; "" when that is not known
    estimator: Any
    X: Any
    y: ArrayLike | None
    sample_weight: ArrayLike | None


def codes_of(
    classes: NDArray[Any], y: ArrayLike | None, n: int, sample_weight: ArrayLike | None
) -> Index:
    """Find each label in classes_; those of rows without weight need not be there."""
    labels = _column("label", y, n).tolist()
    known = {label: code for code, label in enumerate(classes.tolist())}
    out = np.zeros(n, dtype=bool)
    weight = as_numbers("sample_weight", 1.0 if sample_weight is None else sample_weight)
    if weight.shape == (n,):  # a class without weight does not exist
        out = weight <= 0.0
    strange = {label for label, gone in zip(labels, out, strict=True) if not gone}
    strange -= known.keys()
    require(not strange, f"y contains {[*strange][:1]}, but classes_ is {[*known]}")
    return np.array([known.get(label, 0) for label in labels], dtype=np.intp)


def targets_of(y: ArrayLike | None, n: int) -> Vector:
    """Read the targets of a regression."""
    return as_numbers("y", _column("target", y, n))


def _column(what: str, y: ArrayLike | None, n: int) -> NDArray[Any]:
    require(y is not None, f"y is None: this machine was fitted with one {what} a row")
    values = np.asarray(y)
    require(
        values.shape in {(n,), (n, 1)},
        f"y has shape {values.shape}: X has {n} rows and needs one {what} for each",
    )
    return values.ravel()


def weights_of(sample_weight: ArrayLike | None, n: int) -> Vector:
    """Read the weights of the rows."""
    weight = as_numbers("sample_weight", 1.0 if sample_weight is None else sample_weight)
    require(
        weight.shape in {(), (n,)},
        f"sample_weight has shape {weight.shape}: one weight a row is {(n,)}",
    )
    return np.broadcast_to(weight, n)


def prices_of(model: Fitted, code: Index, sample_weight: ArrayLike | None) -> Vector:
    """C · class weight · sample weight; −1 marks the rows that are left out.

    Machines without C count it as 1. scikit-learn (1.9) computes ``class_weight_`` for
    its NuSVC and ignores it (sklearnex and maxmargin use it): its model is judged as the
    answer to the problem that it solved, without class weights.
    """
    weight = weights_of(sample_weight, code.size)
    ignored = model.package in model.machine.ignoring
    factor = (np.ones_like(model.weights) if ignored else model.weights)[code] * weight
    price = np.where(factor > 0.0, model.C, 0.0)  # ∞·0 = 0: a zero box
    price *= np.where(factor > 0.0, factor, 1.0)
    return np.where(weight > 0.0, price, -1.0)
