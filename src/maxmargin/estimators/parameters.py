"""Constructor parameters: their checks, and their meaning for given rows.

By scikit-learn's convention constructors store and ``fit`` checks; the table
:data:`RULES` defines the allowed values, for the check and for its message.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import cache
from inspect import signature
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from maxmargin.errors import InputError, InputTypeError
from maxmargin.estimators.kernel.fit.solver_choice import is_solver
from maxmargin.estimators.kernel.fit.solver_choice import names as solver_names
from maxmargin.estimators.magnitude import check_magnitude
from maxmargin.kernels import KERNELS
from maxmargin.kernels.naming import as_kernel, kind_of
from maxmargin.kernels.scale import gamma_of
from maxmargin.observers import Locked, Progress, TimeLimit, as_observer

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from maxmargin.kernels import Kernel
    from maxmargin.solvers.base import Observer


class Rule(NamedTuple):
    """The allowed values of a parameter: a type, a test of the value, both in words."""

    kind: Callable[[Any], bool]
    test: Callable[[Any], bool]
    words: str | Callable[[], str]  # a function where names may be added from outside
    advice: str = ""

    @property
    def allowed(self) -> str:
        """The allowed values in words."""
        return self.words if isinstance(self.words, str) else self.words()


def _boolean(value: Any) -> bool:
    return type(value) is bool or isinstance(value, np.bool_)


def _real(value: Any) -> bool:
    if type(value) is float:  # most values are; isinstance of Real is slow
        return True
    if not isinstance(value, Real) or _boolean(value):
        return False
    try:
        float(value)
    except OverflowError:  # an integer beyond float64
        return False
    return True


def _integer(value: Any) -> bool:
    if type(value) is int:
        return True
    return isinstance(value, Integral) and not _boolean(value)


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _always(value: Any) -> bool:  # noqa: ARG001
    return True


def _is_callbacks(value: Any) -> bool:
    return value is None or callable(value) or _observes(value) or _is_list(value)


def _observes(value: Any) -> bool:
    return any(hasattr(value, name) for name in ("on_start", "on_step", "on_stop"))


def _is_list(value: Any) -> bool:
    if isinstance(value, np.ndarray) and value.ndim == 0:
        return False
    return isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping)


def one_of(*names: str) -> Rule:
    """Return the rule of a parameter that must be one of these names."""
    words = " or ".join(repr(name) for name in names)
    return Rule(_text, lambda value: value in names, f"a str: {words}")


_SWITCH = Rule(_boolean, _always, "True or False")

PAIRS_OR_RESTS = one_of("ovo", "ovr")
FINITE_C = Rule(
    _real,
    lambda value: 0.0 < value < math.inf,
    "a positive, finite number",
    "C is the price of an error outside the tube",
)

RULES: dict[str, Rule] = {
    "C": Rule(
        _real,
        lambda value: value > 0.0,
        "a positive number, or inf",
        "C is the price of an error; C=inf allows none: a hard margin, a hard tube",
    ),
    "kernel": Rule(
        # A class is callable too, and makes an object instead of kernel values.
        lambda value: _text(value) or (callable(value) and not isinstance(value, type)),
        lambda value: callable(value) or value in KERNELS.names(),
        lambda: (
            "a str among " + ", ".join(map(repr, KERNELS.names())) + ", a kernel object "
            "of maxmargin.kernels such as RBF(gamma=1.0), or a callable k(A, B)"
        ),
    ),
    "nu": Rule(
        _real,
        lambda value: 0.0 < value <= 1.0,
        "a float in the range (0.0, 1.0]",
        "nu bounds the fraction of errors from above, that of support vectors from below",
    ),
    "epsilon": Rule(
        _real,
        lambda value: 0.0 <= value < math.inf,
        "a finite number of at least 0",
        "errors up to epsilon cost nothing",
    ),
    "probability": _SWITCH,
    "calibration": one_of("sigmoid", "isotonic"),
    "multi_class": one_of("ovo", "ovr", "crammer_singer"),
    "degree": Rule(
        _integer,
        lambda value: 0 <= value < 2**31,
        "an integer between 0 and 2**31 - 1",
    ),
    "gamma": Rule(
        lambda value: _text(value) or _real(value),
        lambda value: (
            value in ("scale", "auto") if _text(value) else 0.0 <= value < math.inf
        ),
        "'scale', 'auto' or a finite number of at least 0",
        "gamma scales the (squared) length of the rows; 'scale' suits most data",
    ),
    "coef0": Rule(_real, math.isfinite, "a finite number"),
    "shrinking": _SWITCH,
    "tol": Rule(
        _real,
        lambda value: 0.0 < value < math.inf,
        "a positive, finite number",
        "tol bounds the violation of the optimality conditions; 1e-3 is customary",
    ),
    "cache_size": Rule(
        _real,
        lambda value: 0.0 < value < math.inf,
        "a positive, finite number",
        "it is the memory for kernel values, in MB",
    ),
    "class_weight": Rule(
        lambda value: value is None or _text(value) or isinstance(value, Mapping),
        lambda value: (
            value == "balanced"
            if _text(value)
            else all(isinstance(one, Real) for one in (value or {}).values())
        ),
        "'balanced', a dict from label to weight (a number), or None",
    ),
    "verbose": Rule(
        lambda value: _boolean(value) or _integer(value),
        lambda value: int(value) >= 0,
        "a boolean or an integer of at least 0",
    ),
    "max_iter": Rule(
        _integer,
        lambda value: value >= -1,
        "an integer of at least -1",
        "-1 leaves the limit to the solver",
    ),
    "decision_function_shape": one_of("ovr", "ovo"),
    "break_ties": _SWITCH,
    "random_state": Rule(
        lambda value: (
            value is None
            or _integer(value)
            or isinstance(value, np.random.RandomState)
            or value is np.random
        ),
        lambda value: not _integer(value) or 0 <= value < 2**32,
        "None, an integer between 0 and 2**32 - 1, or a RandomState",
    ),
    "loss": one_of("hinge", "squared_hinge"),
    "fit_intercept": _SWITCH,
    "solver": Rule(
        lambda value: isinstance(value, str) or is_solver(value),
        lambda value: not isinstance(value, str) or value in solver_names(),
        lambda: (
            f"a str: {' or '.join(map(repr, solver_names()))}; or a solver of "
            "maxmargin.solvers"
        ),
    ),
    "n_jobs": Rule(
        lambda value: value is None or _integer(value),
        lambda value: value is None or value != 0,
        "None or an integer other than 0",
        "None and -1 use every core, 1 is serial",
    ),
    "time_limit": Rule(
        lambda value: value is None or _real(value),
        lambda value: value is None or value > 0.0,
        "None or a positive number of seconds",
    ),
    "callbacks": Rule(
        _is_callbacks,
        _always,
        "None, a function f(snapshot), an observer, or a list of them",
    ),
    "warm_start": _SWITCH,
}


_UNCHANGING = (str, float, int, bool, type(None))  # immutable: checked once is enough
_NEVER = object()  # replaces a default that must be checked in every fit


@cache
def _rules(kind: Any) -> list[tuple[str, Rule, Any]]:
    """Return names, rules and valid defaults of a class's parameters.

    Parameters that a subclass adds are not checked here; a default that is invalid or
    mutable is replaced by ``_NEVER``.
    """
    known = {**RULES, **kind._own_rules}
    given = signature(kind).parameters
    found = []
    for name in kind._get_param_names():
        if name in known:
            rule, default = known[name], given[name].default
            good = type(default) in _UNCHANGING and _meets(rule, default)
            found.append((name, rule, default if good else _NEVER))
    return found


def _meets(rule: Rule, value: Any) -> bool:
    return rule.kind(value) and rule.test(value)


def check_parameters(estimator: Any) -> None:
    """Check every constructor parameter; values that are valid defaults are skipped."""
    kind: Any = type(estimator)
    for name, rule, default in _rules(kind):
        value = getattr(estimator, name)
        if value is not default and not _meets(rule, value):
            check_value(kind.__name__, name, value, rule)


def check_value(owner: str, name: str, value: Any, rule: Rule) -> None:
    """Check one parameter of a class or a function; raise an error if it is invalid."""
    right_kind = rule.kind(value)
    if right_kind and rule.test(value):
        return
    advice = f" {name}={value!r}: {rule.advice}." if rule.advice else ""
    msg = (
        f"The {name!r} parameter of {owner} must be {rule.allowed}. Got {value!r} "
        f"instead.{advice}"
    )
    raise InputError(msg) if right_kind else InputTypeError(msg)


def effective_gamma(
    estimator: Any, X: Any, weight: NDArray[np.float64] | None = None
) -> float:
    """The number that ``gamma`` means for these rows; 0 where no kernel uses it."""
    gamma = 0.0  # of kernel objects and functions
    if isinstance(estimator.kernel, str):
        fixed = kind_of(estimator.kernel).fixed_gamma
        if fixed is None and isinstance(estimator.gamma, str):
            check_magnitude(X, lambda norm2: norm2)
        gamma = gamma_of(estimator.gamma, X, weight) if fixed is None else fixed
    kernel = kernel_of(estimator, gamma)
    if kernel.compiles:
        check_magnitude(X, kernel.magnitude)
    return gamma


def kernel_of(estimator: Any, gamma: float) -> Kernel:
    """Return the kernel object of a machine, with this number for ``gamma``."""
    return as_kernel(
        estimator.kernel,
        degree=int(estimator.degree),
        gamma=float(gamma),
        coef0=float(estimator.coef0),
    )


class Settings(NamedTuple):
    """The parameters of a machine that solvers, threads and observers need."""

    tol: float
    max_iter: int
    solver: Any = "auto"
    shrinking: bool = True
    cache_bytes: int = 200 << 20
    random_state: Any = None
    n_jobs: int | None = None
    time_limit: float | None = None
    verbose: bool | int = False
    callbacks: Any = None

    @classmethod
    def of(cls, estimator: Any) -> Settings:
        """Return those of a machine, with a default where it has no such parameter."""
        given = vars(estimator)
        found = {name: given[name] for name in cls._fields if name in given}
        if "cache_size" in given:  # in MB
            found["cache_bytes"] = int(given["cache_size"] * (1 << 20))
        return cls(**found)

    def observers(self, problems: int) -> list[Observer]:
        """Return the observers of a fit: time limit, progress bar, callbacks."""
        observers: list[Observer] = []
        if self.time_limit is not None:
            observers.append(TimeLimit(float(self.time_limit)))
        if self.verbose:
            observers.append(Progress(tol=float(self.tol), total=problems))
        given = self.callbacks
        if given is None:
            given = ()
        elif not isinstance(given, Iterable):
            given = (given,)
        # Problems run in threads; callbacks are called one at a time.
        return [*observers, *(Locked(as_observer(thing)) for thing in given)]
