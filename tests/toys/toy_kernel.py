"""One more kernel, in one file: Cauchy's, 1/(1 + gamma·‖x − z‖²), with long tails."""

from typing import NamedTuple

import numpy as np

from maxmargin.errors import InputError
from maxmargin.kernels import DotKernel, register


class CauchyRecord(NamedTuple):
    """What compiled code sees of the kernel: its numbers, and its formula."""

    gamma: float

    def of_distances(self, values):
        """Squared distances of one row from many → kernel values, in place; compiled."""
        work = values.dtype.type  # float32 or float64
        one, gamma = work(1.0), work(self.gamma)
        for c in range(values.size):
            values[c] = one / (one + gamma * values[c])

    def slope(self):
        """The largest |dk/d(squared distance)|."""
        return self.gamma


class Cauchy(DotKernel):
    """k(x, z) = 1/(1 + gamma·‖x − z‖²), gamma positive."""

    is_semidefinite_by_construction = True  # a mixture of Gaussians

    def __init__(self, gamma):
        if not 0.0 < gamma < np.inf:
            raise InputError(f"Cauchy(gamma={gamma!r}): gamma must be positive")
        self._set(gamma=float(gamma))

    @classmethod
    def from_parameters(cls, *, degree, gamma, coef0):
        """``SVC(kernel="cauchy", gamma=…)``."""
        return cls(gamma)

    def magnitude(self, norm2):
        """Gamma·norm2, which must not overflow."""
        return self.gamma * norm2

    def compiled(self, scale=1.0):
        """Of rows that were multiplied by ``scale``, to keep squares in range."""
        return CauchyRecord(self.gamma / scale / scale)

    def plain(self, A, B):
        """The same in NumPy, for the referee."""
        A, B = (M.toarray() if hasattr(M, "toarray") else M for M in (A, B))
        apart = np.asarray(A, float)[:, None, :] - np.asarray(B, float)[None, :, :]
        return 1.0 / (1.0 + self.gamma * (apart**2).sum(axis=2))


register(Cauchy, name="cauchy")
