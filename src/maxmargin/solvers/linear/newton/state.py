r"""Shared by Newton's methods: the state, a step along a direction, the gap, the stop.

For the β = −loss'(f) of w, :math:`\beta_i = \pm e_i/r_i`,

.. math:: P(w, b) - D(\beta) = \tfrac12\|w - X^\top\beta\|^2 - b\sum\beta
          = \tfrac12\|\nabla P(w)\|^2 \quad\text{where } \sum\beta = 0,

so that the gradient is the certificate, free of the cancellation in P − D.

With many more rows than columns the first steps are taken on an eighth of the rows, drawn
at random; each counts eight times (and before that on an eighth of these). These steps
find the active rows at a fraction of the cost. When a step gains little, all rows are
used. The draw depends on n alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from maxmargin.design.hessian import factor_of
from maxmargin.design.products import dot
from maxmargin.errors import OVERFLOW, NumericalError
from maxmargin.problem import LinearModel
from maxmargin.solvers.base import Status
from maxmargin.solvers.linear.newton.line_search import balance, search
from maxmargin.solvers.linear.newton.predicted_dual import (
    PredictedDual,
    Proof,
    predicted_dual,
)
from maxmargin.solvers.linear.newton.squared import Loss, loss_of
from maxmargin.solvers.linear.warm_start import with_weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin._arrays import Index, Matrix, Vector
    from maxmargin.problem import LinearProblem, WarmStart
    from maxmargin.solvers.linear.newton.smooth import Smooth
    from maxmargin.solvers.linear.newton.sums import Sums

_GROWTH = 8  # policy: factor of rows from one level to the next
_ROWS = 8  # policy: rows a column that a sample of the rows has at least
_FEWEST = 2000  # policy: rows that it has at least
_ROUGH = 0.1  # policy: share of P; a smaller gain of a step ends the sample
_LONGEST = 10  # policy: steps on one sample at most
_SOON = (
    16.0  # policy: times the gap accepted; a smaller gain may be that of the last step
)
_TRUSTED = 1e-10  # rounding: share of P; a smaller P − D is not trusted
_STILL = 1e-13  # rounding: share of P; a smaller gain counts as none
_PATIENCE = 5  # policy: steps in a row without gain or smaller gap before STALLED


class Iterate(Protocol):
    """The fields of a state that a step along a direction reads and changes."""

    loss: Any
    w: Vector
    bias: float
    z: Vector
    beta: Vector
    pull: Vector
    rows: Index


@dataclass(slots=True)
class NewtonState:
    """Iterate and figures. ``z`` and ``beta`` have an entry for every row in play."""

    whole: Loss | Smooth  # of all rows
    loss: Loss | Smooth  # of those in play
    w: Vector
    bias: float
    z: Vector  # −(f + p)
    beta: Vector  # −loss'(f)
    pull: Vector  # X'β
    depth: NDArray[np.uint8]  # of every row: in play at this level and below
    level: int  # 0: all rows are in play
    rows: Index  # rows in play
    fresh: bool = False  # whether β, X'β and the figures belong to this w
    still: int = 0  # steps in a row that gained only rounding
    here: int = 0  # steps with these rows
    steps: int = 0
    primal: float = np.inf
    gap: float = np.inf
    best: float = np.inf
    proof: Proof | None = None  # a β with a smaller gap, which is then ``gap``
    last: dict[str, float] = field(default_factory=dict)


def begin(problem: LinearProblem, name: str, warm: WarmStart | None) -> NewtonState:
    """Start at w = 0 on a sample of the rows; on all rows at the given w, or at X'β."""
    design, n = problem.design, problem.n
    everyone = np.arange(n)
    loss = loss_of(problem, name)
    w, z = np.zeros(design.width), -problem.p
    at = NewtonState(
        loss, loss, w, 0.0, z, np.zeros(n), w, np.zeros(0, np.uint8), 0, everyone
    )
    warm = with_weights(problem, warm)
    if warm is not None and warm.w is not None and warm.w.any():
        at.w, at.bias = warm.w.copy(), warm.bias if problem.free else 0.0
        at.z -= design.times(at.w, everyone)
        at.z -= at.bias
        return at
    if warm is not None and warm.beta.any():
        beta = warm.beta
        if problem.boxed:
            beta = np.clip(beta, problem.lower, problem.upper)
        at.w = design.back(beta, everyone)
        at.z -= design.times(at.w, everyone)
        return at
    at.level, at.depth = levels(n, design.width)
    if at.level:
        _enter(problem, at)
    return at


