"""The one quadratic programme behind every kernel machine.

``template`` is the programme, ``machines`` writes each machine as an instance of it,
``optimality`` tells how far a β is from solving it, ``objective`` what it is worth.
``joint`` is the one programme that is not an instance: Crammer and Singer's. ``linear``
and ``linear_joint`` are those without a kernel.
"""

from maxmargin.problem.crammer_singer import (
    JointModel,
    JointProblem,
    joint_dual,
    joint_imbalance,
    joint_objective,
    joint_violation,
    joint_violations,
)
from maxmargin.problem.linear import (
    LinearModel,
    LinearProblem,
    linear_dual,
    linear_objective,
    linear_promises,
    linear_svc,
    linear_svr,
    linear_violation,
    response,
)
from maxmargin.problem.linear_crammer_singer import (
    LinearJointModel,
    LinearJointProblem,
    linear_joint_figures,
    linear_joint_objective,
    linear_joint_violation,
)
from maxmargin.problem.machines import c_svc, epsilon_svr, nu_svc, nu_svr, one_class, svdd
from maxmargin.problem.objective import Objective, dual_value, objective
from maxmargin.problem.optimality import (
    extremes,
    imbalance,
    model_of,
    scores,
    violation,
    worst_violation,
)
from maxmargin.problem.passes import paid, prices, worth
from maxmargin.problem.template import Model, Problem

__all__ = [
    "JointModel",
    "JointProblem",
    "LinearJointModel",
    "LinearJointProblem",
    "LinearModel",
    "LinearProblem",
    "Model",
    "Objective",
    "Problem",
    "c_svc",
    "dual_value",
    "epsilon_svr",
    "extremes",
    "imbalance",
    "joint_dual",
    "joint_imbalance",
    "joint_objective",
    "joint_violation",
    "joint_violations",
    "linear_dual",
    "linear_joint_figures",
    "linear_joint_objective",
    "linear_joint_violation",
    "linear_objective",
    "linear_promises",
    "linear_svc",
    "linear_svr",
    "linear_violation",
    "model_of",
    "nu_svc",
    "nu_svr",
    "objective",
    "one_class",
    "paid",
    "prices",
    "response",
    "scores",
    "svdd",
    "violation",
    "worst_violation",
    "worth",
]
