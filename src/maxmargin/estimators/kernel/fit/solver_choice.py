"""Which solver a fit uses: by its name, or one that a user has made."""

from __future__ import annotations

from typing import Any

from sklearn.utils import check_random_state

import maxmargin.solvers
from maxmargin.errors import InputError
from maxmargin.estimators.kernel.prediction import is_linear
from maxmargin.solvers.wrapped import adopted

# name → its class in maxmargin.solvers, and whether it draws random numbers
_CLASSES = {
    "auto": ("WorkingSetSmo", False),
    "smo": ("WorkingSetSmo", False),
    "smo-platt": ("PlattSmo", True),
    "smo-simple": ("SimpleSmo", True),
    "decomposition": ("Decomposition", False),
    "chunking": ("Chunking", False),
    "qp": ("QuadraticProgram", False),
    "pegasos": ("Pegasos", True),
}
NAMES = tuple(_CLASSES)


def is_solver(thing: Any) -> bool:
    """Whether it has all that a solver has, and is not a class of them."""
    verbs = ("start", "advance", "measure", "model", "explain", "n_iter")
    wanted = (*verbs, "tol", "criterion", "unit")
    return not isinstance(thing, type) and all(hasattr(thing, one) for one in wanted)


def chosen_solver(estimator: Any, cache_bytes: int) -> Any:
    """The solver a user named or made; only SVC has a choice.

    One that was made is used as it is, with its own tolerance, limit and memory.
    """
    name = getattr(estimator, "solver", "auto")
    if not isinstance(name, str):
        return adopted(name)
    options: dict[str, Any] = {
        "tol": float(estimator.tol),
        "max_iter": int(estimator.max_iter),
        "cache_bytes": cache_bytes,
    }
    if getattr(estimator, "multi_class", "ovo") == "crammer_singer":
        return maxmargin.solvers.CrammerSinger(**options)
    kind, seeded = _CLASSES[name]
    if seeded:
        random = check_random_state(estimator.random_state)
        options["seed"] = int(random.randint(2**31 - 1))
    if name in ("auto", "smo"):
        options["shrinking"] = bool(estimator.shrinking)
    if _goes_through_weights(estimator):
        kind = "ThroughWeights"
    made = getattr(maxmargin.solvers, kind)
    if name == "pegasos":  # whose tol bounds the gap, and which is no exact solver
        options["tol"] = max(options["tol"], made.tol)
    return made(**options)


def merges_copies(estimator: Any) -> bool:
    """Whether its solver may see rows that are copies of each other as one.

    That of production may. Those of the lectures, and a user's own, see every row; one
    that goes through the weights has no kernel values to save.
    """
    joint = getattr(estimator, "multi_class", "ovo") == "crammer_singer"
    plain = getattr(estimator, "solver", "auto") in ("auto", "smo")
    return plain and not joint and not _goes_through_weights(estimator)


def _goes_through_weights(estimator: Any) -> bool:
    """Whether the kernel is linear and nobody counts pairs, of which it has none."""
    return (
        getattr(estimator, "solver", "auto") == "auto"
        and is_linear(estimator.kernel)
        and estimator.max_iter == -1
    )


def named_solver(name: str) -> Any:
    """A solver by the name that SVC knows it by, with its own defaults."""
    if name not in _CLASSES:
        msg = f"solver={name!r}: the names of solvers are {', '.join(map(repr, NAMES))}"
        raise InputError(msg)
    return getattr(maxmargin.solvers, _CLASSES[name][0])()
