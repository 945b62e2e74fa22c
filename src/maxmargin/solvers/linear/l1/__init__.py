"""The penalty ‖w‖₁: most weights are 0.

- :mod:`~maxmargin.solvers.linear.l1.l1_relay`: which of the three, and when.
- :mod:`~maxmargin.solvers.linear.l1.descent`: coordinate descent.
- :mod:`~maxmargin.solvers.linear.l1.newton`: Newton's method on the weights in play.
- :mod:`~maxmargin.solvers.linear.l1.interior`: an interior-point method.
- :mod:`~maxmargin.solvers.linear.l1.quadratic`: the quadratic model of a Newton step.
- :mod:`~maxmargin.solvers.linear.l1.hessian_parts`: X'DX of the columns in play.
- :mod:`~maxmargin.solvers.linear.l1.penalty`: feasibility and the dual.
"""
