r"""Decomposition: a small working set B at a time, all other coefficients held fixed.

Problem: the template of :mod:`maxmargin.problem`, n points, any kernel.

Update. With β fixed outside B, what remains is a quadratic programme of q variables,

.. math:: \min_{\beta_B}\ \tfrac12 \beta_B^\top (K_{BB} + \mathrm{diag}(r_B)) \beta_B
          + (F_B - (K_{BB} + \mathrm{diag}(r_B)) \beta_B^{old})^\top \beta_B
          + \varepsilon\|\beta_B\|_1

within the box and with the sums of :math:`\beta_B^{old}`. Repeat:

1. *choose* B, the steepest feasible direction with q non-zero entries (Joachims): the
   q/2 points with the smallest price of rising F↑ and the q/2 with the largest gain of
   falling F↓, with two sums on the side that violates more, without a sum the q worst;
2. of the last B, points strictly inside their box stay, and then at most half of B is
   new (Osuna's swap): what a step has balanced is not undone by the next;
3. *solve* the programme of B by pairs (:mod:`maxmargin.solvers.smo.pairs`), to a
violation
   within B of tol/10 or a hundredth of the violation of all points, if that is more, and
   bring the change to all gradients, F += K[:, B]·Δβ.

Stop: violation ≤ tol, from a gradient that was computed anew in float64 with the last β.
B always holds the most violating pair and the violation exceeds what B is solved to, so
every step raises the dual (Osuna, Freund and Girosi, 1997: the objective falls), and the
method converges (C.-J. Lin, IEEE Transactions on Neural Networks 12, 2001).

Cost: n·q kernel values a step and O(n) to choose; memory O(q² + n): no kernel value
outlives its step. q = 2 is SMO with first-order pairs, q ≥ n a single programme.

References: E. Osuna, R. Freund and F. Girosi, "An improved training algorithm for support
vector machines", NNSP 1997; T. Joachims, "Making large-scale SVM learning practical",
1999, which is SVMlight.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from numbers import Integral
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from maxmargin.errors import OVERFLOW, InputError, InputTypeError, NumericalError
from maxmargin.problem import (
    Model,
    Problem,
    WarmStart,
    dual_value,
    extremes,
    model_of,
    scores,
    violation,
)
from maxmargin.solvers.base import Measures, Status, Steppable
from maxmargin.solvers.feasible import default_limit, feasible
from maxmargin.solvers.lectures.subsets import (
    SLICE,
    add_columns,
    attainable,
    counted,
    middles,
    overlap_shown,
    pair_steps,
)
from maxmargin.solvers.smo import pairs as _pairs
from maxmargin.solvers.step import Step

if TYPE_CHECKING:
    from maxmargin._arrays import Index, Vector

_SMALLEST, _LARGEST = 2, 1000  # policy: least and largest q allowed
_INNER = 0.1  # policy: share of tol, the violation to which the last B are solved
_EARLY = 0.01  # policy: share of the violation, to which earlier B are solved
_ROUNDS = 30  # policy: recomputed gradients that may disagree before it gives up


class Phase(Enum):
    """The beginning of the next unit."""

    GRADIENT = "compute the gradient of β from nothing"
    CHOOSE = "choose the next working set"
    SOLVE = "go on with the programme of the working set"


class Report(NamedTuple):
    """Numbers of the last unit; its ``points`` are read from the State."""

    set: int = 0
    members: int = 0
    entered: int = 0
    violation: float = np.inf  # before the step
    pairs: int = 0
    gain: float = 0.0
    dual: float = -np.inf  # after it


@dataclass(slots=True)
class State:
    """Everything the solver remembers.

    ``gradient`` is F of β; in ``Phase.SOLVE``, while a programme is under way, F of β
    with ``old`` at the ``members``, whose current F is ``local``.
    """

    beta: Vector
    gradient: Vector
    diagonal: Vector  # of K, with the ridge
    # the working set
    members: Index
    old: Vector
    local: Vector
    fresh: Vector  # a gradient under construction
    cursor: int = 0  # support vectors that are in it
    phase: Phase = Phase.GRADIENT
    started: bool = False  # a gradient is known
    exact: bool = False  # … and was computed anew since β last changed
    pairs: int = 0
    sets: int = 0
    set_pairs: int = 0  # those of the working set under way
    stop_at: float = 0.0  # violation at which its programme ends
    violation: float = np.inf  # of ``gradient``
    claimed: bool = False  # that it is within tol, wherefore F is computed anew
    rounds: int = 0  # claims that did not hold
    report: Report = field(default_factory=Report)


@dataclass(frozen=True)
class Decomposition(Steppable):
    """Decomposition into working sets of q points.

    Parameters
    ----------
    q : int
        Points of a working set, 2 … 1000; with fewer points in all, all of them.
    tol : float
        Largest violation accepted.
    max_iter : int
        Pair steps at most; −1 for the default of 10⁷ or 100·n.
    cache_bytes : int
        Memory for kernel values: 8q² bytes are needed.
    """

    q: int = 10
    tol: float = 1e-3
    max_iter: int = -1
    cache_bytes: int = 200 << 20
    criterion = "violation"
    unit = "working set"
    solves = Problem

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.q, bool) or not isinstance(self.q, Integral):
            msg = f"q={self.q!r}: it is the size of a working set and must be an integer"
            raise InputTypeError(msg)
        if not _SMALLEST <= self.q <= _LARGEST:
            msg = (
                f"q={self.q}: a working set has {_SMALLEST} to {_LARGEST} points (one "
                "alone cannot move under a sum); for larger ones use WorkingSetSmo"
            )
            raise InputError(msg)

    def start(self, problem: Problem, warm: WarmStart | None = None) -> State:
        """β = 0 or the repaired ``warm``; its gradient is computed by the first units."""
        q = min(self.q, problem.n)
        if 8 * q * q > self.cache_bytes:
            msg = (
                f"the kernel values of {q} points need {8 * q * q} bytes, cache_bytes "
                f"allows {self.cache_bytes}; use a smaller q, or a larger cache"
            )
            raise InputError(msg)
        return State(
            beta=feasible(problem, warm),
            gradient=problem.p.copy(),
            diagonal=problem.diagonal + problem.ridge,
            members=np.empty(0, np.intp),
            old=np.empty(0),
            local=np.empty(0),
            fresh=problem.p.copy(),
        )

    def advance(self, problem: Problem, state: State, budget: int) -> Status:
        """At most ``budget`` working sets.

        A gradient from nothing or a programme of more than some 30 ms, counted in
        operations, takes several units: a run can be stopped within it.
        """
        for _ in range(budget):
            status = self._unit(problem, state)
            if status is not Status.RUNNING:
                return status
        return Status.RUNNING

    def measure(self, problem: Problem, state: State) -> Measures:
        """Figures of the last β with a complete gradient; before the first, nothing."""
        if not state.started and state.beta.any():
            return Measures(np.inf, -np.inf, np.inf)
        beta = state.beta.copy()
        if state.phase is Phase.SOLVE:
            beta[state.members] = state.old
        return problem.measures(model_of(problem, beta, state.gradient))

    def model(self, problem: Problem, state: State) -> Model:
        """The current β; what its gradient lacks is computed here."""
        gradient = state.gradient.copy()
        if not state.started:
            support = np.flatnonzero(state.beta)
            add_columns(problem, support, state.beta[support], gradient)
        elif state.phase is Phase.SOLVE:
            self._fold(problem, state, gradient)
        return model_of(problem, state.beta.copy(), gradient)

    def explain(self, problem: Problem, state: State) -> Step:
        """The last working set: its points, the reason for them, and the gain."""
        report = state.report
        if not state.started and state.cursor == 0:
            return Step("Nothing done yet.")
        b = model_of(problem, state.beta, state.gradient).bias
        numbers = {**report._asdict(), "b": b}
        if not report.members:
            support = int(np.count_nonzero(state.beta))
            words = f"No working set is needed: the violation is {report.violation:.3g}."
            if state.phase is Phase.GRADIENT:
                words = f"Gradient anew: {state.cursor} of {support} support vectors."
            return Step(words, numbers)
        goes_on = " goes on" if state.set_pairs > report.pairs else ""
        words = (
            f"Working set {report.set}{goes_on}: {report.members} points, "
            f"{report.entered} of them new, for a violation of {report.violation:.3g}; "
            + counted(report.pairs, "pair")
            + f" raised the dual by {report.gain:.3g} to {report.dual:.8g}. "
            f"New b = {b:.4g}."
        )
        return Step(words, numbers, tuple(state.members.tolist()))

    def n_iter(self, state: State) -> int:
        """Pairs moved."""
        return state.pairs

    # -- one unit -------------------------------------------------------------------

    def _unit(self, problem: Problem, state: State) -> Status:
        state.report = state.report._replace(members=0, entered=0, pairs=0, gain=0.0)
        if state.phase is Phase.GRADIENT:
            status = self._refresh(problem, state)
            if status is not Status.RUNNING or state.phase is Phase.GRADIENT:
                return status
        if state.phase is Phase.CHOOSE:
            if state.exact and state.violation <= self.tol:
                return Status.CONVERGED  # a finished run that is asked again
            self._choose(problem, state)
        return self._solve(problem, state)

    def _refresh(self, problem: Problem, state: State) -> Status:
        """A slice of F = p + (K + ridge)β from nothing; then, whether all is done."""
        support = np.flatnonzero(state.beta)
        if state.cursor < support.size:
            each = problem.n * max(1.0, problem.gram.cost)
            some = support[state.cursor : state.cursor + max(1, int(SLICE / each))]
            add_columns(problem, some, state.beta[some], state.fresh)
            state.cursor += some.size
            if state.cursor < support.size:
                return Status.RUNNING
        state.gradient[:] = state.fresh
        state.started = state.exact = True
        state.phase = Phase.CHOOSE
        self._look(problem, state)
        if not state.report.members:
            state.report = state.report._replace(violation=state.violation)
        if state.violation <= self.tol:
            return Status.CONVERGED
        # F had drifted from K·β. If that happens time and again, rounding exceeds tol.
        state.rounds += state.claimed
        return Status.STALLED if state.rounds >= _ROUNDS else Status.RUNNING

    def _solve(self, problem: Problem, state: State) -> Status:
        """Pair steps on B, and its changes to all gradients."""
        members = state.members
        q = members.size
        K = np.empty((q, q))
        problem.gram.block(members, members, K)
        diagonal = state.diagonal[members]
        np.fill_diagonal(K, diagonal)
        beta = state.beta[members]
        limit = self.max_iter if self.max_iter >= 0 else default_limit(problem.n)
        code, done, gain = pair_steps(
            problem, members, K, diagonal, beta, state.local,
            stop_at=state.stop_at, left=limit - state.pairs,
        )  # fmt: skip
        state.beta[members] = beta
        state.pairs += done
        state.set_pairs += done
        state.report = state.report._replace(
            members=q, pairs=done, gain=gain, dual=state.report.dual + gain
        )
        if code == _pairs.UNBOUNDED:
            return Status.UNBOUNDED
        cut = code == _pairs.PAUSED
        if cut and state.pairs < limit:  # the programme goes on in the next unit
            overlap = overlap_shown(problem, state.beta, members, state.local)
            return Status.UNBOUNDED if overlap else Status.RUNNING
        self._fold(problem, state, state.gradient)
        state.phase, state.exact = Phase.CHOOSE, state.exact and state.set_pairs == 0
        self._look(problem, state)
        return Status.MAX_ITER if cut else self._judge(problem, state)

    def _judge(self, problem: Problem, state: State) -> Status:
        """After a step: go on, verify F, or give up."""
        everyone = np.arange(problem.n, dtype=np.intp)
        if overlap_shown(problem, state.beta, everyone, state.gradient):
            return Status.UNBOUNDED
        still = state.set_pairs == 0  # B held the most violating pair: rounding forbids
        if still and state.exact:
            return Status.STALLED
        state.claimed = state.violation <= self.tol
        if not (state.claimed or still):
            return Status.RUNNING
        state.phase, state.cursor = Phase.GRADIENT, 0
        state.fresh[:] = problem.p
        return self._refresh(problem, state)

    # -- parts of it ----------------------------------------------------------------

    def _choose(self, problem: Problem, state: State) -> None:
        """The next B, ascending, and the numbers of its step."""
        last = state.members
        members = choice(problem, state.beta, state.gradient, last, self.q)
        entered = int(np.setdiff1d(members, last, assume_unique=True).size)
        state.members = members
        state.old, state.local = state.beta[members], state.gradient[members]
        state.sets, state.set_pairs = state.sets + 1, 0
        # Every B solved to tol took two to four times the pairs, and hardly fewer sets.
        wanted = 0.0 if self.q >= problem.n else _EARLY * state.violation
        wanted = max(wanted, _INNER * self.tol)
        state.stop_at = attainable(wanted, state.gradient)
        state.phase = Phase.SOLVE
        state.report = state.report._replace(
            set=state.sets, entered=entered, violation=state.violation
        )

    def _look(self, problem: Problem, state: State) -> None:
        """The figures of a gradient that has just been completed."""
        if not np.isfinite(state.gradient).all():
            raise NumericalError(OVERFLOW)
        state.violation = violation(problem, state.beta, state.gradient)
        dual = dual_value(problem, state.beta, state.gradient) + 0.0  # for −0
        state.report = state.report._replace(dual=dual)

    def _fold(self, problem: Problem, state: State, gradient: Vector) -> None:
        """The changes of B into ``gradient``."""
        moved = np.flatnonzero(state.beta[state.members] != state.old)
        points = state.members[moved]
        add_columns(problem, points, state.beta[points] - state.old[moved], gradient)


def choice(problem: Problem, beta: Vector, F: Vector, last: Index, q: int) -> Index:
    """The working set that follows ``last``, ascending; at most q points.

    Points that cannot move at all are never in it.
    """
    size = min(q, problem.n)
    up, low = scores(problem, beta, F)
    ends = extremes(problem, up, low)
    middle = middles(ends)[problem.side] if problem.sums else np.zeros(problem.n)
    rise, fall = middle - up, low - middle  # what moving that way gains; −inf if barred
    merit = np.maximum(rise, fall)
    # Osuna: the free ones of the last set stay, and leave half of the places to others.
    stay = last[up[last] == low[last]]
    best = np.argsort(-merit[stay], kind="stable")
    stay = stay[best[: max(0, size - max(2, size // 2))]]
    free = np.isfinite(merit)
    free[stay] = False
    room = size - stay.size
    chosen = [stay]

    def admit(value: Vector, count: int) -> int:
        """The ``count`` largest finite values among those still free, at most."""
        at = np.flatnonzero(free & np.isfinite(value))
        count = min(count, at.size)
        if count <= 0:
            return 0
        found = at[np.argpartition(-value[at], count - 1)[:count]]
        free[found] = False
        chosen.append(found)
        return count

    if problem.sums:
        worst = int(np.argmax([fmax - fmin for fmin, fmax in ends]))
        mine = problem.side == worst
        # The worst of either kind comes first, be its merit lost in rounding.
        rises, falls = np.where(mine, rise, -np.inf), np.where(mine, fall, -np.inf)
        half = room // 2
        for value, places in ((rises, room - half), (falls, half)):
            top = value == value.max()
            room -= admit(np.where((value > 0.0) | top, value, -np.inf), places)
    admit(merit, room)
    return np.sort(np.concatenate(chosen))
