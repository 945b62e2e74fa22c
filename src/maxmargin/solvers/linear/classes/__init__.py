"""All classes in one problem, without a kernel.

- :mod:`~maxmargin.solvers.linear.classes.class_relay`: which solver, and when.
- :mod:`~maxmargin.solvers.linear.classes.crammer_singer`: dual coordinate descent.
- :mod:`~maxmargin.solvers.linear.classes.visits`: its compiled epochs.
- :mod:`~maxmargin.solvers.linear.classes.active_set`: a step for all free β.
- :mod:`~maxmargin.solvers.linear.classes.newton`: Newton's method in all weights.
- :mod:`~maxmargin.solvers.linear.classes.rounded`: its loss, rounded off.
- :mod:`~maxmargin.solvers.linear.classes.hessian`: its Hessian.
"""
