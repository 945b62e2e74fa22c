"""Checks of the arguments of the tutorial's functions."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from maxmargin.errors import InputError, InputTypeError
from maxmargin.kernels import Kernel, Precomputed
from maxmargin.kernels.inputs import checked_rows

if TYPE_CHECKING:
    from maxmargin._arrays import Matrix, Vector


def points(X: Any, name: str = "X") -> Matrix:
    """Return X as a C-contiguous float64 array of rows."""
    if sp.issparse(X):
        msg = (
            f"{name} is sparse: the tutorial takes arrays; give {name}.toarray(), or use "
            "maxmargin.SVC"
        )
        raise InputTypeError(msg)
    return np.ascontiguousarray(checked_rows(X, name), dtype=np.float64)


def signs(y: Any, n: int, name: str = "y", *, both: bool = True) -> Vector:
    """Return labels 0 and 1, or −1 and 1, as −1.0 and 1.0; a column counts as a list.

    ``both`` demands points of both classes, which training needs.
    """
    given = np.asarray(y)
    if given.ndim == 2 and given.shape[1] == 1:
        given = given[:, 0]  # "column vector of class identifiers"
    if given.shape != (n,):
        msg = f"{name} has shape {given.shape}: give {n} labels, one for every point"
        raise InputError(msg)
    if given.dtype.kind not in "fiub":
        msg = (
            f"{name} has dtype {given.dtype}: the tutorial's labels are 0 and 1 (or -1 "
            "and 1); for other labels use maxmargin.SVC"
        )
        raise InputTypeError(msg)
    found = np.unique(given).tolist()
    known = set(found) <= {0, 1} or set(found) <= {-1, 1}
    if not known or (both and len(found) < 2):
        shown = ", ".join(map(repr, found[:5])) + (", …" if len(found) > 5 else "")
        msg = (
            f"{name} holds {shown or 'nothing'}: the tutorial tells two classes apart, "
            "labelled 0 and 1 (or -1 and 1), and needs points of both; for other labels "
            "use maxmargin.SVC"
        )
        raise InputError(msg)
    return np.where(given > 0, 1.0, -1.0)


def checked_kernel(kernel: Any) -> Any:
    """Return ``"linear"``, a kernel object, or a function of two blocks of rows."""
    if isinstance(kernel, str) and kernel == "linear":
        return kernel
    if isinstance(kernel, Precomputed):
        msg = (
            "kernel=Precomputed() has values but no formula, and a boundary needs "
            "k(x, z) of new points; give a kernel that computes them"
        )
        raise InputError(msg)
    if isinstance(kernel, Kernel) or (callable(kernel) and not isinstance(kernel, type)):
        return kernel
    msg = (
        f"kernel={kernel!r}: give 'linear', a kernel object such as "
        "maxmargin.kernels.RBF(sigma=0.1), Polynomial(degree=3) or "
        "Sigmoid(a=1.0, r=0.0), or a function k(X, Z)"
    )
    raise InputError(msg) if isinstance(kernel, str) else InputTypeError(msg)


def checked_positive(name: str, value: Any) -> float:
    """Return a positive, finite number."""
    msg = f"{name}={value!r}: give a positive, finite number"
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InputTypeError(msg)
    if not 0.0 < float(value) < math.inf:
        raise InputError(msg)
    return float(value)


def checked_whole(name: str, value: Any, least: int, meaning: str) -> int:
    """Return an integer of at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        msg = f"{name}={value!r}: give an integer; {meaning}"
        raise InputTypeError(msg)
    if value < least:
        msg = f"{name}={value!r}: give an integer of at least {least}; {meaning}"
        raise InputError(msg)
    return int(value)


def checked_seed(seed: Any) -> int:
    """Return a seed of random numbers."""
    return checked_whole("seed", seed, 0, "equal seeds draw equal numbers")
