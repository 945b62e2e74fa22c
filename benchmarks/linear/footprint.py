"""Memory of a fit above the rows that were given to it, each in a fresh process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import scipy.sparse as sp

from benchmarks.linear.child import Child
from benchmarks.linear.datasets import load, problem_of
from benchmarks.peers.linear import OURS
from benchmarks.speed.remote import Unable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.linear.race import Plan

__all__ = ["CASES", "measure"]

Case = tuple[str, str, str, str]
MB = 2.0**20
WARM_ROWS = 3000  # enough to compile what the fit will use
TOL = 1e-4
CASES: tuple[Case, ...] = (
    ("covtype", "hinge", OURS, "auto"),
    ("covtype", "squared_hinge", OURS, "auto"),
    ("covtype", "squared_hinge", "scikit-learn", "primal"),
    ("mnist", "squared_hinge", OURS, "auto"),
    ("sparse1m", "hinge", OURS, "auto"),
    ("sparse1m", "squared_hinge", OURS, "auto"),
    ("sparse1m", "squared_hinge", "scikit-learn", "primal"),
)


def _size(X: Any) -> float:
    parts = (X.data, X.indices, X.indptr) if sp.issparse(X) else (X,)
    return sum(part.nbytes for part in parts) / MB


def measure(cases: Sequence[Case], plan: Plan) -> list[dict[str, Any]]:
    """One record for every case, in MB; a reason where there is no figure.

    ``unit`` is what n + d² numbers take, of sparse rows n + d: the allowance of a fit
    is a few of it.
    """
    found = []
    for name, loss, library, variant in cases:
        problem = problem_of(name, loss, load(name, plan.rows), plan.rows)
        n, d = problem.X.shape
        record: dict[str, Any] = {
            "set": name,
            "loss": loss,
            "machine": library,
            "input": _size(problem.X),
            "unit": 8.0 * (n + (d if sp.issparse(problem.X) else d * d)) / MB,
        }
        child = Child(library)
        patience = plan.start + plan.cap
        try:
            child.give(problem.thinned(WARM_ROWS))
            child.call("run", variant, TOL, seconds=patience)
            child.give(problem)
            record |= child.call("peak", variant, TOL, seconds=patience)
        except Unable as why:
            record["reason"] = str(why)
        finally:
            child.stop()
        found.append(record)
    return found
