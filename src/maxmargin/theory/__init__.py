"""Theorems and worked examples of the lectures, as functions and small problems.

S0 to S4 are the lecture texts (docs/sources.md). The pictures are in
:mod:`maxmargin.plots`.

- :mod:`~maxmargin.theory.conversion`: C, from every way to write the soft margin.
- :mod:`~maxmargin.theory.bounds`: S2's bounds on the error of a fitted machine.
- :mod:`~maxmargin.theory.descent`: bounds for stochastic sub-gradient descent.
- :mod:`~maxmargin.theory.lagrange`: Lagrange multipliers, examples of S1 and S4.
- :mod:`~maxmargin.theory.duality`: Lagrange duality, two examples of S1.
- :mod:`~maxmargin.theory.quadratic`: S1's example of coordinate ascent.

Examples
--------
>>> from maxmargin import theory
>>> theory.to_C(0.01, n=200, form="pegasos")
0.5
>>> round(theory.DUALITY[2].gap, 6)
0.25
"""

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
