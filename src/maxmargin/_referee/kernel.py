"""The kernels once more, in plain NumPy float64."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse
from scipy.spatial.distance import cdist

from maxmargin._referee.tables import moments, narrow, number_of, require

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[np.float64]

KERNELS = ("linear", "poly", "rbf", "sigmoid", "precomputed")


@dataclass(frozen=True)
class Kernel:
    """A kernel of two blocks of rows, in float64."""

    kind: Any
    gamma: float
    degree: float
    coef0: float
    centre: Vector  # subtracted by rbf: smaller norms cancel less
    dense: bool  # whether sparse tiles are written out

    @classmethod
    def of(cls, estimator: Any, table: Any) -> Kernel:
        kind, width = estimator.kernel, table.shape[1]
        require(
            callable(kind) or kind in KERNELS,
            f"kernel={kind!r}: it must be a callable or one of {', '.join(KERNELS)}",
        )
        curved = not callable(kind) and kind not in {"linear", "precomputed"}
        centre, variance = moments(table) if curved else (np.zeros(1), 1.0)
        # Ours says what gamma was; it may depend on weights, scikit-learn's does not.
        asked = getattr(estimator, "gamma_", getattr(estimator, "gamma", "auto"))
        named = {
            "auto": 1.0 / width,
            "scale": 1.0 / (width * variance) if variance else 1.0,
        }
        if asked not in named:
            require(isinstance(asked, Real), f"gamma={asked!r}: it must be a number")
        gamma = float(named.get(asked, asked))
        require(gamma >= 0.0, f"gamma={gamma}: it must not be negative")
        return cls(
            kind=kind,
            gamma=gamma,
            degree=number_of(estimator, "degree", 3.0),
            coef0=number_of(estimator, "coef0", 0.0),
            centre=centre,
            dense=not issparse(table) or (curved and narrow(width)),
        )

    def __call__(self, A: Any, B: Any) -> Vector:
        shape = (A.shape[0], B.shape[0])
        if callable(self.kind):
            return _values(self.kind(A, B), shape)
        if self.kind == "rbf":
            root = np.sqrt(self.gamma)  # scaled first, so that the squares overflow last
            X, Z = root * A, root * B
            A, B = (
                (X - root * self.centre, Z - root * self.centre) if self.dense else (X, Z)
            )
            a, b = (np.asarray(_square(V).sum(axis=1)).ravel() for V in (A, B))
            # ‖a‖²+‖b‖²−2ab loses about 1e-16·(‖a‖²+‖b‖²): harmless unless γ is far too
            # large for the scale of the data; then the differences are squared instead.
            if self.dense and a.max() + b.max() > 1e6:
                return np.exp(-_values(cdist(X, Z, "sqeuclidean"), shape))
            K = _values(A @ B.T, shape)
            K *= 2.0
            K -= a[:, None]
            K -= b
            return np.exp(np.minimum(K, 0.0, out=K), out=K)
        K = _values(A @ B.T, shape)
        K *= self.gamma
        K += self.coef0
        if self.kind == "poly":
            return np.power(K, self.degree, out=K)
        return np.tanh(K, out=K)


def _square(Z: Any) -> Any:
    return Z.multiply(Z) if issparse(Z) else Z * Z


def _values(K: Any, shape: tuple[int, int]) -> Vector:
    """Check what a kernel returned; a float64 array."""
    values = np.asarray(K.toarray() if issparse(K) else K, dtype=np.float64)
    require(values.shape == shape, f"the kernel gave {values.shape}, not {shape} values")
    return values
