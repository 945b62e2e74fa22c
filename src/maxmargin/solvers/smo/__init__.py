"""Sequential minimal optimisation as ``solver="smo"`` runs it.

- :mod:`~maxmargin.solvers.smo.working_set`: the solver, from start to stop.
- :mod:`~maxmargin.solvers.smo.state`: its state between two slices of work.
- :mod:`~maxmargin.solvers.smo.selection`: which points enter and leave the working set.
- :mod:`~maxmargin.solvers.smo.pairs`: the compiled loop over pairs.
- :mod:`~maxmargin.solvers.smo.gradients`: gradients, and their check in float64.
- :mod:`~maxmargin.solvers.smo.shrinking`: which gradients are kept up to date.
- :mod:`~maxmargin.solvers.smo.active_set`: free points, solved together by Newton.
- :mod:`~maxmargin.solvers.smo.turns`: when to take such a step instead of pairs.
- :mod:`~maxmargin.solvers.smo.batch`: several small problems in one compiled call.
"""
