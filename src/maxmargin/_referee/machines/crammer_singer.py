r"""Judging all classes at once: Crammer and Singer's machine.

With :math:`f_m = K\beta_m + b_m`, where an intercept is the weight of a constant feature,
:math:`b_m = \sum_i\beta_{im}`, and
:math:`\|W\|^2 = \sum_m(\beta_m^\top K\beta_m + b_m^2)`,

.. math::
    \text{primal} &= \tfrac12\|W\|^2 + \textstyle\sum_i C_i
        \max_m(1[m\ne y_i] + f_m(x_i) - f_{y_i}(x_i)) \\
    \text{dual} &= \textstyle\sum_i\beta_{iy_i} - \tfrac12\|W\|^2

where :math:`\sum_m\beta_{im} = 0`, :math:`\beta_{im} \le 0` for the other classes and
:math:`\beta_{iy_i} \le C_i` (K. Crammer and Y. Singer, JMLR 2, 2001). A point is optimal
when no class that may rise is under the largest :math:`1[m\ne y_i] + f_m`. Of two classes
the model tells the difference :math:`\beta_1 - \beta_0 = 2\beta_1`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin._referee.certification import Certification, whole
from maxmargin._referee.expansion import expansion
from maxmargin._referee.optimality import Box, paid, slop_of, verdict

if TYPE_CHECKING:
    from maxmargin._arrays import Index, Vector
    from maxmargin._referee.fitted import Fitted


def judge(model: Fitted, table: Any, code: Index, price: Vector) -> Certification:
    """Certify the one problem of all classes."""
    index = np.flatnonzero(price >= 0.0)
    C, own = price[index], code[index]
    lines, b = model.dual.T, model.intercept
    if model.classes.size == 2:
        lines, b = np.hstack([-0.5 * lines, 0.5 * lines]), np.append(-0.5 * b, 0.5 * b)
    g = expansion(model, table, index, lines)
    all_rows = np.zeros((price.size, lines.shape[1]))
    all_rows[model.support] = lines
    beta = all_rows[index]
    sums = beta.sum(axis=0) if model.fit_intercept else np.zeros_like(b)

    mine = np.arange(index.size), own
    G = g + b
    G[np.arange(lines.shape[1]) != own[:, None]] += 1.0
    slack = G.max(axis=1) - G[mine]
    norm2 = float((beta * g).sum() + b @ b)
    top = np.zeros_like(beta)
    top[mine] = C
    box = Box.of(model, beta[mine], C, C)
    others = float((np.where(top > 0.0, 0.0, beta) / np.maximum(C, 1.0)[:, None]).max())
    may_rise = beta < top * (1.0 - slop_of(model))
    residual = G.max(axis=1) - np.where(may_rise, G, np.inf).min(axis=1)
    residual = np.maximum(residual, 0.0)
    size = float(np.abs(beta).sum(axis=1).max(initial=0.0))
    one = verdict(
        model,
        box._replace(excess=max(box.excess, others)),
        primal=0.5 * norm2 + paid(C, slack),
        dual=float(beta[mine].sum()) - 0.5 * norm2,
        violation=float(residual.max()),
        balance=float(np.abs(beta.sum(axis=1)).max()) / (size or 1.0),
        bias_interval=(float("nan"), float("nan")),
        stray=float(np.abs(b - sums).max()),
        slack=slack,
        residual=residual,
        index=index,
        name="all classes at once",
    )
    return whole([one], table.shape[0], one.n_support)
