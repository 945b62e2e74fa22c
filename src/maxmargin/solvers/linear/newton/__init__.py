"""Newton's method in the weights.

- :mod:`~maxmargin.solvers.linear.newton.newton`: squared losses, few columns.
- :mod:`~maxmargin.solvers.linear.newton.newton_cg`: squared losses, many columns.
- :mod:`~maxmargin.solvers.linear.newton.proximal_newton`: hinge and tube, rounded off.
- :mod:`~maxmargin.solvers.linear.newton.state`: what all three remember and check.
- :mod:`~maxmargin.solvers.linear.newton.squared`: squared losses along a line.
- :mod:`~maxmargin.solvers.linear.newton.smooth`: any loss with a curvature, along a line.
- :mod:`~maxmargin.solvers.linear.newton.rounded`: rounded-off losses along a line.
- :mod:`~maxmargin.solvers.linear.newton.line_search`: the search along a line.
- :mod:`~maxmargin.solvers.linear.newton.proximal_schedule`: how rounding off shrinks.
- :mod:`~maxmargin.solvers.linear.newton.kinks`: dual variables of rows at a kink.
- :mod:`~maxmargin.solvers.linear.newton.predicted_dual`: the dual value of a step ahead.
- :mod:`~maxmargin.solvers.linear.newton.preconditioner`: for conjugate gradients.
"""
