r"""The referee: how good a fitted kernel classifier is, recomputed from the model alone.

:func:`certify` knows no solver and shares no formula with one. From the public attributes
of a fitted ``SVC`` (ours, scikit-learn's or sklearnex's) it takes :math:`\beta_i = y_i
\alpha_i` and b, and evaluates in NumPy float64, with :math:`\|w\|^2 = \beta^\top K\beta`,

.. math::
    \text{primal} &= \tfrac12\|w\|^2 + \textstyle\sum_i C_i\,\xi_i
        &\text{or}\ \tfrac12\|w\|^2 + \textstyle\sum_i C_i\,\xi_i^2 \\
    \text{dual} &= \textstyle\sum_i\alpha_i - \tfrac12\|w\|^2
        &\text{or}\ \ldots - \textstyle\sum_i \alpha_i^2/(4C_i)

for the hinge and the squared hinge, :math:`\xi_i = \max(0, 1 - y_i f(x_i))`, f with the
model's own intercept. Kernel values are made in tiles of at most 1024 × 1024 and
forgotten; linear machines go through w. An α within a relative 1e-12 of :math:`C_i` is
at its bound (peers store rounded numbers); for models that store float32 within 1e-6.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from scipy.sparse import issparse

from maxmargin._referee.fitted import Fitted, codes_of, located, prices_of
from maxmargin._referee.tables import as_table, require, take, tiles
from maxmargin.certificate import Certificate, worst_of
from maxmargin.errors import NumericalError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Index = NDArray[np.intp]
    Mask = NDArray[np.bool_]
    Vector = NDArray[np.float64]

__all__ = ["Certification", "certify"]

RANKS = np.array(["left out", "outside", "on the margin", "violating"])  # worst last


@dataclass(frozen=True, eq=False)
class Certification(Certificate):
    r"""The referee's :class:`~maxmargin.Certificate`, with a verdict on every point.

    Attributes
    ----------
    slack : ndarray of shape (n,)
        :math:`\xi_i = \max(0, 1 - y_i f(x_i))`; 0 for rows left out.
    residual : ndarray of shape (n,)
        How far a point misses its own optimality condition, with the model's own
        intercept: :math:`y_i f(x_i) \ge 1` where α = 0, = 1 where 0 < α < C, ≤ 1 where
        α = C (the squared hinge: 1 − α/(2C) in place of 1); 0 for rows left out.
    label : ndarray of str of shape (n,)
        ``"outside"`` (α = 0), ``"on the margin"`` (0 < α < C), ``"violating"`` (α = C;
        for the squared hinge α > 0, since there ξ = α/(2C)), or ``"left out"`` (no
        positive sample weight).
    index : ndarray of int of shape (n,)
        The rows of X that the three arrays speak of. A member of ``problems`` speaks of
        the rows of its two classes; the whole of all rows, each with its worst slack,
        residual and label.
    margin : float
        2/‖w‖.
    excess : float
        How far the worst α lies outside [0, C], as a fraction of C.
    feasible : bool
        Whether the dual variables keep the box and Σβ = 0 up to rounding, without which
        ``dual`` bounds nothing.
    """

    slack: Vector = field(kw_only=True, repr=False)
    residual: Vector = field(kw_only=True, repr=False)
    label: NDArray[np.str_] = field(kw_only=True, repr=False)
    index: Index = field(kw_only=True, repr=False)
    margin: float = field(kw_only=True)
    excess: float = field(kw_only=True)
    feasible: bool = field(kw_only=True)

    @property
    def ok(self) -> bool:
        """Whether every binary problem is feasible and within ``tol``."""
        return self.feasible and all(
            getattr(one, one.criterion) <= one.tol for one in (self.problems or (self,))
        )

    def __str__(self) -> str:
        counts = {rank: int((self.label == rank).sum()) for rank in RANKS[::-1]}
        points = ", ".join(f"{count:,} {rank}" for rank, count in counts.items() if count)
        lines = [
            super().__str__(),
            f"margin      {self.margin:.6g}",
            f"points      {points}",
            f"largest     slack {self.slack.max():.6g}, "
            f"residual {self.residual.max():.3g}",
        ]
        if not self.feasible:
            lines.append(
                f"infeasible  α leaves its box by {self.excess:.2g}·C, "
                f"Σβ = {self.balance:.2g}·Σ|β|: the dual is no bound"
            )
        return "\n".join(lines)


def certify(
    estimator: Any, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None
) -> Certification:
    """Recompute the certificate of a fitted kernel classifier, without its solver.

    Parameters
    ----------
    estimator : SVC
        A fitted ``maxmargin.SVC``, ``sklearn.svm.SVC`` or ``sklearnex.svm.SVC``.
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
        The rows it was fitted on, in the same order (n × n for precomputed kernels).
    y : array-like of shape (n_samples,)
        Their labels.
    sample_weight : array-like of shape (n_samples,) or None
        The weights it was fitted with.

    Returns
    -------
    Certification
        Objective, gap and violation, and slack, KKT residual and label of every point;
        an InputError when the model contradicts itself or this X, y and sample_weight.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from maxmargin import certify
    >>> X, y = load_iris(return_X_y=True)
    >>> verdict = certify(SVC(tol=1e-6).fit(X, y), X, y)
    >>> verdict.ok, len(verdict.problems)
    (True, 3)
    """
    require(
        not hasattr(estimator, "steps"),
        "a Pipeline: certify its last step on what that step was given, "
        "certify(pipe[-1], pipe[:-1].transform(X), y)",
    )
    require(
        not hasattr(estimator, "best_estimator_"),
        "a search: certify its best_estimator_",
    )
    table = as_table("X", X)
    model = Fitted.read(estimator, table)
    code = codes_of(model.classes, y, table.shape[0])
    price = prices_of(model, code, sample_weight)
    model = located(model, table, code, price)
    classes = range(model.classes.size)
    rows = [np.flatnonzero((code == c) & (price >= 0.0)) for c in classes]
    require(
        min(map(len, rows)) > 0, "a class has no row with a positive weight in this y"
    )
    values = _expansions(model, table, rows)
    with np.errstate(over="ignore", invalid="ignore"):  # an infinite gap says enough
        problems = [
            _judge(model, number, pair, rows, values, price)
            for number, pair in enumerate(combinations(classes, 2))
        ]
    return _whole(model, problems, table.shape[0])


def _expansions(model: Fitted, table: Any, rows: list[Index]) -> list[Vector]:
    """For the rows of each class, Σβ_j K_ij in each of the problems of that class."""
    kernel = model.kernel
    vectors = table[model.support] if callable(kernel.kind) else model.vectors
    width = table.shape[1] if kernel.dense or not issparse(vectors) else 1
    values = []
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite raises below
        for c, members in enumerate(rows):
            beta = model.coefficients(c)
            out = np.zeros((members.size, beta.shape[1]))
            w = np.zeros((table.shape[1], beta.shape[1]))
            if kernel.kind == "linear":
                for some in tiles(model.support.size, width):
                    w += take(vectors, some).T @ beta[some]
            for part in tiles(members.size, width):
                A = take(table, members[part], dense=kernel.dense)
                if kernel.kind == "precomputed":
                    out[part] = A[:, model.support] @ beta
                elif kernel.kind == "linear":
                    out[part] = A @ w
                else:
                    for some in tiles(model.support.size, width):
                        B = take(vectors, some, dense=kernel.dense)
                        out[part] += kernel(A, B) @ beta[some]
            values.append(out)
    if not all(np.isfinite(out).all() for out in values):
        msg = (
            "kernel values overflow in float64: scale the features (StandardScaler) "
            "or reduce gamma and degree"
        )
        raise NumericalError(msg)
    return values


def _judge(
    model: Fitted,
    number: int,
    pair: tuple[int, int],
    rows: list[Index],
    values: list[Vector],
    price: Vector,
) -> Certification:
    """Certify one binary problem."""
    first, second = pair
    index = np.concatenate([rows[first], rows[second]])
    g = np.concatenate([values[first][:, second - 1], values[second][:, first]])
    sign = -1.0 if model.classes.size == 2 else 1.0  # of the first class
    y = np.repeat([sign, -sign], [rows[first].size, rows[second].size])
    all_rows = np.zeros(price.size)
    mine = (model.owner == first) | (model.owner == second)
    all_rows[model.support[mine]] = model.coefficients(first)[mine, second - 1]
    beta, C, b = all_rows[index], price[index], float(model.intercept[number])

    alpha = y * beta
    ridge = np.zeros_like(C)  # α/(2C), what the squared hinge adds to its condition
    if model.squared:
        np.divide(alpha, 2.0 * C, out=ridge, where=alpha != 0.0)
    top = np.full_like(C, np.inf) if model.squared else C
    slop = 1e-6 if model.single else 1e-12
    may_rise, may_fall = alpha < top * (1.0 - slop), alpha > 0.0
    reached = y * (g + b)
    slack = np.maximum(0.0, 1.0 - reached)
    short = 1.0 - ridge - reached
    residual = np.maximum(np.where(may_rise, short, 0.0), np.where(may_fall, -short, 0.0))

    norm2 = float(beta @ g)
    if np.isinf(C).any():
        least = float(reached.min())
        primal = 0.5 * norm2 / least**2 if least > 0.0 else float("inf")
    else:
        primal = 0.5 * norm2 + float(C @ (slack**2 if model.squared else slack))
    dual = float(alpha.sum()) - 0.5 * norm2 - 0.5 * float(alpha @ ridge)
    violation, interval = _optimality(
        g - y * (1.0 - ridge), y, may_rise, may_fall, model.fit_intercept
    )
    size = float(np.abs(alpha).sum())
    balance = abs(float(beta.sum())) / (size or 1.0) if model.fit_intercept else 0.0
    scale = np.where(np.isfinite(C) & (C > 0.0), C, max(1.0, float(np.abs(alpha).max())))
    excess = max(0.0, float((np.maximum(alpha - top, -alpha) / scale).max()))
    feasible = excess <= slop and balance <= 10.0 * max(slop, 1e-10)
    n_bound = int((may_fall & ~may_rise).sum())
    n_support = int(np.count_nonzero(alpha))
    rank = np.where(may_fall, np.where(may_rise & (not model.squared), 2, 3), 1)
    gap, size = primal - dual, max(abs(primal), abs(dual))
    return Certification(
        primal=primal,
        dual=dual,
        gap=gap,
        relative_gap=np.inf if np.isinf(size) else gap / (size or 1.0),
        violation=violation,
        bias_interval=interval,
        n_support=n_support,
        n_free=n_support - n_bound,
        n_bound=n_bound,
        stop="recomputed in float64 from the fitted model, without its solver",
        tol=model.tol,
        criterion=model.criterion,
        balance=balance,
        name=f"{model.classes[first]} against {model.classes[second]}",
        slack=slack,
        residual=residual,
        label=RANKS[rank],
        index=index,
        margin=2.0 / norm2**0.5 if norm2 > 0.0 else float("inf"),
        excess=excess,
        feasible=bool(feasible),
    )


def _optimality(
    F: Vector, y: Vector, may_rise: Mask, may_fall: Mask, balanced: bool
) -> tuple[float, tuple[float, float]]:
    """Violation, and the interval of optimal intercepts; α rising moves β along y."""
    least = float(F[np.where(y > 0.0, may_rise, may_fall)].min(initial=np.inf))
    most = float(F[np.where(y > 0.0, may_fall, may_rise)].max(initial=-np.inf))
    if not balanced:
        return max(0.0, most, -least), (0.0, 0.0)
    lo, hi = sorted((-least, -most))
    return max(0.0, most - least), (lo, hi)


def _whole(model: Fitted, problems: list[Certification], n: int) -> Certification:
    """Put the worst problem on top, and for each row the worst that any problem says."""
    slack, residual, rank = np.zeros(n), np.zeros(n), np.zeros(n, dtype=np.intp)
    for one in problems:
        at, found = one.index, (one.label[:, None] == RANKS).argmax(axis=1)
        slack[at] = np.maximum(slack[at], one.slack)
        residual[at] = np.maximum(residual[at], one.residual)
        rank[at] = np.maximum(rank[at], found)
    used = int(np.count_nonzero(model.dual.any(axis=0)))
    top = worst_of(problems, n_support=used, n_kernel=0, seconds=0.0)
    return replace(
        cast("Certification", top),
        slack=slack,
        residual=residual,
        label=RANKS[rank],
        index=np.arange(n),
        excess=max(one.excess for one in problems),
        balance=max(one.balance for one in problems),
        feasible=all(one.feasible for one in problems),
    )
