"""A solver from outside: SMO on the pair that violates optimality most, in NumPy."""

from dataclasses import dataclass

import numpy as np

from maxmargin.problem import Problem, model_of, scores
from maxmargin.solvers import SOLVERS, Status, Step, Steppable


@dataclass
class State:
    beta: np.ndarray
    gradient: np.ndarray
    K: np.ndarray
    pairs: int = 0


@dataclass(frozen=True)
class WorstPair(Steppable):
    tol: float = 1e-3
    max_iter: int = -1
    criterion, unit = "violation", "pair"
    solves = Problem

    def start(self, problem, warm=None):
        everyone, K = np.arange(problem.n), np.empty((problem.n, problem.n))
        problem.gram.block(everyone, everyone, K)
        beta = np.zeros(problem.n) if warm is None else np.array(warm.beta)
        return State(beta, K @ beta + problem.p + problem.ridge * beta, K)

    def advance(self, problem, state, budget):
        for _ in range(budget):
            up, low = scores(problem, state.beta, state.gradient)
            i, j = int(up.argmin()), int(low.argmax())  # β_i rises, β_j falls
            if low[j] - up[i] <= self.tol:
                return Status.CONVERGED
            if state.pairs == self.max_iter:
                return Status.MAX_ITER
            bend = state.K[i, i] + state.K[j, j] - 2.0 * state.K[i, j]
            bend += problem.ridge[i] + problem.ridge[j]
            room = min(problem.upper[i] - state.beta[i], state.beta[j] - problem.lower[j])
            t = min((low[j] - up[i]) / max(bend, 1e-12), room)
            move = t * ((np.arange(problem.n) == i) * 1.0 - (np.arange(problem.n) == j))
            state.beta += move
            state.gradient += state.K @ move + problem.ridge * move
            state.pairs += 1
        return Status.RUNNING

    def model(self, problem, state):
        return model_of(problem, state.beta.copy(), state.gradient.copy())

    def explain(self, problem, state):
        return Step(f"{state.pairs} pairs moved.", {"pairs": state.pairs})

    def n_iter(self, state):
        return state.pairs


SOLVERS.register(WorstPair, name="worst-pair")
