r"""The referee: how good a fitted machine is, recomputed from the model alone.

:func:`certify` knows no solver and shares no formula with one. From the public attributes
of a fitted machine (ours, scikit-learn's or sklearnex's) it takes the coefficients β and
the intercept, and evaluates in NumPy float64 the objective of the machine, its dual, and
how far every point is from its optimality condition.

Kernel values are made in tiles of at most 1024 × 1024 and forgotten; linear machines go
through w. A coefficient within a relative 1e-12 of its bound is at it (peers store
rounded numbers); for NuSVC, whose coefficients are stored divided by ρ, within 1e-10,
for models that store float32 within 1e-6, for linear machines within 1e-9.

- :mod:`~maxmargin._referee.machines`: the table of machines, and a judge for each.
- :mod:`~maxmargin._referee.given`: what the caller gave: model, rows, labels, weights.
- :mod:`~maxmargin._referee.fitted`: the public attributes of a kernel machine, checked.
- :mod:`~maxmargin._referee.case`: such a machine beside the rows of its fit.
- :mod:`~maxmargin._referee.kernel`: its kernel, built anew from public parameters.
- :mod:`~maxmargin._referee.known_kernels`: the table of kernels.
- :mod:`~maxmargin._referee.formulas`: their values in plain NumPy.
- :mod:`~maxmargin._referee.losses`: the losses of linear machines.
- :mod:`~maxmargin._referee.expansion`: Kβ in tiles.
- :mod:`~maxmargin._referee.optimality`: conditions that all machines share.
- :mod:`~maxmargin._referee.certification`: the verdict.
- :mod:`~maxmargin._referee.tables`: tables and attributes of the user, read with care.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from maxmargin._referee.certification import Certification
from maxmargin._referee.given import Given
from maxmargin._referee.machines import machine_of
from maxmargin._referee.tables import require

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
        from which dual variables follow. A subclass of these is judged like its parent,
        a class with ``certified_as = "SVC"`` like the machine that it names.
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
    A kernel object from outside of maxmargin is judged by its ``plain(A, B)``, which
    returns the values of two blocks of float64 rows (the author's second formula), or
    else by itself; a loss by its record in ``maxmargin.losses.LOSSES``.

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
    machine, package = machine_of(estimator)
    return machine.judge(Given(machine, package, estimator, X, y, sample_weight))
