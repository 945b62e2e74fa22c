"""Anderson's extrapolation of epochs: the mixture of the last ones that stands still.

An epoch of coordinate descent that meets no bound is an affine map of β. Of the iterates
β₀ … β₅ that combination with weights of sum 1 is taken whose last steps cancel best; it
is kept if the dual is higher there.

Reference: Q. Bertrand and M. Massias, "Anderson acceleration of coordinate descent",
AISTATS 2021.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from maxmargin._arrays import Index, Vector
    from maxmargin.problem import LinearProblem

_MEMORY = 5  # differences of iterates that are combined
_RIDGE = 1e-12  # of their squares, against steps that are alike


class Epochs(list[tuple["Vector", "Vector"]]):
    """β of some rows, and w, after the last epochs."""

    def keep(self, beta: Vector, w: Vector) -> bool:
        """One more; whether there are enough of them."""
        self.append((beta, w.copy()))
        return len(self) > _MEMORY

    def best(self, problem: LinearProblem, at: Index) -> tuple[Vector, Vector] | None:
        """The combination of all, within bounds, if it is better than the last one.

        ``at`` are the rows that these β are of. The iterates are used up.
        """
        betas = np.array([beta for beta, _ in self])
        weights = np.array([w for _, w in self])
        self.clear()
        steps = np.diff(betas, axis=0)
        products = steps @ steps.T
        size = float(np.trace(products))
        if size == 0.0:
            return None
        products[np.diag_indices(_MEMORY)] += _RIDGE * size
        share = np.linalg.solve(products, np.ones(_MEMORY))
        share /= share.sum()
        wished = share @ betas[1:]
        beta = np.clip(wished, problem.lower[at], problem.upper[at])
        w = share @ weights[1:]
        if not np.array_equal(beta, wished):
            moved = np.zeros(problem.n)
            moved[at] = beta - wished
            w += problem.design.back(moved)
        if _value(problem, at, beta, w) > _value(problem, at, betas[-1], weights[-1]):
            return beta, w
        return None


def _value(problem: LinearProblem, at: Index, beta: Vector, w: Vector) -> float:
    """The dual value, but for what rows other than ``at`` add to it."""
    own = (problem.p[at] + 0.5 * problem.ridge[at] * beta) @ beta
    return -0.5 * float(w @ w) - float(own) - problem.epsilon * float(np.abs(beta).sum())
