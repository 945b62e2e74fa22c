"""Solvers: one algorithm a file, all on the contract of :mod:`maxmargin.solvers.base`."""
