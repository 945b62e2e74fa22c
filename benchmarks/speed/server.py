"""What a child process does: one library, asked over a pipe, one thing at a time.

Clocks run here, around the call of the library and nothing else; starting the process
and sending data and answers are not in them.
"""

from __future__ import annotations

import time
import traceback
import warnings
from typing import TYPE_CHECKING, Any

from benchmarks.clock import seconds_of
from benchmarks.peers import Machine, Missing, create
from benchmarks.speed import limit, memory

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from benchmarks.speed.datasets import Problem

__all__ = ["Server", "serve"]


class Server:
    """The verbs that the parent may ask for."""

    machine: Machine
    problem: Problem

    def __init__(self, name: str) -> None:
        self._name = name

    def prepare(self, problem: Problem, tol: float, cache_size: float | None) -> float:
        """Take a problem and warm up on some of its rows; the seconds of that."""
        self.problem = problem
        self.machine = create(self._name)
        self.machine.cache_size = cache_size
        return self.machine.prepare(self.problem, tol)

    def run(self) -> float:
        """Seconds of one fit."""
        return seconds_of(self.machine.run)

    def decide(self) -> float:
        """Seconds of the decision values of the test rows."""
        return seconds_of(self.machine.decide)

    def judge(self) -> dict[str, Any]:
        """The referee's figures on the last fit, in float64."""
        import maxmargin

        began = time.perf_counter()
        verdict = maxmargin.certify(self.machine.result(), self.problem.X, self.problem.y)
        return {
            "violation": verdict.violation,
            "objective": sum(one.dual for one in verdict.problems or (verdict,)),
            "feasible": verdict.feasible,
            "n_support": verdict.n_support,
            "judge_seconds": time.perf_counter() - began,
        }

    def limit(self, repeat: int) -> dict[str, Any]:
        """Seconds of the unavoidable work for the support vectors of the last fit."""
        model, problem = self.machine.result(), self.problem
        share = limit.needed_share(model, problem.y)
        gamma = problem.parameters["gamma"]
        return limit.measure(problem.X, model.support_, gamma, repeat, share)

    def peak(self) -> dict[str, float]:
        """Memory of one fit above what there was before it, in MB."""
        return memory.peak_of(self.machine.run)


def serve(connection: Connection, name: str, kind: type[Any] = Server) -> None:
    """Answer until the parent hangs up."""
    warnings.simplefilter("ignore")  # a peer's own warnings are not ours to show
    server = kind(name)
    while True:
        try:
            verb, args = connection.recv()
        except EOFError:
            return
        try:
            answer = "done", getattr(server, verb)(*args)
        except Missing as absent:
            answer = "missing", str(absent)
        except Exception as error:  # whatever a peer raises is its result
            traceback.print_exc()
            answer = "failed", f"{type(error).__name__}: {error}"
        connection.send(answer)
