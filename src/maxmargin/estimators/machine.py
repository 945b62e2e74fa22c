"""The frame of every fit: checks → task → solve → accept → warn.

A machine defines its problems (``_task``), their solution (``_solve``) and its fitted
attributes (``_attributes``); the rest is the same for all, with a kernel or without.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from sklearn.base import BaseEstimator, clone

from maxmargin._callback_bridge import BridgeObserver, CallbackSupport, with_callbacks
from maxmargin.certificate import Certificate, worst_of
from maxmargin.errors import InputError
from maxmargin.estimators.parameters import Rule, Settings, check_parameters
from maxmargin.validation import unless_refused

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from numpy.typing import ArrayLike

    from maxmargin.solvers.base import Observer, Snapshot


class Solution(NamedTuple):
    """The result of a fit: one solved problem after the other, and the total cost."""

    solved: Sequence[Any]  # each has a ``certificate``
    n_kernel: int = 0
    held_out: Sequence[Any] = ()  # with folds: the out-of-fold scores of every problem
    others: Sequence[Any] = ()  # with folds: the solved problems of the folds


class Machine(CallbackSupport, BaseEstimator):
    """Base of all machines."""

    # Parameters that are narrower here than in the table of all machines.
    _own_rules: ClassVar[dict[str, Rule]] = {}
    # Fitted attributes that only some fits set; a fit without them deletes those of an
    # earlier fit.
    _optional: ClassVar[tuple[str, ...]] = ()

    n_jobs: int | None = None
    certificate_: Certificate

    # --- what a machine defines -------------------------------------------------------

    def _model_before(self) -> Any:
        """Return the fitted model that ``warm_start`` continues, before checks of X."""
        return self if hasattr(self, "certificate_") else None

    def _task(self, X: Any, y: Any, sample_weight: Any) -> Any:
        """Check the arguments of ``fit``; return its problems as a task.

        A task has ``n_problems``, the number of its problems.
        """
        raise NotImplementedError

    def _problem(self, task: Any) -> Any:
        """Return the one problem of a task."""
        raise NotImplementedError

    def _solve(
        self, task: Any, settings: Settings, before: Any, observers: Sequence[Observer]
    ) -> Solution:
        """Solve all problems of a task, from the model ``before`` if there is one."""
        raise NotImplementedError

    def _attributes(self, task: Any, solution: Solution) -> dict[str, Any]:
        """Return the fitted attributes that make predictions."""
        raise NotImplementedError

    def _of_the_run(self, task: Any, solution: Solution) -> dict[str, Any]:
        """Return fitted attributes about the run: iterations, convergence."""
        raise NotImplementedError

    def _n_support(self, solution: Solution) -> int:
        """Return the number of support vectors of the whole machine."""
        raise NotImplementedError

    def _attributes_now(self, task: Any, snapshot: Snapshot) -> dict[str, Any] | None:  # noqa: ARG002
        """Return the fitted attributes in mid-run, for scikit-learn's callbacks."""
        return None

    def _warn(self, solution: Solution, settings: Settings) -> None:
        """Warn of a fit that ended early or has a defect."""
        raise NotImplementedError

    def _fit_along(
        self, machines: Sequence[Any], X: Any, y: Any, sample_weight: Any
    ) -> None:
        """Fit machines that differ in C alone, C rising, each from the answer before."""
        raise NotImplementedError

    # --- the frame --------------------------------------------------------------------

    @with_callbacks  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Solve the problem of the machine on these rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; for a precomputed kernel, the square matrix of kernel values.
        y : array-like of shape (n_samples,)
            Labels of any type for a classifier, numbers for a regressor.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts; rows of weight ≤ 0 are left out.

        Returns
        -------
        self : object
            The fitted machine.
        """
        began = time.perf_counter()
        check_parameters(self)
        settings = Settings.of(self)
        before = self._model_before() if self.warm_start else None
        with unless_refused(self):
            task = self._task(X, y, sample_weight)
            bridges = self._bridges(task, X, y, sample_weight) if self._watched else []
            observers = [*settings.observers(task.n_problems), *bridges]
            solution = self._solve(task, settings, before, observers)
        self._accept(task, solution, time.perf_counter() - began)
        self._warn(solution, settings)
        for bridge in bridges:
            bridge.finish()
        return self

    def _bridges(
        self, task: Any, X: Any, y: Any, sample_weight: Any
    ) -> list[BridgeObserver]:
        """Return the observers that call scikit-learn's callbacks."""
        metadata = {} if sample_weight is None else {"sample_weight": sample_weight}
        return [
            BridgeObserver(
                self,
                X,
                y,
                lambda snapshot: self._attributes_now(task, snapshot),
                metadata=metadata,
                total=task.n_problems,
            )
        ]

    def _accept(self, task: Any, solution: Solution, seconds: float) -> None:
        """Set the fitted attributes of a solution; attributes of others stay."""
        found = self._attributes(task, solution) | self._of_the_run(task, solution)
        for name in self._optional:
            self.__dict__.pop(name, None)
        self.__dict__.update(found)
        self.certificate_ = worst_of(
            [one.certificate for one in solution.solved],
            n_support=self._n_support(solution),
            n_kernel=solution.n_kernel,
            seconds=seconds,
        )

    def problem(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Return the problem that ``fit`` would solve, to run a solver step by step.

        Parameters
        ----------
        X, y, sample_weight : as for ``fit``
            The data, checked in the same way. Rows of weight ≤ 0 are left out of a kernel
            machine; the others are the problem's points, in their order.

        Returns
        -------
        Problem, LinearProblem or LinearJointProblem
            For the solvers of :mod:`maxmargin.solvers`; of a linear machine, for those
            of :mod:`maxmargin.solvers.linear`:
            ``for snapshot in PlattSmo().steps(problem): ...``
        """
        check_parameters(self)
        return self._problem(clone(self)._task(X, y, sample_weight))


def refuse_several(classes: int, what: str) -> None:
    """Refuse to return one problem where several classes make several."""
    msg = f"y has {classes} classes, {what}: give the rows of two classes"
    raise InputError(msg)


def name_features(machine: Any, checked: Any) -> None:
    """Copy the attributes that the check of X set on another machine with this X."""
    for name in ("n_features_in_", "feature_names_in_"):
        if machine is not checked and hasattr(checked, name):
            setattr(machine, name, getattr(checked, name))
