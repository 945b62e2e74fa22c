r"""Crammer and Singer's machine by proximal points, each by Newton's method: few weights.

Problem: :class:`~maxmargin.problem.linear_crammer_singer.LinearJointProblem`, rows dense
or sparse, K classes and D columns with K·D small.

Update. That of :mod:`~maxmargin.solvers.linear.newton.proximal_newton` with all classes
at once: around a centre β° the dual less :math:`\sum_i\|\beta_i-\beta°_i\|^2/2\kappa C_i`
is maximised; its primal is the loss with its edges rounded off
(:mod:`~maxmargin.solvers.linear.classes.rounded`), smooth in W, which Newton's method
minimises:

.. math:: H = I + \kappa\sum_i C_i\bigl(I_{S_i} - \tfrac1{|S_i|}11^\top\bigr)
          \otimes x_ix_i^\top,

:math:`S_i` the classes of row i whose β is not at its bound; Cholesky, and the exact
minimum along the direction. When :math:`\tfrac12\|W-\beta^\top X\|^2` is a tenth of the
duality gap, β becomes the centre and κ grows. A factor is exact for columns of
unlike size and rows far from the origin, where one row at a time is slow: unscaled wine,
C = 1, gap 1e-4: 30 steps; after 1000 epochs of visits the gap is still 0.999.

Stop: relative duality gap at most tol, that of W and of the β of the rounded loss. Where
rows are long, W is far better than β'X; in the end they differ only by rounding.

Cost of a step: 2nKD for the products, Σ|S_i|²D² for H (|S_i| is K at first and mostly 1
in the end, where a row costs nothing) and (KD)³/3 for the factor. 20 to 100 steps.
Memory: (KD)², and a few n × K.

References: R. T. Rockafellar, "Augmented Lagrangians and applications of the proximal
point algorithm in convex programming", Math. Oper. Res. 1, 1976; K. Crammer and Y.
Singer, "On the algorithmic implementation of multiclass kernel-based vector machines",
JMLR 2, 2001 (the programme).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from maxmargin.design.hessian import cholesky
from maxmargin.design.products import dot
from maxmargin.errors import OVERFLOW, InputError, NumericalError
from maxmargin.parallel import one_blas_thread
from maxmargin.problem import (
    LinearJointModel,
    LinearJointProblem,
    Objective,
    WarmStart,
)
from maxmargin.solvers.base import Measures, Status, Steppable
from maxmargin.solvers.classes.crammer_singer import feasible
from maxmargin.solvers.linear.classes.hessian import joint_curvature
from maxmargin.solvers.linear.classes.rounded import RoundedJoint, bending
from maxmargin.solvers.linear.newton.line_search import search
from maxmargin.solvers.linear.newton.proximal_schedule import (
    FIRST,
    GROWTH,
    is_eased,
    stands_still,
    verdict,
)
from maxmargin.solvers.linear.warm_start import moved_classes
from maxmargin.solvers.step import Step

if TYPE_CHECKING:
    from maxmargin._arrays import Table

_WIDEST = 4000  # policy: weights at most; a factor of so many takes seconds
_BEND = 1e5  # policy: largest κΣC‖x‖² at first; above it β of separable classes overshoot
_SEEN = 1e-8  # rounding: least κ; β moves by κC, which must not be lost beside C


@dataclass(slots=True)
class State:
    """The iterate: W of Newton's method, its β, and β'X."""

    W: Table
    centre: Table
    beta: Table
    pull: Table  # β'X
    z: Table  # −XW'
    kappa: float
    rest: float = 0.0  # ½‖W − β'X‖²
    both: Objective = field(default_factory=lambda: Objective(np.inf, -np.inf))
    still: int = 0  # steps in a row that gained only rounding
    centres: int = 0
    steps: int = 0
    last: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class JointNewton(Steppable):
    """All classes in one problem, by proximal points and Newton's method.

    Parameters
    ----------
    tol : float
        Relative duality gap accepted.
    max_iter : int
        Newton steps at most; −1 for 1000.
    """

    tol: float = 1e-4
    max_iter: int = -1
    criterion = "relative_gap"
    unit = "Newton step"
    solves = LinearJointProblem

    def start(self, problem: LinearJointProblem, warm: WarmStart | None = None) -> State:
        """Start at W = 0, or at β'X of the repaired ``warm``."""
        size = problem.n_classes * problem.design.width
        if size > _WIDEST:
            msg = (
                f"{problem.n_classes} classes of {problem.design.width} columns: "
                f"JointNewton factors a matrix of all {size} weights, at most {_WIDEST}; "
                "use LinearCrammerSinger"
            )
            raise InputError(msg)
        if not np.isfinite(problem.design.norms).all():
            raise NumericalError(OVERFLOW)
        given = None if warm is None else moved_classes(problem, warm)
        beta = feasible(problem, given)
        W = _weights(problem, beta)
        z, kappa = -_outputs(problem, W), _first(problem)
        state = State(W, beta, beta.copy(), W.copy(), z, kappa)
        _judge(problem, state)
        return state

    def advance(self, problem: LinearJointProblem, state: State, budget: int) -> Status:
        """At most ``budget`` steps."""
        with one_blas_thread():
            for _ in range(budget):
                status = verdict(state, self.tol, self.max_iter)
                if status is not Status.RUNNING:
                    return status
                if not state.steps:  # around the given β, with its own W
                    _answer(problem, state)
                _step(problem, state)
                _judge(problem, state)
                self._turn(problem, state)
        return verdict(state, self.tol, self.max_iter)

    def _turn(self, problem: LinearJointProblem, state: State) -> None:
        """Go on to another centre, where this one is done."""
        if is_eased(state, self.tol, state.kappa):
            state.centre = state.beta.copy()
            state.kappa *= GROWTH
            state.centres += 1
            _answer(problem, state)
            _judge(problem, state)

    def measure(self, problem: LinearJointProblem, state: State) -> Measures:
        """Figures of the current W and β."""
        return problem.measures(_model(problem, state))

    def model(self, problem: LinearJointProblem, state: State) -> LinearJointModel:
        """The current W and the β of its rounded loss."""
        shown = _model(problem, state)
        return shown._replace(
            W=shown.W.copy(), beta=shown.beta.copy(), pull=state.pull.copy()
        )

    def explain(self, problem: LinearJointProblem, state: State) -> Step:
        """Describe the last step: its length, and its centre."""
        if not state.steps:
            return Step("Nothing done yet.")
        last = state.last
        words = (
            f"Newton step {state.steps}, around centre {last['centre']:.0f} with κ = "
            f"{last['kappa']:.3g}: {last['t']:.4g} of the step proposed was best, "
            f"{last['inside']:.0f} of {problem.n} rows have classes that are not at "
            f"their bounds, ½‖W − β'X‖² is {state.rest:.3g}, the relative gap "
            f"{state.both.relative_gap:.3g}."
        )
        return Step(words, {"step": state.steps, **last})

    def n_iter(self, state: State) -> int:
        """Newton steps taken."""
        return state.steps


