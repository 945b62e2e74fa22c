"""The solvers of the lectures, written to be read.

- :mod:`~maxmargin.solvers.lectures.smo`: SMO with second-order pairs, on a stored matrix.
- :mod:`~maxmargin.solvers.lectures.smo_simple`: every i in turn, a random j.
- :mod:`~maxmargin.solvers.lectures.smo_platt`: Platt's heuristics and error cache.
- :mod:`~maxmargin.solvers.lectures.two_points`: the step of two points both share.
- :mod:`~maxmargin.solvers.lectures.decomposition`: Osuna's and Joachims's subsets.
- :mod:`~maxmargin.solvers.lectures.chunking`: Vapnik's chunking.
- :mod:`~maxmargin.solvers.lectures.chunk_state`: what chunking remembers.
- :mod:`~maxmargin.solvers.lectures.subsets`: a problem restricted to some points.
- :mod:`~maxmargin.solvers.lectures.coordinate_ascent`: one coordinate at a time.
- :mod:`~maxmargin.solvers.lectures.pegasos`: stochastic sub-gradients with a kernel.
"""
