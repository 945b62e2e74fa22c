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

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from maxmargin._referee.certification import Certification, labels_of, whole
from maxmargin._referee.tables import require
from maxmargin.errors import Stop

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin._arrays import Table, Vector

SLOP = 1e-9  # relative, within which a β is at its bound


class Classes(NamedTuple):
    """What the machine says in public, and what it was given."""

    coef: Table
    bias: Vector
    scaling: float  # of the penalised intercepts; 0 without
    code: NDArray[np.intp]
    price: Vector


def judge_classes(estimator: Any, X: Any, given: Classes) -> Certification:
    """The verdict on the one problem of all classes."""
    told = getattr(estimator, "dual_coef_", None)
    require(
        told is not None,
        "this machine does not tell its dual variables, without which a loss that is no "
        "square proves nothing",
    )
    beta = np.asarray(told, float).T
    W, b, price, scaling = given.coef, given.bias, given.price, given.scaling
    if len(estimator.classes_) == 2:
        W, b = np.vstack([-0.5 * W, 0.5 * W]), np.append(-0.5 * b, 0.5 * b)
    n, counts = X.shape[0], price > 0.0
    require(
        beta.shape == (n, len(W)),
        f"dual_coef_ has shape {beta.shape[::-1]}, X and classes_ need {(len(W), n)}",
    )
    own = np.arange(n), np.where(given.code >= 0, given.code, 0)

    G = np.asarray(X @ W.T) + b
    G[np.arange(len(W)) != own[1][:, None]] += 1.0
    slack = np.where(counts, G.max(axis=1) - G[own], 0.0)
    size = float((W * W).sum())
    made = np.asarray(X.T @ beta)
    worth = float((made * made).sum())
    if scaling:
        size += float(((b / scaling) ** 2).sum())
        worth += scaling**2 * float((beta.sum(axis=0) ** 2).sum())
    primal = 0.5 * size + float(price @ slack)
    dual = float(beta[own].sum()) - 0.5 * worth

    top = np.zeros_like(beta)
    top[own] = price
    unit = np.where(counts, price, 1.0)
    excess = float(((beta - top) / unit[:, None]).max(initial=0.0))
    balance = float((np.abs(beta.sum(axis=1)) / unit).max(initial=0.0))
    low = np.where(beta < top - SLOP * unit[:, None], G, np.inf).min(axis=1)
    residual = np.where(counts, np.maximum(G.max(axis=1) - low, 0.0), 0.0)
    amount = beta[own]
    full = (amount >= price * (1.0 - SLOP)) & (amount > 0.0)
    rank = np.where(amount > 0.0, np.where(full, 3, 2), 1)
    rank[~counts] = 0
    gap, scale = primal - dual, max(abs(primal), abs(dual))
    one = Certification(
        primal=primal,
        dual=dual,
        gap=gap,
        relative_gap=gap / (scale or 1.0),
        violation=float(residual.max(initial=0.0)),
        bias_interval=(float("nan"), float("nan")),
        n_support=int(np.count_nonzero(beta.any(axis=1))),
        n_free=int(np.count_nonzero((amount > 0.0) & ~full)),
        n_bound=int(np.count_nonzero(full)),
        stop=Stop.RECOMPUTED,
        tol=float(estimator.tol),
        criterion="relative_gap",
        balance=balance,
        name="all classes at once",
        machine="LinearSVC",
        slack=slack,
        residual=residual,
        label=labels_of("LinearSVC", rank),
        index=np.arange(n),
        margin=2.0 / (float((W * W).sum()) ** 0.5 or 1.0),
        level=float("nan"),
        level_interval=(float("nan"), float("nan")),
        stray=0.0,
        excess=excess,
        feasible=bool(excess <= SLOP and balance <= SLOP),
    )
    return whole([one], n, one.n_support)
