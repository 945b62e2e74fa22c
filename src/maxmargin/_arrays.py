"""Array types that signatures name; only type checkers import them."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Vector: TypeAlias = NDArray[np.float64]  # shape (n,)
Matrix: TypeAlias = NDArray[np.float64]  # two axes of one kind, such as k(X, X)
Table: TypeAlias = NDArray[np.float64]  # a row for every point, a column for every class
Index: TypeAlias = NDArray[np.intp]  # numbers of rows, points, classes
Flags: TypeAlias = NDArray[np.bool_]
