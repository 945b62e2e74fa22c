"""A kernel from outside: Cauchy's, k(x, z) = 1/(1 + gamma·‖x − z‖²), with long tails."""

from typing import NamedTuple

import numpy as np

from maxmargin.errors import InputError
from maxmargin.kernels import DotKernel, register


class CauchyRecord(NamedTuple):
    """The numbers that compiled code reads, and its formula."""

    factor: float  # gamma

    def of_distances(self, values):
        """Turn factor·‖x − z‖² into kernel values, in place; compiled by Numba."""
        one = values.dtype.type(1.0)  # float32 or float64
        for c in range(values.size):
            values[c] = one / (one + values[c])

    def slope(self):
        """Return the largest |dk/d‖x − z‖²|: it tells where float32 is enough."""
        return self.factor


class Cauchy(DotKernel):
    """The kernel object: ``SVC(kernel=Cauchy(0.5))``; gamma is positive."""

    is_semidefinite_by_construction = True  # it is a mixture of Gaussians

    def __init__(self, gamma):
        if not 0.0 < gamma < np.inf:
            raise InputError(f"Cauchy(gamma={gamma!r}): gamma must be positive")
        self._set(gamma=float(gamma))

    @classmethod
    def from_parameters(cls, *, degree, gamma, coef0):
        """Make the object of ``SVC(kernel="cauchy", gamma=0.5)``."""
        return cls(gamma)

    def magnitude(self, norm2):
        """Return gamma·norm2, which must not overflow."""
        return self.gamma * norm2

    def compiled(self, scale=1.0):
        """Return the record for rows that were multiplied by ``scale``."""
        return CauchyRecord(self.gamma / scale / scale)

    def plain(self, A, B):
        """Return the values again, in NumPy: by this formula ``certify`` judges."""
        apart = A[:, None, :] - B[None, :, :]
        return 1.0 / (1.0 + self.gamma * (apart**2).sum(axis=2))


register(Cauchy, name="cauchy")
