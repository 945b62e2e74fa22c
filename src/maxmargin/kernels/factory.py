"""From what a user names to what a solver asks: kernels, Gram matrices, expansions.

The forms of a kernel: the NamedTuples of :mod:`~maxmargin.kernels.dot_products`,
:mod:`~maxmargin.kernels.row_pairs` and :mod:`~maxmargin.kernels.gram.composite` (what
``compiled()`` of a kernel object returns), ``"precomputed"``, or a Python function
k(A, B) of blocks. Rows are trusted here: C-contiguous float32 or float64, or sorted CSR.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import scipy.sparse as sp

from maxmargin.errors import InputError
from maxmargin.kernels.dot_products import Linear, Polynomial, Rbf, Sigmoid, VectorKernel
from maxmargin.kernels.gram.composite import (
    Composite,
    CompositeCross,
    CompositeGram,
    combined_diagonal,
    is_pairwise,
    leaves_of,
)
from maxmargin.kernels.gram.dot_products import (
    Group,
    VectorCross,
    VectorGram,
    vector_diagonal,
    vector_expansion,
)
from maxmargin.kernels.gram.row_pairs import (
    PairCross,
    PairGram,
    check_function,
    pair_diagonal,
    pair_expansion,
)
from maxmargin.kernels.gram.table import (
    CallableGram,
    TableGram,
    callable_expansion,
    called,
    table_expansion,
)
from maxmargin.kernels.row_pairs import ChiSquared, Function, PairKernel

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from maxmargin.parallel import Workers

    Compiled = VectorKernel | PairKernel | Composite
    Kernel = Compiled | str | Callable[[Any, Any], Any]
    Values = NDArray[np.float64]


def compile_kernel(name: str, *, degree: int, gamma: float, coef0: float) -> VectorKernel:
    """The compiled kernel of scikit-learn's name and parameters."""
    if name == "linear":
        return Linear()
    if name == "poly":
        return Polynomial(int(degree), float(gamma), float(coef0))
    if name == "rbf":
        return Rbf(float(gamma))
    if name == "sigmoid":
        return Sigmoid(float(gamma), float(coef0))
    msg = f"kernel={name!r}: a compiled kernel is one of linear, poly, rbf, sigmoid"
    raise InputError(msg)


def training_gram(kernel: Kernel, X: Any, *, workers: Workers) -> Any:
    """The Gram of the rows of X; for ``"precomputed"`` X is that matrix itself."""
    if isinstance(kernel, str):
        return TableGram(X)
    if isinstance(kernel, Composite):
        return CompositeGram(kernel, X, workers)
    if isinstance(kernel, PairKernel):
        return PairGram(kernel, X, workers)
    if isinstance(kernel, VectorKernel):
        return VectorGram(kernel, X, workers)
    return CallableGram(kernel, X)


def expansion(
    kernel: Kernel, X: Any, vectors: Any, coef: NDArray[np.float64], *, workers: Workers
) -> Values:
    """``out[t, m] = Σ_j k(X[t], vectors[j])·coef[m, j]``, summed in float64.

    For ``"precomputed"``, X holds kernel values against all training points and
    ``vectors`` the columns of the support vectors.
    """
    if isinstance(kernel, str):
        return table_expansion(X, vectors, coef)
    if isinstance(kernel, Composite):
        out = np.zeros((X.shape[0], coef.shape[0]))
        rows, cols = _everyone(X), _everyone(vectors)
        CompositeCross(kernel, X, vectors, workers).expand(rows, cols, coef, out)
        return out
    if isinstance(kernel, PairKernel):
        return pair_expansion(kernel, X, vectors, coef, workers)
    if isinstance(kernel, VectorKernel):
        everything = Group(0, coef, np.arange(coef.shape[0], dtype=np.intp))
        return vector_expansion(kernel, X, vectors, [everything], workers)
    return callable_expansion(kernel, X, vectors, coef)


def grouped_expansion(
    kernel: Kernel, X: Any, vectors: Any, groups: Sequence[Group], *, workers: Workers
) -> Values:
    """The sums of :func:`expansion` where vectors have coefficients for some outputs.

    Parameters
    ----------
    kernel, X, vectors, workers
        As there.
    groups : sequence of Group
        The vectors, group by group. Together they name every output.
    """
    if isinstance(kernel, VectorKernel):
        return vector_expansion(kernel, X, vectors, groups, workers)
    outputs = 1 + max(int(group.places.max()) for group in groups)
    out = np.zeros((X.shape[0], outputs))
    for start, coef, places in groups:
        some = vectors[start : start + coef.shape[1]]
        out[:, places] += expansion(kernel, X, some, coef, workers=workers)
    return out


def cross_values(kernel: Kernel, A: Any, B: Any, *, workers: Workers) -> Values:
    """All values k(a, b) of the rows of A and B, in float64."""
    if isinstance(kernel, str):
        _refuse_precomputed("k(A, B)")
    if not isinstance(kernel, tuple):
        return called(kernel, A, B)
    for leaf in leaves_of(kernel):
        if isinstance(leaf, Function):
            check_function(leaf, A, B)
    kind: Any = (
        CompositeCross
        if isinstance(kernel, Composite)
        else PairCross
        if is_pairwise(kernel)
        else VectorCross
    )
    out = np.empty((A.shape[0], B.shape[0]))
    kind(kernel, A, B, workers).block(_everyone(A), _everyone(B), out)
    return out


def self_values(kernel: Kernel, X: Any) -> Values:
    """k(x, x) of every row of X, in float64."""
    if isinstance(kernel, str):
        _refuse_precomputed("k(x, x) of new rows")
    if isinstance(kernel, Composite):
        return combined_diagonal(kernel, X)
    if isinstance(kernel, PairKernel):
        return pair_diagonal(kernel, X)
    if isinstance(kernel, VectorKernel):
        return vector_diagonal(kernel, X)
    return CallableGram(kernel, X).diagonal()


def check_rows(kernel: Kernel, X: Any, *, name: str = "X") -> None:
    """Refuse rows for which a kernel, or a part of it, is not defined."""
    if not isinstance(kernel, tuple):
        return
    if any(isinstance(leaf, ChiSquared) for leaf in leaves_of(kernel)):
        values = X.data if sp.issparse(X) else X
        lowest = float(values.min(initial=0.0))
        if lowest < 0.0:
            msg = (
                f"{name} contains {lowest:.6g}: ChiSquared compares amounts and is "
                "defined for rows without negative values; use MinMaxScaler, or another "
                "kernel such as RBF or Laplacian"
            )
            raise InputError(msg)


def _everyone(X: Any) -> NDArray[np.intp]:
    return np.arange(X.shape[0], dtype=np.intp)


def _refuse_precomputed(what: str) -> NoReturn:
    msg = (
        f"{what} is not known for a precomputed kernel, which has values but no formula; "
        "use a kernel that computes them"
    )
    raise InputError(msg)
