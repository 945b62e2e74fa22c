r"""Newton's method by preconditioned conjugate gradients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import cho_solve

from maxmargin.parallel import one_blas_thread
from maxmargin.solvers.base import Measures, Status, Steppable
from maxmargin.solvers.linear._curvature import curvature, factor_of
from maxmargin.solvers.linear._descent import (
    Standing,
    begin,
    model_of,
    move,
    refresh,
    stopped,
)
from maxmargin.solvers.linear._some_rows import back, squares, there_and_back
from maxmargin.solvers.linear._vectors import dot, forward, turn
from maxmargin.solvers.step import Step

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin.problem import LinearModel, LinearProblem

    Index = NDArray[np.intp]
    Matrix = NDArray[np.float64]
    Vector = NDArray[np.float64]

__all__ = ["NewtonCg"]

_NAME = "Newton's method"
_LIMIT = 100_000
_WIDEST = 4000  # columns of which a factor is made
_PASSES = 200  # width³ for every stored number, up to which one is
_SHARE = 64  # width²·rows for every stored number, that it may cost
_ROWS = 3  # rows a column that it is made from, at least
_MANY = 8  # iterations that say that the factor is too old
_LOOSE = 0.5
_MIX = 0.01  # of the diagonal, in the preconditioner


@dataclass(slots=True)
class Inner:
    """One run of conjugate gradients."""

    some: Index
    weight: Vector
    lean: Vector | None  # ΣD·x/ΣD, for a free intercept
    mass: float
    diagonal: Vector | None
    gradient: Vector
    s: Vector
    r: Vector
    d: Vector
    rz: float
    enough: float
    model: float = 0.0
    count: int = 0


@dataclass(slots=True)
class State:
    at: Standing
    factor: Any = None
    size: int = 0
    old: bool = False
    inner: Inner | None = None
    n_iter: int = 0
    last: int = 0


@dataclass(frozen=True)
class NewtonCg(Steppable):
    tol: float = 1e-4
    max_iter: int = -1
    criterion = "relative_gap"
    unit = "CG iteration"

    def start(self, problem: LinearProblem, warm: Vector | None = None) -> State:
        return State(begin(problem, _NAME, warm))

    def advance(self, problem: LinearProblem, state: State, budget: int) -> Status:
        """At most ``budget`` steps."""
        for _ in range(budget):
            status = self._verdict(problem, state)
            if status is not Status.RUNNING:
                return status
            if state.inner is None:
                state.inner = _begin(problem, state)
            self._iterate(problem, state, state.inner)
        return self._verdict(problem, state)

    def measure(self, problem: LinearProblem, state: State) -> Measures:
        """Figures of the current w, and of the β that it asks for."""
        return Measures.of_linear(problem, self.model(problem, state))

    def model(self, problem: LinearProblem, state: State) -> LinearModel:
        """The current w, and the β that it asks for."""
        return model_of(problem, state.at)

    def explain(self, problem: LinearProblem, state: State) -> Step:
        """How far it went, and which rows changed sides."""
        return Step("")

    def n_iter(self, state: State) -> int:
        """Steps taken."""
        return state.n_iter

    def _verdict(self, problem: LinearProblem, state: State) -> Status:
        limit = self.max_iter if self.max_iter >= 0 else _LIMIT
        if limit == 0:
            return Status.MAX_ITER
        if state.inner is None:
            refresh(problem, state.at)
            status = stopped(problem, state.at, self.tol)
            if status is not Status.RUNNING:
                return status
        return Status.MAX_ITER if state.n_iter >= limit else Status.RUNNING

    def _iterate(self, problem: LinearProblem, state: State, run: Inner) -> None:
        image, along = there_and_back(problem.design, run.some, run.weight, run.d)
        image += run.d
        if run.lean is not None:
            image -= along * run.lean
        alpha = run.rz / dot(run.d, image)
        sr, sg, rest = forward(run.s, run.r, run.d, image, run.gradient, alpha)
        run.count += 1
        state.n_iter += 1
        model = 0.5 * (sg - sr)
        gain = model - run.model
        run.model = model
        done = run.count * gain >= run.enough * model
        done = done or 0.5 * rest <= 0.1 * self.tol * state.at.primal
        if done:
            self._step(problem, state, run)
            return
        z = _conditioned(state, run)
        rz = dot(run.r, z)
        turn(run.d, z, rz / run.rz)
        run.rz = rz

    def _step(self, problem: LinearProblem, state: State, run: Inner) -> None:
        shift = 0.0
        if run.lean is not None:
            shift = -dot(run.lean, run.s)
        state.old = run.count > _MANY
        state.last = run.count
        state.inner = None
        level = state.at.level
        move(problem, state.at, run.s, shift)
        if state.at.level != level:
            state.factor = None


def _begin(problem: LinearProblem, state: State) -> Inner:
    at, design = state.at, problem.design
    now = np.flatnonzero(at.beta)
    weight = np.maximum(at.loss.rise[now], at.loss.fall[now])
    some = now if isinstance(at.rows, slice) else at.rows[now]
    lean, mass = None, float(weight.sum())
    if problem.free and mass > 0.0:
        lean = back(design, some, weight) / mass
    width = design.width
    diagonal = None
    if width <= _WIDEST and width**3 <= _PASSES * design.stored:
        if state.factor is None or state.old:
            _precondition(problem, state, some, weight)
    else:
        diagonal = squares(design, some, weight)
        if lean is not None:
            diagonal -= mass * lean * lean
        diagonal = (1.0 - _MIX) + _MIX * (1.0 + diagonal)
    gradient = at.w - at.pull
    r = -gradient
    run = Inner(
        some, weight, lean, mass, diagonal, gradient, np.zeros(width), r, r, 0.0, 0.0
    )
    run.d = _conditioned(state, run).copy()
    run.rz = dot(run.r, run.d)
    run.enough = min(_LOOSE, np.sqrt(run.rz / at.primal))
    return run


def _conditioned(state: State, run: Inner) -> Vector:
    if run.diagonal is not None:
        return run.r / run.diagonal
    with one_blas_thread():
        z: Vector = cho_solve(state.factor, run.r, check_finite=False)
    return z


def _precondition(
    problem: LinearProblem, state: State, some: Index, weight: Vector
) -> None:
    design = problem.design
    count = max(_ROWS * design.width, _SHARE * design.stored // design.width**2)
    if count < some.size:
        rng = np.random.default_rng(state.n_iter)
        pick = np.flatnonzero(rng.random(some.size) < count / some.size)
        scale = some.size / max(1, pick.size)
        some, weight = some[pick], weight[pick] * scale
    constant = 1.0 if problem.free else design.scaling
    square = curvature(design, constant, weight, some)
    state.factor = factor_of(square, problem.free)[0]
    state.old = False
