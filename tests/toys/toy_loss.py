"""A loss from outside: the hinge with its kink rounded off at temperature t = ½.

φ(m) = t·ln(1 + e^((1 − m)/t)), so φ'(m) = −σ((1 − m)/t), and for 0 ≤ a ≤ 1

φ*(−a) = sup_m(−am − φ(m)) = −a + t·(a ln a + (1 − a) ln(1 − a)).
"""

import numpy as np

from maxmargin import losses

T = 0.5


def sigma(m):
    return 1.0 / (1.0 + np.exp(-(1.0 - m) / T))


def entropy(a):
    return a * np.log(np.where(a > 0.0, a, 1.0))


soft_hinge = losses.register(
    losses.MarginLoss(
        "soft_hinge",
        value=lambda m: T * np.logaddexp(0.0, (1.0 - m) / T),
        slope=lambda m: -sigma(m),
        curvature=lambda m: sigma(m) * (1.0 - sigma(m)) / T,
        conjugate=lambda a: T * (entropy(a) + entropy(1.0 - a)) - a,
        top=1.0,
    )
)
