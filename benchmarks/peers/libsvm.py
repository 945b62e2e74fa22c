"""LIBSVM itself, through its own Python interface."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from benchmarks.peers import layout
from benchmarks.peers.base import Machine, Missing

if TYPE_CHECKING:
    from benchmarks.speed.datasets import Problem

__all__ = ["Libsvm"]

TYPES = {"SVC": 0, "OneClassSVM": 2, "SVR": 3}
FLAGS = {"C": "-c", "gamma": "-g", "nu": "-n", "epsilon": "-p"}


class Libsvm(Machine):
    """``libsvm.svmutil``, given a CSR matrix: its fast way in.

    Its ``svm_predict`` makes every row in Python; the rows of the test set go in as
    those of a problem instead, which is many times faster, and that is counted.
    """

    name = "LIBSVM"
    package = "libsvm-official"
    precisions = ("float64",)

    def convert(self, problem: Problem) -> None:
        """The rows as CSR, which is LIBSVM's own form."""
        try:
            from libsvm import svmutil
        except ImportError as error:
            raise Missing(f"LIBSVM does not load: {error}") from error
        self._api = svmutil
        self.problem = problem
        self._X = sp.csr_matrix(problem.X, dtype=np.float64)
        self._X_test = sp.csr_matrix(problem.X_test, dtype=np.float64)
        n = problem.n
        self._y = np.ones(n) if problem.y is None else problem.y.astype(np.float64)
        values = [f"{FLAGS[key]} {value!r}" for key, value in problem.parameters.items()]
        cache = self.cache_size or 2000.0
        self._options = (
            f"-q -s {TYPES[problem.kind]} -t 2 -m {cache} -e {self.tol!r} "
            + " ".join(values)
        )

    def run(self) -> None:
        """``svm_train``."""
        self._model = self._api.svm_train(self._y, self._X, self._options)

    def decide(self) -> Any:
        """``svm_predict_values`` of every row."""
        n = self._X_test.shape[0]
        rows = self._api.svm_problem(np.zeros(n), self._X_test)
        k = self._model.get_nr_class()
        width = k * (k - 1) // 2 if self.problem.kind == "SVC" else 1
        out = np.empty((n, width))
        values = (ctypes.c_double * width)()
        one = self._api.libsvm.svm_predict_values
        for i in range(n):
            one(self._model, rows.x[i], values)
            out[i] = values
        return out

    def result(self) -> Any:
        """The model in scikit-learn's layout."""
        model, problem = self._model, self.problem
        size, k = model.get_nr_sv(), model.get_nr_class()
        rows = range(k - 1 if problem.kind == "SVC" else 1)
        coef = np.array([np.ctypeslib.as_array(model.sv_coef[r], (size,)) for r in rows])
        support = np.array(model.get_sv_indices()) - 1
        if problem.kind != "SVC":
            return layout.single(problem, self.tol, support, coef, model.rho[0])
        rho = np.ctypeslib.as_array(model.rho, (k * (k - 1) // 2,))
        labels = model.get_labels()
        return layout.classifier(problem, self.tol, labels, support, coef, rho)
