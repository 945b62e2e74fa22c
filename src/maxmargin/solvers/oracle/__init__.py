"""A general QP solver, polished to rounding: the referee among the solvers.

- :mod:`~maxmargin.solvers.oracle.qp`: the interior-point method (Clarabel).
- :mod:`~maxmargin.solvers.oracle.polish`: its answer, exact to rounding.
"""
