"""Newton's method in the weights.

- :mod:`~maxmargin.solvers.linear.newton.newton`: squared losses, few columns.
- :mod:`~maxmargin.solvers.linear.newton.newton_cg`: squared losses, many columns.
- :mod:`~maxmargin.solvers.linear.newton.proximal_newton`: hinge and tube, rounded off.
- :mod:`~maxmargin.solvers.linear.newton.state`: the state of the first two.
- :mod:`~maxmargin.solvers.linear.newton.squared`: squared losses along a line.
- :mod:`~maxmargin.solvers.linear.newton.smooth`: any loss with a curvature, along a line.
- :mod:`~maxmargin.solvers.linear.newton.rounded`: rounded-off losses along a line.
- :mod:`~maxmargin.solvers.linear.newton.line_search`: the search along a line.
- :mod:`~maxmargin.solvers.linear.newton.sums`: the sums that it needs of a loss.
- :mod:`~maxmargin.solvers.linear.newton.proximal_schedule`: centres, and when to go on.
- :mod:`~maxmargin.solvers.linear.newton.predicted_dual`: β and gap after a step.
- :mod:`~maxmargin.solvers.linear.newton.preconditioner`: for conjugate gradients.
"""
