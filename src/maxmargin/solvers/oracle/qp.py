r"""The dual as one quadratic programme for a general solver: the oracle.

Problem: the whole template of :mod:`maxmargin.problem`,

.. math:: \min_\beta\ \tfrac12\beta^\top(K + \mathrm{diag}(r))\beta + p^\top\beta
          + \varepsilon\|\beta\|_1,\quad l\le\beta\le u,\quad \text{its sums},

which S0, S1 and S4 (CAPABILITIES, "Dual by QP") hand to a QP package. Here it is
Clarabel, an interior-point method for convex conic programmes. |β| is split,
:math:`\beta = \beta^+ - \beta^-`; :math:`\beta^+ = \beta + \beta^-` is eliminated, so
that K enters once and not four times: the unknowns are β and β⁻, the price
:math:`\varepsilon(\beta + 2\beta^-)`, the conditions β⁻ ≥ 0 and β + β⁻ ≥ 0. Points with
an empty box are left out, infinite box sides are no condition.

Update: one call of Clarabel, whose answer lies a little inside every bound; then what is
within 1e-6 of a bound is set to it, and the free ones are solved again from their linear
system (:mod:`maxmargin.solvers.oracle.polish`). The new β is taken only where it is
feasible and its violation smaller.

Stop rule: the violation at most tol after that; else the run has stalled. A hard margin
of classes that overlap has no solution: Clarabel finds a ray along which the dual grows
without bound, or ends with hulls that are nearer than float64 can tell.

Cost: 8n² bytes for K and about ten times that while Clarabel runs; n³/3 multiplications
an iteration, of which there are 10 to 40 (3 s for 1500 points on one thread). One unit is
the whole programme: neither a time limit nor Ctrl-C can end it on the way.

References: P. Goulart and Y. Chen, "Clarabel: an interior-point solver for conic programs
with quadratic objectives", arXiv:2405.12762, 2024.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from maxmargin.errors import InputError, NumericalError, load_extra
from maxmargin.problem import (
    Model,
    Problem,
    WarmStart,
    dual_value,
    hulls_meet,
    model_of,
    violation,
)
from maxmargin.solvers.base import Status, Steppable
from maxmargin.solvers.feasible import feasible
from maxmargin.solvers.oracle.polish import resolved, snapped
from maxmargin.solvers.step import Step

if TYPE_CHECKING:
    from maxmargin._arrays import Matrix, Vector

_DOUBLE = np.dtype(np.float64)
_TIGHT = 1e-10  # policy: Clarabel's tolerances; it usually ends well below
_DEFAULT_LIMIT = 200  # Clarabel's own; a programme that is solved takes 10 to 40
_INDEFINITE = 1e-8  # rounding: −eigenvalue / largest K[i, i]; above, K is indefinite


@dataclass(slots=True)
class State:
    """β, its gradient (once it is known), and the record of the one unit."""

    beta: Vector
    gradient: Vector
    started: bool = False  # whether ``gradient`` is that of β
    ready: bool = False
    done: bool = False
    unbounded: bool = False
    said: str = ""  # Clarabel's status
    iterations: int = 0
    variables: int = 0
    rounds: int = 0  # of solving the free ones again; 0: that was not taken
    before: float = np.inf  # violation before the free ones were solved again
    after: float = np.inf


class Answer(NamedTuple):
    """The answer of Clarabel."""

    beta: Vector
    said: str
    iterations: int
    variables: int


@dataclass(frozen=True)
class QuadraticProgram(Steppable):
    """The whole dual by Clarabel, then exact bounds and re-solved free coefficients.

    Parameters
    ----------
    tol : float
        Largest violation accepted.
    max_iter : int
        Iterations of Clarabel at most; −1 for its default of 200, 0 does nothing.
    cache_bytes : int
        Memory for the matrix: 8n² bytes are needed, and Clarabel takes about ten times
        as much beside it while it runs.
    """

    tol: float = 1e-3
    max_iter: int = -1
    cache_bytes: int = 200 << 20
    criterion = "violation"
    unit = "programme"
    solves = Problem

    def start(self, problem: Problem, warm: WarmStart | None = None) -> State:
        """β = 0 or the repaired ``warm``: only the model until the first unit."""
        n = problem.n
        if 8 * n * n > self.cache_bytes:
            msg = (
                f"solver='qp' stores the whole kernel matrix: {n} points need "
                f"{8 * n * n / 2**20:.3g} MB, cache_bytes allows "
                f"{self.cache_bytes / 2**20:.3g}; use solver='smo', or a larger cache"
            )
            raise InputError(msg)
        beta = feasible(problem, warm)
        return State(beta, problem.p.copy(), started=not beta.any())

    def advance(self, problem: Problem, state: State, budget: int) -> Status:
        """The whole programme, once; nothing in the first unit.

        The programme cannot be interrupted: before it, observers (a clock, Ctrl-C) have
        the chance to end the run.
        """
        if self.max_iter == 0:
            return Status.MAX_ITER
        if not state.ready:
            state.ready = True
            budget -= 1
        if not state.done and budget >= 1:
            self._solve(problem, state)
        return self._verdict(state)

    def model(self, problem: Problem, state: State) -> Model:
        """The current β; before the first unit its gradient is computed here."""
        gradient = state.gradient.copy()
        if not state.started:
            everyone = np.arange(problem.n, dtype=np.intp)
            problem.gram.apply(everyone, everyone, state.beta, gradient, _DOUBLE)
            gradient += problem.ridge * state.beta
        return model_of(problem, state.beta.copy(), gradient)

    def explain(self, problem: Problem, state: State) -> Step:
        """Clarabel's work, the β set to a bound, and the gain of solving again."""
        if not state.done:
            return Step("Nothing done yet.")
        inside = problem.lower < problem.upper
        points = tuple(int(i) for i in np.flatnonzero(inside))
        numbers: dict[str, Any] = {
            "variables": state.variables,
            "iterations": state.iterations,
            "status": state.said,
        }
        words = (
            f"Clarabel: {state.said} after {state.iterations} iterations on "
            f"{state.variables} variables"
        )
        if state.unbounded:
            why = "the dual grows without bound, so no β solves it"
            if "DualInfeasible" not in state.said:
                why = "but the hulls of the classes meet, as far as float64 can tell"
            return Step(f"{words}: {why}.", numbers, points)
        beta = state.beta
        model = model_of(problem, beta, state.gradient)
        low, high = beta == problem.lower, beta == problem.upper
        kink = (beta == 0.0) & ~low & ~high & (problem.epsilon > 0.0)
        free = int((inside & ~low & ~high & ~kink).sum())
        numbers |= {
            "at_lower": int((inside & low).sum()),
            "at_upper": int((inside & high).sum()),
            "at_kink": int((inside & kink).sum()),
            "free": free,
            "rounds": state.rounds,
            "violation_before": state.before,
            "violation": state.after,
            "gained": state.before - state.after,
            "dual": dual_value(problem, beta, state.gradient),
            "b": model.bias,
        }
        ends = f"{numbers['at_lower']} are at the lower end of their box, "
        ends += f"{numbers['at_upper']} at the upper end"
        if problem.epsilon > 0.0:
            ends += f", {numbers['at_kink']} at 0 inside it"
        again = (
            f"the violation is {state.after:.3g}, and solving the {free} free ones again "
            "gains nothing"
        )
        if state.rounds:
            count = f"{state.rounds} round" + ("s" if state.rounds > 1 else "")
            again = (
                f"the free ones, {free} in the end, were solved again in {count}, which "
                f"took the violation from {state.before:.3g} to {state.after:.3g}"
            )
        return Step(
            f"{words}. {ends}; {again}. New b = {model.bias:.6g}, "
            f"dual {numbers['dual']:.6g}.",
            numbers,
            points,
        )

    def n_iter(self, state: State) -> int:
        """Iterations of Clarabel."""
        return state.iterations

    def _verdict(self, state: State) -> Status:
        # Not remembered: a finished run may be asked again with a smaller tol.
        if not state.done:
            return Status.RUNNING
        if state.unbounded:
            return Status.UNBOUNDED
        if state.after <= self.tol:
            return Status.CONVERGED
        return Status.MAX_ITER if state.said == "MaxIterations" else Status.STALLED

    def _solve(self, problem: Problem, state: State) -> None:
        """The one unit."""
        clarabel = load_extra("clarabel", extra="qp", purpose="solver='qp'")
        Q = _matrix(problem)
        _refuse_indefinite(problem, Q)
        limit = self.max_iter if self.max_iter > 0 else _DEFAULT_LIMIT
        answer = _by_clarabel(clarabel, problem, Q, limit)
        state.said, state.iterations = answer.said, answer.iterations
        state.variables, state.done = answer.variables, True
        # A finite box bounds β, and a ridge its value: there, only rounding can say so.
        if problem.hard and "DualInfeasible" in answer.said:
            state.unbounded = True
            return
        if not np.isfinite(answer.beta).all() or "Infeasible" in answer.said:
            beta, rounds = state.beta, 0  # nothing to use: STALLED, if β is not optimal
            state.before = violation(problem, beta, Q @ beta + problem.p)
        else:
            start = snapped(problem, answer.beta)
            state.before = violation(problem, start, Q @ start + problem.p)
            beta, rounds = resolved(problem, Q, start, state.before)
        state.beta[:], state.rounds = beta, rounds
        state.gradient[:] = Q @ beta + problem.p
        state.started = True
        state.after = violation(problem, beta, state.gradient)
        if problem.separating and state.after > self.tol:
            everyone = np.arange(problem.n, dtype=np.intp)
            size = float(np.sqrt(problem.diagonal.max(initial=0.0)))
            state.unbounded = hulls_meet(problem, beta, state.gradient, everyone, size)


