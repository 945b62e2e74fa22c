r"""The quadratic of a Newton step with the penalty ‖w‖₁, minimised in rounds.

.. math:: \min_d\ g\cdot d + \tfrac12 d^\top Hd + \|w + d\|_1

Coordinate descent finds the weights that are 0 and the signs of the others; for these the
minimum solves a linear system, which coordinates alone hardly reach where columns are
nearly alike. A round is fifty passes of descent, or fewer where columns are many, and one
system: a second at most for 3000 columns, so that a run can be stopped in between.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from maxmargin._jit import njit
from maxmargin.design.hessian import cholesky

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin._arrays import Vector

_PASSES = 50  # policy: passes over the columns in a round at most
_PRODUCTS = 1 << 28  # policy: multiplications in all of them at most
_ROUNDS = 50  # policy: rounds at most
_RIDGE = 1e-14  # rounding: share of the trace, added to make the system solvable
_ACCURATE = 1e-3  # policy: share of the violation that a quadratic is solved to


@njit
def _solve(H, slope, w, step, accuracy, passes):
    """Minimise slope·d + ½d'Hd + ‖w + d‖₁ over d = ``step``; ``slope`` ends as its own.

    Columns that stay at 0 are passed over after the first pass, until the others are
    done. Returns whether no change was above ``accuracy`` in the end.
    """
    width = w.size
    everyone = True
    for _ in range(passes):
        worst = 0.0
        for j in range(width):
            now = w[j] + step[j]
            if now == 0.0 and not everyone:
                continue
            bend, new = H[j, j], 0.0
            if bend > 0.0:  # else the loss does not depend on it: only the penalty does
                wish = now - slope[j] / bend
                cut = 1.0 / bend
                if wish > cut:
                    new = wish - cut
                elif wish < -cut:
                    new = wish + cut
            change = new - now
            if change != 0.0:
                worst = max(worst, abs(change) * bend)
                step[j] += change
                line = H[j]
                for k in range(width):
                    slope[k] += change * line[k]
        if worst <= accuracy:
            if everyone:
                return True
            everyone = True
        else:
            everyone = False
    return False


@dataclass(slots=True)
class Quadratic:
    """One quadratic: H, g and w, and the d so far with its slope."""

    H: NDArray[np.float64]
    slope: Vector  # g
    w: Vector
    step: Vector  # d
    now: Vector  # g + Hd
    accuracy: float  # largest change of a slope that is none
    rounds: int = 0

    @classmethod
    def of(cls, H: NDArray[np.float64], slope: Vector, w: Vector) -> Quadratic:
        """Start at d = 0, with the accuracy to reach."""
        accuracy = _ACCURATE * _violation(w, slope)
        return cls(H, slope, w, np.zeros_like(w), slope.copy(), accuracy)

    def round(self) -> bool:
        """Take d closer to the minimum; return whether it is close enough."""
        passes = max(2, min(_PASSES, _PRODUCTS // max(1, self.H.size)))
        if _solve(self.H, self.now, self.w, self.step, self.accuracy, passes):
            return True
        target = self.w + self.step
        kept = np.flatnonzero(target)
        part = self.H[np.ix_(kept, kept)]
        part[np.diag_indices(kept.size)] += _RIDGE * float(np.trace(part))
        right = -(self.now[kept] + np.sign(target[kept]))
        change = np.zeros_like(target)
        change[kept] = cholesky(part).solve(right)
        # As far as the first of them changes its sign.
        ahead = target[kept] / np.where(change[kept] == 0.0, np.inf, -change[kept])
        share = min(1.0, float(ahead[ahead > 0.0].min(initial=np.inf)))
        self.step += share * change
        crossing = kept[(ahead > 0.0) & (ahead <= share)]
        self.step[crossing] = -self.w[crossing]
        self.now = self.slope + self.H @ self.step
        self.rounds += 1
        return self.rounds >= _ROUNDS


def _violation(w: Vector, slope: Vector) -> float:
    """The violation of the worst column."""
    at_zero = np.maximum(np.abs(slope) - 1.0, 0.0)
    return float(np.where(w == 0.0, at_zero, np.abs(slope + np.sign(w))).max(initial=0.0))
