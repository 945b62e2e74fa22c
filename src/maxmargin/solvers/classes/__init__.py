"""All classes in one problem, with a kernel.

- :mod:`~maxmargin.solvers.classes.crammer_singer`: the solver.
- :mod:`~maxmargin.solvers.classes.blocks`: its compiled step, one point at a time.
"""