def levels(n: int, width: int) -> tuple[int, NDArray[np.uint8]]:
    """How many times an eighth of the rows is taken, and the last level of every row."""
    level = 0
    while n // _GROWTH ** (level + 1) >= max(_FEWEST, _ROWS * width):
        level += 1
    depth = np.zeros(n if level else 0, np.uint8)
    if level:
        # Drawn, as every eighth row could be one class only.
        chance = np.random.default_rng(n).random(n, np.float32)
        for one in range(1, level + 1):
            depth += chance < 1.0 / _GROWTH**one
    return level, depth


def _enter(problem: LinearProblem, at: NewtonState) -> None:
    """Put the rows of the level into play."""
    at.rows = np.flatnonzero(at.depth >= at.level)
    count = at.rows.size
    at.loss, p = at.whole, problem.p
    if at.level:
        at.loss, p = at.whole.of(at.rows), p[at.rows]
    at.z = -p
    if at.w.any():
        at.z -= problem.design.times(at.w, at.rows)
    at.z -= at.bias
    at.beta, at.fresh, at.still, at.here = np.zeros(count), False, 0, 0


def refresh(problem: LinearProblem, at: NewtonState) -> None:
    """Compute β, X'β and the figures of w, unless they are known."""
    while not at.fresh:
        idle = np.zeros_like(at.z)
        sums = at.loss.look(problem.design.workers, at.z, idle, 0.0, at.beta)
        _weigh(problem, at, sums.paid)
        at.best, at.fresh = at.gap, True
        if at.level and at.gap == 0.0:  # nothing to be learnt from these rows
            at.level -= 1
            _enter(problem, at)


def _weigh(problem: LinearProblem, at: NewtonState, paid: float) -> None:
    """Compute the free intercept, X'β, P and the gap, from z and its β."""
    design, total = problem.design, 0.0
    if problem.free:
        ones = np.ones_like(at.z)
        t, sums = balance(at.loss, design.workers, at.z, ones, at.beta)
        at.z -= t
        at.bias += t
        paid, total = sums.paid, sums.total
    at.pull, at.proof = design.back(at.beta, at.rows), None
    gradient = at.w - at.pull
    at.primal = 0.5 * dot(at.w, at.w) + paid
    at.gap = 0.5 * dot(gradient, gradient) + abs(at.bias * total)
    if not np.isfinite(at.primal + at.gap):
        raise NumericalError(OVERFLOW)


def direction(problem: LinearProblem, at: Iterate, H: Matrix) -> tuple[Vector, float]:
    """S with Hs = −∇P, and the change of the free intercept that goes with it."""
    factor, mean = factor_of(H, free=problem.free)
    s = factor.solve(at.pull - at.w)
    return s, 0.0 if mean is None else -float(mean @ s)


def take(
    problem: LinearProblem, at: Iterate, s: Vector, shift: float
) -> tuple[float, float, Vector, Sums]:
    """Take the best step along (s, shift): its length, first slope, Xs, and sums."""
    slope, u = dot(at.w - at.pull, s), problem.design.times(s, at.rows)
    u += shift
    line = slope, dot(at.w, s), dot(s, s)
    t, sums = search(at.loss, problem.design.workers, at.z, u, line, at.beta)
    at.w = at.w + t * s
    at.bias += t * shift
    at.z -= t * u
    return t, slope, u, sums


