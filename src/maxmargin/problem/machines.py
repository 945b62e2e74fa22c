r"""Every machine as an instance of the template.

Prices and weights are given for each point, so that a weight of 2 is the point twice:
:math:`C_i = C w_i` where a machine has C, :math:`w_i` where it has only ν.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from maxmargin.problem.template import NO_PRICE, Problem

if TYPE_CHECKING:
    from maxmargin._arrays import Vector
    from maxmargin.kernels.gram.contract import Gram


def c_svc(
    gram: Gram,
    y: Vector,
    C: Vector,
    *,
    squared: bool = False,
    fit_intercept: bool = True,
) -> Problem:
    r"""Soft-margin classification: C-SVC, its squared-hinge form, or hard margin.

    .. math:: \min_{w,b}\ \tfrac12\|w\|^2 + \sum_i C_i\max(0, 1 - y_i f(x_i))

    Parameters
    ----------
    gram : Gram
        Kernel matrix of the n points.
    y : ndarray of shape (n,)
        Labels −1.0 or +1.0.
    C : ndarray of shape (n,)
        Price of each point's slack: C · class weight · sample weight. ``inf`` for a
        hard margin.
    squared : bool
        Pay :math:`C\xi^2` instead of :math:`C\xi`: K + I/(2C) and no upper bound.
    fit_intercept : bool
        Whether b exists; without it the constraint Σβ = 0 falls away.
    """
    top = np.full_like(C, np.inf) if squared else C
    ridge = np.zeros_like(C)
    if squared:
        priced = C > NO_PRICE  # a held-out point keeps its zero box
        np.divide(0.5, C, out=ridge, where=priced)
        top = np.where(priced, top, 0.0)
    positive = y > 0.0
    return Problem(
        gram=gram,
        p=-y,
        lower=np.where(positive, 0.0, -top),
        upper=np.where(positive, top, 0.0),
        ridge=ridge,
        sums=(0.0,) if fit_intercept else (),
    )


def nu_svc(gram: Gram, y: Vector, weight: Vector, nu: float) -> Problem:
    r"""ν-classification: ν bounds the fraction of margin errors, and ρ is free.

    .. math:: \min_{w,b,\rho}\ \tfrac12\|w\|^2 - \nu N\rho
              + \sum_i w_i\max(0, \rho - y_i f(x_i)),\qquad N = \sum_i w_i

    so Σα = νN/2 on either side (B. Schölkopf, A. Smola, R. Williamson and P. Bartlett,
    "New support vector algorithms", Neural Computation 12, 2000, scaled as in LIBSVM).
    The model divided by ρ is that of a C-SVC with C = 1/ρ.
    """
    positive = y > 0.0
    half = 0.5 * nu * float(weight.sum())
    return Problem(
        gram=gram,
        p=np.zeros_like(weight),
        lower=np.where(positive, 0.0, -weight),
        upper=np.where(positive, weight, 0.0),
        ridge=np.zeros_like(weight),
        sums=(half, -half),
    )


def epsilon_svr(gram: Gram, z: Vector, C: Vector, epsilon: float) -> Problem:
    r"""Regression with a tube: errors below ε cost nothing.

    .. math:: \min_{w,b}\ \tfrac12\|w\|^2
              + \sum_i C_i\max(0, |z_i - f(x_i)| - \varepsilon)

    in n variables β = α − α*, of which one of the two is always 0 (V. Vapnik, "The Nature
    of Statistical Learning Theory", 1995); LIBSVM keeps 2n.
    """
    return Problem(
        gram=gram,
        p=-z,
        lower=-C,
        upper=C.copy(),
        ridge=np.zeros_like(C),
        epsilon=epsilon,
    )


def nu_svr(twins: Gram, z: Vector, C: Vector, nu: float) -> Problem:
    r"""Regression with a tube of free width: ν bounds the fraction of points outside it.

    .. math:: \min_{w,b,\varepsilon}\ \tfrac12\|w\|^2 + \nu\varepsilon\sum_i C_i
              + \sum_i C_i\max(0, |z_i - f(x_i)| - \varepsilon)

    Here α and α* may both be positive while ε = 0, so they are two variables: the n
    points on the positive side, then the same n on the negative side (Schölkopf et al.
    2000, scaled as in LIBSVM).

    Parameters
    ----------
    twins : Gram
        Kernel matrix of the points followed by themselves.
    z, C : ndarray of shape (n,)
        Targets and prices of the n points.
    nu : float
        The fraction.
    """
    nothing = np.zeros_like(C)
    half = 0.5 * nu * float(C.sum())
    return Problem(
        gram=twins,
        p=np.concatenate([-z, -z]),
        lower=np.concatenate([nothing, -C]),
        upper=np.concatenate([C, nothing]),
        ridge=np.zeros(2 * C.size),
        sums=(half, -half),
    )


def one_class(gram: Gram, weight: Vector, nu: float) -> Problem:
    r"""The support of a distribution: ν bounds the fraction of points left outside.

    .. math:: \min_{w,\rho}\ \tfrac12\|w\|^2 - \nu N\rho
              + \sum_i w_i\max(0, \rho - \langle w, \varphi(x_i)\rangle)

    with N = Σw and b = −ρ (B. Schölkopf et al., "Estimating the support of a
    high-dimensional distribution", Neural Computation 13, 2001, scaled as in LIBSVM).
    """
    return Problem(
        gram=gram,
        p=np.zeros_like(weight),
        lower=np.zeros_like(weight),
        upper=weight.copy(),
        ridge=np.zeros_like(weight),
        sums=(nu * float(weight.sum()),),
    )


def svdd(gram: Gram, weight: Vector, nu: float) -> Problem:
    r"""The smallest ball around the data: ν bounds the fraction of points outside.

    .. math:: \min_{a,R}\ R^2 + \frac1{\nu N}\sum_i w_i\max(0,
              \|\varphi(x_i) - a\|^2 - R^2)

    (D. Tax and R. Duin, "Support vector data description", Machine Learning 54, 2004).
    Its dual in α, Σα = 1, is multiplied by M²/2 and written in β = Mα with M = νN, so
    that for constant k(x, x) it is the one-class problem: p = −(M/2)·k(x, x), and
    :math:`R^2 - \|\varphi(x_i) - a\|^2 = (F_i + b)\cdot 2/M`.
    """
    mass = nu * float(weight.sum())
    return Problem(
        gram=gram,
        p=-0.5 * mass * gram.diagonal(),
        lower=np.zeros_like(weight),
        upper=weight.copy(),
        ridge=np.zeros_like(weight),
        sums=(mass,),
    )


def row_prices(C: float, weight: Vector) -> Vector:
    """C times the weight of every row; 0 without weight, at C = ∞ too."""
    return np.multiply(C, weight, out=np.zeros_like(weight), where=weight > 0.0)


def is_inside(problem: Problem, beta: Vector) -> bool:
    """Whether no coefficient but 0 is at a bound: a larger C then changes nothing."""
    bound = (beta == problem.lower) | (beta == problem.upper)
    return not bool((bound & (beta != 0.0)).any())
