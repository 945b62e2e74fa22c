"""Columns that nobody uses: an index of 2 billion is no reason for as many."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from numpy.typing import NDArray

WIDE = 1 << 20  # columns from which on those without entries are left out


def narrowed(*tables: Any) -> tuple[NDArray[Any], list[Any]]:
    """CSR matrices without the columns that none of them uses, and no kernel sees.

    Returns
    -------
    used : ndarray of int
        The columns that are left, ascending.
    narrow : list of CSR matrix
        The matrices, at least one column wide.
    """
    used = np.unique(np.concatenate([table.indices for table in tables]))
    width = max(1, used.size)

    def less(table: Any) -> Any:
        columns = np.searchsorted(used, table.indices).astype(np.int32)
        parts = (table.data, columns, table.indptr)
        return sparse.csr_matrix(parts, shape=(table.shape[0], width))

    return used, [less(table) for table in tables]


def spread(table: Any, used: NDArray[Any], width: int) -> Any:
    """A narrowed matrix with the columns it had."""
    parts = (table.data, used[table.indices], table.indptr)
    return sparse.csr_matrix(parts, shape=(table.shape[0], width))
