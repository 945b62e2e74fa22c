"""What every library must do to be timed: prepare, run, result, decide."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from benchmarks.speed.datasets import Problem

__all__ = ["Machine", "Missing"]

WARM_ROWS = 3000  # of the real data; enough to reach every path that is compiled


class Missing(Exception):  # noqa: N818 - nothing is wrong
    """The library is not here, or has no such machine; the sentence says which."""


class Machine(ABC):
    """One library on one problem.

    ``run`` is one whole ``fit`` call and ``decide`` one call for the decision values of
    the test rows: those two are timed. What a library needs before it accepts the data
    at all (a dense array as CSR) belongs to ``convert``, and is not.

    Attributes
    ----------
    name : str
        The name of the library.
    package : str
        Its name as a package, for the version.
    precisions : tuple of str
        The dtypes that it works in; data of another dtype it converts.
    """

    name: ClassVar[str]
    package: ClassVar[str]
    precisions: ClassVar[tuple[str, ...]]

    problem: Problem
    tol: float
    cache_size: float | None = None  # MB of kernel values; None: as in the comparison

    def prepare(self, problem: Problem, tol: float) -> float:
        """Import, convert and warm up on some rows; the seconds of all that.

        What only happens on all rows (memory that is asked for, threads that start) is
        warmed up by a whole run, whose seconds the parent keeps apart.
        """
        began = time.perf_counter()
        self.tol = tol
        small = problem.thinned(WARM_ROWS)
        if small.n < problem.n:  # the same path on fewer rows of the same width
            self.convert(small)
            self.run()
            self.decide()
        self.convert(problem)
        if small.n == problem.n:
            self.run()
            self.decide()
        return time.perf_counter() - began

    @abstractmethod
    def convert(self, problem: Problem) -> None:
        """Take the problem, in a form that the library accepts."""

    @abstractmethod
    def run(self) -> None:
        """Fit: the call that is timed."""

    @abstractmethod
    def decide(self) -> Any:
        """Decision values of the test rows: the other call that is timed."""

    @abstractmethod
    def result(self) -> Any:
        """The answer as a fitted machine that ``maxmargin.certify`` understands."""
