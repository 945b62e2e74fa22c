"""The kernels once more, in plain NumPy float64: values for two blocks of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse
from scipy.spatial.distance import cdist

from maxmargin._referee.tables import require

if TYPE_CHECKING:
    from collections.abc import Callable

    from maxmargin._arrays import Vector


def dots(A: Any, B: Any) -> Vector:
    """Dot products."""
    return checked(A @ B.T, (A.shape[0], B.shape[0]))


def polynomial(A: Any, B: Any, gamma: float, coef0: float, degree: float) -> Vector:
    """(γx'z + c)^d."""
    K = dots(A, B)
    K *= gamma
    K += coef0
    return np.asarray(np.power(K, degree, out=K))


def sigmoid(A: Any, B: Any, gamma: float, coef0: float) -> Vector:
    """tanh(γx'z + c)."""
    K = dots(A, B)
    K *= gamma
    K += coef0
    return np.asarray(np.tanh(K, out=K))


def rbf(A: Any, B: Any, gamma: float, centre: Vector) -> Vector:
    """exp(−γ‖x − z‖²); the centre is subtracted first: smaller norms cancel less."""
    shape = (A.shape[0], B.shape[0])
    root = np.sqrt(gamma)  # scaled first, so that the squares overflow last
    X, Z = root * A, root * B
    dense = not issparse(X)
    A, B = (X - root * centre, Z - root * centre) if dense else (X, Z)
    a, b = (np.asarray(_square(V).sum(axis=1)).ravel() for V in (A, B))
    # ‖a‖²+‖b‖²−2ab loses about 1e-16·(‖a‖²+‖b‖²): harmless unless γ is far too
    # large for the scale of the data; then the differences are squared instead.
    if dense and a.max() + b.max() > 1e6:
        return np.asarray(np.exp(-checked(cdist(X, Z, "sqeuclidean"), shape)))
    K = checked(A @ B.T, shape)
    K *= 2.0
    K -= a[:, None]
    K -= b
    return np.asarray(np.exp(np.minimum(K, 0.0, out=K), out=K))


def laplacian(A: Any, B: Any, gamma: float) -> Vector:
    """exp(−γ Σ|x − z|), of dense rows."""
    return np.asarray(np.exp(-gamma * cdist(A, B, "cityblock")))


def chi_squared(A: Any, B: Any, gamma: float) -> Vector:
    """exp(−γ Σ(x − z)²/(x + z)), 0/0 = 0, of dense rows that are not negative."""
    K = np.zeros((A.shape[0], B.shape[0]))
    for x, z in zip(A.T, B.T, strict=True):  # feature by feature: no n × m × d array
        total = x[:, None] + z
        K += np.divide(
            (x[:, None] - z) ** 2, total, out=np.zeros_like(total), where=total != 0.0
        )
    return np.asarray(np.exp(-gamma * K))


def columns_of(A: Any, columns: Any) -> Vector:
    """The values that X already holds."""
    return np.asarray(A[:, columns])


def pairwise(A: Any, B: Any, function: Callable[[Any, Any], Any]) -> Vector:
    """A function of two rows, for every pair."""
    return np.array([[float(function(x, z)) for z in B] for x in A], dtype=np.float64)


def blocks(A: Any, B: Any, function: Callable[[Any, Any], Any]) -> Vector:
    """A function of two blocks of rows."""
    return checked(function(A, B), (A.shape[0], B.shape[0]))


def checked(K: Any, shape: tuple[int, int]) -> Vector:
    """Check what a kernel returned; a float64 array."""
    values = np.asarray(K.toarray() if issparse(K) else K, dtype=np.float64)
    require(values.shape == shape, f"the kernel gave {values.shape}, not {shape} values")
    return values


def _square(Z: Any) -> Any:
    return Z.multiply(Z) if issparse(Z) else Z * Z
