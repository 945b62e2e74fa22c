r"""Interior point for the penalty ‖w‖₁ with the squared hinge: few steps, whatever C is.

Problem: that of :mod:`~maxmargin.solvers.linear.l1.descent`. With
:math:`w = w^+ - w^-`, :math:`b_i = y_i\beta_i` and :math:`r_i = 1/2C_i` its optimality
conditions are three products of non-negative numbers that are 0:

.. math:: w^\pm_j s^\pm_j = 0,\quad s^\pm = 1 \mp X^\top\beta;\qquad
          b_iq_i = 0,\quad q_i = y_i\,x_i\cdot w + r_ib_i - 1.

Update. All products are taken down to 0 together: a predictor aims at 0 and says how far
that can go, a corrector aims at as much of their mean μ as that asks for, with the
second-order terms of the predictor (Mehrotra). Either solves one system, with
:math:`\Theta = w^+/s^+ + w^-/s^-` and :math:`E = r + q/b`, of rows or of columns,
whichever are fewer:

.. math:: (X\Theta X^\top + E)\,y\Delta b = \dots\qquad\text{or}\qquad
          (\Theta^{-1} + X^\top E^{-1}X)\,\Delta w = \dots

The step ends before any of the numbers would be 0. A large C makes the problem a linear
programme, on which coordinates and active sets are slow, going from corner to corner;
here it takes a few steps more. Weights that are small beside their slack s are 0 in the
answer.

Stop: relative duality gap ≤ tol, that of w with its zeros and of the largest multiple of
β with :math:`\|X^\top\beta\|_\infty\le1`; stalled when ten steps have not narrowed it.

Cost of a step, m the smaller and M the larger of n and d: m²M multiplications at most
(sparse: those of all pairs in a column or row) and m³/3. 10 to 40 steps. Memory: m², a
copy of X by columns if rows are fewer.

References: S. Mehrotra, "On the implementation of a primal-dual interior point method",
SIAM J. Optim. 2, 1992; S.-J. Kim, K. Koh, M. Lustig, S. Boyd and D. Gorinevsky, "An
interior-point method for large-scale l1-regularized least squares", IEEE J. Sel. Top.
Signal Process. 1, 2007 (the penalty).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from maxmargin.design.hessian import cholesky
from maxmargin.design.operator import Design
from maxmargin.errors import InputError
from maxmargin.parallel import one_blas_thread
from maxmargin.problem import BoxLoss, LinearModel, LinearProblem, WarmStart
from maxmargin.solvers.base import Measures, Status, Steppable
from maxmargin.solvers.linear.l1.hessian_parts import Growing
from maxmargin.solvers.linear.l1.penalty import first_weights
from maxmargin.solvers.step import Step

if TYPE_CHECKING:
    from collections.abc import Callable

    from maxmargin._arrays import Table, Vector

MOST = 4000  # policy: the fewer of rows and columns at most; factored in a second
_LIMIT = 200  # policy: steps at most by default; 10 to 40 are usual
_SHARE = 0.5  # policy: first β as a share of the largest feasible one
_AMPLE = 10.0  # policy: first weights, times the mean b; fewer steps than with 1 or 100
_REACH = 0.995  # policy: share of the way to the nearest 0
_ZEROS = (1.0, 0.03, 1e-3)  # policy: a weight smaller than so many slacks is tried as 0
_PATIENCE = 10  # policy: steps without a narrower gap before STALLED
_SCATTER = 32  # policy: cost of a product of sparse entries, in those of the BLAS
_SIGNS = np.array([[1.0], [-1.0]])  # of w⁺ and w⁻


@dataclass(slots=True)
class State:
    """The numbers that stay positive, and the best answer so far."""

    parts: Table  # w⁺ and w⁻, one below the other
    slacks: Table  # 1 ∓ X'β
    b: Vector  # of the rows that have a price, and so is q
    q: Vector
    answer: LinearModel
    looked: Measures
    growing: Growing = field(default_factory=Growing)
    steps: int = 0
    idle: int = 0  # steps since that answer
    last: dict[str, float] = field(default_factory=dict)


class Change(NamedTuple):
    """A direction: the changes of the numbers of the state."""

    parts: Table
    slacks: Table
    b: Vector
    q: Vector


@dataclass(frozen=True)
class LassoInterior(Steppable):
    """Primal-dual interior point for the penalty ‖w‖₁.

    Parameters
    ----------
    tol : float
        Relative duality gap accepted.
    max_iter : int
        Steps at most; −1 for 200.
    """

    tol: float = 1e-4
    max_iter: int = -1
    criterion = "relative_gap"
    restarts = False
    unit = "part of a step"
    solves = LinearProblem

    def start(self, problem: LinearProblem, warm: WarmStart | None = None) -> State:
        """W = 0 between two equal parts, and half the largest feasible β of w = 0.

        Given weights would not help: near 0, steps are short.
        """
        w = first_weights(problem, warm)
        if w.any():
            msg = (
                "the interior point cannot go on from given weights: use "
                "warm_start=False, or solver='lasso-descent'"
            )
            raise InputError(msg)
        fewer = min(problem.n, w.size)
        if fewer > MOST:
            msg = (
                f"{problem.n} rows and {w.size} columns: the interior point factors a "
                f"matrix of the fewer of them, at most {MOST}; use solver='lasso-descent'"
            )
            raise InputError(msg)
        answer = _model(problem, w, np.zeros(problem.n))
        looked = problem.measures(answer)
        priced = _priced(problem)
        b = 1.0 / priced.ridge
        pull = priced.design.back(-priced.p * b)
        share = min(1.0, _SHARE / max(float(np.abs(pull).max(initial=0.0)), _SHARE))
        b *= share
        ample = _AMPLE * float(b.mean()) if b.size else 1.0
        return State(
            parts=np.full((2, w.size), ample),
            slacks=1.0 - _SIGNS * share * pull,
            b=b,
            q=np.ones(b.size),
            answer=answer,
            looked=looked,
        )

    def advance(self, problem: LinearProblem, state: State, budget: int) -> Status:
        """At most ``budget`` parts of steps: of the matrix, or what follows it."""
        limit = self.max_iter if self.max_iter >= 0 else _LIMIT
        priced = _priced(problem)
        with one_blas_thread():
            for _ in range(budget):
                if state.looked.relative_gap <= self.tol:
                    return Status.CLOSED
                if state.idle >= _PATIENCE:
                    return Status.STALLED
                if state.steps >= limit:
                    return Status.MAX_ITER
                if _grown(priced, state):
                    _step(priced, state)
                    self._judge(problem, state)
        return Status.RUNNING

    def _judge(self, problem: LinearProblem, state: State) -> None:
        """The figures of w with as many zeros as tol allows, and of β."""
        state.idle += 1
        w = state.parts[0] - state.parts[1]
        size = float(np.abs(w).sum())
        scale = float(w @ w) / size if size > 0.0 else 0.0
        slack = np.where(w > 0.0, state.slacks[0], state.slacks[1])
        beta = np.zeros(problem.n)
        beta[problem.ridge > 0.0] = state.b
        beta *= -problem.p
        pull = problem.design.back(beta)
        for share in _ZEROS:
            small = np.abs(w) <= share * scale * slack
            model = _model(problem, np.where(small, 0.0, w), beta, pull)
            looked = problem.measures(model)
            if looked.relative_gap < state.looked.relative_gap:
                state.answer, state.looked, state.idle = model, looked, 0
            if looked.relative_gap <= self.tol:
                return

    def measure(self, problem: LinearProblem, state: State) -> Measures:  # noqa: ARG002
        """Figures of the best answer so far."""
        return state.looked

    def model(self, problem: LinearProblem, state: State) -> LinearModel:  # noqa: ARG002
        """The best answer so far."""
        found = state.answer
        return found._replace(w=found.w.copy(), beta=found.beta.copy())

    def explain(self, problem: LinearProblem, state: State) -> Step:
        """How far the last step went, and what is left."""
        if not state.steps:
            return Step("Nothing done yet: w = 0.")
        last, left = state.last, int(np.count_nonzero(state.answer.w))
        words = (
            f"Step {state.steps}: {last['length']:.3g} of the step proposed was taken, "
            f"the products have a mean of {last['mu']:.3g}; {left:,} of "
            f"{problem.design.width:,} weights are not 0, the relative gap is "
            f"{state.looked.relative_gap:.3g}."
        )
        return Step(words, {"step": state.steps, "weights": left, **last})

    def n_iter(self, state: State) -> int:
        """Steps taken."""
        return state.steps


def effort(problem: LinearProblem) -> float:
    """Multiplications of a step."""
    design = problem.design
    by_rows = problem.n < design.width
    fewer, more = sorted((problem.n, design.width))
    products = float(fewer) ** 2 * more
    if design.sparse:
        # Of a column's entries with one another, or of a row's.
        X: Any = design.X
        counts = np.bincount(X.indices) if by_rows else np.diff(X.indptr)
        counts = counts.astype(float)
        constant = float(fewer) ** 2 if design.scaling else 0.0
        products = min(products, _SCATTER * (float(counts @ counts) + constant))
    return products + fewer**3 / 3.0


def _priced(problem: LinearProblem) -> LinearProblem:
    """The problem of the rows that have a price; the others say nothing of w."""
    some = np.flatnonzero(problem.ridge > 0.0)
    if some.size == problem.n:
        return problem
    design = problem.design
    return replace(
        problem,
        design=Design(design.X[some], design.scaling, design.workers),
        loss=BoxLoss(
            problem.p[some], problem.lower[some], problem.upper[some], problem.ridge[some]
        ),
    )


def _model(
    problem: LinearProblem, w: Vector, beta: Vector, pull: Vector | None = None
) -> LinearModel:
    design = problem.design
    bias = float(design.scaling * w[-1]) if design.scaling else 0.0
    if pull is None:
        pull = design.back(beta)
    return LinearModel(w, bias, beta, design.times(w), pull)


def _theta(state: State) -> Vector:
    total: Vector = (state.parts / state.slacks).sum(axis=0)
    return total


def _stiff(problem: LinearProblem, state: State) -> Vector:
    return problem.ridge + state.q / state.b


def _grown(problem: LinearProblem, state: State) -> bool:
    """The next part of XΘX' or X'E⁻¹X; whether it is complete."""
    design = problem.design
    if problem.n < design.width:
        columns = np.arange(design.width)
        return state.growing.grow(design.transposed, 0.0, _theta(state), columns)
    weight = 1.0 / _stiff(problem, state)
    return state.growing.grow(design, design.scaling, weight, np.arange(problem.n))


def _system(
    problem: LinearProblem, state: State
) -> Callable[[Vector, Vector], tuple[Vector, Vector]]:
    """Solves E·Δb + y·XΔw = g and Δw = h + Θ·X'(yΔb) for Δb and X'(yΔb)."""
    design, y = problem.design, -problem.p
    theta, stiff = _theta(state), _stiff(problem, state)
    by_rows = problem.n < design.width
    square = state.growing.square
    diagonal = np.einsum("ii->i", square)
    diagonal += stiff if by_rows else 1.0 / theta
    factor = cholesky(square)

    def solve(g: Vector, h: Vector) -> tuple[Vector, Vector]:
        if by_rows:
            right = y * g - design.times(h)
            change = y * factor.solve(right)
        else:
            right = h / theta + design.back(y * (g / stiff))
            moved = factor.solve(right)
            change = (g - y * design.times(moved)) / stiff
        return change, design.back(y * change)

    return solve


def _step(problem: LinearProblem, state: State) -> None:
    """Predictor and corrector."""
    parts, slacks, b, q = state.parts, state.slacks, state.b, state.q
    solve = _system(problem, state)
    outputs = problem.design.times(parts[0] - parts[1])
    missed = q - (-problem.p * outputs + problem.ridge * b - 1.0)
    count = parts.size + b.size

    def towards(aim: float, second: tuple[Any, Any]) -> Change:
        """The products to ``aim``, less their terms of second order."""
        c = aim - parts * slacks - second[0]
        e = aim - b * q - second[1]
        h: Vector = (_SIGNS * c / slacks).sum(axis=0)
        change, pull = solve(e / b + missed, h)
        return Change(
            (c + parts * _SIGNS * pull) / slacks, -_SIGNS * pull, change,
            (e - q * change) / b,
        )  # fmt: skip

    mu = float((parts * slacks).sum() + b @ q) / count
    first = towards(0.0, (0.0, 0.0))
    far = min(1.0, _reach(state, first))
    left = ((parts + far * first.parts) * (slacks + far * first.slacks)).sum()
    left += (b + far * first.b) @ (q + far * first.q)
    aim = mu * (float(left) / count / mu) ** 3
    way = towards(aim, (first.parts * first.slacks, first.b * first.q))
    length = min(1.0, _REACH * _reach(state, way))
    state.parts = parts + length * way.parts
    state.slacks = slacks + length * way.slacks
    state.b = b + length * way.b
    state.q = q + length * way.q
    state.steps += 1
    state.last = {"length": length, "mu": mu}


def _reach(state: State, way: Change) -> float:
    """How many times the direction can be gone before a number is 0."""
    fall = 0.0
    for now, change in zip(
        (state.parts, state.slacks, state.b, state.q), way, strict=True
    ):
        fall = max(fall, float((-change / now).max(initial=0.0)))
    return 1.0 / fall if fall > 0.0 else np.inf
