"""Cholesky's factor of a matrix of columns × columns, and systems solved with it.

LAPACK is called as it is: for few columns what scipy.linalg puts around it takes several
times as long.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from maxmargin.errors import OVERFLOW, NumericalError
from maxmargin.parallel import one_blas_thread

if TYPE_CHECKING:
    from maxmargin._arrays import Matrix, Vector


class Factor(NamedTuple):
    """U with H = U'U, in Fortran's order; below its diagonal is junk."""

    upper: Matrix

    def solve(self, b: Vector) -> Vector:
        """H⁻¹b."""
        if not b.size:  # which LAPACK refuses
            return b.copy()
        with one_blas_thread():
            x: Vector = dpotrs(self.upper, b)[0]
        return x


def factor_of(square: Matrix, *, free: bool) -> tuple[Factor, Vector | None]:
    """Cholesky's factor of I + X'DX (lower triangle), the mean if the intercept is free.

    It is then the last row of X̃'DX̃, and eliminated: I + X'D(X − mean).
    """
    width, mean = len(square) - free, None
    H = square[:width, :width].copy()
    if free and square[-1, -1] > 0.0:
        mean = square[-1, :width] / square[-1, -1]
        H -= np.outer(mean, square[-1, :width])
    diagonal = np.einsum("ii->i", H)
    diagonal += 1.0
    return cholesky(H), mean


def cholesky(H: Matrix) -> Factor:
    """Cholesky's, from the lower triangle of a positive definite matrix.

    What rounding made of one that is nearly singular gets a larger diagonal, in place.
    """
    diagonal, more = np.einsum("ii->i", H), 0.0
    if not np.isfinite(diagonal).all():  # which bounds what is beside it
        raise NumericalError(OVERFLOW)
    with one_blas_thread():
        while True:
            # The lower triangle by rows is the upper one by columns, as Fortran has it.
            upper, failed = dpotrf(H.T, clean=0)
            if not failed:
                return Factor(upper)
            more = 10.0 * more or 1e-16 * float(diagonal.max())
            diagonal += more
