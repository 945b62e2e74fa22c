"""User arrays → rows that compiled code may trust; the one caller of sklearn's checks.

What leaves this module is C-contiguous float32 or float64 (kept as it came), or CSR
whose structure has been verified, with sorted and unique indices; it is finite, and
nothing the user passed has been changed. Every refusal is an
:class:`~maxmargin.errors.InputError`.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    check_array,
    check_consistent_length,
    column_or_1d,
    validate_data,
)

from maxmargin.errors import InputError, InputTypeError
from maxmargin.kernels import Kernel, Precomputed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Vector = NDArray[np.float64]
    Index = NDArray[np.intp]

__all__ = [
    "Labels",
    "checked_csr",
    "counted_rows",
    "encode_labels",
    "input_errors",
    "is_function",
    "is_precomputed",
    "prediction_rows",
    "sample_weights",
    "training_rows",
]

LARGEST = 1e150  # of targets and weights


# --- kernels ------------------------------------------------------------------------


def is_precomputed(kernel: Any) -> bool:
    """Whether X is to be the kernel matrix itself."""
    if isinstance(kernel, str):
        return kernel == "precomputed"
    return isinstance(kernel, Precomputed)


def is_function(kernel: Any) -> bool:
    """Whether the kernel is a Python function k(A, B), whose rows may be anything."""
    return callable(kernel) and not isinstance(kernel, Kernel)


@contextmanager
def input_errors() -> Iterator[None]:
    """Turn what scikit-learn's checks raise into InputError, with the same words."""
    try:
        yield
    except (InputError, NotFittedError):
        raise
    except TypeError as error:
        raise InputTypeError(str(error)) from error
    except ValueError as error:
        raise InputError(str(error)) from error


# --- rows ---------------------------------------------------------------------------


def training_rows(
    estimator: Any, X: Any, y: Any = None, *, target: str = "labels"
) -> tuple[Any, Any]:
    """Check X and y of a fit; sets ``n_features_in_`` and ``feature_names_in_``.

    Parameters
    ----------
    estimator : estimator
        Whose fit it is.
    X, y : array-like
        What it was given.
    target : {"labels", "numbers", "none"}
        What y must be; ``"none"`` does not look at it.

    Returns
    -------
    X : ndarray or CSR
        As the module promises. For a kernel that is a function, rows that are no
        vectors of numbers (strings, graphs) come back as an array of objects.
    y : ndarray of shape (n,) or None
        Labels as they came, or numbers as float64.
    """
    kernel = estimator.kernel
    if sparse.issparse(X):
        if is_precomputed(kernel):
            msg = (
                "Sparse precomputed kernels are not supported: the solver needs every "
                "value of the matrix; give X.toarray()"
            )
            raise InputTypeError(msg)
        _check_structure(X)
    if is_function(kernel) and not _are_vectors(X):
        rows = _objects(X)
        found = None
        if target != "none":
            with input_errors():
                found = column_or_1d(y, warn=True)
                check_consistent_length(rows, found)
                if target == "numbers":
                    found = check_array(_numbers(found), ensure_2d=False)
        for name in ("n_features_in_", "feature_names_in_"):
            estimator.__dict__.pop(name, None)  # of an earlier fit, on vectors
        return rows, found
    with input_errors():
        checked = validate_data(
            estimator,
            X,
            **({} if target == "none" else {"y": y, "y_numeric": target == "numbers"}),
            dtype=_kept_dtypes(X),
            order="C",
            accept_sparse="csr",
            accept_large_sparse=True,
        )
    if target == "none":
        return _trusted(checked), None
    rows, found = checked
    return _trusted(rows), _numbers(found) if target == "numbers" else found


def _numbers(y: NDArray[Any]) -> Vector:
    """Targets of a regression as float64."""
    if y.dtype.kind not in "biuf":  # text that looks like numbers, dates, objects
        msg = (
            f"y has dtype {y.dtype}: a regression predicts numbers; give y as int or "
            "float, or use a classifier"
        )
        raise InputTypeError(msg)
    numbers: Vector = np.asarray(y, dtype=np.float64)
    _refuse_huge("y", numbers)
    return numbers


