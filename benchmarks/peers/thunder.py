"""ThunderSVM on the processor, which works in float32 whatever it is given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from benchmarks.peers import layout
from benchmarks.peers.base import Machine, Missing

if TYPE_CHECKING:
    from benchmarks.speed.datasets import Problem

__all__ = ["ThunderSvm"]


class ThunderSvm(Machine):
    """``thundersvm-cpu``, with the memory it takes by default."""

    name = "ThunderSVM"
    package = "thundersvm-cpu"
    precisions = ("float32",)

    def convert(self, problem: Problem) -> None:
        """Dense rows as they are; for CSR rows, labels that survive its interface.

        Version 0.3.3 hands the labels of CSR rows over as 32-bit integers to a function
        that reads floats: 1 arrives as 1.4e-45 and −1 as NaN, every one of them a class
        of its own. Integers that have the bits of the floats arrive as what they mean.
        """
        try:
            import thundersvm
        except (ImportError, OSError) as error:  # OSError: a library without its own
            raise Missing(f"ThunderSVM does not load: {error}") from error
        self.problem = problem
        kind = getattr(thundersvm, problem.kind)
        self._y = problem.y
        if problem.y is not None and sp.issparse(problem.X):
            self._y = problem.y.astype(np.float32).view(np.int32)
        self._make = lambda: kind(tol=self.tol, **problem.parameters)

    def run(self) -> None:
        """Fit a new estimator."""
        self._model = self._make()
        self._model.fit(self.problem.X, self._y)  # OneClassSVM's returns None

    def decide(self) -> Any:
        """``decision_function``; of a regression its predictions."""
        if self.problem.kind == "SVR":
            return self._model.predict(self.problem.X_test)
        return self._model.decision_function(self.problem.X_test)

    def result(self) -> Any:
        """The model in scikit-learn's layout; as float32, which its numbers are."""
        model, problem = self._model, self.problem
        if not hasattr(model, "support_"):
            raise RuntimeError("ThunderSVM printed 'Training failed!'")
        coef, support = model.dual_coef_.astype(np.float32), model.support_
        if problem.kind != "SVC":
            return layout.single(problem, self.tol, support, coef, model.intercept_[0])
        starts = np.cumsum(model.n_support_) - 1  # one support vector of each class
        labels = problem.y[support[starts]]
        return layout.classifier(
            problem, self.tol, labels, support, coef, model.intercept_
        )