def move(
    problem: LinearProblem, at: NewtonState, s: Vector, shift: float, hope: float = 0.0
) -> None:
    """Take the best step along (s, shift); then more rows, if it gained little.

    ``hope`` is the relative gap accepted, given with a direction that solves Newton's
    equation to rounding; 0 with others.
    """
    origin, before, old = at.w, at.primal, at.beta.copy()
    t, slope, u, sums = take(problem, at, s, shift)
    _weigh(problem, at, sums.paid)
    near = -slope <= _SOON * hope * before and at.gap > hope * at.primal
    # A free intercept would demand Σβ = 0 of β⁺.
    if near and not at.level and isinstance(at.loss, Loss) and not problem.free:
        ahead = predicted_dual(problem, at.loss, old, u)
        _prove(problem, at, ahead, origin + s, hope)
    gain = before - at.primal
    at.steps += 1
    at.here += 1
    at.last = {
        "t": t, "slope": slope, "gain": gain, "rows": at.z.size, "primal": at.primal,
        "gap": at.gap, "active": int(np.count_nonzero(at.beta)),
        "changed": int(np.count_nonzero((old != 0.0) != (at.beta != 0.0))),
    }  # fmt: skip
    tiny = gain <= _STILL * at.primal and at.gap > 0.5 * at.best
    at.still = at.still + 1 if tiny else 0
    at.best = min(at.best, at.gap)
    if at.level and (gain <= _ROUGH * at.primal or at.here >= _LONGEST):
        at.level -= 1
        _enter(problem, at)


def _prove(
    problem: LinearProblem,
    at: NewtonState,
    ahead: PredictedDual,
    pull: Vector,
    hope: float,
) -> None:
    """Use β⁺ for the gap, if that makes the gap small enough.

    ``pull`` is X'β⁺ up to the β that were cut off: the exact one, a pass over X, is made
    only if this one promises to be enough.
    """
    if at.primal - ahead.dual(pull) <= hope * at.primal:
        pull = problem.design.back(ahead.beta, at.rows)
        gap = at.primal - ahead.dual(pull)
        if _TRUSTED * at.primal < gap < at.gap:
            at.proof, at.gap = Proof(ahead.beta, pull), gap


def verdict(problem: LinearProblem, at: NewtonState, tol: float) -> Status:
    """CLOSED, STALLED or RUNNING, of fresh figures."""
    refresh(problem, at)
    if at.level:
        return Status.RUNNING
    if at.gap <= tol * at.primal:
        return Status.CLOSED
    return Status.STALLED if at.still >= _PATIENCE else Status.RUNNING


def report(problem: LinearProblem, at: NewtonState) -> tuple[str, dict[str, float]]:
    """Describe the last step in words and numbers."""
    last, where = at.last, rows_in_words(problem, at.last)
    relative = last["gap"] / last["primal"] if last["primal"] > 0.0 else 0.0
    words = (
        f"Newton step {at.steps} on {where}: {last['t']:.4g} of the step proposed is "
        f"best; P falls by {last['gain']:.4g} to {last['primal']:.6g}, the relative gap "
        f"is {relative:.3g}, {last['active']:.0f} rows are active, {last['changed']:.0f} "
        "changed sides."
    )
    return words, {"step": at.steps, **last, "relative_gap": relative}


def rows_in_words(problem: LinearProblem, last: dict[str, float]) -> str:
    """All rows, or how many of them stand for all."""
    rows = int(last["rows"])
    if rows < problem.n:
        return f"{rows} rows, which stand for all {problem.n}"
    return f"all {rows} rows"


def bias_of(problem: LinearProblem, at: Iterate) -> float:
    """The intercept: free, the weight of the constant column, or 0."""
    if problem.design.scaling:
        return float(at.w[-1]) * problem.design.scaling
    return at.bias if problem.free else 0.0


def model_of(problem: LinearProblem, at: NewtonState) -> LinearModel:
    """The current w, and its β or the better predicted one."""
    design, bias = problem.design, bias_of(problem, at)
    if at.fresh and not at.level:
        outputs = -at.z - problem.p
        beta, pull = at.beta, at.pull
        if at.proof is not None:
            beta, pull = at.proof.beta, at.proof.pull
        return LinearModel(at.w.copy(), bias, beta.copy(), outputs, pull.copy())
    everyone = np.arange(problem.n)
    outputs = design.times(at.w, everyone)
    if problem.free:
        z = -(problem.p + outputs)
        bias, _ = balance(at.whole, design.workers, z, np.ones_like(z), np.empty_like(z))
        outputs += bias
    beta = problem.loss.answer(outputs)
    return LinearModel(at.w.copy(), bias, beta, outputs, design.back(beta, everyone))
