"""The X and y of a fit, and the X of a prediction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import (
    check_array,
    check_consistent_length,
    column_or_1d,
    validate_data,
)

from maxmargin.errors import InputError, InputTypeError
from maxmargin.kernels.naming import kind_of
from maxmargin.kernels.outside import BlockFunction
from maxmargin.validation.csr import check_structure, checked_csr, in_order
from maxmargin.validation.refusals import input_errors, refuse_huge

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin._arrays import Vector

_LARGE = 1 << 22  # policy: numbers from which on BLAS, on all cores, is faster


def is_precomputed(kernel: Any) -> bool:
    """Whether X has to be the kernel matrix itself."""
    return kind_of(kernel).precomputed


def is_function(kernel: Any) -> bool:
    """Whether the kernel is a Python function k(A, B), whose rows may be anything."""
    return kind_of(kernel) is BlockFunction


def training_rows(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    target: str = "labels",
    ordered: bool = True,
    precomputed: bool = False,
    any_rows: bool = False,
) -> tuple[Any, Any]:
    """Check X and y of a fit; sets ``n_features_in_`` and ``feature_names_in_``.

    Parameters
    ----------
    estimator : estimator
        Whose fit it is.
    X, y : array-like
        What it was given.
    target : {"labels", "numbers", "none"}
        What y must be; with ``"none"`` it is ignored.
    ordered : bool
        Whether the columns of every sparse row must be sorted.
    precomputed : bool
        Whether X is a matrix of kernel values, which must be dense.
    any_rows : bool
        Whether rows may be something else than vectors of numbers (strings, graphs):
        then these come back as an array of objects.

    Returns
    -------
    X : ndarray or CSR
        As the package promises.
    y : ndarray of shape (n,) or None
        Labels as they came, or numbers as float64.
    """
    if sparse.issparse(X):
        if precomputed:
            msg = (
                "Sparse precomputed kernels are not supported: the solver needs every "
                "value of the matrix; give X.toarray()"
            )
            raise InputTypeError(msg)
        check_structure(X)
    if any_rows and not _are_vectors(X):
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
    ready = _is_ready(X) or (_is_plain_csr(X) and _is_finite(X.data))
    if ready and (target == "none" or _is_column(y, X.shape[0])):
        estimator.__dict__.pop("feature_names_in_", None)  # of an earlier fit
        estimator.n_features_in_ = X.shape[1]
        rows = in_order(X, ordered=ordered) if sparse.issparse(X) else X
        if target == "none":
            return rows, None
        return rows, _numbers(y) if target == "numbers" else y
    if target == "none":
        return _trusted(_validated(estimator, X), ordered=ordered), None
    rows, found = _validated(estimator, X, y=y, y_numeric=target == "numbers")
    rows = _trusted(rows, ordered=ordered)
    return rows, _numbers(found) if target == "numbers" else found


def _is_ready(X: Any, *, finite: bool = True) -> bool:
    """Whether scikit-learn's checks would hand an array back as it is.

    They take as long as a small fit. With ``finite=False`` NaN and inf may be in it.
    """
    return (
        type(X) is np.ndarray
        and X.ndim == 2
        and X.size > 0
        and X.dtype in (np.float64, np.float32)
        and X.flags.c_contiguous
        and X.flags.aligned
        and (not finite or _is_finite(X))
    )


def _is_plain_csr(X: Any) -> bool:
    """The same for a sparse matrix whose structure has been checked."""
    return (
        sparse.issparse(X)
        and X.format == "csr"
        and X.ndim == 2
        and min(X.shape) > 0
        and X.dtype in (np.float64, np.float32)
    )


def _is_column(y: Any, n: int) -> bool:
    """The same for y: n numbers."""
    return (
        type(y) is np.ndarray
        and y.shape == (n,)
        and y.dtype.kind in "biuf"
        and y.dtype.isnative
        and (y.dtype.kind != "f" or _is_finite(y))
    )


def _is_finite(values: NDArray[Any]) -> bool:
    # A sum of squares is finite only if all are; it may overflow where they are not, and
    # then the slower checks look again.
    return bool(np.isfinite(sum_of_squares(values)))


def sum_of_squares(values: NDArray[Any]) -> float:
    """The sum over all entries; inf or NaN if an entry is, or if the sum overflows.

    BLAS reads large arrays on all cores; for small ones, waking the cores takes longer.
    """
    flat = values.ravel()
    if flat.size < _LARGE:
        return float(np.einsum("i,i->", flat, flat))  # which never warns
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        return float(flat @ flat)


def _numbers(y: NDArray[Any]) -> Vector:
    """Targets of a regression as float64."""
    if y.dtype.kind not in "biuf":  # text that looks like numbers, dates, objects
        msg = (
            f"y has dtype {y.dtype}: a regression predicts numbers; give y as int or "
            "float, or use a classifier"
        )
        raise InputTypeError(msg)
    numbers: Vector = np.asarray(y, dtype=np.float64)
    refuse_huge("y", numbers)
    return numbers


def prediction_rows(
    estimator: Any,
    X: Any,
    *,
    finite: bool = True,
    precomputed: bool = False,
    any_rows: bool = False,
) -> Any:
    """Check the X of a prediction, against what the estimator was fitted on.

    ``precomputed`` and ``any_rows`` are those of :func:`training_rows`.

    With ``finite=False`` plain arrays are not searched for NaN and inf, and the indices
    of a CSR matrix are not put in order: for a caller that sees NaN and inf in what it
    computes, asks again then, and reads indices in any order.
    """
    if sparse.issparse(X):
        if precomputed:
            msg = "Sparse precomputed kernels are not supported; give X.toarray()"
            raise InputTypeError(msg)
        check_structure(X)
    if any_rows and not hasattr(estimator, "n_features_in_"):
        return _objects(X)
    named = hasattr(estimator, "feature_names_in_")
    ready = _is_ready(X, finite=finite) or (not finite and _is_plain_csr(X))
    if ready and not named and X.shape[1] == estimator.n_features_in_:
        return X
    return _trusted(_validated(estimator, X, reset=False))


def _validated(estimator: Any, X: Any, **more: Any) -> Any:
    """X (and y) after scikit-learn's own checks."""
    with input_errors():
        return validate_data(
            estimator,
            X,
            dtype=_kept_dtypes(X),
            order="C",
            accept_sparse="csr",
            accept_large_sparse=True,
            **more,
        )


def _kept_dtypes(X: Any) -> list[type[np.floating[Any]]]:
    """The dtypes that X may keep; anything else becomes the first of them.

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


def _trusted(rows: Any, *, ordered: bool = True) -> Any:
    """Plain, aligned, contiguous rows; CSR without duplicates, sorted if ``ordered``."""
    if sparse.issparse(rows):
        return checked_csr(rows, ordered=ordered)
    # np.asarray drops subclasses such as memmap without copying.
    return np.require(np.asarray(rows), requirements=["C", "A"])
