r"""Judging LinearSVC with Crammer and Singer's one problem for all classes.

The weights are judged as they are, the dual variables by the weights that they make:

.. math::
    \text{primal} &= \tfrac12\sum_m(\|w_m\|^2 + (b_m/s)^2) + \textstyle\sum_i C_i
        \max_m(1[m\ne y_i] + f_m(x_i) - f_{y_i}(x_i)) \\
    \text{dual} &= \textstyle\sum_i\beta_{iy_i}
        - \tfrac12\sum_m(\|X^\top\beta_m\|^2 + s^2(\sum_i\beta_{im})^2)

where :math:`\sum_m\beta_{im} = 0`, :math:`\beta_{im}\le0` for the other classes and
:math:`\beta_{iy_i}\le C_i`. Of two classes the machine tells :math:`w_1 - w_0`; as the β
of a row add up to 0, :math:`w_0 = -w_1`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin._referee.certification import whole
from maxmargin._referee.machines.crammer_singer import Conditions, both_classes
from maxmargin._referee.optimality import Box, Points, Terms, verdict
from maxmargin._referee.tables import require

if TYPE_CHECKING:
    from maxmargin._arrays import Index, Table, Vector
    from maxmargin._referee.certification import Certification


def judge_classes(
    terms: Terms,
    X: Any,
    told: Any,
    coef: Table,
    bias: Vector,
    *,
    scaling: float,
    code: Index,
    price: Vector,
) -> Certification:
    """Certify the one problem of all classes.

    ``told`` is ``dual_coef_``, ``scaling`` that of the penalised intercepts (0 without),
    ``code`` the class of every row.
    """
    require(
        told is not None,
        "this machine does not tell its dual variables, without which a loss that is no "
        "square proves nothing",
    )
    beta, W, b = np.asarray(told, float).T, coef, bias
    if len(W) == 1:
        W, b = np.vstack(both_classes(W)), np.append(*both_classes(b))
    n, counts = X.shape[0], price > 0.0
    require(
        beta.shape == (n, len(W)),
        f"dual_coef_ has shape {beta.shape[::-1]}, X and classes_ need {(len(W), n)}",
    )
    own = np.arange(n), code
    top = np.zeros_like(beta)
    top[own] = price
    unit = np.where(counts, price, 1.0)
    rises = beta < top - terms.slop * unit[:, None]
    slack, residual = Conditions.of(np.asarray(X @ W.T) + b, code, rises)
    slack, residual = np.where(counts, slack, 0.0), np.where(counts, residual, 0.0)
    norm2 = size = float((W * W).sum())
    made = np.asarray(X.T @ beta)
    worth = float((made * made).sum())
    if scaling:
        size += float(((b / scaling) ** 2).sum())
        worth += scaling**2 * float((beta.sum(axis=0) ** 2).sum())
    box = Box.of(beta[own], price, price, terms.slop)
    excess = float(((beta - top) / unit[:, None]).max(initial=0.0))
    one = verdict(
        terms,
        box._replace(excess=excess),
        Points(np.arange(n), slack, residual, out=~counts),
        primal=0.5 * size + float(price @ slack),
        dual=float(beta[own].sum()) - 0.5 * worth,
        violation=float(residual.max(initial=0.0)),
        balance=float((np.abs(beta.sum(axis=1)) / unit).max(initial=0.0)),
        margin=2.0 / (norm2**0.5 or 1.0),
        name="all classes at once",
    )
    return whole([one], n, one.n_support)
