"""The base of LinearSVC and LinearSVR: checks of parameters, fits, paths of C."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from maxmargin.errors import InputError
from maxmargin.estimators.convergence_warnings import warn_of_linear_fit
from maxmargin.estimators.linear.choice import is_linear_solver, names
from maxmargin.estimators.linear.solving import Kept, LinearTask, Seed, solve_all
from maxmargin.estimators.linear.warm_start import Before
from maxmargin.estimators.machine import (
    Machine,
    Solution,
    name_features,
    refuse_several,
)
from maxmargin.estimators.magnitude import check_magnitude
from maxmargin.estimators.parameters import FINITE_C, Rule, Settings, one_of
from maxmargin.losses import LOSSES
from maxmargin.parallel import Workers, one_blas_thread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from maxmargin.solvers.base import Observer


def solver_rule(*, regression: bool = False) -> Rule:
    """Return the rule of ``solver``: one of the names, or a solver object."""

    def allowed(value: Any) -> bool:
        known = names(regression=regression)
        return value in known if isinstance(value, str) else is_linear_solver(value)

    return Rule(
        lambda value: isinstance(value, str) or is_linear_solver(value),
        allowed,
        lambda: (
            f"a str: {' or '.join(map(repr, names(regression=regression)))}; or a "
            "solver of maxmargin.solvers.linear"
        ),
    )


def loss_rule() -> Rule:
    """Return the rule of ``loss``: a loss that can be trained, also from outside."""

    def known() -> list[str]:
        return [name for name, loss in LOSSES.items() if loss.trains]

    return Rule(
        lambda value: isinstance(value, str),
        lambda value: value in known(),
        lambda: f"a str: {' or '.join(map(repr, known()))}",
    )


_WIDEST = 1e150  # rounding: the square of a larger intercept_scaling may overflow

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
    "solver": solver_rule(),
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


# loss → penalty → values of dual that LIBLINEAR has
_KNOWN: dict[str, dict[str, tuple[bool, ...]]] = {
    "hinge": {"l2": (True,)},
    "squared_hinge": {"l1": (False,), "l2": (False, True)},
    "epsilon_insensitive": {"l2": (True,)},
    "squared_epsilon_insensitive": {"l2": (False, True)},
}


def check_combination(penalty: str, loss: str, dual: Any) -> None:
    """Refuse what scikit-learn's ``LinearSVC`` and ``LinearSVR`` refuse.

    ``dual`` has no effect here, for every solver computes primal and dual; but a
    combination that LIBLINEAR does not have is probably a mistake.
    """
    given = f"Parameters: penalty={penalty!r}, loss={loss!r}, dual={dual!r}"
    known = _KNOWN.get(loss, {"l2": (False, True)})  # one from outside, as it may be
    if penalty not in known:
        msg = (
            "Unsupported set of arguments: The combination of "
            f"penalty='{penalty}' and loss='{loss}' is not supported, {given}; the "
            "penalty l1 goes with loss='squared_hinge'"
        )
        raise InputError(msg)
    if dual != "auto" and bool(dual) not in known[penalty]:
        msg = (
            "Unsupported set of arguments: The combination of "
            f"penalty='{penalty}' and loss='{loss}' are not supported when "
            f"dual={dual}, {given}; use dual='auto'"
        )
        raise InputError(msg)


class LinearMachine(Machine):
    """Base of LinearSVC and LinearSVR; a machine defines its problems (``_task``)."""

    _own_rules: ClassVar[dict[str, Rule]] = COMMON_RULES

    coef_: Any
    intercept_: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _linear_task(
        self,
        rows: Any,
        problems: Sequence[str],
        make: Any,
        known: dict[str, Any],
        lines: int,
    ) -> LinearTask:
        """Return the task of these rows; refuse features that are too large."""
        check_magnitude(rows, lambda norm2: norm2)
        scaling = scaling_of(self)
        return LinearTask(rows, problems, make, float(self.C), scaling, known, lines)

    def _problem(self, task: LinearTask) -> Any:
        if task.n_problems != 1:
            refuse_several(task.n_problems, "each of which is a problem against the rest")
        return task.problem(0, task.design(Workers(1)))

    def _solve(
        self, task: Any, settings: Settings, before: Any, observers: Sequence[Observer]
    ) -> Solution:
        start = None if before is None else Before.of(before, task)
        return solve_all(task, settings, start, observers)

    def _attributes(self, task: LinearTask, solution: Solution) -> dict[str, Any]:
        d, solved = task.rows.shape[1], solution.solved
        weights = np.concatenate([one.weights[:, :d] for one in solved])
        bias = np.concatenate([one.bias for one in solved])
        if len(solved) == 1 and len(weights) == 2:  # of two classes the difference
            weights, bias = weights[1:] - weights[:1], bias[1:] - bias[:1]
        return {
            **task.known,
            # Column order is the faster one for products with rows.
            "coef_": np.asfortranarray(weights),
            "intercept_": bias if self.fit_intercept else 0.0,
            "dual_coef_": np.concatenate([one.beta for one in solved]),
        }

    def _of_the_run(self, task: LinearTask, solution: Solution) -> dict[str, Any]:  # noqa: ARG002
        return {"n_iter_": max(one.certificate.n_iter for one in solution.solved)}

    def _n_support(self, solution: Solution) -> int:  # noqa: ARG002
        return int(np.count_nonzero(self.dual_coef_.any(axis=0)))

    def _warn(self, solution: Solution, settings: Settings) -> None:  # noqa: ARG002
        warn_of_linear_fit(solution)

    def _fit_along(
        self, machines: Sequence[Any], X: Any, y: Any, sample_weight: Any
    ) -> None:
        """Check the rows once; the design and what it has computed serve every C."""
        began = time.perf_counter()
        first, settings = machines[0], Settings.of(self)
        task = first._task(X, y, sample_weight)
        with Workers(settings.n_jobs) as workers:
            kept = Kept(task.design(workers), Seed(settings.random_state))
        last: tuple[float, Before] | None = None
        earlier: tuple[float, Before] | None = None
        with one_blas_thread():  # once for all: every fit would set it again
            for machine in machines:
                price = float(machine.C)
                # Copies: users may alter the attributes of one machine.
                known = {name: one.copy() for name, one in task.known.items()}
                own = task._replace(C=price, known=known)
                start = None if last is None else last[1].along(last[0], earlier, price)
                observers = settings.observers(task.n_problems)
                solution = solve_all(own, settings, start, observers, kept)
                name_features(machine, first)
                machine._accept(own, solution, time.perf_counter() - began)
                machine._warn(solution, settings)
                pulls = [one.pull for one in solution.solved]
                earlier, last = last, (price, Before.of(machine, own, pulls))
                began = time.perf_counter()


def scaling_of(machine: Any) -> float:
    """Return the value of the constant column; 0 without one."""
    regularised = machine.fit_intercept and machine.intercept != "free"
    return float(machine.intercept_scaling) if regularised else 0.0
