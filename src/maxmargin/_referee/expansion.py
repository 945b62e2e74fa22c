"""Σβ k(x_j, x_i) at rows of X, in tiles that are made and forgotten."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse

from maxmargin._referee.tables import tiles
from maxmargin.errors import NumericalError

if TYPE_CHECKING:
    from maxmargin._arrays import Index, Vector
    from maxmargin._referee.fitted import Fitted


def expansion(model: Fitted, table: Any, rows: Index, beta: Vector) -> Vector:
    """Kβ at some rows; a column for each column of β, a row of it for each vector."""
    kernel = model.kernel
    vectors = table[model.support] if model.vectors is None else model.vectors
    dense = kernel.dense or not issparse(vectors)
    width = int(np.prod(table.shape[1:])) if dense else 1
    out = np.zeros((rows.size, beta.shape[1]))
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite raises below
        if kernel.linear:
            w = np.zeros((table.shape[1], beta.shape[1]))
            for some in tiles(model.support.size, width):
                w += kernel.rows(vectors, some).T @ beta[some]
        for part in tiles(rows.size, width):
            A = kernel.rows(table, rows[part])
            if kernel.linear or kernel.by_index:
                columns = model.support
                out[part] = A @ w if kernel.linear else kernel(A, None, columns) @ beta
                continue
            for some in tiles(model.support.size, width):
                B = kernel.rows(vectors, some)
                out[part] += kernel(A, B, model.support[some]) @ beta[some]
    return _finite(out)


def diagonal(model: Fitted, table: Any, rows: Index) -> Vector:
    """k(x, x) at some rows, from small blocks of which only the diagonal is kept."""
    out = np.empty(rows.size)
    with np.errstate(over="ignore", invalid="ignore"):
        for start in range(0, rows.size, 32):
            part = rows[start : start + 32]
            A = model.kernel.rows(table, part)
            out[start : start + 32] = model.kernel(A, A, part).diagonal()
    return _finite(out)


def _finite(values: Vector) -> Vector:
    if not np.isfinite(values).all():
        msg = (
            "kernel values overflow in float64: scale the features (StandardScaler) "
            "or reduce gamma and degree"
        )
        raise NumericalError(msg)
    return values
