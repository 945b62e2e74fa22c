"""The number that ``gamma`` stands for, given rows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from maxmargin.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

BLOCK = 1 << 20  # policy: values in one pass where a float64 copy is needed: 8 MB


def gamma_of(
    gamma: float | str, X: Any, weight: NDArray[np.float64] | None = None
) -> float:
    """The number that the parameter ``gamma`` of a machine stands for."""
    if gamma == "auto":
        return 1.0 / float(X.shape[1])
    return scale_gamma(X, weight) if gamma == "scale" else float(gamma)


def _scaled(values: NDArray[Any], exponent: int) -> NDArray[np.float64]:
    """Return 2ᵉ·values in float64; by a product, where 2ᵉ is a normal number."""
    if abs(exponent) < 1000:
        scaled: NDArray[np.float64] = values * np.float64(math.ldexp(1.0, exponent))
        return scaled
    return np.ldexp(values.astype(np.float64), exponent)


def scale_gamma(X: Any, weight: NDArray[np.float64] | None = None) -> float:
    r"""``gamma="scale"``: 1 / (n_features · Var X), or 1 for constant X.

    The variance is that of all values, the zeros of sparse rows among them, in
    float64 whatever the dtype of X; a row of weight 2 counts as two rows, and a row
    without weight does not count. It is computed of :math:`2^{-e}X` with :math:`2^e` just
    above the largest value, so that squares neither overflow nor vanish; only a γ that
    is itself not representable is refused.
    """
    count = np.ones(X.shape[0])
    if weight is not None:
        counted = weight > 0.0
        X = X if counted.all() else X[counted]
        count = weight[counted] / weight.max()
    size = float(count.sum()) * X.shape[1]
    peak = max(abs(float(X.min())), abs(float(X.max()))) if X.size or X.shape[0] else 0.0
    exponent = math.frexp(peak)[1]
    starts = range(0, X.shape[0], max(1, BLOCK // max(1, X.shape[1])))

    def moment(centre: float, power: int) -> float:
        """Σ count·(2⁻ᵉx − centre)^power over all values, in blocks; power is 1 or 2."""
        total = 0.0
        for start in starts:
            some = X[start : start + starts.step]
            often = count[start : start + starts.step]
            if sparse.issparse(some):
                stored = np.diff(some.indptr)
                zeros = float((often * (X.shape[1] - stored)).sum())
                total += zeros * (-centre) ** power
                some, often = some.data[:, None], np.repeat(often, stored)
            apart = _scaled(some, -exponent)
            apart -= centre
            if power == 2:
                each = np.einsum("ij,ij->i", apart, apart)
            else:
                each = apart.sum(axis=1)
            total += float((often * each).sum())  # no BLAS: its bits vary with threads
        return total

    total = moment(moment(0.0, 1) / size, 2)
    # Rounding of the mean leaves about 1e-32 of constant values.
    if peak == 0.0 or total <= 1e-28 * size:
        return 1.0
    try:
        gamma = math.ldexp(size / (X.shape[1] * total), -2 * exponent)
    except OverflowError:
        gamma = math.inf
    if not np.finfo(np.float64).tiny <= gamma < math.inf:
        size_word = "small" if gamma > 1.0 else "large"
        msg = (
            f"gamma='scale': the features are too {size_word} (at most {peak:.3g} in "
            "size) for 1 / (n_features * X.var()) to be a normal float64. The dual "
            "coefficients or intercepts are not finite then; scale the features, for "
            "instance with StandardScaler"
        )
        raise InputError(msg)
    return gamma
