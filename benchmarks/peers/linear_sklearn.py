"""Linear machines with scikit-learn's classes: ours and scikit-learn's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from benchmarks.peers.base import Missing
from benchmarks.peers.linear_base import LinearMachine

if TYPE_CHECKING:
    from benchmarks.linear.datasets import Problem

__all__ = ["Maxmargin", "ScikitLearn"]

SGD = "SGD"
WARM_ROWS = 300
MANY = 10_000_000  # iterations: the cap of the benchmark ends a run, not this


class SklearnLike(LinearMachine):
    """Estimators with ``coef_`` and ``intercept_``."""

    def take(self, problem: Problem) -> None:
        """Nothing to convert: these take arrays and CSR matrices as they are."""
        self.problem = problem
        self._X = problem.X

    def answer(self) -> tuple[np.ndarray, np.ndarray]:
        """As fitted; a regression's single row is one too."""
        coef = np.atleast_2d(np.asarray(self._model.coef_, dtype=np.float64))
        intercept = np.asarray(self._model.intercept_, dtype=np.float64)
        return coef, np.broadcast_to(intercept, coef.shape[:1])

    def decide(self) -> Any:
        """Decision values of the rows learnt from; of a regression its predictions."""
        if self.problem.kind == "SVR":
            return self._model.predict(self._X)
        return self._model.decision_function(self._X)

    def _options(self, tol: float) -> dict[str, Any]:
        options = {"C": self.problem.C, "loss": self.problem.loss, "tol": tol}
        if self.problem.kind == "SVR":
            options["epsilon"] = self.problem.epsilon
        return options


class Maxmargin(SklearnLike):
    """Ours; a variant is the name of a solver."""

    name = package = "maxmargin"

    @classmethod
    def variants(cls, loss: str) -> tuple[str, ...]:  # noqa: ARG003 - does every loss
        """The one that the library chooses."""
        return ("auto",)

    def take(self, problem: Problem) -> None:
        """Find the class, and compile what it uses, on a few of the rows."""
        import maxmargin

        self._kind = getattr(maxmargin, f"Linear{problem.kind}", None)
        if self._kind is None:
            raise Missing(f"maxmargin has no Linear{problem.kind}")
        super().take(problem.thinned(WARM_ROWS))
        self.run("auto", 1e-2)
        super().take(problem)

    def run(self, variant: str, tol: float) -> None:
        """Fit a new estimator."""
        machine = self._kind(
            solver=variant, max_iter=-1, random_state=0, **self._options(tol)
        )
        self._model = machine.fit(self._X, self.problem.y)

    def beta(self) -> np.ndarray | None:
        """``dual_coef_``."""
        return np.atleast_2d(np.asarray(self._model.dual_coef_, dtype=np.float64))


class ScikitLearn(SklearnLike):
    """scikit-learn: its own copy of an older LIBLINEAR, and stochastic descent.

    SGDClassifier would leave the intercept out of ‖w‖²; with a column of ones in its
    place it solves everybody's problem. By its own rule it stops a tenth above the
    optimum whatever its tol, so it is told a number of passes instead, 1/tol, and
    averages the second half of them.
    """

    name = package = "scikit-learn"

    @classmethod
    def variants(cls, loss: str) -> tuple[str, ...]:
        """The hinge and the tube have no primal solver, regression has no SGD here."""
        squared = ("primal",) if loss.startswith("squared") else ()
        return (*squared, "dual", *((SGD,) if loss.endswith("hinge") else ()))

    def take(self, problem: Problem) -> None:
        """Import; the rows get their column of ones when they are asked for."""
        from sklearn import linear_model, svm

        super().take(problem)
        self._kind = getattr(svm, f"Linear{problem.kind}")
        self._descent = linear_model.SGDClassifier
        self._with_ones = None

    def run(self, variant: str, tol: float) -> None:
        """Fit a new estimator."""
        if variant == SGD:
            self._descend(tol)
            return
        machine = self._kind(
            dual=variant == "dual", max_iter=MANY, random_state=0, **self._options(tol)
        )
        self._model = machine.fit(self._X, self.problem.y)

    def ready(self, variant: str) -> None:
        """What SGD needs to solve the same problem, before the clock starts."""
        if variant == SGD and self._with_ones is None:
            ones = np.ones((self.problem.n, 1))
            both = (self._X, ones)
            sparse = sp.issparse(self._X)
            self._with_ones = sp.hstack(both, format="csr") if sparse else np.hstack(both)

    def _descend(self, tol: float) -> None:
        n, passes = self.problem.n, min(round(1.0 / tol), MANY)
        begin = min(max(1, passes * n // 2), np.iinfo(np.int32).max)
        machine = self._descent(
            loss=self.problem.loss, alpha=1.0 / (self.problem.C * n), tol=None,
            max_iter=passes, average=begin, fit_intercept=False, random_state=0,
        )  # fmt: skip
        machine.fit(self._with_ones, self.problem.y)
        machine.intercept_ = machine.coef_[:, -1].copy()
        machine.coef_ = machine.coef_[:, :-1].copy()
        self._model = machine
