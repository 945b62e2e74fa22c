r"""Coordinate ascent: one β after the other, each to the best value the others leave it.

Problem: the template of :mod:`maxmargin.problem` without a sum, that is, maximise

.. math:: W(\beta) = -\tfrac12\beta^\top(K + \mathrm{diag}(r))\beta - p^\top\beta
          - \varepsilon\|\beta\|_1, \qquad l \le \beta \le u.

With a sum (an intercept) no β can move alone, which is why SMO moves two.

Update, for i = 0, 1, …, n−1, 0, 1, …: with the slope :math:`F_i` of the smooth part and
the curvature :math:`q_i = K_{ii} + r_i > 0`,

.. math:: t = \beta_i - F_i/q_i, \qquad
          \beta_i \leftarrow \mathrm{clip}\bigl(\mathrm{sign}(t)
          \max(0, |t| - \varepsilon/q_i),\ l_i,\ u_i\bigr),

which is the maximum along that coordinate. Where :math:`q_i \le 0` (a row of zeros, an
indefinite kernel) the maximum lies at a bound or at 0, and is looked for there.

Stop: violation at most tol, tested at the end of every sweep over the coordinates; a
sweep that changes nothing ends the run in any case.

Cost: O(1) for a coordinate that stays, one kernel row and O(n) for one that moves; rows
are kept within ``cache_bytes``. Convergence is linear.

References: S1, "Coordinate ascent", whose W(α₁, α₂) = −2α₁² − α₂² − α₁α₂ is
:func:`maxmargin.theory.coordinate_example`; for the SVM, C.-J. Hsieh, K.-W. Chang, C.-J.
Lin, S. Keerthi and S. Sundararajan, "A dual coordinate descent method for large-scale
linear SVM", ICML 2008.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from maxmargin._jit import njit
from maxmargin.errors import InputError
from maxmargin.problem import (
    Model,
    Problem,
    WarmStart,
    dual_value,
    model_of,
    violation,
)
from maxmargin.solvers.base import Status, Steppable
from maxmargin.solvers.feasible import default_limit, feasible
from maxmargin.solvers.gram_memory import RowStore
from maxmargin.solvers.lectures.subsets import add_products
from maxmargin.solvers.step import Step

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin._arrays import Vector

DONE, STARTED, MOVED = range(3)  # counters: units, gradient known, moves of this sweep
WHERE, OLD, FREE, NEW, SLOPE, CURVATURE, GAIN = range(7)  # numbers of the last unit
FINISHED, UNBOUNDED = -1, -2  # codes beside the number of a point whose row is missing
_DOUBLE = np.dtype(np.float64)


@njit
def _loss(step, beta, slope, curvature, epsilon):
    """Change of −W when β goes to β + step, the others fixed."""
    kink = epsilon * (abs(beta + step) - abs(beta))
    return step * (slope + 0.5 * curvature * step) + kink


@njit
def _best(beta, slope, curvature, lower, upper, epsilon):
    """(Maximum along the coordinate without the box, the same within it)."""
    if curvature > 0.0:
        target = beta - slope / curvature
        if epsilon > 0.0:
            target = np.sign(target) * max(0.0, abs(target) - epsilon / curvature)
        return target, min(max(target, lower), upper)
    # No curvature, or a wrong one: every piece of W between bound, kink and bound has
    # its maximum at an end of the piece. An open end is worth going to if W rises there.
    rises = curvature < 0.0
    if upper == np.inf and (rises or slope + epsilon < 0.0):
        return np.inf, np.inf
    if lower == -np.inf and (rises or slope - epsilon > 0.0):
        return -np.inf, -np.inf
    best, least = beta, 0.0
    for end in (lower, min(max(0.0, lower), upper), upper):
        if np.isfinite(end):
            found = _loss(end - beta, beta, slope, curvature, epsilon)
            if found < least:
                best, least = end, found
    return best, best


@njit
def _walk(
    beta, F, curvature, lower, upper, ridge, epsilon, table, slot, counters, last, numbers
):
    """Units up to ``last``, which lies in this sweep.

    Returns a point whose kernel row is missing, FINISHED or UNBOUNDED.
    """
    n = beta.size
    while counters[DONE] < last:
        i = counters[DONE] % n
        free, new = _best(beta[i], F[i], curvature[i], lower[i], upper[i], epsilon)
        if not np.isfinite(new):
            return UNBOUNDED
        step = new - beta[i]
        if step != 0.0 and slot[i] < 0:
            return i
        numbers[WHERE], numbers[OLD], numbers[NEW], numbers[FREE] = i, beta[i], new, free
        numbers[SLOPE], numbers[CURVATURE] = F[i], curvature[i]
        numbers[GAIN] = -_loss(step, beta[i], F[i], curvature[i], epsilon)
        if step != 0.0:
            row = table[slot[i]]
            for k in range(n):
                F[k] += step * row[k]
            F[i] += step * ridge[i]
            beta[i] = new
            counters[MOVED] += 1
        counters[DONE] += 1
    return FINISHED


class State(NamedTuple):
    """β, its gradient (of β = 0 until the first unit), counters, last unit, and rows."""

    beta: Vector
    gradient: Vector
    curvature: Vector
    counters: NDArray[np.int64]
    numbers: Vector
    rows: RowStore


@dataclass(frozen=True)
class CoordinateAscent(Steppable):
    """Cyclic exact coordinate ascent on the dual, for problems without an intercept.

    Parameters
    ----------
    tol : float
        Largest violation accepted.
    max_iter : int
        Coordinates at most; −1 for the default of 10⁷ or 100·n.
    cache_bytes : int
        Memory for kernel rows.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers.lectures.coordinate_ascent import CoordinateAscent
    >>> from maxmargin.theory import coordinate_example
    >>> start = np.array([1.0, -1.0])
    >>> walk = CoordinateAscent().steps(coordinate_example(), warm=start)
    >>> next(walk).model.beta.tolist(), next(walk).model.beta.tolist()
    ([0.25, -1.0], [0.25, -0.125])
    """

    tol: float = 1e-3
    max_iter: int = -1
    cache_bytes: int = 200 << 20
    criterion = "violation"
    unit = "coordinate"
    solves = Problem

    def start(self, problem: Problem, warm: WarmStart | None = None) -> State:
        """β = 0 or ``warm`` clipped to the box; the first unit computes its gradient."""
        if problem.sums:
            msg = (
                "coordinate ascent moves one coefficient at a time, which an intercept "
                "(the constraint on their sum) forbids: use fit_intercept=False, or "
                "solver='smo', which moves two"
            )
            raise InputError(msg)
        return State(
            beta=feasible(problem, warm),
            gradient=problem.p.copy(),
            curvature=problem.diagonal + problem.ridge,
            counters=np.zeros(3, np.int64),
            numbers=np.zeros(7),
            rows=RowStore(problem.n, self.cache_bytes),
        )

    def advance(self, problem: Problem, state: State, budget: int) -> Status:
        """At most ``budget`` coordinates; a sweep's end is where it may stop."""
        n, counters = problem.n, state.counters
        if not counters[STARTED]:
            add_products(problem, state.beta, state.gradient)
            counters[STARTED] = 1
        limit = self.max_iter if self.max_iter >= 0 else default_limit(n)
        goal = min(int(counters[DONE]) + budget, limit)
        while counters[DONE] < goal:
            end_of_sweep = (int(counters[DONE]) // n + 1) * n
            table, slot = state.rows.arrays()
            code = int(
                _walk(
                    state.beta, state.gradient, state.curvature, problem.lower,
                    problem.upper, problem.ridge, problem.epsilon, table, slot,
                    counters, min(goal, end_of_sweep), state.numbers,
                )
            )  # fmt: skip
            if code == UNBOUNDED:
                return Status.UNBOUNDED
            if code != FINISHED:
                state.rows.fetch(problem.gram, code)
            elif counters[DONE] == end_of_sweep:
                if violation(problem, state.beta, state.gradient) <= self.tol:
                    return Status.CONVERGED
                if not counters[MOVED]:
                    return Status.STALLED
                counters[MOVED] = 0
        return Status.MAX_ITER if counters[DONE] >= limit else Status.RUNNING

    def model(self, problem: Problem, state: State) -> Model:
        """The current β; before the first unit its gradient is computed here."""
        gradient = state.gradient.copy()
        if not state.counters[STARTED]:
            add_products(problem, state.beta, gradient)
        return model_of(problem, state.beta.copy(), gradient)

    def explain(self, problem: Problem, state: State) -> Step:
        """Which coordinate went where, and what the dual W gained by it."""
        done = int(state.counters[DONE])
        if not done:
            return Step("Nothing done yet.")
        last = state.numbers
        where, clipped = int(last[WHERE]), bool(last[FREE] != last[NEW])
        sweep = (done - 1) // problem.n + 1
        dual = dual_value(problem, state.beta, state.gradient)
        words = (
            f"Sweep {sweep}, coordinate {where}: W is largest along it at "
            f"{last[FREE]:.4g} (slope {0.0 - last[SLOPE]:.4g}, curvature "
            f"{0.0 - last[CURVATURE]:.4g} at {last[OLD]:.4g})"
        )
        if clipped:
            words += f", outside the box and clipped to {last[NEW]:.4g}"
        if last[NEW] == last[OLD]:
            words += "; it stays where it is."
        else:
            words += (
                f"; β[{where}] goes from {last[OLD]:.4g} to {last[NEW]:.4g} and raises W "
                f"by {last[GAIN]:.3g} to {dual:.6g}."
            )
        numbers = {
            "sweep": sweep,
            "coordinate": where,
            "old": float(last[OLD]),
            "new": float(last[NEW]),
            "unclipped": float(last[FREE]),
            "clipped": clipped,
            "gradient": float(last[SLOPE]),
            "curvature": float(last[CURVATURE]),
            "gain": float(last[GAIN]),
            "dual": dual,
        }
        return Step(words, numbers, (where,))

    def n_iter(self, state: State) -> int:
        """Coordinates visited."""
        return int(state.counters[DONE])
