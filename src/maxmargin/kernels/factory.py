"""From a kernel object to its matrix, its values and its sums.

The family of a kernel (:class:`~maxmargin.kernels.gram.contract.Family`) says which
classes serve it. Rows are trusted here: C-contiguous float32 or float64, or sorted CSR.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.kernels.gram.composite import (
    SERVICES,
    CompositeCross,
    CompositeGram,
    Service,
    combined_diagonal,
)
from maxmargin.kernels.gram.contract import Family, Group
from maxmargin.kernels.gram.dot_products import outputs_of, vector_expansion
from maxmargin.kernels.gram.row_pairs import check_function
from maxmargin.kernels.gram.table import (
    CallableCross,
    CallableGram,
    TableCross,
    TableGram,
    refused_diagonal,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from maxmargin.kernels.algebra import Kernel
    from maxmargin.parallel import Workers

    Values = NDArray[np.float64]

_SERVICES = {
    **SERVICES,
    Family.COMBINED: Service(CompositeGram, CompositeCross, combined_diagonal),
    Family.TABLE: Service(lambda _, K, __: TableGram(K), TableCross, refused_diagonal),
    Family.BLOCKS: Service(
        lambda kernel, X, _: CallableGram(kernel, X),
        CallableCross,
        lambda kernel, X: CallableGram(kernel, X).diagonal(),
    ),
}


def training_gram(kernel: Kernel, X: Any, *, workers: Workers) -> Any:
    """The Gram of the rows of X; of a precomputed kernel X is that matrix itself."""
    return _SERVICES[kernel.family].gram(kernel, X, workers)


def expansion(
    kernel: Kernel, X: Any, vectors: Any, coef: NDArray[np.float64], *, workers: Workers
) -> Values:
    """``out[t, m] = Σ_j k(X[t], vectors[j])·coef[m, j]``, summed in float64.

    Of a precomputed kernel, X holds kernel values against all training points and
    ``vectors`` the columns of the support vectors.
    """
    everything = Group(0, coef, np.arange(coef.shape[0], dtype=np.intp))
    return grouped_expansion(kernel, X, vectors, [everything], workers=workers)


def grouped_expansion(
    kernel: Any, X: Any, vectors: Any, groups: Sequence[Group], *, workers: Workers
) -> Values:
    """The sums of :func:`expansion` where vectors have coefficients for some outputs.

    Parameters
    ----------
    kernel, X, vectors, workers
        As there.
    groups : sequence of Group
        The vectors, group by group. Together they name every output.
    """
    if kernel.family is Family.DOTS:
        return vector_expansion(kernel, X, vectors, groups, workers)
    cross = _SERVICES[kernel.family].cross
    out = np.zeros((X.shape[0], outputs_of(groups)))
    for start, coef, places in groups:
        whole = coef.shape[1] == vectors.shape[0]
        some = vectors if whole else vectors[start : start + coef.shape[1]]
        part = np.zeros((X.shape[0], coef.shape[0]))
        cross(kernel, X, some, workers).expand(coef, part)
        out[:, places] += part
    return out


def cross_values(kernel: Any, A: Any, B: Any, *, workers: Workers) -> Values:
    """All values k(a, b) of the rows of A and B, in float64."""
    for leaf in kernel.leaves:
        if leaf.is_function:
            check_function(leaf, A, B)
    rows, cols = (np.arange(one.shape[0], dtype=np.intp) for one in (A, B))
    out = np.empty((rows.size, cols.size))
    _SERVICES[kernel.family].cross(kernel, A, B, workers).block(rows, cols, out)
    return out


def self_values(kernel: Kernel, X: Any) -> Values:
    """k(x, x) of every row of X, in float64."""
    values: Values = _SERVICES[kernel.family].diagonal(kernel, X)
    return values
