"""LIBSVM's layout of a model, rewritten as scikit-learn's.

LIBSVM numbers the classes as it meets them and lets the first class of a pair be
positive; its ρ is the negative intercept. scikit-learn sorts the classes, and of just
two lets the second be positive. Row r of the coefficients of a support vector of class c
belongs to the pair of c and the r-th of the other classes, in both.
"""

from __future__ import annotations

from itertools import combinations
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from benchmarks.speed.datasets import Problem

__all__ = ["classifier", "single"]


def _common(problem: Problem, tol: float, support: Any) -> dict[str, Any]:
    return {
        **problem.parameters,
        "kernel": "rbf",
        "tol": tol,
        "support_": support,
        "support_vectors_": problem.X[support],
        "shape_fit_": problem.X.shape,
    }


def classifier(
    problem: Problem, tol: float, labels: Any, support: Any, coef: Any, rho: Any
) -> SimpleNamespace:
    """A fitted SVC from LIBSVM's arrays; ``labels`` are in LIBSVM's order."""
    labels, support = np.asarray(labels), np.asarray(support)
    classes = np.sort(labels)
    k = classes.size
    order = np.argsort(labels)  # class number → LIBSVM's number
    owner = np.searchsorted(classes, problem.y[support])
    into = np.argsort(owner, kind="stable")
    support, owner, coef = support[into], owner[into], coef[:, into]
    dual, intercept = np.zeros_like(coef), np.zeros(k * (k - 1) // 2)
    theirs = {pair: at for at, pair in enumerate(combinations(range(k), 2))}
    for number, (p, q) in enumerate(combinations(range(k), 2)):
        first, second = order[p], order[q]
        sign = 1.0 if first < second else -1.0  # of p in LIBSVM's pair
        sign = -sign if k == 2 else sign
        of_p, of_q = owner == p, owner == q
        dual[q - 1, of_p] = sign * coef[second - (second > first), of_p]
        dual[p, of_q] = sign * coef[first - (first > second), of_q]
        at = theirs[min(first, second), max(first, second)]
        intercept[number] = -sign * rho[at]
    return SimpleNamespace(
        **_common(problem, tol, support),
        classes_=classes,
        class_weight_=np.ones(k),
        n_support_=np.bincount(owner, minlength=k),
        dual_coef_=dual,
        intercept_=intercept,
    )


def single(
    problem: Problem, tol: float, support: Any, coef: Any, rho: float
) -> SimpleNamespace:
    """A fitted SVR or OneClassSVM from LIBSVM's arrays."""
    support = np.asarray(support)
    model = SimpleNamespace(
        **_common(problem, tol, support),
        n_support_=np.array([support.size]),
        dual_coef_=coef,
        intercept_=np.array([-rho]),
    )
    if problem.kind == "SVR":
        model.epsilon = problem.parameters.get("epsilon", 0.1)
    else:
        model.offset_ = np.array([rho])
    return model
