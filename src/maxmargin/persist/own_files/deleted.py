"""Solvers and arguments that files of earlier versions name and this version lacks.

Predictions do not depend on the solver. So a deleted one is restored as a value of the
parameter ``solver``, and :func:`maxmargin.persist.load` warns of it. Deleted arguments
are left out.
"""

from __future__ import annotations

# name in files → value of the parameter in its place
DELETED = {
    "maxmargin.solvers.linear.InteriorPoint": "auto",
}

# name in files → arguments of the constructor that it no longer has
DELETED_ARGUMENTS = {
    "maxmargin.solvers.linear.DualDescent": ("anderson",),
}
