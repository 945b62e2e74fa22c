"""Labels as numbers, and the weight of every row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array

from maxmargin.errors import InputError, InputTypeError
from maxmargin.validation.refusals import input_errors, refuse_huge

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin._arrays import Index, Vector

_EXACT = 2.0**52  # rounding: below it floats tell all whole numbers apart
_CLOSE = 1000  # policy: labels are counted, not sorted, where they span n + 1000 numbers


class Labels(NamedTuple):
    """Labels as numbers, and the rows that count."""

    classes: NDArray[Any]  # sorted
    codes: Index  # position in classes of every row; −1 for rows that are left out
    class_weight: Vector  # of every class


def _balanced(codes: NDArray[np.intp], weight: Vector | None) -> Vector:
    """``class_weight="balanced"``: n / (n_classes · rows of the class).

    A row of weight 2 counts as two, one without weight not at all: weights mean
    repetition here too.
    """
    count = np.ones(codes.size) if weight is None else np.maximum(weight, 0.0)
    rows = np.bincount(codes, weights=count)
    present = rows > 0.0
    factors = np.ones(rows.size)
    factors[present] = count.sum() / (np.count_nonzero(present) * rows[present])
    return factors


def encode_labels(
    y: NDArray[Any], weight: Vector | None, class_weight: Any, *, lonely: str = ""
) -> Labels:
    """Code labels as 0, 1, …; leave rows without weight out.

    A class whose rows all lack weight does not exist. If only one class is left, the
    error begins with ``lonely``, the machine's own words.
    """
    with input_errors():
        if not _are_whole(y):  # which are labels without a further look
            check_classification_targets(y)
        all_classes, all_codes = _distinct(y)
        if len(all_classes) < 2:
            msg = (
                "The number of classes has to be greater than one; got 1 class "
                f"({all_classes.tolist()[0]!r}): there is nothing to tell apart; give "
                "rows of at least two classes"
            )
            raise InputError(msg)
        if class_weight is None:
            factors = np.ones(len(all_classes))
        else:
            factors = _factors(class_weight, all_classes, all_codes, y, weight)
    if weight is None:
        return Labels(all_classes, all_codes, factors)
    kept = counted_rows(weight, y.size)
    present, kept_codes = np.unique(all_codes[kept], return_inverse=True)
    if present.size < 2:
        msg = (
            f"{lonely}Invalid input - all samples with positive weights belong to the "
            f"same class ({all_classes.tolist()[present[0]]!r}), have the same label. "
            "Rows with sample_weight ≤ 0 are left out: give rows of two classes a "
            "positive weight"
        )
        raise InputError(msg)
    codes = np.full(y.size, -1, dtype=np.intp)
    codes[kept] = kept_codes
    return Labels(all_classes[present], codes, factors[present])


def _factors(
    class_weight: Any,
    classes: NDArray[Any],
    codes: Index,
    y: NDArray[Any],
    weight: Vector | None,
) -> Vector:
    """The factor of every class on C, which must be positive and finite."""
    if isinstance(class_weight, str) and class_weight == "balanced":
        factors = _balanced(codes, weight)
    else:
        factors = compute_class_weight(class_weight, classes=classes, y=y)
    if not (np.isfinite(factors).all() and (factors > 0.0).all()):
        worst = int(np.argmin(np.where(np.isfinite(factors), factors, -np.inf)))
        msg = (
            f"class_weight gives class {classes.tolist()[worst]!r} the weight "
            f"{factors[worst]:g}: class weights multiply C and must be positive and "
            "finite; to leave a class out, leave its rows out"
        )
        raise InputError(msg)
    return np.asarray(factors, dtype=np.float64)


def _distinct(y: NDArray[Any]) -> tuple[NDArray[Any], Index]:
    """The distinct labels in order, and for every row the position of its label.

    Whole numbers that lie close together are counted: sorting takes 50 times as long.
    """
    if y.dtype.kind in "biuf" and y.size and _are_whole(y):
        low, high = float(np.minimum.reduce(y)), float(np.maximum.reduce(y))
        if -_EXACT < low <= high < _EXACT and high - low < _CLOSE + y.size:
            offsets = y.astype(np.intp) - int(low)
            found = np.bincount(offsets).nonzero()[0]
            place = np.empty(int(high - low) + 1, np.intp)
            place[found] = np.arange(found.size)
            return (found + int(low)).astype(y.dtype), place[offsets]
    classes, codes = np.unique(y, return_inverse=True)
    return classes, codes.astype(np.intp)


def _are_whole(y: NDArray[Any]) -> bool:
    return y.dtype.kind in "biu" or (
        y.dtype.kind == "f" and bool((y == np.rint(y)).all())
    )


def counted_rows(weight: Vector | None, n: int) -> Index:
    """The rows that have weight; there must be one."""
    if weight is None:
        return np.arange(n, dtype=np.intp)
    kept = np.flatnonzero(weight > 0.0)
    if kept.size == 0:
        msg = (
            "Invalid input - all samples have zero or negative weights. Rows with "
            "sample_weight ≤ 0 are left out: give some rows a positive weight"
        )
        raise InputError(msg)
    return kept


def sample_weights(sample_weight: Any, n: int, shape: tuple[int, ...]) -> Vector | None:
    """One finite float64 for every row, or None."""
    if sample_weight is None:
        return None
    try:
        weight: Vector = check_array(
            sample_weight,
            dtype=np.float64,
            ensure_2d=False,
            allow_nd=True,
            ensure_all_finite=False,
            ensure_min_samples=0,
        )
    except (TypeError, ValueError) as error:
        msg = f"sample_weight must be a list of {n} real numbers, one a row: {error}"
        raise InputTypeError(msg) from error
    if weight.shape != (n,):
        msg = (
            f"sample_weight and X have incompatible shapes: {weight.shape} vs {shape}; "
            f"Sample weights must be 1D array or list with one number a row: {n} numbers"
        )
        raise InputError(msg)
    if not np.isfinite(weight).all():
        worst = int(np.flatnonzero(~np.isfinite(weight))[0])
        msg = (
            f"Input sample_weight contains NaN or infinity (sample_weight[{worst}]="
            f"{weight[worst]}): a weight counts how often a row is repeated; use finite "
            "numbers"
        )
        raise InputError(msg)
    refuse_huge("sample_weight", weight)
    return weight
