"""The solver of a kernel fit: by its name, or an object made by the user."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.utils import check_random_state

from maxmargin.errors import InputError
from maxmargin.solvers import SOLVERS
from maxmargin.solvers.base import options_of
from maxmargin.solvers.wrapped import adopted

if TYPE_CHECKING:
    from maxmargin.estimators.parameters import Settings


def names() -> tuple[str, ...]:
    """Return the names that ``solver=`` accepts."""
    return ("auto", *SOLVERS.names())


def is_solver(thing: Any) -> bool:
    """Return whether an object has all methods and attributes of a solver."""
    verbs = ("start", "advance", "measure", "model", "explain", "n_iter")
    wanted = (*verbs, "tol", "criterion", "unit")
    return not isinstance(thing, type) and all(hasattr(thing, one) for one in wanted)


def chosen_solver(
    settings: Settings, cache_bytes: int, *, linear: bool = False, demanded: str = ""
) -> Any:
    """Return the solver that a user named or made, or the one for the kernel.

    A solver object is used as it is, with its own tolerance, limit and memory. The others
    get of these, and of a seed, those that their constructors take.

    Parameters
    ----------
    settings : Settings
        Of the machine.
    cache_bytes : int
        Memory for kernel values.
    linear : bool
        Whether the kernel is linear.
    demanded : str
        The class of solver that the scheme of classes needs; empty: any.
    """
    name = settings.solver
    if not isinstance(name, str):
        return adopted(name)
    title = demanded
    if not title and goes_through_weights(settings, linear=linear):
        title = "ThroughWeights"
    kind = (
        SOLVERS.load(title) if title else SOLVERS.named("smo" if name == "auto" else name)
    )
    known = options_of(kind)
    options: dict[str, Any] = {
        "tol": max(float(settings.tol), kind.least_tol),
        "max_iter": int(settings.max_iter),
        "cache_bytes": cache_bytes,
        "shrinking": bool(settings.shrinking),
    }
    options = {name: value for name, value in options.items() if name in known}
    if "seed" in known:
        random = check_random_state(settings.random_state)
        options["seed"] = int(random.randint(2**31 - 1))
    return kind(**options)


def is_production(settings: Settings) -> bool:
    """Return whether the solver is the default one, SMO."""
    return isinstance(settings.solver, str) and settings.solver in ("auto", "smo")


def goes_through_weights(settings: Settings, *, linear: bool) -> bool:
    """Return whether to solve for the weights: linear kernel, no limit on SMO steps."""
    automatic = isinstance(settings.solver, str) and settings.solver == "auto"
    return automatic and linear and settings.max_iter == -1


def named_solver(name: str) -> Any:
    """Return a solver by its name in SVC, with its own defaults."""
    if name not in names():
        known = ", ".join(map(repr, names()))
        msg = f"solver={name!r}: the names of solvers are {known}"
        raise InputError(msg)
    return SOLVERS.named("smo" if name == "auto" else name)()
