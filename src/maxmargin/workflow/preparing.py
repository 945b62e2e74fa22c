"""What is done to rows before a machine sees them: what train, cv and scale share."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

from maxmargin.cli.failures import USAGE, Failure
from maxmargin.data_files.columns.encoder import TableEncoder
from maxmargin.errors import DataFileError, FileError, InputError, NumericalError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from maxmargin.cli.say import Voice
    from maxmargin.data_files.table import Table

_DENSE = 0.5  # share of numbers that are not zero, from which on rows are kept dense
_LARGEST = 1 << 27  # numbers of a dense matrix that is made of a sparse one
_WIDEST = 1 << 24  # columns that a scaler keeps some numbers of, be they empty or not


@contextmanager
def blamed_on(source: str) -> Iterator[None]:
    """What is refused in here is the fault of a file of data, which the error names."""
    try:
        yield
    except FileError:
        raise
    except (InputError, NumericalError) as error:
        raise DataFileError(source, 0, str(error)) from error


def made_encoder(table: Table, impute: str | None) -> TableEncoder | None:
    """The unfitted encoder that a table needs; None for a matrix without gaps."""
    if impute is not None and sparse.issparse(table.matrix):
        msg = (
            f"--impute {impute}: {table.source} holds sparse rows, in which what is not "
            "written is 0 and nothing is missing; leave it out"
        )
        raise Failure(USAGE, msg)
    if table.named or impute is not None:
        return TableEncoder(impute=impute)
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


def faster(X: Any) -> Any:
    """Sparse rows that are mostly full are faster dense."""
    if sparse.issparse(X) and X.nnz > _DENSE * X.shape[0] * X.shape[1]:
        return X.toarray() if X.shape[0] * X.shape[1] <= _LARGEST else X
    return X


def made_scaler(method: str, span: tuple[float, float] = (-1.0, 1.0)) -> Any:
    """The unfitted scaler of a name; None for "none"."""
    return {
        "none": lambda: None,
        "standard": StandardScaler,
        "minmax": lambda: MinMaxScaler(feature_range=span),
        "maxabs": MaxAbsScaler,
    }[method]()


def fit_scaler(scaler: Any, X: Any, voice: Voice, *, option: str = "--scale") -> Any:
    """Fit a scaler and return the scaled rows; zeros that are not stored stay so."""
    if sparse.issparse(X):
        if isinstance(scaler, MinMaxScaler):
            msg = (
                f"{option} minmax with sparse rows: it would fill their zeros; use maxabs"
            )
            raise Failure(USAGE, msg)
        if isinstance(scaler, StandardScaler):
            voice.note("scale: sparse rows are not centred, which would fill their zeros")
            scaler.set_params(with_mean=False)
        if X.shape[1] > _WIDEST:
            msg = (
                f"{X.shape[1]:,} columns are more than {option} can scale ({_WIDEST:,}): "
                "leave it out, number the columns anew, or use svm-scale"
            )
            raise InputError(msg)
    return scaler.fit_transform(X)
