"""Classes that files of earlier versions hold and that this version no longer has.

A solver is how a model was found, and no part of what it predicts: such a value is
restored as the parameter that stands in its place, and :func:`maxmargin.persist.load`
warns of it.
"""

from __future__ import annotations

# name in files → the value of the parameter in its place
DELETED = {
    "maxmargin.solvers.linear.InteriorPoint": "auto",
}
