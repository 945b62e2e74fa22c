"""exp for formulas: plain NumPy here, and a fast form of its own in compiled code.

Formulas of kernels stand beside kernel objects, which are made before anything is
compiled. So this module does not import Numba; :mod:`maxmargin._jit.exponential` does,
and gives compiled code its exp.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def exp(x: Any) -> Any:
    """e^x in x's precision."""
    return np.exp(x)
