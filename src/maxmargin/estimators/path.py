"""The C-path: one machine for many C, each from the solution before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from maxmargin.errors import InputError, InputTypeError
from maxmargin.estimators.machine import Machine
from maxmargin.estimators.parameters import check_parameters

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def path(
    estimator: Any,
    X: Any,
    y: Any,
    Cs: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
) -> list[Any]:
    """Fit a machine for every C, each from the solution before.

    The problems are solved in the order of rising C, each from the coefficients of the
    one before: those of a kernel machine on one kernel matrix, those of a linear machine
    on rows that are prepared once (docs/linear.md has the savings). When no coefficient
    of a kernel machine is at its bound, the solution holds for every larger C and is not
    computed again (its ``n_iter_`` is then 0).

    Parameters
    ----------
    estimator : SVC, SVR, NuSVR, LinearSVC or LinearSVR
        A machine with C; it is not fitted itself.
    X, y, sample_weight : array-like
        As for its ``fit``.
    Cs : array-like of shape (m,)
        Values of C, in any order. A ``time_limit`` holds for each of them.

    Returns
    -------
    machines : list of estimators
        Fitted copies in the order of ``Cs``, each with its ``certificate_``. Kernel
        values are counted in the certificate of the smallest C.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import maxmargin
    >>> X, y = load_iris(return_X_y=True)
    >>> machines = maxmargin.path(maxmargin.SVC(), X[50:], y[50:], [0.1, 1.0, 10.0])
    >>> [len(machine.support_) for machine in machines]
    [90, 46, 21]
    >>> all(machine.certificate_.ok for machine in machines)
    True
    """
    values = _checked(estimator, Cs)
    order = np.argsort(values, kind="stable")
    machines = [clone(estimator) for _ in order]
    for machine, at in zip(machines, order, strict=True):
        machine.C = float(values[at])
        check_parameters(machine)
    estimator._fit_along(machines, X, y, sample_weight)
    return [machines[place] for place in np.argsort(order, kind="stable")]


def _checked(estimator: Any, Cs: ArrayLike) -> Any:
    if not isinstance(estimator, Machine) or not hasattr(estimator, "C"):
        given = estimator if isinstance(estimator, type) else type(estimator)
        what = "the class " if given is estimator else ""
        msg = (
            "path needs a machine of maxmargin with C (SVC(), SVR(), NuSVR(), "
            "LinearSVC(), LinearSVR()), got "
            f"{what}{given.__module__}.{given.__qualname__}"
        )
        raise InputTypeError(msg)
    try:
        if np.iscomplexobj(Cs):
            raise TypeError
        values = np.asarray(Cs, dtype=np.float64)
    except (TypeError, ValueError) as error:
        msg = f"Cs={Cs!r}: give a list or an array of positive numbers"
        raise InputTypeError(msg) from error
    if values.ndim != 1 or values.size == 0:
        msg = f"Cs has shape {values.shape}: give a flat list of at least one C"
        raise InputError(msg)
    return values
