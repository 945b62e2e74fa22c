r"""LinearSVC and LinearSVR, judged from their weights and dual variables.

The primal is that of w and b as they are; the dual that of β, ``dual_coef_``, or where a
machine does not tell it (scikit-learn's) of the slopes of a smooth loss. For the hinge
and the tube such a machine proves nothing, and is not judged.

With the penalty ½(‖w‖² + (b/s)²), s = ``intercept_scaling``, the dual value is
:math:`-\tfrac12\|X^\top\beta\|^2 - \tfrac12s^2(\sum\beta)^2 - \sum\beta^2/(4C) +
z^\top\beta - \varepsilon\|\beta\|_1`, the squares of β for squared losses alone; a free
intercept asks for Σβ = 0 instead. For the penalty ‖w‖₁ (+ |b/s|) a multiple of β with
:math:`\|X^\top\beta\|_\infty\le1` is valued, without the first two terms. For a loss from
outside :math:`-\sum_iC_i\,\ell^*(y_i\beta_i/C_i)` takes the place of all terms but the
first two (:mod:`~maxmargin._referee.losses`).
"""

from __future__ import annotations

from inspect import signature
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from maxmargin._referee.certification import Task, whole
from maxmargin._referee.fitted import JOINT
from maxmargin._referee.given import codes_of, targets_of, weights_of
from maxmargin._referee.losses import SLOP, loss_of
from maxmargin._referee.machines.linear_crammer_singer import judge_classes
from maxmargin._referee.optimality import Level, Points, Terms, verdict
from maxmargin._referee.tables import as_numbers, as_table, number_of, require
from maxmargin.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from maxmargin._arrays import Vector
    from maxmargin._referee.certification import Certification
    from maxmargin._referee.given import Given
    from maxmargin._referee.losses import Loss


class Penalty(NamedTuple):
    """The price of the weights."""

    lasso: bool  # ‖w‖₁ in place of ½‖w‖²
    scaling: float  # of a penalised intercept; 0 otherwise
    free: bool  # the intercept costs nothing


class Linear(NamedTuple):
    """One problem of a linear machine as the model states it."""

    name: str
    w: Vector
    b: float
    loss: Loss
    penalty: Penalty
    told: Vector | None  # β


def judge(given: Given) -> Certification:
    """Certify a linear machine."""
    estimator, machine = given.estimator, given.machine
    X = as_table("X", given.X)
    for name in ("coef_", "intercept_", "C", "fit_intercept"):
        require(
            hasattr(estimator, name),
            f"{machine.name} has no {name}: certify it after fit",
        )
    coef = np.atleast_2d(as_numbers("coef_", estimator.coef_))
    require(
        coef.shape[1] == X.shape[1],
        f"coef_ is for {coef.shape[1]} features, X has {X.shape[1]}",
    )
    bias = np.broadcast_to(np.asarray(estimator.intercept_, float), coef.shape[0])
    weight = np.maximum(weights_of(given.sample_weight, X.shape[0]), 0.0)
    C = float(estimator.C) * weight
    penalty = _penalty(estimator)
    told = getattr(estimator, "dual_coef_", None)
    terms = Terms(
        machine,
        float("nan") if told is None else number_of(estimator, "tol", float("nan")),
        "relative_gap",
        slop=SLOP,
        balance=SLOP,
        unbounded=False,
    )
    if getattr(estimator, "multi_class", "ovr") == JOINT:
        code, factor = _classes(given, C.size)
        return judge_classes(
            terms, X, told, coef, bias,
            scaling=penalty.scaling, code=code, price=C * factor[code],
        )  # fmt: skip
    make, found = loss_of(estimator, machine), []
    for number, (name, y, price) in enumerate(_problems(given, C)):
        beta = None if told is None else np.asarray(told[number], float)
        w, b, loss = coef[number], float(bias[number]), make(y, price)
        with np.errstate(over="ignore", invalid="ignore"):  # an infinite gap says enough
            found.append(_verdict(terms, Linear(name, w, b, loss, penalty, beta), X))
    used = np.zeros(C.size, bool)
    for certification in found:
        used |= np.isin(certification.label, machine.task.value[2:])
    return whole(found, C.size, int(np.count_nonzero(used)))


