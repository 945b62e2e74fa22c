"""The solver of a linear fit: the one that is named, or the one for the shape of X.

``"auto"`` depends on the shape. Columns are few when their matrix X'DX can be made
(:data:`WIDE`); rows are few when there are more columns and all products of rows fit into
memory easily (:data:`FEW_ROWS`).

=====================  =================  ========================  ==================
                       few columns        many columns, dense rows  many columns
=====================  =================  ========================  ==================
squared losses         newton             gram (few rows)           dual-descent
hinge, tube            proximal-newton    gram (few rows)           dual-descent
penalty l1             lasso-relay        lasso-relay               lasso-relay
=====================  =================  ========================  ==================

The penalty l1 has lasso-relay for every shape: lasso-newton where columns are few and
there are three rows for each of them, else lasso-descent, and lasso-interior where either
is slow (:mod:`~maxmargin.solvers.linear.l1.l1_relay`).

For squared losses newton-cg takes the place of dual-descent where rows outnumber columns
(10⁶ × 10⁵ to 1e-3: 2.5 times as fast; where columns do, half as fast), and below a
relative gap of :data:`TIGHT`, where coordinate descent is slow. dual-descent cannot have
a free intercept: newton-cg takes its place for squared losses, gram for the others.

Crammer and Singer's problem of all classes has joint-relay: crammer-singer, and
joint-newton where that is slow and the weights of all classes are few
(:mod:`~maxmargin.solvers.linear.classes.class_relay`). That of two classes is a hinge,
solved as one (:mod:`~maxmargin.solvers.linear.two_classes`).

Only sizes decide, never the clock: the same data always have the same solver.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from maxmargin.design.hessian import WIDE
from maxmargin.errors import InputError
from maxmargin.estimators.kernel.fit.solver_choice import is_solver
from maxmargin.problem import JointProblem, LinearJointProblem, Problem
from maxmargin.solvers.base import Steppable, options_of
from maxmargin.solvers.linear import LINEAR_SOLVERS
from maxmargin.solvers.wrapped import adopted

if TYPE_CHECKING:
    from collections.abc import Callable

    from maxmargin.estimators.parameters import Settings
    from maxmargin.problem import LinearProblem

FEW_ROWS = 5000  # policy: up to so many rows, all products of two rows fit into 200 MB
TIGHT = 1e-7  # policy: relative gap below which coordinate descent is too slow


def names(*, regression: bool = False) -> tuple[str, ...]:
    """Return the names that ``solver=`` accepts; regressions have no joint solvers."""
    found = (
        LINEAR_SOLVERS
        if not regression
        else [one for one in LINEAR_SOLVERS if not one.task]
    )
    return ("auto", *(one.name for one in found if one.name))


def is_linear_solver(thing: Any) -> bool:
    """Return whether an object is a solver, but none of ours for kernels."""
    if isinstance(thing, Steppable) and issubclass(thing.solves, Problem | JointProblem):
        return False
    return is_solver(thing)


def chosen_solver(
    settings: Settings,
    problem: LinearProblem | LinearJointProblem,
    seed: Callable[[], int],
) -> Any:
    """Return the solver that a user named or made, or the one for this problem.

    Parameters
    ----------
    settings : Settings
        Of the machine.
    problem : LinearProblem or LinearJointProblem
        The problem.
    seed : callable
        Returns the seed; called only if the solver has one.
    """
    solver = settings.solver
    if isinstance(solver, str) and solver == "auto":
        kind = LINEAR_SOLVERS.load(suitable(problem, float(settings.tol)))
    elif isinstance(solver, str):
        kind = LINEAR_SOLVERS.named(solver)
    else:
        kind = type(solver)
    if issubclass(kind, Steppable) and not isinstance(problem, kind.solves):
        joint = isinstance(problem, LinearJointProblem)
        way = "crammer_singer" if joint else "ovr"
        msg = (
            f"solver={solver!r} with multi_class={way!r}: {_joint_names()} solve Crammer "
            "and Singer's problem of all classes, and no other does; use solver='auto'"
        )
        raise InputError(msg)
    if not isinstance(solver, str):
        return adopted(solver)
    known = options_of(kind)
    options: dict[str, Any] = {
        "tol": float(settings.tol),
        "max_iter": int(settings.max_iter),
    }
    if "seed" in known:
        options["seed"] = seed()
    return kind(**{name: one for name, one in options.items() if name in known})


def _joint_names() -> str:
    known = [repr(one) for one in LINEAR_SOLVERS.names("joint")]
    return f"{', '.join(known[:-1])} and {known[-1]}"


def suitable(problem: LinearProblem | LinearJointProblem, tol: float) -> str:
    """Return the name of the solver class for a problem, by the rules above."""
    if isinstance(problem, LinearJointProblem):
        return "JointRelay" if problem.n_classes > 2 else "TwoClasses"
    if problem.lasso:
        return "LassoRelay"
    design = problem.design
    if design.width <= WIDE:
        return "Newton" if problem.squared else "ProximalNewton"
    few_rows = not design.sparse and problem.n <= min(design.width, FEW_ROWS)
    if few_rows and problem.boxed:
        return "GramSmo"
    if problem.squared:
        many_rows = problem.n > design.width
        by_newton = problem.free or many_rows or tol < TIGHT or not problem.boxed
        return "NewtonCg" if by_newton else "DualDescent"
    return "GramSmo" if problem.free else "DualDescent"
