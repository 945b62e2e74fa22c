"""What files of earlier versions hold and this version no longer has.

A solver is how a model was found, and no part of what it predicts: one that is deleted is
restored as the parameter that stands in its place, and :func:`maxmargin.persist.load`
warns of it. An argument that is deleted is left out.
"""

from __future__ import annotations

# name in files → the value of the parameter in its place
DELETED = {
    "maxmargin.solvers.linear.InteriorPoint": "auto",
}

# name in files → arguments of the constructor that it no longer has
DELETED_ARGUMENTS = {
    "maxmargin.solvers.linear.DualDescent": ("anderson",),
}
