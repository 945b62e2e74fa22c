"""The optimisation problems behind every machine.

- :mod:`~maxmargin.problem.contract`: the interface of all problems; warm starts.
- :mod:`~maxmargin.problem.template`: the one quadratic programme of kernel machines.
- :mod:`~maxmargin.problem.passes`: its sums and extremes, compiled.
- :mod:`~maxmargin.problem.machines`: every kernel machine as an instance of it.
- :mod:`~maxmargin.problem.row_losses`: losses of many rows and their conjugates.
- :mod:`~maxmargin.problem.linear`: machines without a kernel.
- :mod:`~maxmargin.problem.crammer_singer`: all classes in one problem, with a kernel.
- :mod:`~maxmargin.problem.linear_crammer_singer`: the same without a kernel.
"""

from maxmargin.problem.contract import (
    AnyProblem,
    Evidence,
    Measures,
    Objective,
    WarmStart,
)
from maxmargin.problem.crammer_singer import (
    JointModel,
    JointProblem,
    check_classes,
    class_imbalance,
)
from maxmargin.problem.linear import (
    LinearModel,
    LinearProblem,
    linear_problem,
    linear_svc,
    linear_svr,
)
from maxmargin.problem.linear_crammer_singer import LinearJointModel, LinearJointProblem
from maxmargin.problem.machines import (
    c_svc,
    epsilon_svr,
    is_inside,
    nu_svc,
    nu_svr,
    one_class,
    row_prices,
    svdd,
)
from maxmargin.problem.passes import paid, prices, worth
from maxmargin.problem.row_losses import BoxLoss, SmoothLoss
from maxmargin.problem.template import (
    Model,
    Problem,
    dual_value,
    extremes,
    hulls_meet,
    imbalance,
    model_of,
    objective,
    scores,
    violation,
    worst_violation,
)

joint_dual = JointProblem.dual
joint_imbalance = class_imbalance
joint_objective = JointProblem.objective
joint_violation = JointProblem.violation
joint_violations = JointProblem.violations
linear_dual = LinearProblem.dual
linear_objective = LinearProblem.objective
linear_violation = LinearProblem.violation
linear_joint_objective = LinearJointProblem.objective
linear_joint_violation = LinearJointProblem.violation

__all__ = [
    "AnyProblem",
    "BoxLoss",
    "Evidence",
    "JointModel",
    "JointProblem",
    "LinearJointModel",
    "LinearJointProblem",
    "LinearModel",
    "LinearProblem",
    "Measures",
    "Model",
    "Objective",
    "Problem",
    "SmoothLoss",
    "WarmStart",
    "c_svc",
    "check_classes",
    "class_imbalance",
    "dual_value",
    "epsilon_svr",
    "extremes",
    "hulls_meet",
    "imbalance",
    "is_inside",
    "joint_dual",
    "joint_imbalance",
    "joint_objective",
    "joint_violation",
    "joint_violations",
    "linear_dual",
    "linear_joint_objective",
    "linear_joint_violation",
    "linear_objective",
    "linear_problem",
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
    "row_prices",
    "scores",
    "svdd",
    "violation",
    "worst_violation",
    "worth",
]
