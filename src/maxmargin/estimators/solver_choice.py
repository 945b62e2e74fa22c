"""Which solver a fit uses: by its name, or one that a user has made."""

from __future__ import annotations

from typing import Any

from sklearn.utils import check_random_state

import maxmargin.solvers

__all__ = ["NAMES", "chosen_solver", "is_solver"]

GAP = 1e-2  # relative duality gap at which Pegasos stops, unless tol is larger

_PLAIN = {
    "qp": "QuadraticProgram",
    "chunking": "Chunking",
    "decomposition": "Decomposition",
}
_SEEDED = {"smo-simple": "SimpleSmo", "smo-platt": "PlattSmo", "pegasos": "Pegasos"}

NAMES = ("smo", "smo-platt", "smo-simple", "decomposition", "chunking", "qp", "pegasos")


def is_solver(thing: Any) -> bool:
    """Whether it has the verbs of a solver, and is not a class of them."""
    verbs = ("start", "advance", "measure", "model", "explain", "n_iter")
    return not isinstance(thing, type) and all(hasattr(thing, verb) for verb in verbs)


def chosen_solver(estimator: Any, cache_bytes: int) -> Any:
    """The solver a user named or made; only SVC has a choice.

    One that was made is used as it is, with its own tolerance, limit and memory.
    """
    name = getattr(estimator, "solver", "smo")
    if not isinstance(name, str):
        return name
    options: dict[str, Any] = {
        "tol": float(estimator.tol),
        "max_iter": int(estimator.max_iter),
        "cache_bytes": cache_bytes,
    }
    if getattr(estimator, "multi_class", "ovo") == "crammer_singer":
        return maxmargin.solvers.CrammerSinger(**options)
    if name == "smo":
        options["shrinking"] = bool(estimator.shrinking)
        return maxmargin.solvers.WorkingSetSmo(**options)
    if name in _PLAIN:
        return getattr(maxmargin.solvers, _PLAIN[name])(**options)
    options["seed"] = int(check_random_state(estimator.random_state).randint(2**31 - 1))
    if name == "pegasos":
        options["tol"] = max(options["tol"], GAP)
    return getattr(maxmargin.solvers, _SEEDED[name])(**options)
