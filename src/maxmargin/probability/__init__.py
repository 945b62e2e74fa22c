"""Probabilities from scores: sigmoids, isotonic steps, and coupling of many classes.

They are pure functions of arrays. For an honest probability, the score of a row must
come from a machine that was fitted without that row.

- :mod:`~maxmargin.probability.platt`: Platt's sigmoid.
- :mod:`~maxmargin.probability.isotonic`: isotonic regression.
- :mod:`~maxmargin.probability.coupling`: many classes, from pairs or one-vs-rest.
- :mod:`~maxmargin.probability._checks`: checks of arguments.
"""

from maxmargin.probability.coupling import couple, normalise
from maxmargin.probability.isotonic import Isotonic, fit_isotonic
from maxmargin.probability.platt import Sigmoid, fit_sigmoid

__all__ = [
    "Isotonic",
    "Sigmoid",
    "couple",
    "fit_isotonic",
    "fit_sigmoid",
    "normalise",
]