def _matrix(problem: Problem) -> Matrix:
    """K + diag(r), whole."""
    everyone = np.arange(problem.n, dtype=np.intp)
    Q = np.empty((problem.n, problem.n))
    problem.gram.block(everyone, everyone, Q)
    Q[everyone, everyone] += problem.ridge
    if not np.isfinite(Q).all():
        msg = (
            "kernel values overflow float64: scale the features (StandardScaler), or "
            "reduce gamma and degree"
        )
        raise NumericalError(msg)
    return Q


def _refuse_indefinite(problem: Problem, Q: Matrix) -> None:
    """An interior-point method needs a convex programme.

    Q + δI has a Cholesky factor when no eigenvalue is below −δ, at a tenth of the cost
    of the eigenvalues, which only the message needs.
    """
    largest = float(np.abs(problem.diagonal).max(initial=0.0))
    delta = _INDEFINITE * (largest or float(np.abs(Q).max(initial=0.0)))
    try:
        np.linalg.cholesky(Q + max(delta, np.finfo(float).tiny) * np.eye(problem.n))
    except np.linalg.LinAlgError as failed:
        lowest = float(np.linalg.eigvalsh(Q)[0])
        if lowest >= -delta:
            return  # rounding in the factor
        msg = (
            f"solver='qp' needs a positive semi-definite kernel, and the smallest "
            f"eigenvalue of this matrix is {lowest:.3g}: use solver='smo' or "
            "'smo-platt', which stop at a local optimum, or another kernel"
        )
        raise InputError(msg) from failed


