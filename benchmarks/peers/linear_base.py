"""What every library must do to be timed on a linear machine: take, run, answer."""

from __future__ import annotations

import importlib.metadata
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    import numpy as np

    from benchmarks.linear.datasets import Problem

__all__ = ["LinearMachine"]


class LinearMachine(ABC):
    """One library on one problem; only ``run`` is timed, one whole fit.

    All solve the same problem: the intercept is the weight of a constant column, which
    ½‖w‖² counts, as in LIBLINEAR.

    Attributes
    ----------
    name : str
        The name of the library.
    package : str
        Its name as a package, for the version.
    """

    name: ClassVar[str]
    package: ClassVar[str]

    @classmethod
    def version(cls) -> str:
        """Of the package."""
        try:
            return importlib.metadata.version(cls.package)
        except importlib.metadata.PackageNotFoundError:
            return "not installed"

    @classmethod
    @abstractmethod
    def variants(cls, loss: str) -> tuple[str, ...]:
        """The names of its solvers that can do this loss."""

    @abstractmethod
    def take(self, problem: Problem) -> None:
        """Import the library, and bring the rows into a form that it accepts."""

    def ready(self, variant: str) -> None:  # noqa: B027 - most need nothing
        """What one of the solvers needs besides, before the clock starts."""

    @abstractmethod
    def run(self, variant: str, tol: float) -> None:
        """Fit: the call that is timed."""

    @abstractmethod
    def answer(self) -> tuple[np.ndarray, np.ndarray]:
        """Weights and intercepts, a row for every one-against-the-rest problem.

        They are in the order of the sorted classes; of two, the second is positive.
        """

    def beta(self) -> np.ndarray | None:
        """Coefficients with w = X'β, a row a problem, of a library that has them."""
        return None

    def exhausted(self) -> bool:
        """Whether the last run ended at a limit of iterations that cannot be raised."""
        return False
