"""Which solver a linear fit uses: the one that is named, or the one for the shape.

``"auto"``, by the loss, the number of columns and what one product X'DX would cost:

- squared losses: exact Newton where X'DX is small (at most :data:`WIDE` columns), for it
  needs a handful of them; beyond, dual coordinate descent down to a relative gap of
  :data:`TIGHT`, and Newton with conjugate gradients below, whose steps are dearer but do
  not slow down;
- the penalty l1: Newton steps where X'DX is small, else coordinate descent on the
  weights;
- hinge and tube: interior point where X'DX is small, whose number of iterations hardly
  depends on C; beyond, dual coordinate descent.

Sizes decide, never the clock: the same data always have the same solver.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.utils import check_random_state

import maxmargin.solvers.linear
from maxmargin.estimators.solver_choice import is_solver

if TYPE_CHECKING:
    from maxmargin.problem import LinearProblem

__all__ = ["NAMES", "chosen_solver", "is_linear_solver"]

_CLASSES = {
    "dual-descent": ("DualDescent", True),
    "newton": ("Newton", False),
    "newton-cg": ("NewtonCg", False),
    "interior-point": ("InteriorPoint", False),
    "pegasos": ("LinearPegasos", True),
    "lasso-descent": ("LassoDescent", True),
    "lasso-newton": ("LassoNewton", False),
}
NAMES = ("auto", *_CLASSES)

WIDE = 1500  # columns up to which a matrix of their products is made
TIGHT = 1e-7  # relative gap below which coordinates crawl


def is_linear_solver(thing: Any) -> bool:
    """Whether it is a name of a solver, or has all that a solver has."""
    return thing in NAMES if isinstance(thing, str) else is_solver(thing)


def chosen_solver(estimator: Any, problem: LinearProblem) -> Any:
    """The solver that a user named or made, or the one for this problem."""
    name = estimator.solver
    if not isinstance(name, str):
        return name
    if name == "auto":
        name = suitable(problem, float(estimator.tol))
    kind, seeded = _CLASSES[name]
    options: dict[str, Any] = {
        "tol": float(estimator.tol),
        "max_iter": int(estimator.max_iter),
    }
    if seeded:
        random = check_random_state(estimator.random_state)
        options["seed"] = int(random.randint(2**31 - 1))
    return getattr(maxmargin.solvers.linear, kind)(**options)


def suitable(problem: LinearProblem, tol: float) -> str:
    """The name of the solver for a problem, by the rule above."""
    narrow = problem.design.width <= WIDE
    if problem.lasso:
        return "lasso-newton" if narrow else "lasso-descent"
    if problem.squared:
        if narrow:
            return "newton"
        return "newton-cg" if problem.free or tol < TIGHT else "dual-descent"
    return "interior-point" if narrow or problem.free else "dual-descent"
