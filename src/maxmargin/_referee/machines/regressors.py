r"""Judging regression: SVR with a given tube, and NuSVR, whose tube is free.

With :math:`g = K\beta`, f = g + b, :math:`\|w\|^2 = \beta^\top g`, targets z and
:math:`\xi_i = \max(0, |z_i - f(x_i)| - \varepsilon)`,

.. math::
    \text{SVR:}\quad &\text{primal} = \tfrac12\|w\|^2 + \textstyle\sum_i C_i\xi_i,
      &\text{dual} = z^\top\beta - \tfrac12\|w\|^2 - \varepsilon\|\beta\|_1 \\
    \text{NuSVR:}\quad &\text{primal} = \tfrac12\|w\|^2 + \varepsilon T
      + \textstyle\sum_i C_i\xi_i,
      &\text{dual} = z^\top\beta - \tfrac12\|w\|^2

where :math:`|\beta_i| \le C_i`, :math:`\sum\beta = 0`, and for NuSVR
:math:`\|\beta\|_1 \le T = \nu\sum_i C_i`, ε being the multiplier of that bound
(Schölkopf, Smola, Williamson and Bartlett, Neural Computation 12, 2000, in LIBSVM's
scaling).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from maxmargin._referee.case import Case
from maxmargin._referee.certification import whole
from maxmargin._referee.given import targets_of
from maxmargin._referee.optimality import (
    Box,
    Ends,
    Level,
    Points,
    paid,
    residuals,
    stray_of,
    verdict,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from maxmargin._arrays import Index, Vector
    from maxmargin._referee.certification import Certification
    from maxmargin._referee.fitted import Fitted
    from maxmargin._referee.given import Given


class Curve(NamedTuple):
    """The rows of a regression as the model states them."""

    rows: Index
    z: Vector  # targets
    C: Vector
    beta: Vector
    g: Vector  # Kβ
    b: float
    box: Box  # of |β|


def svr(given: Given) -> Certification:
    """Certify a regression with a given tube."""
    return _judge(given, _given_tube)


def nu_svr(given: Given) -> Certification:
    """Certify a regression with a free tube."""
    return _judge(given, _free_tube)


def _judge(
    given: Given, one_of: Callable[[Fitted, Curve], Certification]
) -> Certification:
    case = Case.of(given)
    model, index, n = case.model, case.rows, case.price.size
    z = targets_of(given.y, n)
    beta, C = case.beta(model.dual[0])[index], case.price[index]
    g = case.g(index, model.dual.T)[:, 0]
    box = Box.of(np.abs(beta), C, C, model.terms.slop)
    with np.errstate(over="ignore", invalid="ignore"):  # an infinite gap says enough
        curve = Curve(index, z[index], C, beta, g, float(model.intercept[0]), box)
        one = one_of(model, curve)
    return whole([one], n, one.n_support)


def _conditions(
    F: Vector, beta: Vector, box: Box, epsilon: float
) -> tuple[Vector, Vector]:
    """F↑ and F↓ of β with the kink of ε|β| at 0; a point without price cannot move."""
    rise = np.where(beta >= 0.0, F + epsilon, F - epsilon)
    fall = np.where(beta > 0.0, F + epsilon, F - epsilon)
    return (
        np.where((beta >= 0.0) & box.full, np.inf, rise),
        np.where((beta <= 0.0) & box.full, -np.inf, fall),
    )


def _given_tube(model: Fitted, curve: Curve) -> Certification:
    rows, z, C, beta, g, b, box = curve
    epsilon = model.epsilon
    slack = np.maximum(0.0, np.abs(z - g - b) - epsilon)
    norm2, length = float(beta @ g), float(np.abs(beta).sum())
    rise, fall = _conditions(g - z, beta, box, epsilon)
    ends = Ends.of(rise, fall)
    return verdict(
        model.terms,
        box,
        Points(rows, slack, residuals(rise, fall, b)),
        primal=0.5 * norm2 + paid(C, slack),
        dual=float(z @ beta) - 0.5 * norm2 - epsilon * length,
        violation=ends.violation,
        balance=abs(float(beta.sum())) / (length or 1.0),
        bias_interval=ends.interval,
        stray=stray_of(b, ends.interval),
        level=Level(epsilon),
    )


def _free_tube(model: Fitted, curve: Curve) -> Certification:
    r"""NuSVR, from β alone.

    The problem has α and α*, of sum T/2 each, and β = α − α* shows only their
    difference. While the tube is wider than 0 one of the two is 0 and :math:`\|\beta\|_1
    = T`. Where :math:`\|\beta\|_1` is less, the rest T − ‖β‖₁ was put on α and α* of the
    same points, half on each; which ones no model tells, so the split that violates
    least is judged.
    """
    rows, z, C, beta, g, b, box = curve
    F = g - z
    mass, length = model.nu * float(C.sum()), float(np.abs(beta).sum())
    error = np.abs(z - g - b)
    epsilon = _quantile(error, C, mass) if np.isnan(model.epsilon) else model.epsilon
    slack = np.maximum(0.0, error - epsilon)
    norm2 = float(beta @ g)

    # α rises at the price F, α* at −F: their sums have the multipliers b + ε and ε − b.
    up = Ends.of(F[~(box.full & (beta >= 0.0))], F[beta > 0.0])
    down = Ends.of(-F[~(box.full & (beta <= 0.0))], -F[beta < 0.0])
    missing = mass - length
    if missing > model.terms.balance * mass:
        room = C - np.abs(beta)
        open_ = np.flatnonzero(room > 0.0)
        worse = np.maximum(F[open_] - up.least, -F[open_] - down.least)
        order = open_[np.argsort(worse, kind="stable")]
        count = 1 + int(np.searchsorted(np.cumsum(room[order]), 0.5 * missing))
        both = F[order[:count]]
        up = Ends(up.least, float(both.max(initial=up.most)))
        down = Ends(down.least, float((-both).max(initial=down.most)))
    (lo, hi), (low, high) = up.interval, down.interval
    bias = 0.5 * (lo - high), 0.5 * (hi - low)
    if np.isnan(model.epsilon):
        stray = stray_of(b, bias)
    else:
        stray = max(
            stray_of(b + epsilon, up.interval), stray_of(epsilon - b, down.interval)
        )
    missed = max(abs(float(beta.sum())), -missing)
    return verdict(
        model.terms,
        box,
        Points(rows, slack, residuals(*_conditions(F, beta, box, epsilon), b)),
        primal=0.5 * norm2 + epsilon * mass + paid(C, slack),
        dual=float(z @ beta) - 0.5 * norm2,
        violation=max(up.violation, down.violation),
        balance=missed / (length or 1.0),
        bias_interval=bias,
        stray=stray,
        level=Level(epsilon, (max(0.0, 0.5 * (lo + low)), max(0.0, 0.5 * (hi + high)))),
    )


def _quantile(error: Vector, C: Vector, mass: float) -> float:
    """The ε ≥ 0 that minimises εT + ΣC max(0, error − ε): at most T of C lies beyond."""
    order = np.argsort(error, kind="stable")[::-1]
    beyond = np.cumsum(C[order])  # price of this error and all larger ones
    inside = np.flatnonzero(beyond > mass * (1.0 + 1e-12))
    return float(error[order[inside[0]]]) if inside.size else 0.0
