r"""Bounds of stochastic sub-gradient descent after T steps.

For :math:`f(w) = \tfrac\lambda2\|w\|^2 + E\max(0, 1 - y\langle w, x\rangle)`, rates
:math:`1/(\lambda t)`, rows drawn independently with :math:`\|x\|\le R`, and
:math:`w_1 = 0`, no sub-gradient is longer than G: :math:`R + \sqrt\lambda` where w is
kept in the ball of radius :math:`1/\sqrt\lambda` (in which the optimum is), and
:math:`2R` in any case, for :math:`\|w_t\|\le R/\lambda`. In expectation over the draws,
the answer's :math:`f - \min f` is at most

===================================  ==================================================
answer                               bound
===================================  ==================================================
``"all"``, the average of            :math:`G^2(1 + \ln T)/(2\lambda T)`: Pegasos,
:math:`w_1 … w_T`                    theorem 1; "Understanding Machine Learning", 14.11
``"tail"``, the average of           :math:`\frac{2 + 2.5\ln(1/(1-\alpha))}{\alpha}
the last :math:`\alpha T`            \frac{G^2}{\lambda T}`: Rakhlin, Shamir and
                                     Sridharan, theorem 5
``"last"``, :math:`w_{T+1}`          :math:`17G^2(1 + \ln(T+1))/(\lambda(T+1))`: Shamir
                                     and Zhang, theorem 1
===================================  ==================================================

A single run exceeds 1/δ times its expectation with probability δ at most (Markov's
inequality, since the distance is not negative). In practice runs are far below.

References: S. Shalev-Shwartz, Y. Singer, N. Srebro and A. Cotter, "Pegasos", Math.
Programming 127, 2011. S. Shalev-Shwartz and S. Ben-David, "Understanding Machine
Learning", 2014. A. Rakhlin, O. Shamir and K. Sridharan, "Making gradient descent optimal
for strongly convex stochastic optimization", ICML 2012. O. Shamir and T. Zhang,
"Stochastic gradient descent for non-smooth optimization", ICML 2013.
"""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import NamedTuple

from maxmargin.errors import InputError

THEOREMS = {
    "all": "Shalev-Shwartz, Singer, Srebro and Cotter 2011, theorem 1",
    "tail": "Rakhlin, Shamir and Sridharan 2012, theorem 5",
    "last": "Shamir and Zhang 2013, theorem 1",
}


class DescentBound(NamedTuple):
    """A bound of f(w) − min f with its parts."""

    bound: float
    theorem: str
    steps: int  # T
    regularisation: float  # λ
    radius: float  # R
    caveat: str = ""  # the condition of the theorem that the run does not meet

    @property
    def applies(self) -> bool:
        """Whether the run meets the conditions of the theorem."""
        return not self.caveat

    @property
    def vacuous(self) -> bool:
        """Whether the bound is 1 or more, which holds for w = 0, where f = 1."""
        return self.bound >= 1.0

    def __str__(self) -> str:
        caveat = f"; but {self.caveat}" if self.caveat else ""
        vacuous = "; that is vacuous, for w = 0 is as near" if self.vacuous else ""
        return (
            f"After {self.steps:,} steps the expected distance to the optimum is at most "
            f"{self.bound:.4g} ({self.theorem}): λ {self.regularisation:.4g}, radius "
            f"{self.radius:.4g}{vacuous}{caveat}."
        )


def descent_bound(
    steps: int,
    lam: float,
    radius: float,
    *,
    average: str = "all",
    tail: int = 0,
    projection: bool = False,
    caveat: str = "",
) -> DescentBound:
    r"""Return the bound of :math:`f(w) - \min f` after so many steps.

    Parameters
    ----------
    steps : int
        T, at least 1.
    lam : float
        λ of Pegasos's form.
    radius : float
        R, the length of the longest row, a constant column included.
    average : {"all", "tail", "last"}
        The iterates of the answer; see the table above.
    tail : int
        The last step before the tail, less than T; 0 for the average of all.
    projection : bool
        Whether w is kept in the ball of radius 1/√λ.
    caveat : str
        The condition of the theorem that the run does not meet.

    Returns
    -------
    DescentBound
        ``bound, theorem, steps, regularisation, radius, caveat``, ``applies`` and
        ``vacuous``.

    Examples
    --------
    >>> round(descent_bound(10_000, lam=0.1, radius=1.0).bound, 5)
    0.02042
    """
    if not isinstance(steps, Integral) or steps < 1:
        msg = f"steps={steps!r}: there is a bound after 1 step or more"
        raise InputError(msg)
    if not isinstance(lam, Real) or not 0.0 < float(lam) < math.inf:
        msg = f"lam={lam!r}: it must be a positive, finite number"
        raise InputError(msg)
    if not isinstance(radius, Real) or not 0.0 <= float(radius) < math.inf:
        msg = f"radius={radius!r}: a length must be finite and at least 0"
        raise InputError(msg)
    if average not in THEOREMS or not 0 <= tail < steps:
        msg = (
            f"average={average!r}, tail={tail!r}: give 'all', 'tail' or 'last', and a "
            f"tail that begins after step 0 … {steps - 1}"
        )
        raise InputError(msg)
    if average == "tail" and tail == 0:
        average = "all"
    T, lam, radius = int(steps), float(lam), float(radius)
    G = radius + (min(radius, math.sqrt(lam)) if projection else radius)
    unit = G**2 / lam
    if average == "all":
        bound = unit * (1.0 + math.log(T)) / (2.0 * T)
    elif average == "tail":
        bound = unit * (2.0 + 2.5 * math.log(T / tail)) / (T - tail)
    else:
        bound = 17.0 * unit * (1.0 + math.log(T + 1)) / (T + 1)
    return DescentBound(bound, THEOREMS[average], T, lam, radius, caveat)