def _units(problem: Problem, Q: Matrix) -> tuple[float, float]:
    """Units of β and of the gradient in which the programme has numbers of about 1.

    β is measured in box widths, or in the β at which Kβ comes up to p where that is less
    (large C): Clarabel's tolerances are partly absolute.
    """
    width = problem.upper - problem.lower
    widest = float(width[np.isfinite(width)].max(initial=0.0)) or np.inf
    price = float(np.abs(problem.p).max()) + problem.epsilon
    curvature = float(Q.diagonal().mean())
    unit = min(widest, price / curvature if price * curvature > 0.0 else np.inf)
    if not np.isfinite(unit):
        return 1.0, 1.0
    return unit, price or curvature * unit or 1.0


def _by_clarabel(clarabel: Any, problem: Problem, Q: Matrix, limit: int) -> Answer:
    """The programme in Clarabel's form: min ½x'Px + q'x, Ax + s = b, s in a cone."""
    beta = problem.lower.copy()
    inside = np.flatnonzero(problem.lower < problem.upper)
    beta[inside] = 0.0
    n = inside.size
    if n == 0:
        return Answer(beta, "Solved", 0, 0)
    unit, price = _units(problem, Q)
    q = (Q @ beta + problem.p)[inside] / price
    P = sp.csc_matrix(np.triu(Q[np.ix_(inside, inside)]) * (unit / price))
    one = sp.identity(n, format="csr")
    sums = [(problem.side[inside] == s).astype(float) for s in range(len(problem.sums))]
    rest = [t - float(beta[problem.side == s].sum()) for s, t in enumerate(problem.sums)]
    kept = [s for s, row in enumerate(sums) if row.any()]
    top, low = problem.upper[inside], problem.lower[inside]
    capped, based = np.isfinite(top), np.isfinite(low)
    rows = [sp.csr_matrix(sums[s][None, :]) for s in kept] + [one[capped], -one[based]]
    right = [np.array([rest[s] for s in kept]), top[capped], -low[based]]
    A = sp.vstack(rows)
    if problem.epsilon > 0.0:  # β⁻: −β⁻ ≤ 0 and −β − β⁻ ≤ 0
        nothing = sp.csr_matrix((A.shape[0], n))
        A = sp.bmat([[A, nothing], [None, -one], [-one, -one]])
        epsilon = problem.epsilon / price
        P = sp.block_diag([P, sp.csc_matrix((n, n))])
        q = np.concatenate([q + epsilon, np.full(n, 2.0 * epsilon)])
        right.append(np.zeros(2 * n))
    b = np.concatenate(right) / unit
    cones = [clarabel.ZeroConeT(len(kept))] if kept else []
    cones.append(clarabel.NonnegativeConeT(b.size - len(kept)))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_iter = limit
    settings.max_threads = 1  # the same bits on every machine of a kind
    if not problem.hard:  # there is a bound: what looks like a proof is rounding
        settings.tol_infeas_abs = settings.tol_infeas_rel = 0.0
        settings.reduced_tol_infeas_abs = settings.reduced_tol_infeas_rel = 0.0
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = _TIGHT
    found = clarabel.DefaultSolver(
        sp.csc_matrix(P), q, sp.csc_matrix(A), b, cones, settings
    ).solve()
    beta[inside] = np.array(found.x)[:n] * unit
    return Answer(beta, str(found.status), int(found.iterations), q.size)
