"""What a child process does for linear machines: one library, asked over a pipe."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.clock import seconds_of
from benchmarks.linear import referee
from benchmarks.peers.linear import create
from benchmarks.speed import memory

if TYPE_CHECKING:
    from benchmarks.linear.datasets import Problem

__all__ = ["Server"]


class Server:
    """The verbs that the parent may ask for."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._problem: Problem | None = None
        self._machine: Any = None

    def forget(self) -> None:
        """Make room: two large problems at once are too many."""
        self._problem = self._machine = None

    def take(self, problem: Problem) -> None:
        """Work on this problem from now on."""
        self._problem = problem
        self._machine = create(self._name)
        self._machine.take(problem)

    def run(self, variant: str, tol: float) -> float:
        """Seconds of one fit."""
        self._machine.ready(variant)
        return seconds_of(lambda: self._machine.run(variant, tol))

    def judge(self) -> dict[str, Any]:
        """The referee's figures on the last fit: of every problem, as lists."""
        problem = self._problem
        answer = self._machine.answer()
        known = [self._machine.beta()]
        if problem.squared:
            known.append(referee.slope(problem, *answer))
        duals = [referee.dual(problem, beta) for beta in known if beta is not None]
        return {
            "primal": referee.primal(problem, *answer).tolist(),
            "dual": np.max(duals, axis=0).tolist() if duals else None,
            "exhausted": self._machine.exhausted(),
        }

    def decide(self) -> float:
        """Seconds of the decision values of the rows learnt from."""
        return seconds_of(self._machine.decide)

    def product(self) -> float:
        """Seconds of one matrix product that has the same values."""
        coef, intercept = self._machine.answer()
        X, weights = self._problem.X, coef[0] if len(coef) == 1 else coef.T
        return seconds_of(lambda: X @ weights + intercept)

    def peak(self, variant: str, tol: float) -> dict[str, float]:
        """Memory of one fit above what there was before it, in MB."""
        self._machine.ready(variant)
        return memory.peak_of(lambda: self._machine.run(variant, tol))
