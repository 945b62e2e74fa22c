r"""Judging the machines without labels: OneClassSVM and SVDD.

With N = Σw, M = νN, :math:`0 \le \beta_i \le w_i`, :math:`\sum\beta = M`, g = Kβ and
:math:`\|w\|^2 = \beta^\top g`, a OneClassSVM (Schölkopf et al., Neural Computation 13,
2001, in LIBSVM's scaling) has ρ = −b and

.. math::
    \text{primal} = \tfrac12\|w\|^2 - M\rho + \textstyle\sum_i w_i\max(0, \rho - g_i),
    \qquad \text{dual} = -\tfrac12\|w\|^2 .

An SVDD (Tax and Duin, Machine Learning 54, 2004) has the centre :math:`a =
\sum\alpha_i\varphi(x_i)`, α = β/M, distances :math:`d_i^2 = k(x_i,x_i) - 2(K\alpha)_i +
\|a\|^2`, and

.. math::
    \text{primal} = \tfrac{M^2}2\Bigl(R^2 + \tfrac1M\textstyle\sum_i
        w_i\max(0, d_i^2 - R^2)\Bigr),\qquad
    \text{dual} = \tfrac{M^2}2\Bigl(\textstyle\sum_i\alpha_i k(x_i,x_i) - \|a\|^2\Bigr),

the factor M²/2 giving the units of β, so that for constant k(x, x) violation, gap and
``tol`` mean what they mean for a OneClassSVM. There :math:`F_i = -\tfrac M2(d_i^2 -
\|a\|^2)`, with the multiplier :math:`\tfrac M2(R^2 - \|a\|^2)`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from maxmargin._referee.case import Case
from maxmargin._referee.certification import whole
from maxmargin._referee.expansion import diagonal
from maxmargin._referee.optimality import (
    Box,
    Ends,
    Level,
    Points,
    paid,
    prices,
    residuals,
    stray_of,
    verdict,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from maxmargin._arrays import Vector
    from maxmargin._referee.certification import Certification
    from maxmargin._referee.given import Given


def plane(given: Given) -> Certification:
    """Certify a OneClassSVM."""
    return _judge(given, _plane)


def ball(given: Given) -> Certification:
    """Certify an SVDD."""
    return _judge(given, _ball)


def _judge(
    given: Given, one_of: Callable[[Case, Vector, Vector, Vector], Certification]
) -> Certification:
    case = Case.of(given)
    coef = case.beta(case.model.dual[0])[case.rows]
    g = case.g(case.rows, case.model.dual.T)[:, 0]
    with np.errstate(over="ignore", invalid="ignore"):  # an infinite gap says enough
        one = one_of(case, case.price[case.rows], coef, g)
    return whole([one], case.price.size, one.n_support)


def _plane(case: Case, weight: Vector, beta: Vector, g: Vector) -> Certification:
    """OneClassSVM."""
    model = case.model
    mass, rho = model.nu * float(weight.sum()), -float(model.intercept[0])
    box = Box.of(beta, weight, weight, model.terms.slop)
    slack = np.maximum(0.0, rho - g)
    norm2 = float(beta @ g)
    rise, fall = prices(g, ~box.full, box.used)
    ends = Ends.of(rise, fall)
    lo, hi = ends.interval
    return verdict(
        model.terms,
        box,
        Points(case.rows, slack, residuals(rise, fall, -rho)),
        primal=0.5 * norm2 - mass * rho + paid(weight, slack),
        dual=-0.5 * norm2,
        violation=ends.violation,
        balance=_missed(beta, mass),
        bias_interval=(lo, hi),
        stray=stray_of(-rho, (lo, hi)),
        margin=rho / norm2**0.5 if norm2 > 0.0 else float("inf"),
        level=Level(rho, (-hi, -lo)),
    )


def _ball(case: Case, weight: Vector, alpha: Vector, g: Vector) -> Certification:
    """SVDD; g = Kα."""
    model, own = case.model, diagonal(case.model, case.table, case.rows)
    mass, radius = model.nu * float(weight.sum()), model.radius
    box = Box.of(mass * alpha, weight, weight, model.terms.slop)
    centre2 = float(alpha @ g)  # ‖a‖²
    distance2 = own - 2.0 * g + centre2
    slack = np.maximum(0.0, distance2 - radius**2)
    unit = 0.5 * mass
    rise, fall = prices(unit * (centre2 - distance2), ~box.full, box.used)
    ends = Ends.of(rise, fall)
    b = unit * (radius**2 - centre2)
    told = b if np.isnan(model.intercept[0]) else unit * float(model.intercept[0])
    radii = [max(0.0, centre2 + end / unit) ** 0.5 for end in ends.interval]
    return verdict(
        model.terms,
        box,
        Points(case.rows, slack, residuals(rise, fall, b)),
        primal=unit * (mass * radius**2 + paid(weight, slack)),
        dual=unit * mass * (float(alpha @ own) - centre2),
        violation=ends.violation,
        balance=_missed(mass * alpha, mass),
        bias_interval=ends.interval,
        stray=max(stray_of(b, ends.interval), stray_of(told, ends.interval)),
        level=Level(radius, (radii[0], radii[1])),
    )


def _missed(beta: Vector, mass: float) -> float:
    """How far Σβ is from M, relative to Σ|β|."""
    return abs(float(beta.sum()) - mass) / (float(np.abs(beta).sum()) or mass)
