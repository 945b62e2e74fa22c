"""Solvers of linear machines: on the contract of all solvers, without a kernel.

They take a :class:`~maxmargin.problem.LinearProblem` and hand back a
:class:`~maxmargin.problem.LinearModel`; ``tol`` is a relative duality gap for every one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from maxmargin._lazy import exports

if TYPE_CHECKING:
    from maxmargin.solvers.linear.averaged_sgd import AveragedSgd
    from maxmargin.solvers.linear.crammer_singer import LinearCrammerSinger
    from maxmargin.solvers.linear.dual_descent import DualDescent
    from maxmargin.solvers.linear.gram_smo import GramSmo
    from maxmargin.solvers.linear.interior_point import InteriorPoint
    from maxmargin.solvers.linear.joint_newton import JointNewton
    from maxmargin.solvers.linear.joint_relay import JointRelay
    from maxmargin.solvers.linear.lasso_descent import LassoDescent
    from maxmargin.solvers.linear.lasso_interior import LassoInterior
    from maxmargin.solvers.linear.lasso_newton import LassoNewton
    from maxmargin.solvers.linear.lasso_relay import LassoRelay
    from maxmargin.solvers.linear.newton import Newton
    from maxmargin.solvers.linear.newton_cg import NewtonCg
    from maxmargin.solvers.linear.pegasos import LinearPegasos
    from maxmargin.solvers.linear.proximal_newton import ProximalNewton
    from maxmargin.solvers.linear.two_classes import TwoClasses

_HOME = {
    "AveragedSgd": "averaged_sgd",
    "DualDescent": "dual_descent",
    "GramSmo": "gram_smo",
    "InteriorPoint": "interior_point",
    "JointNewton": "joint_newton",
    "JointRelay": "joint_relay",
    "LassoDescent": "lasso_descent",
    "LassoInterior": "lasso_interior",
    "LassoNewton": "lasso_newton",
    "LassoRelay": "lasso_relay",
    "LinearCrammerSinger": "crammer_singer",
    "LinearPegasos": "pegasos",
    "Newton": "newton",
    "NewtonCg": "newton_cg",
    "ProximalNewton": "proximal_newton",
    "TwoClasses": "two_classes",
}

__all__ = [
    "AveragedSgd",
    "DualDescent",
    "GramSmo",
    "InteriorPoint",
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

__getattr__, __dir__ = exports(__name__, _HOME, ())
