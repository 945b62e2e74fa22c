"""Rows that a kernel object may be called with: finite numbers, dense or sparse.

Estimators check their rows themselves (:mod:`maxmargin.validation`); these checks are
for kernel objects that a user calls. Arguments are never changed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin.errors import InputError, InputTypeError


def checked_rows(X: Any, name: str) -> Any:
    """Return X as a C-contiguous float32 or float64 array, or CSR to be trusted."""
    rows = _sparse(X, name) if sp.issparse(X) else _dense(X, name)
    if rows.shape[1] == 0:
        msg = f"{name} has no features (shape {rows.shape}); give rows of numbers"
        raise InputError(msg)
    values = rows.data if sp.issparse(rows) else rows
    if not np.isfinite(values).all():
        msg = f"{name} contains NaN or infinity; a kernel compares rows of finite numbers"
        raise InputError(msg)
    return rows


def checked_pair(A: Any, B: Any) -> tuple[Any, Any]:
    """Return both arguments of k(A, B), with as many features; without B it is A."""
    left = checked_rows(A, "A")
    right = left if B is None or B is A else checked_rows(B, "B")
    if left.shape[1] != right.shape[1]:
        msg = (
            f"A has {left.shape[1]} features and B has {right.shape[1]}: a kernel "
            "compares rows of the same length"
        )
        raise InputError(msg)
    return left, right


def _dense(X: Any, name: str) -> Any:
    try:
        rows = np.asarray(X)
    except ValueError as error:
        msg = f"{name} is not a table of numbers: {error}; give rows of equal length"
        raise InputError(msg) from error
    _check_shape(rows, name)
    _check_numbers(rows.dtype, name)
    if rows.dtype not in (np.float32, np.float64):
        rows = rows.astype(np.float64)
    return np.require(rows, requirements=["C", "A"])


def _sparse(X: Any, name: str) -> Any:
    _check_shape(X, name)
    _check_numbers(X.dtype, name)
    if hasattr(X, "check_format"):  # compiled loops and SciPy believe the indices
        try:
            X.check_format(full_check=True)
        except ValueError as error:
            msg = f"{name} is a malformed {X.format} matrix: {error}; rebuild it"
            raise InputError(msg) from error
    rows = X.tocsr(copy=True)
    rows.has_canonical_format = rows.has_sorted_indices = False
    rows.sum_duplicates()
    return rows if rows.dtype in (np.float32, np.float64) else rows.astype(np.float64)


def _check_shape(X: Any, name: str) -> None:
    if X.ndim != 2:
        msg = (
            f"{name} has shape {X.shape}: a kernel takes a table of rows; give one row "
            "as x.reshape(1, -1)"
        )
        raise InputError(msg)


def _check_numbers(dtype: Any, name: str) -> None:
    if dtype.kind not in "fiub":
        msg = f"{name} has dtype {dtype}: rows must hold real numbers"
        raise InputTypeError(msg)
