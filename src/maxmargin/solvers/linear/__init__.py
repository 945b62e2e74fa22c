"""Solvers of linear machines: on the contract of all solvers, without a kernel.

- :mod:`~maxmargin.solvers.linear.warm_start`: the model of a fit with another C.
- :mod:`~maxmargin.solvers.linear.descent`: dual coordinates, one row after another.
- :mod:`~maxmargin.solvers.linear.newton`: Newton's method, for losses with a curvature.
- :mod:`~maxmargin.solvers.linear.l1`: the penalty ‖w‖₁.
- :mod:`~maxmargin.solvers.linear.classes`: all classes in one problem.
- :mod:`~maxmargin.solvers.linear.two_classes`: two classes in that problem, a hinge.
- :mod:`~maxmargin.solvers.linear.stochastic`: steps on random rows.
- :mod:`~maxmargin.solvers.linear.gram`: few rows, by their products.
- :mod:`~maxmargin.solvers.linear.through_weights`: linear kernels, by their weights.

They take a :class:`~maxmargin.problem.LinearProblem` and hand back a
:class:`~maxmargin.problem.LinearModel`; ``tol`` is a relative duality gap for every one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from maxmargin._lazy import exports
from maxmargin._registry import Entry, Registry

if TYPE_CHECKING:
    from maxmargin.solvers.linear.classes.class_relay import JointRelay
    from maxmargin.solvers.linear.classes.crammer_singer import LinearCrammerSinger
    from maxmargin.solvers.linear.classes.newton import JointNewton
    from maxmargin.solvers.linear.descent.dual_descent import DualDescent
    from maxmargin.solvers.linear.gram import GramSmo
    from maxmargin.solvers.linear.l1.descent import LassoDescent
    from maxmargin.solvers.linear.l1.interior import LassoInterior
    from maxmargin.solvers.linear.l1.l1_relay import LassoRelay
    from maxmargin.solvers.linear.l1.newton import LassoNewton
    from maxmargin.solvers.linear.newton.newton import Newton
    from maxmargin.solvers.linear.newton.newton_cg import NewtonCg
    from maxmargin.solvers.linear.newton.proximal_newton import ProximalNewton
    from maxmargin.solvers.linear.stochastic.averaged_sgd import AveragedSgd
    from maxmargin.solvers.linear.stochastic.pegasos import LinearPegasos
    from maxmargin.solvers.linear.two_classes import TwoClasses

LINEAR_SOLVERS = Registry(
    "maxmargin.solvers.linear",
    "solver",
    [
        Entry("DualDescent", "descent.dual_descent", "dual-descent"),
        Entry("Newton", "newton.newton", "newton"),
        Entry("NewtonCg", "newton.newton_cg", "newton-cg"),
        Entry("ProximalNewton", "newton.proximal_newton", "proximal-newton"),
        Entry("GramSmo", "gram", "gram"),
        Entry("LinearPegasos", "stochastic.pegasos", "pegasos", "labels"),
        Entry("LassoDescent", "l1.descent", "lasso-descent", "l1"),
        Entry("LassoNewton", "l1.newton", "lasso-newton", "l1"),
        Entry("LassoInterior", "l1.interior", "lasso-interior", "l1"),
        Entry("LassoRelay", "l1.l1_relay", "lasso-relay", "l1"),
        Entry("LinearCrammerSinger", "classes.crammer_singer", "crammer-singer", "joint"),
        Entry("JointNewton", "classes.newton", "joint-newton", "joint"),
        Entry("JointRelay", "classes.class_relay", "joint-relay", "joint"),
        Entry("AveragedSgd", "stochastic.averaged_sgd"),
        Entry("TwoClasses", "two_classes"),
    ],
)
"""Every solver of a linear machine; those with a name can be ``LinearSVC(solver=name)``.

Tasks: labels of two classes only, the penalty l1, all classes in one (joint) problem.
"""


__all__ = [
    "AveragedSgd",
    "DualDescent",
    "GramSmo",
    "JointNewton",
    "JointRelay",
    "LassoDescent",
    "LassoInterior",
    "LassoNewton",
    "LassoRelay",
    "LinearCrammerSinger",
    "LinearPegasos",
    "Newton",
    "NewtonCg",
    "ProximalNewton",
    "TwoClasses",
]

__getattr__, __dir__ = exports(__name__, LINEAR_SOLVERS.homes())
