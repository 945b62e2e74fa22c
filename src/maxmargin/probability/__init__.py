"""Probabilities from scores: sigmoids, isotonic steps, and coupling of many classes.

Pure functions of arrays. Who makes the scores, and on which rows, is decided elsewhere;
for an honest probability they must come from a machine that has not seen the row.
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
