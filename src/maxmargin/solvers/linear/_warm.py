"""A model to begin with: what Newton's methods take in the place of a β alone.

Newton's methods stand at a w, and that of a fit before is nearer to the next answer than
X'β is once β follows another C: with C three times as large, rows at their bounds pull
three times as hard, what the others pull against them is not known yet, and w is a small
difference of the two. The β is where the kinks of a hinge or a tube are rounded off
(:mod:`~maxmargin.solvers.linear.proximal_newton`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float64]

__all__ = ["Warm"]


class Warm(NamedTuple):
    """β, and the w and free intercept that stand beside it; w need not be X'β."""

    beta: Vector
    w: Vector
    bias: float = 0.0
