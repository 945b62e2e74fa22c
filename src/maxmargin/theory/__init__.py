"""What the lectures prove and compute by hand, as functions and small examples.

``to_C`` and ``from_C`` translate the seeds' ways to write the soft margin into C,
``margin_bound`` and ``soft_margin_bound`` evaluate S2's theorems for a fitted machine,
``descent_bound`` says how far stochastic sub-gradient descent can be from the optimum,
``DUALITY``, ``LAGRANGE`` and ``coordinate_example`` are the worked examples of S1 and S4.
S0 to S4 are the lecture texts (docs/sources.md). The pictures are in
:mod:`maxmargin.plots`.

Examples
--------
>>> from maxmargin import theory
>>> theory.to_C(0.01, n=200, form="pegasos")
0.5
>>> round(theory.DUALITY[2].gap, 6)
0.25
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from maxmargin._lazy import exports

if TYPE_CHECKING:
    from maxmargin.theory.bounds import (
        MarginBound,
        SoftMarginBound,
        margin_bound,
        soft_margin_bound,
    )
    from maxmargin.theory.conversion import FORMS, from_C, to_C
    from maxmargin.theory.descent import DescentBound, descent_bound
    from maxmargin.theory.duality import DUALITY, DualityExample
    from maxmargin.theory.lagrange import LAGRANGE, LagrangeExample
    from maxmargin.theory.quadratic import coordinate_example

_HOME = {
    "DUALITY": "duality",
    "FORMS": "conversion",
    "LAGRANGE": "lagrange",
    "DescentBound": "descent",
    "DualityExample": "duality",
    "LagrangeExample": "lagrange",
    "MarginBound": "bounds",
    "SoftMarginBound": "bounds",
    "coordinate_example": "quadratic",
    "descent_bound": "descent",
    "from_C": "conversion",
    "margin_bound": "bounds",
    "soft_margin_bound": "bounds",
    "to_C": "conversion",
}

__all__ = [
    "DUALITY",
    "FORMS",
    "LAGRANGE",
    "DescentBound",
    "DualityExample",
    "LagrangeExample",
    "MarginBound",
    "SoftMarginBound",
    "coordinate_example",
    "descent_bound",
    "from_C",
    "margin_bound",
    "soft_margin_bound",
    "to_C",
]

__getattr__, __dir__ = exports(__name__, _HOME)
