"""The frame of every fit: checks → task → solve → accept → warn.

A machine says what is to be solved (``_task``), how (``_solve``) and what is remembered
of the answer (``_attributes``); the rest is the same for all, with or without a kernel.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from sklearn.base import BaseEstimator, clone

from maxmargin._callback_bridge import CallbackSupport, bridge_for
from maxmargin.certificate import Certificate, worst_of
from maxmargin.errors import InputError
from maxmargin.estimators.parameters import Rule, Settings, check_parameters
from maxmargin.validation import unless_refused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from maxmargin.solvers.base import Observer, Snapshot

_OF_X = ("n_features_in_", "feature_names_in_")  # set by the checks of X


class Solution(NamedTuple):
    """What was solved: an end for every problem, and what the whole fit cost."""

    solved: Sequence[Any]  # each has a ``certificate``
    n_kernel: int = 0
    held_out: Sequence[
        Any
    ] = ()  # out-of-fold scores of every problem, if there are folds
    others: Sequence[Any] = ()  # the folds' own ends

    @property
    def certificates(self) -> list[Certificate]:
        """One for every problem."""
        return [one.certificate for one in self.solved]


class Machine(CallbackSupport, BaseEstimator):
    """Base of all machines."""

    # Parameters that are narrower here than in the table of all machines.
    _own_rules: ClassVar[dict[str, Rule]] = {}

    certificate_: Certificate

    # --- what a machine says ------------------------------------------------------------

    def _model_before(self) -> Any:
        """The fitted model that ``warm_start`` goes on from, before anything changes."""
        return self if hasattr(self, "certificate_") else None

    def _task(self, X: Any, y: Any, sample_weight: Any) -> Any:
        """Check the arguments of ``fit``; return what is to be solved.

        A task has ``n_problems``, the number of its problems.
        """
        raise NotImplementedError

    def _problem(self, task: Any) -> Any:
        """The one problem of a task."""
        raise NotImplementedError

    def _solve(self, task: Any, before: Any, bridges: Sequence[Observer]) -> Solution:
        """Solve all problems of a task, from the model ``before`` if there is one."""
        raise NotImplementedError

    def _attributes(self, task: Any, solution: Solution) -> dict[str, Any]:
        """The fitted attributes that make predictions."""
        raise NotImplementedError

    def _of_the_run(self, task: Any, solution: Solution) -> dict[str, Any]:
        """Fitted attributes about the run: iterations, whether it converged."""
        raise NotImplementedError

    def _n_support(self, solution: Solution) -> int:
        """Number of support vectors of the whole machine."""
        raise NotImplementedError

    def _attributes_now(self, task: Any, snapshot: Snapshot) -> dict[str, Any] | None:  # noqa: ARG002
        """Fitted attributes of a run that goes on, for scikit-learn's callbacks."""
        return None

    def _warn(self, solution: Solution) -> None:
        """Warn of a fit that ended early or oddly."""
        raise NotImplementedError

    def _fit_along(
        self, machines: Sequence[Any], X: Any, y: Any, sample_weight: Any
    ) -> None:
        """Fit machines that differ in C alone, C rising, each from the answer before."""
        raise NotImplementedError

    # --- the frame --------------------------------------------------------------------

    def _settings(self) -> Settings:
        """The parameters that solvers, threads and observers need."""
        given = vars(self)
        return Settings(
            **{name: given[name] for name in Settings._fields if name in given}
        )

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Any:
        """The body of every ``fit``."""
        began = time.perf_counter()
        check_parameters(self)
        before = self._model_before() if self.warm_start else None
        with unless_refused(self):
            task = self._task(X, y, sample_weight)
            bridges = self._bridges(task, X, y, sample_weight)
            solution = self._solve(task, before, bridges)
        self._accept(task, solution, time.perf_counter() - began)
        self._warn(solution)
        for bridge in bridges:
            bridge.finish()
        return self

    def _bridges(self, task: Any, X: Any, y: Any, sample_weight: Any) -> list[Any]:
        """The bridges to scikit-learn's callbacks."""
        metadata = {} if sample_weight is None else {"sample_weight": sample_weight}
        return bridge_for(
            self,
            X,
            y,
            lambda snapshot: self._attributes_now(task, snapshot),
            metadata=metadata,
            total=task.n_problems,
        )

    def _accept(self, task: Any, solution: Solution, seconds: float) -> None:
        """Become the fitted machine of a solution."""
        found = self._attributes(task, solution) | self._of_the_run(task, solution)
        kept = {*_OF_X, *found}
        for name in [name for name in vars(self) if name.endswith("_")]:
            if name not in kept:
                delattr(self, name)  # of an earlier fit
        self.__dict__.update(found)
        self.certificate_ = worst_of(
            solution.certificates,
            n_support=self._n_support(solution),
            n_kernel=solution.n_kernel,
            seconds=seconds,
        )

    def problem(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """The problem that ``fit`` would solve, for a solver to be stepped.

        Parameters
        ----------
        X, y, sample_weight : as for ``fit``
            The data, checked in the same way. Rows of weight ≤ 0 are left out of a kernel
            machine; the others are the problem's points, in their order.

        Returns
        -------
        Problem, LinearProblem or LinearJointProblem
            What :mod:`maxmargin.solvers` solve, those of a linear machine without a
            kernel what :mod:`maxmargin.solvers.linear` do:
            ``for snapshot in PlattSmo().steps(problem): ...``
        """
        check_parameters(self)
        return self._problem(clone(self)._task(X, y, sample_weight))


def refuse_several(classes: int, what: str) -> None:
    """Refuse to hand out one problem where several classes make several."""
    msg = f"y has {classes} classes, {what}: give the rows of two classes"
    raise InputError(msg)


def name_features(machine: Any, checked: Any) -> None:
    """Tell a machine what the check of X told another one that was given the same X."""
    for name in _OF_X:
        if machine is not checked and hasattr(checked, name):
            setattr(machine, name, getattr(checked, name))
