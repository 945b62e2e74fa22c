r"""The referee: how good a fitted machine is, recomputed from the model alone.

:func:`certify` knows no solver and shares no formula with one. From the public attributes
of a fitted machine (ours, scikit-learn's or sklearnex's) it takes the coefficients β and
the intercept, and evaluates in NumPy float64 what the machine minimises, its dual, and
how far every point is from its optimality condition: ``classifiers``, ``joint`` (all
classes at once), ``regressors``, ``one_class`` and ``linear`` have the formulas,
``optimality`` what they share.

Kernel values are made in tiles of at most 1024 × 1024 and forgotten; linear machines go
through w. A coefficient within a relative 1e-12 of its bound is at it (peers store
rounded numbers); for NuSVC, whose coefficients are stored divided by ρ, within 1e-10,
for models that store float32 within 1e-6.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin._referee.certification import Certification, whole
from maxmargin._referee.fitted import Fitted, located
from maxmargin._referee.given import codes_of, prices_of, targets_of
from maxmargin._referee.kernel import is_foreign
from maxmargin._referee.machines import classifiers, linear, one_class, regressors
from maxmargin._referee.machines import crammer_singer as joint
from maxmargin._referee.tables import as_objects, as_table, require

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["Certification", "certify"]


def certify(
    estimator: Any,
    X: Any,
    y: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> Certification:
    """Recompute the certificate of a fitted machine, without its solver.

    Parameters
    ----------
    estimator : SVC, NuSVC, SVR, NuSVR, OneClassSVM, SVDD, LinearSVC or LinearSVR
        A fitted machine of maxmargin, or one of the first five of ``sklearn.svm`` or
        ``sklearnex.svm``; of ``sklearn.svm`` also a linear machine with a squared loss,
        from which dual variables follow.
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
        The rows it was fitted on, in the same order (n × n for precomputed kernels). For
        a kernel that is a function, any sequence that the machine was fitted on.
    y : array-like of shape (n_samples,) or None
        Their labels or targets; not looked at for OneClassSVM and SVDD.
    sample_weight : array-like of shape (n_samples,) or None
        The weights it was fitted with.

    Returns
    -------
    Certification
        Objective, gap and violation, and slack, KKT residual and label of every point;
        an InputError when the model contradicts itself or this X, y and sample_weight.

    Notes
    -----
    scikit-learn's NuSVC ignores ``class_weight``; it is judged on the problem that it
    solved. A NuSVR that does not tell its tube (``epsilon_``) is judged with the best
    one for its model.

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
    names = [base.__name__ for base in type(estimator).__mro__]
    require(
        not any(name in linear.STOCHASTIC for name in names),
        f"{type(estimator).__name__} keeps no dual variables, without which the hinge "
        "proves nothing: its own figures are in certificate_; certify takes SVC, NuSVC, "
        "SVR, NuSVR, OneClassSVM, SVDD, LinearSVC and LinearSVR, and "
        "LinearSVC(loss='hinge', C=1/(lam*n)) has the same optimum",
    )
    kind = next((name for name in names if name in linear.MACHINES), None)
    if kind is not None:
        return linear.judge(estimator, kind, as_table("X", X), y, sample_weight)
    anything = is_foreign(getattr(estimator, "kernel", None))
    table = as_objects(X) if anything else as_table("X", X)
    model = Fitted.read(estimator, table)
    n = table.shape[0]
    if model.classes.size:
        code = codes_of(model.classes, y, n, sample_weight)
    else:
        code = np.zeros(n, dtype=np.intp)
    price = prices_of(model, code, sample_weight)
    model = located(model, table, code, price)
    require((price > 0.0).any(), "no row has a positive weight")
    if model.joint:
        return joint.judge(model, table, code, price)
    if model.classes.size:
        return classifiers.judge(model, table, code, price)
    if model.machine in {"SVR", "NuSVR"}:
        one = regressors.judge(model, table, targets_of(y, n), price)
    else:
        one = one_class.judge(model, table, price)
    return whole([one], n, one.n_support)