def _refuse_huge(name: str, values: Vector) -> None:
    """Objectives are made of products of two such numbers."""
    peak = float(np.abs(values).max(initial=0.0))
    if peak > LARGEST:
        msg = (
            f"{name} holds values as large as {peak:.3g}, whose squares are no float64; "
            f"scale {name} to a maximum of 1, say"
        )
        raise InputError(msg)


def prediction_rows(estimator: Any, X: Any) -> Any:
    """Check the X of a prediction, against what the estimator was fitted on."""
    kernel = estimator.kernel
    if sparse.issparse(X):
        if is_precomputed(kernel):
            msg = "Sparse precomputed kernels are not supported; give X.toarray()"
            raise InputTypeError(msg)
        _check_structure(X)
    if is_function(kernel) and not hasattr(estimator, "n_features_in_"):
        return _objects(X)
    with input_errors():
        rows = validate_data(
            estimator,
            X,
            dtype=_kept_dtypes(X),
            order="C",
            accept_sparse="csr",
            accept_large_sparse=True,
            reset=False,
        )
    return _trusted(rows)


def _kept_dtypes(X: Any) -> list[type[np.floating[Any]]]:
    """Which dtypes X may keep; anything else becomes the first of them.

    scikit-learn reads the dtype of arrays and pandas frames. A polars frame has none,
    and would become float64: a slice of it, as an array, tells what it holds.
    """
    frame = hasattr(X, "columns") and not (hasattr(X, "iloc") or hasattr(X, "dtype"))
    if frame and np.asarray(X[:1]).dtype == np.float32:
        return [np.float32, np.float64]
    return [np.float64, np.float32]


def _are_vectors(X: Any) -> bool:
    """Whether X is a table of numbers, rather than a sequence of something else."""
    if sparse.issparse(X):
        return True
    try:
        probe = np.asarray(X)
    except ValueError:  # rows of different lengths
        return False
    return probe.ndim == 2 and probe.dtype.kind in "biuf"


def _objects(X: Any) -> NDArray[Any]:
    """Any sequence as an array whose first axis counts the samples."""
    if isinstance(X, np.ndarray) and X.ndim > 0:
        rows = X
    else:
        if isinstance(X, str) or not hasattr(X, "__len__"):
            msg = f"X={X!r}: expected a sequence of samples for the kernel function"
            raise InputTypeError(msg)
        rows = np.empty(len(X), dtype=object)
        for position, item in enumerate(X):
            rows[position] = item
    if rows.shape[0] == 0:
        msg = "Found array with 0 sample(s) while a minimum of 1 is required."
        raise InputError(msg)
    return rows


def _trusted(rows: Any) -> Any:
    """Plain, aligned, contiguous rows; CSR sorted, without duplicates."""
    if sparse.issparse(rows):
        return checked_csr(rows)
    # np.asarray drops subclasses such as memmap without copying.
    return np.require(np.asarray(rows), requirements=["C", "A"])


def checked_csr(X: Any) -> Any:
    """The same CSR when it is in order, else a sorted copy without duplicates.

    The flags that SciPy keeps on a matrix are not believed: a caller can set them,
    or change the indices behind them.
    """
    _check_structure(X)
    nnz = int(X.indptr[-1])
    data = np.require(X.data[:nnz], requirements=["C", "A"])
    indices = np.require(X.indices[:nnz], requirements=["C", "A"])
    indptr = np.require(X.indptr, requirements=["C", "A"])
    # "same_kind" of object, rebuilt only where an array had to change.
    if (
        data.size != X.data.size
        or indices.size != X.indices.size
        or not (data is X.data or np.shares_memory(data, X.data) or nnz == 0)
        or not (indices is X.indices or np.shares_memory(indices, X.indices) or nnz == 0)
        or indices.dtype != indptr.dtype
        or indices.dtype.type not in (np.int32, np.int64)
    ):
        X = type(X)((data, indices, indptr), shape=X.shape)
    if _is_sorted(X.indices, X.indptr):
        return X
    X = X.copy()
    X.has_sorted_indices = False
    X.has_canonical_format = False
    X.sum_duplicates()
    return X


