"""Which kind of problem a solver takes, and a refusal of the others."""

from __future__ import annotations

from typing import Any

from maxmargin.errors import InputTypeError

# kind of problem → who makes one, who solves it
_KNOWN = {
    "Problem": ("SVC(...).problem(X, y)", "WorkingSetSmo"),
    "JointProblem": (
        "SVC(multi_class='crammer_singer').problem(X, y)",
        "CrammerSinger",
    ),
    "LinearProblem": ("LinearSVC(...).problem(X, y)", "linear.DualDescent"),
    "LinearJointProblem": (
        "LinearSVC(multi_class='crammer_singer').problem(X, y)",
        "linear.LinearCrammerSinger",
    ),
}


def check_kind(solver: Any, problem: Any) -> None:
    """Refuse a problem of another kind than the solver's ``start`` is annotated with.

    So no solver has to ask; one without an annotation, a user's own, is trusted.
    """
    noted = getattr(solver.start, "__annotations__", {}).get("problem")
    asked, given = getattr(noted, "__name__", noted), type(problem).__name__
    if asked == given or asked not in _KNOWN or given not in _KNOWN:
        return
    msg = (
        f"{type(solver).__name__} was given a {given}, and solves a {asked}: use "
        f"{_KNOWN[asked][0]}, or a solver that takes this one, such as "
        f"maxmargin.solvers.{_KNOWN[given][1]}"
    )
    raise InputTypeError(msg)
