"""Stochastic sub-gradients: row by row, with an averaged iterate.

- :mod:`~maxmargin.solvers.linear.stochastic.pegasos`: Pegasos.
- :mod:`~maxmargin.solvers.linear.stochastic.averaged_sgd`: SGD for Soft-SVM.
- :mod:`~maxmargin.solvers.linear.stochastic.walk`: the run both share.
- :mod:`~maxmargin.solvers.linear.stochastic.subgradient`: its compiled steps.
"""
