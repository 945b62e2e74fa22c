"""LIBLINEAR and its version for several cores, through their Python interface.

The two packages have the same module in them, so they cannot both be installed in one
place: the one for several cores is looked for in a folder of its own, where ``make
bench-linear`` puts it.
"""

from __future__ import annotations

import ctypes
import importlib.metadata
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from benchmarks.peers.base import Missing
from benchmarks.peers.linear_base import LinearMachine

if TYPE_CHECKING:
    from benchmarks.linear.datasets import Problem

__all__ = ["FOLDER", "Liblinear", "Multicore"]

FOLDER = Path(__file__).parents[2] / ".cache" / "liblinear-multicore"
TYPES = {
    ("squared_hinge", "dual"): 1,
    ("squared_hinge", "primal"): 2,
    ("hinge", "dual"): 3,
    ("squared_epsilon_insensitive", "primal"): 11,
    ("squared_epsilon_insensitive", "dual"): 12,
    ("epsilon_insensitive", "dual"): 13,
}
ALONE = (12, 13)  # which do not use several cores
GAVE_UP = "WARNING: reaching max number of iterations\nUsing"  # not "Switching"


class Liblinear(LinearMachine):
    """``liblinear.liblinearutil``, given a CSR matrix: its fast way in.

    Its dual solvers end after 300 passes, which no option changes; for a squared loss
    they go on with the primal one.
    """

    name = "LIBLINEAR"
    package = "liblinear-official"
    apart = False  # whether the package is in the folder

    @classmethod
    def variants(cls, loss: str) -> tuple[str, ...]:
        """The primal solver where there is one, and the dual one."""
        return tuple(v for v in ("primal", "dual") if (loss, v) in TYPES)

    def take(self, problem: Problem) -> None:
        """The rows as CSR, which is LIBLINEAR's own form."""
        try:
            from liblinear import liblinearutil
        except ImportError as error:
            raise Missing(f"{self.name} does not load: {error}") from error
        if Path(liblinearutil.__file__).is_relative_to(FOLDER) != self.apart:
            raise Missing(f"the other liblinear is loaded, not {self.package}")
        self._api = liblinearutil
        self.problem = problem
        self._X = sp.csr_matrix(problem.X, dtype=np.float64)
        self._y = np.asarray(problem.y, dtype=np.float64)
        # Its interface compiles a loop when it first meets rows: not on the clock.
        self._api.problem(self._y[:1], self._X[:1], 1)
        self._said: list[bytes] = []
        self._listen = self._api.liblinear.set_print_string_function.argtypes[0](
            self._said.append
        )

    def run(self, variant: str, tol: float) -> None:
        """``train``, with the same random numbers every time."""
        if os.name == "posix":
            ctypes.CDLL(None).srand(1)
        problem = self.problem
        options = (
            f"-s {TYPES[problem.loss, variant]} -c {problem.C!r} -p {problem.epsilon!r} "
            f"-e {tol!r} -B 1{self._threads()}"
        )
        parameter = self._api.parameter(options)
        parameter.print_func = self._listen  # it tells nowhere else where it ended
        self._said.clear()
        rows = self._api.problem(self._y, self._X, 1)
        self._model = self._api.train(rows, parameter)

    def _threads(self) -> str:
        return ""

    def exhausted(self) -> bool:
        """Whether it said so."""
        return GAVE_UP in b"".join(self._said).decode()

    def answer(self) -> tuple[np.ndarray, np.ndarray]:
        """LIBLINEAR's first label is positive, and its classes are as they were met."""
        model: Any = self._model
        k = model.get_nr_class()
        width = 1 if k == 2 else k
        shape = (model.get_nr_feature() + 1, width)
        weights = np.ctypeslib.as_array(model.w, shape).T.copy()
        if self.problem.kind == "SVC":
            labels = np.array(model.get_labels())
            if k == 2:
                weights *= 1.0 if labels[0] > labels[1] else -1.0
            else:
                weights = weights[np.argsort(labels)]
        return weights[:, :-1], weights[:, -1]


class Multicore(Liblinear):
    """liblinear-multicore, on all cores that there are."""

    name = "multicore"
    package = "liblinear-multicore"
    apart = True

    @classmethod
    def version(cls) -> str:
        """Of the package in its folder."""
        for found in importlib.metadata.distributions(path=[str(FOLDER)]):
            if found.name == cls.package:
                return found.version
        return "not installed"

    @classmethod
    def variants(cls, loss: str) -> tuple[str, ...]:
        """Without the solvers that use one core: they are LIBLINEAR's."""
        every = super().variants(loss)
        return tuple(v for v in every if TYPES[loss, v] not in ALONE)

    def take(self, problem: Problem) -> None:
        """Let the folder go first."""
        if not FOLDER.is_dir():
            raise Missing(f"{self.package} is not in {FOLDER}")
        if str(FOLDER) not in sys.path:
            sys.path.insert(0, str(FOLDER))
        super().take(problem)

    def _threads(self) -> str:
        alone = not hasattr(os, "sched_getaffinity")
        cores = os.cpu_count() if alone else len(os.sched_getaffinity(0))
        return f" -m {cores}"