def _first(problem: LinearJointProblem) -> float:
    """The first κ: from a sum over rows, where a weight of 2 is the same as two rows."""
    bend = dot(problem.C, problem.design.norms)
    if not np.isfinite(bend):
        raise NumericalError(OVERFLOW)
    return max(_SEEN, min(FIRST, _BEND / bend)) if bend > 0.0 else FIRST


def _loss(problem: LinearJointProblem, state: State) -> RoundedJoint:
    return RoundedJoint(state.centre, problem.codes, problem.C, state.kappa)


def _weights(problem: LinearJointProblem, beta: Table) -> Table:
    """β'X, a line for every class."""
    design = problem.design
    return np.ascontiguousarray(design.by_class(design.back_classes(beta)))


def _outputs(problem: LinearJointProblem, W: Table) -> Table:
    """XW' of weights with a line for every class."""
    laid = np.ascontiguousarray(problem.design.by_class(W))
    return problem.design.times_classes(laid)


def _model(problem: LinearJointProblem, state: State) -> LinearJointModel:
    W, scaling = state.W, problem.design.scaling
    bias = scaling * W[:, -1] if scaling else np.zeros(problem.n_classes)
    return LinearJointModel(W, bias, state.beta, -state.z, state.pull)


def _judge(problem: LinearJointProblem, state: State) -> None:
    """Compute the figures of W and β."""
    apart = (state.W - state.pull).ravel()
    state.rest = 0.5 * dot(apart, apart)
    state.both = problem.objective(_model(problem, state))
    if not np.isfinite(state.both.primal):
        raise NumericalError(OVERFLOW)


def _answer(problem: LinearJointProblem, state: State) -> None:
    """Compute the β of W around the centre, and β'X."""
    nothing = np.zeros_like(state.z)
    loss, workers = _loss(problem, state), problem.design.workers
    loss.look(workers, state.z, nothing, 0.0, state.beta)
    state.pull = _weights(problem, state.beta)


def _step(problem: LinearJointProblem, state: State) -> None:
    """One Newton step on the rounded loss."""
    inside = bending(problem, state.beta)
    H = joint_curvature(problem, inside)
    H *= state.kappa
    diagonal = np.einsum("ii->i", H)
    diagonal += 1.0
    apart = (state.pull - state.W).ravel()
    s = cholesky(H).solve(apart)
    slope = -dot(apart, s)
    way = s.reshape(state.W.shape)
    u = _outputs(problem, way)
    line = slope, dot(state.W.ravel(), s), dot(s, s)
    loss, workers = _loss(problem, state), problem.design.workers
    t, _ = search(loss, workers, state.z, u, line, state.beta)
    state.W = state.W + t * way
    state.z = state.z - t * u
    state.pull = _weights(problem, state.beta)
    state.still = state.still + 1 if stands_still(state, -t * slope) else 0
    state.steps += 1
    state.last = {
        "t": t, "inside": int(np.count_nonzero(inside.any(axis=1))),
        "centre": state.centres, "kappa": state.kappa,
    }  # fmt: skip
