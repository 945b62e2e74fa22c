"""Libraries with scikit-learn's classes: ours, scikit-learn, sklearnex."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from benchmarks.peers.base import Machine, Missing

if TYPE_CHECKING:
    from benchmarks.speed.datasets import Problem

__all__ = ["Maxmargin", "ScikitLearn", "Sklearnex"]


class SklearnLike(Machine):
    """A module of estimators."""

    default_cache: float = 2000.0

    @abstractmethod
    def library(self) -> Any:
        """The module that has SVC, SVR and OneClassSVM."""

    def convert(self, problem: Problem) -> None:
        """Nothing to convert: these take arrays and CSR matrices as they are."""
        kind = getattr(self.library(), problem.kind, None)
        if kind is None:
            raise Missing(f"{self.name} has no {problem.kind}")
        self.problem = problem
        options = dict(problem.parameters, tol=self.tol)
        options["cache_size"] = self.cache_size or self.default_cache
        if problem.kind == "SVC":  # one value a pair: what every library can give
            options["decision_function_shape"] = "ovo"
        self._make = lambda: kind(**options)

    def run(self) -> None:
        """Fit a new estimator."""
        self._model = self._make().fit(self.problem.X, self.problem.y)

    def decide(self) -> Any:
        """``decision_function``; of a regression its predictions."""
        X = self.problem.X_test
        if self.problem.kind == "SVR":
            return self._model.predict(X)
        return self._model.decision_function(X)

    def result(self) -> Any:
        """The estimator itself."""
        return self._model


class Maxmargin(SklearnLike):
    """Ours."""

    name = package = "maxmargin"
    precisions = ("float64", "float32")

    def library(self) -> Any:
        """``maxmargin``."""
        import maxmargin

        return maxmargin


class ScikitLearn(SklearnLike):
    """scikit-learn: LIBSVM for dense rows, in float64."""

    name = package = "scikit-learn"
    precisions = ("float64",)

    def library(self) -> Any:
        """``sklearn.svm``."""
        import sklearn.svm

        return sklearn.svm


class Sklearnex(SklearnLike):
    """scikit-learn-intelex: oneDAL behind scikit-learn's interface."""

    name = "sklearnex"
    package = "scikit-learn-intelex"
    precisions = ("float64", "float32")

    def library(self) -> Any:
        """``sklearnex.svm``."""
        try:
            import sklearnex.svm
        except ImportError as error:
            raise Missing(f"sklearnex does not load: {error}") from error
        return sklearnex.svm