def _penalty(estimator: Any) -> Penalty:
    free = bool(estimator.fit_intercept) and (
        getattr(estimator, "intercept", "regularised") == "free"
    )
    penalised = estimator.fit_intercept and not free
    return Penalty(
        lasso=getattr(estimator, "penalty", "l2") == "l1",
        scaling=number_of(estimator, "intercept_scaling", 1.0) if penalised else 0.0,
        free=free,
    )


def _problems(given: Given, C: Vector) -> Iterator[tuple[str, Vector, Vector]]:
    """Name, targets and prices of every problem."""
    if given.machine.task is Task.REGRESS:
        yield "", targets_of(given.y, C.size), C
        return
    classes = given.estimator.classes_
    code, factor = _classes(given, C.size)
    if len(classes) == 2:
        sign = np.where(code == 1, 1.0, -1.0)
        yield f"{classes[0]} against {classes[1]}", sign, C * factor[code]
        return
    for k, one in enumerate(classes):
        mine = code == k
        price = C * np.where(mine, factor[k], 1.0)
        yield f"{one} against the rest", np.where(mine, 1.0, -1.0), price


def _classes(given: Given, n: int) -> tuple[NDArray[np.intp], Vector]:
    """The class of every row, and the weights of the classes.

    These as the machine holds them, or as scikit-learn computes them.
    """
    estimator = given.estimator
    code = codes_of(estimator.classes_, given.y, n, given.sample_weight)
    if hasattr(estimator, "class_weight_"):
        return code, np.asarray(estimator.class_weight_, float)
    from sklearn.utils.class_weight import compute_class_weight

    counted = {}
    if "sample_weight" in signature(compute_class_weight).parameters:
        counted["sample_weight"] = given.sample_weight  # of 1.9; before, rows count once
    return code, compute_class_weight(
        getattr(estimator, "class_weight", None),
        classes=estimator.classes_,
        y=np.asarray(given.y),
        **counted,
    )


def _dual(one: Linear, X: Any, beta: Vector) -> float:
    made = np.asarray(X.T @ beta).ravel()
    constant = one.penalty.scaling * float(beta.sum())
    if one.penalty.lasso:
        peak = max(float(np.abs(made).max(initial=0.0)), abs(constant))
        return one.loss.shrunk(beta, 1.0 / peak if peak > 0.0 else np.inf)
    linear, curved = one.loss.promised(beta)
    return linear - 0.5 * (float(made @ made) + constant**2) - curved


def _beta(one: Linear, f: Vector) -> Vector:
    """The dual variables: those of the model, or those that its outputs ask for."""
    beta = one.loss.response(f) if one.told is None else one.told
    if beta is None:
        msg = (
            "this machine does not tell its dual variables, without which a loss that is "
            "no square proves nothing"
        )
        raise InputError(msg)
    require(
        beta.shape == f.shape,
        f"dual_coef_ is for {beta.size} rows, X has {f.size}: certify with the rows "
        "of the fit",
    )
    return beta


def _verdict(terms: Terms, one: Linear, X: Any) -> Certification:
    """Certify one problem."""
    w, loss, penalty, counts = one.w, one.loss, one.penalty, one.loss.C > 0.0
    f = np.asarray(X @ w).ravel() + one.b
    beta = _beta(one, f)
    slack = np.where(counts, loss.slack(f), 0.0)
    residual = np.where(counts, loss.residual(f, beta), 0.0)
    size = np.abs(w).sum() if penalty.lasso else 0.5 * w @ w
    if penalty.scaling:
        b = one.b / penalty.scaling
        size += abs(b) if penalty.lasso else 0.5 * b * b
    total = float(np.abs(beta).sum())
    regression = terms.machine.task is Task.REGRESS
    return verdict(
        terms._replace(unbounded=loss.squared),
        loss.box(beta),
        Points(np.arange(f.size), slack, residual, out=~counts),
        primal=float(size + loss.paid(slack)),
        dual=_dual(one, X, beta),
        violation=float(residual.max(initial=0.0)),
        balance=abs(float(beta.sum())) / (total or 1.0) if penalty.free else 0.0,
        margin=float("nan") if regression else 2.0 / (float(w @ w) ** 0.5 or 1.0),
        level=Level(loss.epsilon if regression else float("nan")),
        name=one.name,
    )
