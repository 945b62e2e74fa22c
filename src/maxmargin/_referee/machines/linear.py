r"""LinearSVC and LinearSVR, judged from their weights and dual variables.

The primal is that of w and b as they are; the dual that of β, ``dual_coef_``, or where a
machine does not tell it (scikit-learn's) of the slopes of its squared losses. For the
hinge and the tube such a machine proves nothing, and is not judged.

With the penalty ½(‖w‖² + (b/s)²), s = ``intercept_scaling``, the dual value is
:math:`-\tfrac12\|X^\top\beta\|^2 - \tfrac12s^2(\sum\beta)^2 - \sum\beta^2/(4C) +
z^\top\beta - \varepsilon\|\beta\|_1`, the squares of β for squared losses alone; a free
intercept asks for Σβ = 0 instead. For the penalty ‖w‖₁ (+ |b/s|) a multiple of β with
:math:`\|X^\top\beta\|_\infty\le1` is valued, without the first two terms.
"""

from __future__ import annotations

from inspect import signature
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from maxmargin._referee.certification import Certification, labels_of, whole
from maxmargin._referee.given import codes_of, targets_of
from maxmargin._referee.machines.linear_crammer_singer import Classes, judge_classes
from maxmargin._referee.tables import as_numbers, require
from maxmargin.errors import Stop

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin._arrays import Vector

MACHINES = ("LinearSVC", "LinearSVR")
STOCHASTIC = ("PegasosClassifier", "AveragedSGDClassifier")
SLOP = 1e-9  # relative, within which a β is at its bound


class Linear(NamedTuple):
    """What one problem of a linear machine says in public."""

    w: Vector
    b: float
    target: Vector  # ±1, or numbers
    price: Vector  # C of every row
    epsilon: float
    squared: bool
    scaling: float  # of a penalised intercept; 0 otherwise
    free: bool
    lasso: bool


def judge(
    estimator: Any, machine: str, X: Any, y: Any, sample_weight: Any
) -> Certification:
    """The verdict on a fitted linear machine."""
    require(hasattr(estimator, "coef_"), f"{machine} has no coef_: certify it after fit")
    n = X.shape[0]
    coef = np.atleast_2d(as_numbers("coef_", estimator.coef_))
    require(
        coef.shape[1] == X.shape[1],
        f"coef_ is for {coef.shape[1]} features, X has {X.shape[1]}",
    )
    bias = np.broadcast_to(np.asarray(estimator.intercept_, float), coef.shape[0])
    weight = np.ones(n) if sample_weight is None else as_numbers("weight", sample_weight)
    weight = np.maximum(weight, 0.0)
    free = bool(estimator.fit_intercept) and (
        getattr(estimator, "intercept", "regularised") == "free"
    )
    scaling = 0.0 if free or not estimator.fit_intercept else estimator.intercept_scaling
    if getattr(estimator, "multi_class", "ovr") == "crammer_singer":
        code = codes_of(estimator.classes_, y, n, sample_weight)
        factor = _class_weights(estimator, estimator.classes_, y, sample_weight)
        price = float(estimator.C) * weight * factor[code]
        return judge_classes(estimator, X, Classes(coef, bias, scaling, code, price))
    common = {
        "squared": estimator.loss.startswith("squared"),
        "scaling": float(scaling),
        "free": free,
        "lasso": getattr(estimator, "penalty", "l2") == "l1",
    }
    found = []
    for number, (target, price, name) in enumerate(
        _problems(estimator, machine, y, n, weight, sample_weight)
    ):
        one = Linear(
            w=coef[number],
            b=float(bias[number]),
            target=target,
            price=price,
            epsilon=float(estimator.epsilon) if machine == "LinearSVR" else 0.0,
            **common,
        )
        found.append(_verdict(one, estimator, machine, X, number, name))
    used = np.zeros(n, bool)
    for verdict in found:
        used |= np.isin(verdict.label, labels_of(machine, np.array([2, 3])))
    return whole(found, n, int(np.count_nonzero(used)))


def _problems(
    estimator: Any, machine: str, y: Any, n: int, weight: Vector, sample_weight: Any
) -> list[tuple[Vector, Vector, str]]:
    """Targets, prices and name of every problem."""
    C = float(estimator.C) * weight
    if machine == "LinearSVR":
        return [(targets_of(y, n), C, "")]
    classes = estimator.classes_
    code = codes_of(classes, y, n, sample_weight)
    factor = _class_weights(estimator, classes, y, sample_weight)
    if len(classes) == 2:
        sign = np.where(code == 1, 1.0, -1.0)
        return [(sign, C * factor[code], f"{classes[0]} against {classes[1]}")]
    return [
        (
            np.where(code == k, 1.0, -1.0),
            C * np.where(code == k, factor[k], 1.0),
            f"{one} against the rest",
        )
        for k, one in enumerate(classes)
    ]


def _class_weights(
    estimator: Any, classes: NDArray[Any], y: Any, sample_weight: Any
) -> Vector:
    """As the machine knows them, or as scikit-learn's makes them."""
    if hasattr(estimator, "class_weight_"):
        return np.asarray(estimator.class_weight_, float)
    from sklearn.utils.class_weight import compute_class_weight

    counted = {}
    if "sample_weight" in signature(compute_class_weight).parameters:
        counted["sample_weight"] = sample_weight  # of 1.9; before, rows counted once
    weights: Vector = compute_class_weight(
        estimator.class_weight, classes=classes, y=np.asarray(y), **counted
    )
    return weights


