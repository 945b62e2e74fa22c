"""A small real solver on the contract, and the smallest kernel matrix, for tests."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from maxmargin.kernels.gram.contract import Unkept
from maxmargin.problem import Problem, c_svc, model_of, objective, violation
from maxmargin.solvers.base import Measures, Snapshot, Status


class DenseGram(Unkept):
    """K as an array, asked through the Gram contract."""

    precisions = (np.dtype(np.float64),)

    def __init__(self, table):
        self.table = np.asarray(table, dtype=np.float64)
        self.n = len(self.table)
        self.n_kernel = 0

    def diagonal(self):
        return self.table.diagonal().copy()

    def block(self, rows, cols, out):
        self.n_kernel += len(rows) * len(cols)
        out[: len(rows), : len(cols)] = self.table[np.ix_(rows, cols)]

    def apply(self, rows, cols, coef, out, dtype):
        self.n_kernel += len(rows) * len(cols)
        out += self.table[np.ix_(rows, cols)] @ coef


class ToyState(NamedTuple):
    beta: np.ndarray
    gradient: np.ndarray
    count: np.ndarray  # units done
    figures: np.ndarray  # primal, dual, violation at the last check
    status: np.ndarray  # index into Status, so that a finished run stays finished


STATUSES = list(Status)


@dataclass(frozen=True)
class CoordinateDescent:
    """Exact minimisation over one coordinate after another; no Σβ constraint.

    β_i ← clip(β_i − F_i / (K_ii + r_i)), then F += K_·i·Δ. Checked after every sweep.
    ``pause`` sleeps that many seconds a unit, for tests of clocks.
    """

    tol: float = 1e-6
    max_iter: int = 10**9
    pause: float = 0.0
    unit: str = "coordinate"

    def start(self, problem, warm=None):
        beta = np.zeros(problem.n) if warm is None else warm.beta.copy()
        beta = np.clip(beta, problem.lower, problem.upper)
        gradient = problem.p + problem.ridge * beta
        everyone = np.arange(problem.n)
        problem.gram.apply(everyone, everyone, beta, gradient, np.dtype(np.float64))
        zero = np.zeros(1, dtype=np.int64)
        state = ToyState(beta, gradient, zero, np.empty(3), zero.copy())
        self._check(problem, state)
        return state

    def advance(self, problem, state, budget):
        column = np.empty((problem.n, 1))
        everyone = np.arange(problem.n)
        curvature = problem.gram.diagonal() + problem.ridge
        for _ in range(budget):
            if STATUSES[state.status[0]] is not Status.RUNNING:
                break
            if self.pause:
                time.sleep(self.pause)
            i = int(state.count[0] % problem.n)
            new = state.beta[i] - state.gradient[i] / curvature[i]
            delta = np.clip(new, problem.lower[i], problem.upper[i]) - state.beta[i]
            problem.gram.block(everyone, np.array([i]), column)
            state.gradient[:] += delta * column[:, 0]
            state.gradient[i] += delta * problem.ridge[i]
            state.beta[i] += delta
            state.count[0] += 1
            if state.count[0] % problem.n == 0:
                self._check(problem, state)
            if state.count[0] >= self.max_iter and state.figures[2] > self.tol:
                state.status[0] = STATUSES.index(Status.MAX_ITER)
        return STATUSES[state.status[0]]

    def measure(self, problem, state):
        return Measures(*(float(figure) for figure in state.figures))

    def model(self, problem, state):

        return model_of(problem, state.beta.copy(), state.gradient.copy())

    def n_iter(self, state):
        return int(state.count[0])

    def _check(self, problem, state):
        both = objective(problem, self.model(problem, state))
        worst = violation(problem, state.beta, state.gradient)
        state.figures[:] = both.primal, both.dual, worst
        if worst <= self.tol:
            state.status[0] = STATUSES.index(Status.CONVERGED)


def toy_problem(n=30, seed=0, C=1.0) -> Problem:
    """Two overlapping clouds under an RBF kernel, without intercept."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    X = rng.normal(size=(n, 2)) + 0.7 * y[:, None]
    squared = ((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2)
    gram = DenseGram(np.exp(-0.5 * squared))
    return c_svc(gram, y, np.full(n, C), fit_intercept=False)


class Scripted:
    """A stand-in for a solver whose measures are read from a list, one a step."""

    tol = 1e-3
    unit = "line"

    def __init__(self, *rows):
        self.rows = rows

    def measure(self, problem, state):
        return Measures(*self.rows[min(state, len(self.rows) - 1)])

    def n_iter(self, state):
        return state

    def shot(self, step, name="", status=Status.RUNNING):
        """The snapshot of a step, as drive() would hand it to observers."""
        return Snapshot(self, toy_problem(), step, status, float(step), name)
