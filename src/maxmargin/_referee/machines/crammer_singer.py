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

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from maxmargin._referee.certification import whole
from maxmargin._referee.optimality import Box, Points, paid, verdict

if TYPE_CHECKING:
    from maxmargin._arrays import Flags, Index, Table, Vector
    from maxmargin._referee.case import Case
    from maxmargin._referee.certification import Certification


class Conditions(NamedTuple):
    """The cost of every row, and how far it misses its condition."""

    slack: Vector
    residual: Vector

    @classmethod
    def of(cls, f: Table, own: Index, may_rise: Flags) -> Conditions:
        """``own`` is the class of each row, ``f`` has a column for each class."""
        G = f + (np.arange(f.shape[1]) != own[:, None])
        most = G.max(axis=1)
        least = np.where(may_rise, G, np.inf).min(axis=1)
        return cls(most - G[np.arange(own.size), own], np.maximum(most - least, 0.0))


def both_classes(lines: Any) -> tuple[Any, ...]:
    """Two halves: of two classes a model holds only the difference."""
    return -0.5 * lines, 0.5 * lines


def certified_jointly(case: Case) -> Certification:
    """Certify the one problem of all classes."""
    model, index = case.model, case.rows
    C, own = case.price[index], case.code[index]
    lines, b = model.dual.T, model.intercept
    if model.classes.size == 2:
        lines, b = np.hstack(both_classes(lines)), np.append(*both_classes(b))
    g = case.g(index, lines)
    beta = case.beta(lines)[index]
    sums = beta.sum(axis=0) if model.fit_intercept else np.zeros_like(b)

    mine = np.arange(index.size), own
    top = np.zeros_like(beta)
    top[mine] = C
    slop = model.terms.slop
    slack, residual = Conditions.of(g + b, own, beta < top * (1.0 - slop))
    norm2 = float((beta * g).sum() + b @ b)
    box = Box.of(beta[mine], C, C, slop)
    others = float((np.where(top > 0.0, 0.0, beta) / np.maximum(C, 1.0)[:, None]).max())
    size = float(np.abs(beta).sum(axis=1).max(initial=0.0))
    one = verdict(
        model.terms,
        box._replace(excess=max(box.excess, others)),
        Points(index, slack, residual),
        primal=0.5 * norm2 + paid(C, slack),
        dual=float(beta[mine].sum()) - 0.5 * norm2,
        violation=float(residual.max()),
        balance=float(np.abs(beta.sum(axis=1)).max()) / (size or 1.0),
        stray=float(np.abs(b - sums).max()),
        name="all classes at once",
    )
    return whole([one], case.price.size, one.n_support)
