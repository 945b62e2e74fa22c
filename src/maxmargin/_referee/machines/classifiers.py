r"""Judging classifiers: C-SVC with either hinge or a hard margin, and ν-SVC.

With :math:`\beta_i = y_i\alpha_i`, :math:`g = K\beta`, :math:`\|w\|^2 = \beta^\top g` and
:math:`f = g + b`, a C-SVC has

.. math::
    \text{primal} &= \tfrac12\|w\|^2 + \textstyle\sum_i C_i\,\xi_i
        &\text{or}\ \tfrac12\|w\|^2 + \textstyle\sum_i C_i\,\xi_i^2 \\
    \text{dual} &= \textstyle\sum_i\alpha_i - \tfrac12\|w\|^2
        &\text{or}\ \ldots - \textstyle\sum_i \alpha_i^2/(4C_i)

for the hinge and the squared hinge, :math:`\xi_i = \max(0, 1 - y_i f(x_i))`. A ν-SVC
(Schölkopf, Smola, Williamson and Bartlett, Neural Computation 12, 2000, in LIBSVM's
scaling, N = Σw) has, with :math:`0 \le \alpha_i \le w_i` and :math:`\sum\alpha = \nu N/2`
over either sign,

.. math::
    \text{primal} = \tfrac12\|w\|^2 - \nu N\rho
        + \textstyle\sum_i w_i\max(0, \rho - y_i f(x_i)),\qquad
    \text{dual} = -\tfrac12\|w\|^2 .

Its model is stored divided by ρ; since Σα = νN, ρ = νN/Σ|dual_coef_| undoes that, and
the problem before the division is the one that is judged, ``tol`` being a bound there.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from maxmargin._referee.case import Case
from maxmargin._referee.certification import Certification, whole
from maxmargin._referee.machines.crammer_singer import certified_jointly
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
from maxmargin._referee.tables import require

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from maxmargin._arrays import Index, Vector
    from maxmargin._referee.fitted import Fitted
    from maxmargin._referee.given import Given


@dataclass(frozen=True, eq=False)
class Binary:
    """One binary problem as the model states it."""

    name: str
    index: Index  # its rows of X
    y: Vector  # ±1
    beta: Vector  # of the rows, as stored
    g: Vector  # Kβ at the rows
    b: float
    C: Vector  # price, or weight


def c_svc(given: Given) -> Certification:
    """Certify a C-SVC."""
    return _judge(Case.of(given), _margin)


def nu_svc(given: Given) -> Certification:
    """Certify a ν-SVC."""
    return _judge(Case.of(given), _nu)


def _judge(
    case: Case, one_of: Callable[[Fitted, Binary], Certification]
) -> Certification:
    """Certify every binary problem of a classifier, and the whole."""
    model = case.model
    if model.joint:
        return certified_jointly(case)
    rows = [
        np.flatnonzero((case.code == c) & (case.price >= 0.0))
        for c in range(model.classes.size)
    ]
    require(
        min(map(len, rows)) > 0, "a class has no row with a positive weight in this y"
    )
    split = _rest(case) if model.rest else _pairs(case, rows)
    with np.errstate(over="ignore", invalid="ignore"):  # an infinite gap says enough
        problems = [one_of(model, problem) for problem in split]
    used = int(np.count_nonzero(model.dual.any(axis=0)))
    return whole(problems, case.price.size, used)


def _pairs(case: Case, rows: list[Index]) -> Iterator[Binary]:
    """One class against one; of two classes the second is positive, else the first."""
    model = case.model
    coefficients = [_against_others(model, c) for c in range(len(rows))]
    values = [case.g(some, beta) for some, beta in zip(rows, coefficients, strict=True)]
    sign = -1.0 if len(rows) == 2 else 1.0  # of the first class
    for number, (first, second) in enumerate(combinations(range(len(rows)), 2)):
        index = np.concatenate([rows[first], rows[second]])
        mine = (model.owner == first) | (model.owner == second)
        beta = case.beta(np.where(mine, coefficients[first][:, second - 1], 0.0))
        yield Binary(
            name=f"{model.classes[first]} against {model.classes[second]}",
            index=index,
            y=np.repeat([sign, -sign], [rows[first].size, rows[second].size]),
            beta=beta[index],
            g=np.concatenate([values[first][:, second - 1], values[second][:, first]]),
            b=float(model.intercept[number]),
            C=case.price[index],
        )


def _against_others(model: Fitted, c: int) -> Vector:
    """β of the problems of class c, one column for each other class in order.

    LIBSVM's layout: row s of ``dual_coef_`` holds, for a vector of class i, its
    coefficient against the s-th of the other classes.
    """
    other = model.owner != c
    i = model.owner[other]
    out = np.zeros((model.support.size, model.classes.size - 1))
    out[~other] = model.dual[:, ~other].T
    out[other, i - (i > c)] = model.dual[c - (i < c), np.flatnonzero(other)]
    return out


def _rest(case: Case) -> Iterator[Binary]:
    """Each class, positive, against all the others; row c of ``dual_coef_`` is its β."""
    model, index = case.model, case.rows
    g = case.g(index, model.dual.T)
    for c, label in enumerate(model.classes):
        yield Binary(
            name=f"{label} against the rest",
            index=index,
            y=np.where(case.code[index] == c, 1.0, -1.0),
            beta=case.beta(model.dual[c])[index],
            g=g[:, c],
            b=float(model.intercept[c]),
            C=case.price[index],
        )


def _margin(model: Fitted, one: Binary) -> Certification:
    """C-SVC."""
    y, beta, g, C = one.y, one.beta, one.g, one.C
    alpha = y * beta
    ridge = np.zeros_like(C)  # α/(2C), what the squared hinge adds to its condition
    if model.squared:
        np.divide(alpha, 2.0 * C, out=ridge, where=alpha != 0.0)
    top = np.where(C > 0.0, np.inf, 0.0) if model.squared else C
    box = Box.of(alpha, top, C, model.terms.slop)
    reached = y * (g + one.b)
    slack = np.maximum(0.0, 1.0 - reached)
    norm2 = float(beta @ g)
    if np.isinf(C).any():  # w rescaled until the worst point is on the margin
        least = float(reached.min())
        primal = 0.5 * norm2 / least**2 if least > 0.0 else float("inf")
    else:
        primal = 0.5 * norm2 + paid(C, slack**2 if model.squared else slack)
    dual = float(alpha.sum()) - 0.5 * norm2 - 0.5 * float(alpha @ ridge)

    positive = y > 0.0  # α rising moves β along y
    rise, fall = prices(
        g - y * (1.0 - ridge),
        np.where(positive, ~box.full, box.used),
        np.where(positive, box.used, ~box.full),
    )
    ends = Ends.of(rise, fall)
    violation, interval, balance = ends.violation, ends.interval, 0.0
    if model.fit_intercept:
        balance = abs(float(beta.sum())) / (float(np.abs(beta).sum()) or 1.0)
    else:
        violation, interval = max(0.0, ends.most, -ends.least), (0.0, 0.0)
    return verdict(
        model.terms,
        box,
        Points(one.index, slack, residuals(rise, fall, one.b)),
        primal=primal,
        dual=dual,
        violation=violation,
        balance=balance,
        bias_interval=interval,
        stray=stray_of(one.b, interval),
        margin=2.0 / norm2**0.5 if norm2 > 0.0 else float("inf"),
        name=one.name,
    )


def _nu(model: Fitted, one: Binary) -> Certification:
    """ν-SVC, before the division by ρ."""
    y, weight = one.y, one.C
    mass = model.nu * float(weight.sum())
    total = float(np.abs(one.beta).sum())
    rho = mass / total if total > 0.0 else np.inf
    require(
        np.isfinite(rho) and rho > 0.0,
        f"{one.name}: the coefficients sum to {total:g}, which leaves ρ = νN/Σ|β| = "
        f"{rho:g}: this is no ν-SVC",
    )
    beta, g, b = rho * one.beta, rho * one.g, rho * one.b
    alpha = y * beta
    box = Box.of(alpha, weight, weight, model.terms.slop)
    slack = np.maximum(0.0, rho - y * (g + b))
    norm2 = float(beta @ g)

    positive = y > 0.0
    rise, fall = prices(
        g,
        np.where(positive, ~box.full, box.used),
        np.where(positive, box.used, ~box.full),
    )
    # b − ρ is the multiplier of the positive side's sum, b + ρ that of the other's.
    above = Ends.of(rise[positive], fall[positive])
    below = Ends.of(rise[~positive], fall[~positive])
    (lo, hi), (low, high) = above.interval, below.interval
    return verdict(
        model.terms,
        box,
        Points(
            one.index,
            slack,
            residuals(rise, fall, np.where(positive, b - rho, b + rho)),
        ),
        primal=0.5 * norm2 + paid(weight, slack) - mass * rho,
        dual=-0.5 * norm2,
        violation=max(above.violation, below.violation),
        balance=abs(float(beta.sum())) / mass,
        bias_interval=(0.5 * (lo + low), 0.5 * (hi + high)),
        stray=max(stray_of(b - rho, above.interval), stray_of(b + rho, below.interval)),
        margin=2.0 * rho / norm2**0.5 if norm2 > 0.0 else float("inf"),
        level=Level(rho, (0.5 * (low - hi), 0.5 * (high - lo))),
        name=one.name,
    )
