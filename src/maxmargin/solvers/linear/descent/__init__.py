"""Dual coordinate descent: one row at a time.

- :mod:`~maxmargin.solvers.linear.descent.dual_descent`: the solver.
- :mod:`~maxmargin.solvers.linear.descent.visits`: its compiled epochs.
- :mod:`~maxmargin.solvers.linear.descent.active_set`: a step for all free rows.
- :mod:`~maxmargin.solvers.linear.descent.best_constant`: the best intercept.
- :mod:`~maxmargin.solvers.linear.descent.gap_forecast`: when to look at the gap.
"""
