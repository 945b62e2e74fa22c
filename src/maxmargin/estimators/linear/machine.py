"""What LinearSVC and LinearSVR do alike: a fit from checks to certificate, outputs."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, clone

from maxmargin._callback_bridge import CallbackSupport, bridge_for
from maxmargin.certificate import worst_of
from maxmargin.errors import InputError
from maxmargin.estimators.linear.choice import NAMES, is_linear_solver
from maxmargin.estimators.linear.solving import (
    LinearTask,
    Solved,
    design_of,
    solve_all,
    warn_if_early,
)
from maxmargin.estimators.linear.warm_start import Before
from maxmargin.estimators.magnitude import check_magnitude
from maxmargin.estimators.parameters import FINITE_C, Rule, check_parameters, one_of
from maxmargin.parallel import Workers
from maxmargin.validation import unless_refused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from maxmargin.certificate import Certificate
    from maxmargin.solvers.base import Snapshot


def solver_rule(names: Sequence[str]) -> Rule:
    """One of the names, or a solver that was made."""

    def allowed(value: Any) -> bool:
        return value in names if isinstance(value, str) else is_linear_solver(value)

    return Rule(
        lambda value: isinstance(value, str) or is_linear_solver(value),
        allowed,
        f"a str: {' or '.join(map(repr, names))}; or a solver of "
        "maxmargin.solvers.linear",
    )


_WIDEST = 1e150  # intercept_scaling, of which squares are made

COMMON_RULES: dict[str, Rule] = {
    "C": FINITE_C._replace(
        advice="C is the price of an error; for a hard margin use SVC(kernel='linear', "
        "C=inf)"
    ),
    "intercept": one_of("regularised", "free"),
    "intercept_scaling": Rule(
        FINITE_C.kind,
        lambda value: 0.0 < value <= _WIDEST,
        f"a number above 0, and at most {_WIDEST:g}",
        "it is the value of the constant column, whose square must be a float64; 1 is "
        "customary, and fit_intercept=False leaves it out",
    ),
    "solver": solver_rule(NAMES),
    "tol": FINITE_C._replace(
        advice="tol is the relative duality gap at which a solver stops; 1e-4 is "
        "customary"
    ),
    "dual": Rule(
        lambda value: isinstance(value, bool | np.bool_ | str),
        lambda value: not isinstance(value, str) or value == "auto",
        "True, False or 'auto'",
    ),
}


class LinearMachine(CallbackSupport, BaseEstimator):
    """The frame of a linear fit. A machine says what its problems are (``_task``)."""

    _own_rules: ClassVar[dict[str, Rule]] = COMMON_RULES

    coef_: Any
    intercept_: Any
    certificate_: Certificate

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _task(self, X: Any, y: Any, sample_weight: Any) -> LinearTask:
        """Check what ``fit`` was given, and say what is to be solved."""
        raise NotImplementedError

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Any:
        """The body of every ``fit``."""
        began = time.perf_counter()
        with unless_refused(self):
            task = self._checked_task(X, y, sample_weight)
            before = None
            if self.warm_start and hasattr(self, "dual_coef_"):
                before = Before.of(self, task)
            metadata = {} if sample_weight is None else {"sample_weight": sample_weight}
            total = len(task.names)
            bridges = bridge_for(self, X, y, _nothing, metadata=metadata, total=total)
            solved = solve_all(self, task, before, bridges)
        self._accept(task, solved, time.perf_counter() - began)
        warn_if_early(solved)
        for bridge in bridges:
            bridge.finish()
        return self

    def _checked_task(self, X: Any, y: Any, sample_weight: Any) -> LinearTask:
        """The task, and refusals of what no machine can solve."""
        check_parameters(self)
        task = self._task(X, y, sample_weight)
        check_magnitude(task.rows, lambda norm2: norm2)
        return task

    def problem(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """What ``fit`` would solve, for a solver to be stepped.

        Parameters
        ----------
        X, y, sample_weight : as for ``fit``
            The data, checked in the same way.

        Returns
        -------
        LinearProblem or LinearJointProblem
            What :mod:`maxmargin.solvers.linear` solve:
            ``for snapshot in DualDescent().steps(problem): ...``
        """
        task = clone(self)._checked_task(X, y, sample_weight)
        if len(task.names) != 1:
            msg = (
                f"y has {len(task.names)} classes, each of which is a problem against "
                "the rest: give the rows of two classes"
            )
            raise InputError(msg)
        return task.make(0, design_of(self, task, Workers(1)), float(self.C))

    def _accept(self, task: LinearTask, solved: list[Solved], seconds: float) -> None:
        """Become the fitted machine of a solution."""
        for name in [name for name in vars(self) if name.endswith("_")]:
            if name not in ("n_features_in_", "feature_names_in_"):
                delattr(self, name)  # of an earlier fit
        d = task.rows.shape[1]
        self.__dict__.update(task.known)
        weights = np.concatenate([one.weights[:, :d] for one in solved])
        bias = np.concatenate([one.bias for one in solved])
        if len(solved) == 1 and len(weights) == 2:  # of two classes the difference
            weights, bias = weights[1:] - weights[:1], bias[1:] - bias[:1]
        # By columns, as a product with rows reads them; of one line that is the same.
        self.coef_ = np.asfortranarray(weights)
        self.intercept_ = bias if self.fit_intercept else 0.0
        self.dual_coef_ = np.concatenate([one.beta for one in solved])
        self.n_iter_ = max(one.n_iter for one in solved)
        self.certificate_ = worst_of(
            [one.certificate for one in solved],
            n_support=int(np.count_nonzero(self.dual_coef_.any(axis=0))),
            n_kernel=0,
            seconds=seconds,
        )


def _nothing(snapshot: Snapshot) -> None:
    """Fitted attributes of a run that goes on, for scikit-learn's callbacks: none yet."""
