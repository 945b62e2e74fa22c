"""Where solvers begin: a feasible β, and how long they may run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from maxmargin.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin.problem import Problem

    Vector = NDArray[np.float64]

_ROUNDING = 1e-12  # |Σβ|/Σ|β| that a solver's own steps may leave

__all__ = ["default_limit", "feasible"]


def default_limit(n: int) -> int:
    """Iterations after which a solver gives up, as in LIBSVM: 10⁷, or 100·n if larger."""
    return max(10_000_000, 100 * n)


def feasible(problem: Problem, warm: Vector | None) -> Vector:
    """β = 0, or ``warm`` clipped to the box and brought back to Σβ = 0.

    A sum that is only rounding is left alone. Otherwise the heavier side is scaled
    down, which keeps every β inside its box.
    """
    if warm is None:
        return np.zeros(problem.n)
    if warm.shape != (problem.n,):
        msg = f"warm has shape {warm.shape}; this problem needs ({problem.n},)"
        raise InputError(msg)
    beta = np.clip(warm, problem.lower, problem.upper)
    if not problem.balanced:
        return beta
    rising, falling = float(beta[beta > 0].sum()), -float(beta[beta < 0].sum())
    if abs(rising - falling) <= _ROUNDING * (rising + falling):
        return beta
    if rising == 0.0 or falling == 0.0:
        return np.zeros(problem.n)
    if rising > falling:
        return np.where(beta > 0, beta * (falling / rising), beta)
    return np.where(beta < 0, beta * (rising / falling), beta)
