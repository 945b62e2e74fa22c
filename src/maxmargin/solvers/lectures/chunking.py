r"""Chunking: the programme of the support vectors and one chunk of the data at a time.

Problem: the template of :mod:`maxmargin.problem`, n points, any kernel.

Update: rows and columns of K with β = 0 do not matter to the dual, so a programme of the
support vectors and of those points that are not yet where they should be is enough. The
eight steps of the lecture (S4, after V. Vapnik, 1982):

1. select a chunk of the training vectors;
2. solve the QP of this subset;
3. retain only the support vectors, β ≠ 0;
4. consider another chunk of the data;
5. ignore those that lie on the correct side of the margin: with b of the current support
   vectors, F↑ + b ≥ −tol/2 and F↓ + b ≤ tol/2, where

   .. math:: F_i = \sum_{j \in SV} K_{ij}\beta_j + r_i\beta_i + p_i

6. add the remainder to the current support vectors and solve the new QP;
7. return to step 4;
8. until the support vectors do not change: for a whole round of the data.

Step 5 of the lecture says "the subset of vectors in all chunks considered so far": those
of earlier chunks were ignored for another β, so none is ignored for good; a round looks
at all of them again. Steps 1 and 2 are steps 4 to 6 without a support vector.

Stop: a round in which no β changed, and a violation ≤ tol over all points, every gradient
of which was computed in that round in float64.

Cost: a round is n·(support vectors) kernel values; a QP has the block of K of its subset
in memory, of which only the rows of newcomers are computed: O((n_sv + chunk)²), never n².

References: V. Vapnik, "Estimation of Dependences Based on Empirical Data", 1982, addendum
I; B. Boser, I. Guyon and V. Vapnik, COLT 1992. QPs by :mod:`maxmargin.solvers.smo.pairs`.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np

from maxmargin.errors import OVERFLOW, InputError, InputTypeError, NumericalError
from maxmargin.problem import (
    Model,
    Problem,
    WarmStart,
    dual_value,
    model_of,
    scores,
    violation,
)
from maxmargin.solvers.base import Measures, Status, Steppable
from maxmargin.solvers.feasible import default_limit, feasible
from maxmargin.solvers.lectures.chunk_state import Block, State, story
from maxmargin.solvers.lectures.subsets import (
    add_products,
    attainable,
    middles,
    overlap_shown,
    pair_steps,
    restricted,
)
from maxmargin.solvers.smo import pairs as _pairs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin._arrays import Index, Vector
    from maxmargin.solvers.step import Step

_DOUBLE = np.dtype(np.float64)
_INNER = 0.25  # policy: share of tol, the violation to which a QP is solved
_CHEAP = 1 << 22  # policy: operations that measure() may spend on a gradient


@dataclass(frozen=True)
class Chunking(Steppable):
    """Vapnik's chunking.

    Parameters
    ----------
    chunk : int
        Points looked at in one unit, at least 1.
    tol : float
        Largest violation accepted.
    max_iter : int
        Pair steps of the QPs at most; −1 for the default of 10⁷ or 100·n.
    cache_bytes : int
        Memory for the block of K of a QP; a larger subset is an error.
    """

    chunk: int = 100
    tol: float = 1e-3
    max_iter: int = -1
    cache_bytes: int = 200 << 20
    criterion = "violation"
    unit = "chunk"
    solves = Problem

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.chunk, bool) or not isinstance(self.chunk, Integral):
            msg = f"chunk={self.chunk!r}: it counts points and must be an integer"
            raise InputTypeError(msg)
        if self.chunk < 1:
            msg = f"chunk={self.chunk}: it counts points and must be at least 1"
            raise InputError(msg)

    def start(self, problem: Problem, warm: WarmStart | None = None) -> State:
        """β = 0 or the repaired ``warm``, whose support begins as the current one."""
        beta = feasible(problem, warm)
        support = np.flatnonzero(beta)
        self._check_memory(support.size, support.size)
        sums = max(1, len(problem.sums))
        return State(
            beta=beta,
            gradient=problem.p.copy(),
            diagonal=problem.diagonal + problem.ridge,
            support=support,
            block=Block(),
            ends=np.tile([np.inf, -np.inf], (sums, 1)),
            bounding=np.full((sums, 2), -1, np.intp),
            subset=np.empty(0, np.intp),
            local=np.empty(0),
        )

    def advance(self, problem: Problem, state: State, budget: int) -> Status:
        """At most ``budget`` chunks.

        A QP of more than some 30 ms, counted in operations, takes several units: a run
        can be stopped within it.
        """
        for _ in range(budget):
            status = self._unit(problem, state)
            if status is not Status.RUNNING:
                return status
        return Status.RUNNING

    def measure(self, problem: Problem, state: State) -> Measures:
        """The dual is always known, from the support vectors.

        Primal and violation take the gradients of all points: they are known when those
        are known or cheap, and are infinite otherwise.
        """
        support = int(np.count_nonzero(state.beta))
        work = problem.n * support * max(1.0, problem.gram.cost)
        if not self._complete(problem, state) and work > _CHEAP:
            return Measures(np.inf, state.report.dual, np.inf)
        return problem.measures(self.model(problem, state))

    def model(self, problem: Problem, state: State) -> Model:
        """The current β; gradients not known are computed here, n·n_sv kernel values."""
        if self._complete(problem, state):
            return model_of(problem, state.beta.copy(), state.gradient.copy())
        gradient = problem.p.copy()
        add_products(problem, state.beta, gradient)
        return model_of(problem, state.beta.copy(), gradient)

    def explain(self, problem: Problem, state: State) -> Step:
        """The last chunk: the points outside the margin condition, and the QP."""
        return story(problem, state)

    def n_iter(self, state: State) -> int:
        """Pairs moved."""
        return state.pairs

    # -- one unit -------------------------------------------------------------------

    def _unit(self, problem: Problem, state: State) -> Status:
        state.report = state.report._replace(
            looked=0, outside=0, members=0, pairs=0, gain=0.0, bytes=0
        )
        if not state.solving:
            self._consider(problem, state)
        if state.solving:
            status = self._solve(problem, state)
            if status is not Status.RUNNING or state.solving:
                return status
        return Status.RUNNING if state.quiet < problem.n else self._judge(problem, state)

    def _consider(self, problem: Problem, state: State) -> None:
        """Steps 4 and 5: check the next chunk, find the points outside."""
        n = problem.n
        points = (state.next + np.arange(min(self.chunk, n), dtype=np.intp)) % n
        state.next = (state.next + points.size) % n
        state.looked = points.size
        first, state.chunks = state.chunks == 0, state.chunks + 1
        support = state.support
        if first and support.size:  # their own gradients are not known either
            points = np.union1d(points, support)
        self._evaluate(problem, state, points)
        if first:
            self._extend(problem, state, support)
        outside = points[self._outside(problem, state, points)]
        self._extend(problem, state, points)
        dual = self._dual(problem, state, support, state.gradient[support])
        state.report = state.report._replace(
            chunk=state.chunks,
            looked=points.size,
            outside=outside.size,
            dual=dual,
            before=support.size,
            support=support.size,
        )
        if outside.size:
            self._pose(problem, state, outside)
        else:
            state.quiet += state.looked

    def _pose(self, problem: Problem, state: State, outside: Index) -> None:
        """Step 6, first half: the subset of the next QP.

        Those that bound b go along. If the worst violation seen since β changed exceeds
        what the QP stops at, the pair that has it is in the subset, so β will change; if
        not, it does not matter that β stays.
        """
        extra = outside
        if problem.sums:
            extra = np.concatenate([outside, state.bounding[state.bounding >= 0]])
        new = np.unique(extra[state.beta[extra] == 0.0])  # the others are in already
        subset = np.concatenate([state.support, new])
        self._check_memory(subset.size, state.support.size)
        state.subset, state.local = subset, state.gradient[subset]
        state.solving, state.moved = True, 0

    def _solve(self, problem: Problem, state: State) -> Status:
        """Steps 2, 6 and 3: the QP of the subset, and retaining its support vectors."""
        subset = state.subset
        q = subset.size
        diagonal = state.diagonal[subset]
        K = state.block.of(problem.gram, subset, diagonal)
        beta = state.beta[subset]
        limit = self.max_iter if self.max_iter >= 0 else default_limit(problem.n)
        code, done, gain = pair_steps(
            problem, subset, K, diagonal, beta, state.local,
            stop_at=attainable(_INNER * self.tol, state.local), left=limit - state.pairs,
        )  # fmt: skip
        state.beta[subset] = beta
        state.gradient[subset] = state.local
        state.pairs += done
        state.moved += done
        kept = np.flatnonzero(beta)
        report = state.report
        state.report = report._replace(
            members=q, pairs=done, gain=gain,
            dual=self._dual(problem, state, subset, state.local), support=kept.size,
            peak_members=max(report.peak_members, q), bytes=8 * q * q,
            peak_bytes=max(report.peak_bytes, 8 * q * q),
        )  # fmt: skip
        overlap = overlap_shown(problem, state.beta, subset, state.local)
        if overlap or code == _pairs.UNBOUNDED:
            return Status.UNBOUNDED
        if code == _pairs.PAUSED:
            return Status.MAX_ITER if state.pairs >= limit else Status.RUNNING
        # STUCK is an optimum too, as far as float64 can tell; _judge has the last word.
        state.solving = False
        state.support = subset[kept]
        state.block.retain(kept)
        if state.moved:  # what was seen of other points is void
            self._forget(state)
            self._extend(problem, state, subset)
            state.quiet, state.tried = 0, False
        else:
            state.quiet += state.looked
        return Status.RUNNING

    def _judge(self, problem: Problem, state: State) -> Status:
        """Step 8: a whole round without a change of β. Is it the optimum?

        It is, but for rounding. With m = −b the middle of the extremes (min F↑, max F↓)
        of all points seen since β changed, and v = max F↓ − min F↑ ≤ tol, all of these
        have F↑ ≥ m − tol/2 and F↓ ≤ m + tol/2. An ignored point has as well, so v ≤ tol
        still holds with it. One that is not ignored is given to a QP together with the
        points of the extremes: either v, with it, exceeds what the QP stops at, tol/4,
        and β changes, or v ≤ tol/4. After a QP that changed β, v ≤ tol/4 over its subset.
        Without a sum, m is 0 and the same holds of max(−F↑, F↓) ≤ tol/2.
        """
        worst = violation(problem, state.beta, state.gradient)
        if worst <= self.tol:
            return Status.CONVERGED
        if state.tried:
            return Status.STALLED
        # Rounding: a QP was stuck, or solved with gradients that had drifted. The worst
        # pair of all points, whose gradients are new, has one more try.
        state.tried, state.looked = True, 0
        self._forget(state)
        everyone = np.arange(problem.n, dtype=np.intp)
        self._extend(problem, state, everyone)
        self._pose(problem, state, np.unique(state.bounding[state.bounding >= 0]))
        return Status.RUNNING

    # -- parts of it ----------------------------------------------------------------

    def _evaluate(self, problem: Problem, state: State, points: Index) -> None:
        """F of some points, from the support vectors alone."""
        F = problem.p[points] + problem.ridge[points] * state.beta[points]
        support = state.support
        if support.size:
            problem.gram.apply(points, support, state.beta[support], F, _DOUBLE)
        if not np.isfinite(F).all():
            raise NumericalError(OVERFLOW)
        state.gradient[points] = F

    def _outside(
        self, problem: Problem, state: State, points: Index
    ) -> NDArray[np.bool_]:
        """Who is not within tol/2 of the margin condition; all, while b is unknown."""
        part = restricted(problem, points)
        up, low = scores(part, state.beta[points], state.gradient[points])
        middle = np.zeros(points.size)
        if problem.sums:
            unknown = ~np.isfinite(state.ends).any(axis=1)
            middle = np.where(unknown, np.nan, middles(state.ends))[part.side]
        slack = 0.5 * self.tol
        within = (up >= middle - slack) & (low <= middle + slack)  # never beside nan
        return ~within & (np.isfinite(up) | np.isfinite(low))

    def _forget(self, state: State) -> None:
        state.ends[:], state.bounding[:] = (np.inf, -np.inf), -1

    def _extend(self, problem: Problem, state: State, points: Index) -> None:
        """Bring the extremes of F↑ and F↓ up to date with some points."""
        if not points.size:
            return
        part = restricted(problem, points)
        up, low = scores(part, state.beta[points], state.gradient[points])
        for side, ends in enumerate(state.ends):
            mine = part.side == side
            rise, fall = np.where(mine, up, np.inf), np.where(mine, low, -np.inf)
            lowest, highest = int(rise.argmin()), int(fall.argmax())
            if rise[lowest] < ends[0]:
                ends[0], state.bounding[side, 0] = rise[lowest], points[lowest]
            if fall[highest] > ends[1]:
                ends[1], state.bounding[side, 1] = fall[highest], points[highest]

    def _dual(self, problem: Problem, state: State, points: Index, F: Vector) -> float:
        """The dual, of which ``points`` hold all that is not 0."""
        part = restricted(problem, points)
        return dual_value(part, state.beta[points], F) + 0.0  # for −0

    def _complete(self, problem: Problem, state: State) -> bool:
        """Whether ``gradient`` is that of all points."""
        return state.quiet >= problem.n and not (state.solving and state.moved)

    def _check_memory(self, q: int, support: int) -> None:
        if 8 * q * q > self.cache_bytes:
            msg = (
                f"chunking stores the kernel matrix of its subset: {q} points ({support} "
                f"of them support vectors) need {8 * q * q / 2**20:.3g} MB, cache_bytes "
                f"allows {self.cache_bytes / 2**20:.3g}; raise cache_size, or use "
                "solver='decomposition' or 'smo'"
            )
            raise InputError(msg)