def _slopes(one: Linear, f: Vector, *, regression: bool) -> Vector:
    """β of a squared loss: minus its derivative."""
    gap = one.target - f
    if regression:
        return 2.0 * one.price * np.sign(gap) * np.maximum(np.abs(gap) - one.epsilon, 0.0)
    inside = np.maximum(one.target * gap, 0.0)
    return 2.0 * one.price * one.target * inside


def _dual(one: Linear, X: Any, beta: Vector) -> float:
    pull = np.asarray(X.T @ beta).ravel()
    constant = one.scaling * float(beta.sum())
    linear = float(one.target @ beta) - one.epsilon * float(np.abs(beta).sum())
    curved = 0.0
    if one.squared:
        some = one.price > 0.0
        curved = float((beta[some] ** 2 / (4.0 * one.price[some])).sum())
    if one.lasso:
        peak = max(float(np.abs(pull).max(initial=0.0)), abs(constant))
        most = 1.0 / peak if peak > 0.0 else np.inf
        fit = max(0.0, min(most, linear / (2.0 * curved) if curved > 0.0 else 0.0))
        return fit * linear - fit * fit * curved
    return linear - 0.5 * (float(pull @ pull) + constant**2) - curved


def _verdict(
    one: Linear, estimator: Any, machine: str, X: Any, number: int, name: str
) -> Certification:
    """Primal, dual and what every row says."""
    f = np.asarray(X @ one.w).ravel() + one.b
    regression = machine == "LinearSVR"
    miss = np.abs(one.target - f) - one.epsilon if regression else 1.0 - one.target * f
    slack = np.where(one.price > 0.0, np.maximum(miss, 0.0), 0.0)
    told = getattr(estimator, "dual_coef_", None)
    require(
        told is not None or one.squared,
        "this machine does not tell its dual variables, without which a loss that is no "
        "square proves nothing",
    )
    if told is None:
        beta = _slopes(one, f, regression=regression)
    else:
        beta = np.asarray(told[number], float)
        require(
            beta.shape == f.shape,
            f"dual_coef_ is for {beta.size} rows, X has {f.size}: certify with the rows "
            "of the fit",
        )
    size = np.abs(one.w).sum() if one.lasso else 0.5 * one.w @ one.w
    if one.scaling:
        b = one.b / one.scaling
        size += abs(b) if one.lasso else 0.5 * b * b
    primal = float(size + one.price @ (slack**2 if one.squared else slack))
    dual = _dual(one, X, beta)
    top = np.where(one.price > 0.0, np.inf, 0.0) if one.squared else one.price
    amount = np.abs(beta) if regression else one.target * beta
    unit = np.where(one.price > 0.0, one.price, 1.0)
    excess = float((np.maximum(amount - top, -amount) / unit).max(initial=0.0))
    total = float(np.abs(beta).sum())
    balance = abs(float(beta.sum())) / (total or 1.0) if one.free else 0.0
    full = (amount >= top * (1.0 - SLOP)) & (amount > 0.0)
    rank = np.where(amount > 0.0, np.where(full | one.squared, 3, 2), 1)
    rank[one.price <= 0.0] = 0
    residual = _residual(one, f, beta, amount, top, regression)
    gap, scale = primal - dual, max(abs(primal), abs(dual))
    ours = told is not None
    return Certification(
        primal=primal,
        dual=dual,
        gap=gap,
        relative_gap=gap / (scale or 1.0),
        violation=float(residual.max(initial=0.0)),
        bias_interval=(float("nan"), float("nan")),
        n_support=int(np.count_nonzero(amount)),
        n_free=int(np.count_nonzero((amount > 0.0) & ~full)),
        n_bound=int(np.count_nonzero(full)),
        stop=Stop.RECOMPUTED,
        tol=float(estimator.tol) if ours else float("nan"),
        criterion="relative_gap",
        balance=balance,
        name=name,
        machine=machine,
        slack=slack,
        residual=residual,
        label=labels_of(machine, rank),
        index=np.arange(f.size),
        margin=float("nan") if regression else 2.0 / (float(one.w @ one.w) ** 0.5 or 1.0),
        level=one.epsilon if regression else float("nan"),
        level_interval=(float("nan"), float("nan")),
        stray=0.0,
        excess=max(0.0, excess),
        feasible=bool(excess <= SLOP and balance <= SLOP),
    )


def _residual(
    one: Linear, f: Vector, beta: Vector, amount: Vector, top: Vector, regression: bool
) -> Vector:
    """How far every row misses its own condition."""
    ridge = np.zeros(f.size)
    if one.squared:
        np.divide(0.5, one.price, out=ridge, where=one.price > 0.0)
    F = f - one.target + ridge * beta
    up = F + np.where(beta >= 0.0, one.epsilon, -one.epsilon)
    down = F + np.where(beta > 0.0, one.epsilon, -one.epsilon)
    rises = amount < top if regression else np.where(
        one.target > 0.0, amount < top, amount > 0.0
    )  # fmt: skip
    falls = amount < top if regression else np.where(
        one.target > 0.0, amount > 0.0, amount < top
    )  # fmt: skip
    if regression:  # at a bound there is one way back
        rises = rises | (beta < 0.0)
        falls = falls | (beta > 0.0)
    wrong: Vector = np.maximum(np.where(rises, -up, 0.0), np.where(falls, down, 0.0))
    return np.where(one.price > 0.0, np.maximum(wrong, 0.0), 0.0)