def _is_sorted(indices: NDArray[Any], indptr: NDArray[Any]) -> bool:
    """Strictly increasing column indices within every row."""
    if indices.size < 2:
        return True
    falls = np.flatnonzero(indices[1:] <= indices[:-1]) + 1
    # A fall is allowed where a row begins.
    return bool(np.isin(falls, indptr).all())


def _check_structure(X: Any) -> None:
    """Refuse a sparse matrix whose indices point outside it.

    SciPy's own conversions and every compiled loop believe the indices, so a matrix
    altered after its construction could make either read foreign memory.
    """
    if X.format in ("csr", "csc"):
        major, minor = X.shape if X.format == "csr" else X.shape[::-1]
        _check_compressed(X, major, minor)
    elif X.format == "coo" and X.ndim == 2:
        same = X.row.size == X.col.size == X.data.size
        if not (same and _within(X.row, X.shape[0]) and _within(X.col, X.shape[1])):
            _malformed(X, "its row and column indices do not fit its shape")


def _check_compressed(X: Any, major: int, minor: int) -> None:
    indptr, indices, data = (np.asarray(part) for part in (X.indptr, X.indices, X.data))
    if any(part.ndim != 1 for part in (indptr, indices, data)):
        _malformed(X, "data, indices and indptr must be one-dimensional")
    if indptr.dtype.kind not in "iu" or indices.dtype.kind not in "iu":
        _malformed(X, "indices and indptr must be integers")
    if indptr.size != major + 1 or indptr[0] != 0 or np.any(indptr[1:] < indptr[:-1]):
        _malformed(X, f"indptr must rise from 0 in {major + 1} steps")
    nnz = int(indptr[-1])
    if nnz > min(indices.size, data.size):
        _malformed(
            X, f"indptr promises {nnz} values, {min(indices.size, data.size)} exist"
        )
    if not _within(indices[:nnz], minor):
        _malformed(X, f"its indices must lie between 0 and {minor - 1}")


def _within(indices: NDArray[Any], size: int) -> bool:
    return indices.size == 0 or (int(indices.min()) >= 0 and int(indices.max()) < size)


def _malformed(X: Any, why: str) -> None:
    msg = f"X is a malformed {X.format} matrix of shape {X.shape}: {why}; rebuild it"
    raise InputError(msg)


# --- labels and weights -------------------------------------------------------------


class Labels(NamedTuple):
    """Labels as numbers, and which rows count."""

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

    A class whose rows all lack weight does not exist; when only one is left, ``lonely``
    is what the machine has to say to it, before the explanation.
    """
    with input_errors():
        check_classification_targets(y)
        all_classes, all_codes = np.unique(y, return_inverse=True)
        if len(all_classes) < 2:
            msg = (
                "The number of classes has to be greater than one; got 1 class "
                f"({all_classes.tolist()[0]!r}): there is nothing to tell apart; give "
                "rows of at least two classes"
            )
            raise InputError(msg)
        if isinstance(class_weight, str) and class_weight == "balanced":
            factors = _balanced(all_codes, weight)
        elif class_weight is None:
            factors = np.ones(len(all_classes))
        else:
            factors = compute_class_weight(class_weight, classes=all_classes, y=y)
    if not (np.isfinite(factors).all() and (factors > 0.0).all()):
        worst = int(np.argmin(np.where(np.isfinite(factors), factors, -np.inf)))
        msg = (
            f"class_weight gives class {all_classes.tolist()[worst]!r} the weight "
            f"{factors[worst]:g}: class weights multiply C and must be positive and "
            "finite; to leave a class out, leave its rows out"
        )
        raise InputError(msg)
    factors = np.asarray(factors, dtype=np.float64)
    if weight is None:
        return Labels(all_classes, all_codes.astype(np.intp), factors)
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
    _refuse_huge("sample_weight", weight)
    return weight
