"""Which solver a linear fit uses: the one that is named, or the one for the shape.

``"auto"`` follows the shape. Columns are few when a matrix X'DX of them can be made
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
crawls (:mod:`~maxmargin.solvers.linear.l1.l1_relay`).

For squared losses newton-cg takes the place of dual-descent where rows outnumber columns
(10⁶ × 10⁵ to 1e-3: 2.5 times as fast; where columns do, half as fast), and below a
relative gap of :data:`TIGHT`, where coordinates crawl. A free intercept is beyond
dual-descent: newton-cg takes its place for squared losses, gram for the others.

Crammer and Singer's problem of all classes has joint-relay: crammer-singer, and
joint-newton where that crawls and the weights of all classes are few
(:mod:`~maxmargin.solvers.linear.classes.class_relay`). That of two classes is a hinge,
solved as one (:mod:`~maxmargin.solvers.linear.two_classes`).

Sizes decide, never the clock: the same data always have the same solver.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import maxmargin.solvers.linear
from maxmargin.design.hessian import WIDE
from maxmargin.errors import InputError
from maxmargin.estimators.kernel.fit.solver_choice import is_solver
from maxmargin.problem import LinearJointProblem
from maxmargin.solvers.wrapped import adopted

if TYPE_CHECKING:
    from collections.abc import Callable

    from maxmargin.problem import LinearProblem

_CLASSES = {
    "dual-descent": ("DualDescent", True),
    "newton": ("Newton", False),
    "newton-cg": ("NewtonCg", False),
    "proximal-newton": ("ProximalNewton", False),
    "gram": ("GramSmo", False),
    "interior-point": ("InteriorPoint", False),
    "pegasos": ("LinearPegasos", True),
    "lasso-descent": ("LassoDescent", True),
    "lasso-newton": ("LassoNewton", False),
    "lasso-interior": ("LassoInterior", False),
    "lasso-relay": ("LassoRelay", True),
    "crammer-singer": ("LinearCrammerSinger", True),
    "joint-newton": ("JointNewton", False),
    "joint-relay": ("JointRelay", True),
}
_JOINT = ("crammer-singer", "joint-newton", "joint-relay")
NAMES = ("auto", *_CLASSES)
_LASSO = ("lasso-descent", "lasso-newton", "lasso-interior", "lasso-relay")
_OF_CLASSES = ("pegasos", *_LASSO, *_JOINT)
REGRESSION_NAMES = tuple(name for name in NAMES if name not in _OF_CLASSES)

FEW_ROWS = 5000  # whose products all fit into 200 MB
TIGHT = 1e-7  # relative gap below which coordinates crawl


def is_linear_solver(thing: Any) -> bool:
    """Whether it has all that a solver has, and is none of ours for kernels."""
    home, ours = type(thing).__module__, maxmargin.solvers.linear.__name__
    of_kernels = home.startswith("maxmargin.") and not home.startswith(f"{ours}.")
    return is_solver(thing) and not of_kernels


def chosen_solver(
    estimator: Any, problem: LinearProblem | LinearJointProblem, seed: Callable[[], int]
) -> Any:
    """The solver that a user named or made, or the one for this problem.

    Asks for the seed only where that solver has one.
    """
    name = estimator.solver
    joint_of_two = isinstance(problem, LinearJointProblem) and problem.n_classes == 2
    if name == "auto" and joint_of_two:
        return maxmargin.solvers.linear.TwoClasses(
            float(estimator.tol), int(estimator.max_iter), seed()
        )
    if name == "auto":
        name = suitable(problem, float(estimator.tol))
    known = maxmargin.solvers.linear
    of_classes = (
        known.LinearCrammerSinger, known.JointNewton, known.JointRelay, known.TwoClasses
    )  # fmt: skip
    joint = isinstance(name, of_classes) or (isinstance(name, str) and name in _JOINT)
    if joint is not isinstance(problem, LinearJointProblem):
        way = getattr(estimator, "multi_class", None)
        msg = (
            f"solver={name!r} with multi_class={way!r}: 'crammer-singer', "
            "'joint-newton' and 'joint-relay' solve Crammer and Singer's problem of all "
            "classes, and no other does; use solver='auto'"
        )
        raise InputError(msg)
    if not isinstance(name, str):
        return adopted(name)
    kind, seeded = _CLASSES[name]
    options: dict[str, Any] = {
        "tol": float(estimator.tol),
        "max_iter": int(estimator.max_iter),
    }
    if seeded:
        options["seed"] = seed()
    return getattr(maxmargin.solvers.linear, kind)(**options)


def suitable(problem: LinearProblem | LinearJointProblem, tol: float) -> str:
    """The name of the solver for a problem, by the rule above."""
    if isinstance(problem, LinearJointProblem):
        return "joint-relay"
    if problem.lasso:
        return "lasso-relay"
    design = problem.design
    narrow = design.width <= WIDE
    if narrow:
        return "newton" if problem.squared else "proximal-newton"
    few_rows = not design.sparse and problem.n <= min(design.width, FEW_ROWS)
    if few_rows and problem.boxed:
        return "gram"
    if problem.squared:
        many_rows = problem.n > design.width
        by_newton = problem.free or many_rows or tol < TIGHT or not problem.boxed
        return "newton-cg" if by_newton else "dual-descent"
    return "gram" if problem.free else "dual-descent"
