"""Rows before the machine: encoding, missing values, scaling."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

from maxmargin.data_files.columns.encoder import TableEncoder
from maxmargin.errors import (
    DataFileError,
    FileError,
    InputError,
    MisfitError,
    NumericalError,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from maxmargin.data_files.table import Table
    from maxmargin.workflow.choices import Tell

_DENSE = 0.5  # policy: share of numbers that are not 0; rows with more are kept dense
_LARGEST = 1 << 27  # policy: most numbers of a dense matrix that is made of a sparse one
_WIDEST = 1 << 24  # policy: most columns that are scaled, be they empty or not


@contextmanager
def refused_as(error_of: Callable[[str], InputError]) -> Iterator[None]:
    """Raise ``error_of(reason)`` for a refusal in this block that names no file."""
    try:
        yield
    except (FileError, MisfitError):
        raise
    except (InputError, NumericalError) as error:
        raise error_of(str(error)) from error


def blamed_on(source: str) -> AbstractContextManager[None]:
    """Blame a refusal in this block on a file of data."""
    return refused_as(partial(DataFileError, source, 0))


def fitted_encoder(table: Table, impute: str | None) -> TableEncoder | None:
    """Fit the encoder that a table needs; None for a matrix without gaps."""
    if impute is not None and sparse.issparse(table.matrix):
        msg = (
            f"--impute {impute}: {table.source} holds sparse rows, in which what is not "
            "written is 0 and nothing is missing; leave it out"
        )
        raise InputError(msg)
    if table.named or impute is not None:
        with blamed_on(table.source):
            return TableEncoder(impute=impute).fit(table)
    refuse_missing(table)
    return None


def refuse_missing(table: Table, *, advice: str = "fill it in, or say --impute") -> None:
    """Refuse a matrix with NaN; sparse ones were read without."""
    if table.named or sparse.issparse(table.matrix):
        return
    absent = np.isnan(table.matrix)
    if absent.any():
        row, column = np.argwhere(absent)[0].tolist()
        reason = f"no value in column {column + 1}; {advice}"
        raise table.refuse(row, reason)


def prepared(
    table: Table,
    encoder: TableEncoder | None,
    scaler: Any,
    tell: Tell,
    *,
    option: str = "--scale",
) -> tuple[Any, list[tuple[str, Any]]]:
    """Return the rows as a machine takes them, and the fitted steps that made them.

    Parameters
    ----------
    table : Table
        Rows of a file.
    encoder : TableEncoder or None
        Fitted already.
    scaler : estimator or None
        Fitted here.
    tell : callable
        Takes notes.
    option : str
        What errors call the choice of a scaler.
    """
    steps: list[tuple[str, Any]] = []
    X: Any = table.matrix
    if encoder is not None:
        with blamed_on(table.source):
            X = encoder.transform(table)
        steps.append(("encode", encoder))
    if sparse.issparse(X) and _is_full(X):
        X = X.toarray()
    if scaler is not None:
        if sparse.issparse(X):
            _ready_for_sparse(scaler, X, table.source, tell, option)
        X = scaler.fit_transform(X)
        steps.append(("scale", scaler))
    return X, steps


def _is_full(X: Any) -> bool:
    """True if sparse rows are faster dense, and fit into memory."""
    size = X.shape[0] * X.shape[1]
    return bool(X.nnz > _DENSE * size and size <= _LARGEST)


def made_scaler(method: str, span: tuple[float, float] = (-1.0, 1.0)) -> Any:
    """Return the unfitted scaler of a name; None for "none"."""
    if method == "minmax":
        return MinMaxScaler(feature_range=span)
    return {"none": None, "standard": StandardScaler(), "maxabs": MaxAbsScaler()}[method]


def _ready_for_sparse(scaler: Any, X: Any, source: str, tell: Tell, option: str) -> None:
    """Make a scaler keep zeros that are not stored, or refuse it."""
    if isinstance(scaler, MinMaxScaler):
        msg = f"{option} minmax with sparse rows: it would fill their zeros; use maxabs"
        raise InputError(msg)
    if isinstance(scaler, StandardScaler):
        tell("scale: sparse rows are not centred, which would fill their zeros")
        scaler.set_params(with_mean=False)
    if X.shape[1] > _WIDEST:
        reason = (
            f"{X.shape[1]:,} columns are more than {option} can scale ({_WIDEST:,}): "
            "leave it out, number the columns anew, or use svm-scale"
        )
        raise DataFileError(source, 0, reason)
