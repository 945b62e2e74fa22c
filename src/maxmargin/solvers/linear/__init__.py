"""Solvers of linear machines: on the contract of all solvers, without a kernel.

They take a :class:`~maxmargin.problem.LinearProblem` and hand back a
:class:`~maxmargin.problem.LinearModel`; ``tol`` is a relative duality gap for every one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from maxmargin._lazy import exports

if TYPE_CHECKING:
    from maxmargin.solvers.linear.classes.class_relay import JointRelay
    from maxmargin.solvers.linear.classes.crammer_singer import LinearCrammerSinger
    from maxmargin.solvers.linear.classes.newton import JointNewton
    from maxmargin.solvers.linear.descent.dual_descent import DualDescent
    from maxmargin.solvers.linear.gram import GramSmo
    from maxmargin.solvers.linear.interior_point import InteriorPoint
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

_HOME = {
    "AveragedSgd": "stochastic.averaged_sgd",
    "DualDescent": "descent.dual_descent",
    "GramSmo": "gram",
    "InteriorPoint": "interior_point",
    "JointNewton": "classes.newton",
    "JointRelay": "classes.class_relay",
    "LassoDescent": "l1.descent",
    "LassoInterior": "l1.interior",
    "LassoNewton": "l1.newton",
    "LassoRelay": "l1.l1_relay",
    "LinearCrammerSinger": "classes.crammer_singer",
    "LinearPegasos": "stochastic.pegasos",
    "Newton": "newton.newton",
    "NewtonCg": "newton.newton_cg",
    "ProximalNewton": "newton.proximal_newton",
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
