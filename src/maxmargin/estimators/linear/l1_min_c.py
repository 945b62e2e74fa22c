"""The smallest C at which the penalty l1 leaves any weight."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import (
    assert_all_finite,
    check_array,
    check_consistent_length,
    column_or_1d,
)

from maxmargin.errors import InputError
from maxmargin.estimators.parameters import FINITE_C, RULES, check_value, one_of
from maxmargin.validation import encode_labels, input_errors

_FACTORS = {"squared_hinge": 2.0, "log": 0.5}  # of C, in the slope of the loss
_RULES = {
    "loss": one_of(*_FACTORS),
    "fit_intercept": RULES["fit_intercept"],
    "intercept_scaling": FINITE_C._replace(
        advice="it is the value of the constant column"
    ),
}


def l1_min_c(
    X: Any,
    y: Any,
    *,
    loss: str = "squared_hinge",
    fit_intercept: bool = True,
    intercept_scaling: float = 1.0,
) -> float:
    r"""Return the C below which ``LinearSVC(penalty="l1")`` finds only w = 0.

    At w = 0 the slope of the loss along column j is :math:`-2C\sum_i y_i x_{ij}` (of the
    logistic loss a quarter of that), and it stays there while none exceeds the penalty's
    slope of 1 (S. Boyd and L. Vandenberghe; scikit-learn's function of the same name).

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Rows.
    y : array-like of shape (n_samples,)
        Labels; of several classes each is held against the rest.
    loss : {'squared_hinge', 'log'}, default='squared_hinge'
        The loss.
    fit_intercept : bool, default=True
        Whether there is a constant column.
    intercept_scaling : float, default=1.0
        Its value.

    Returns
    -------
    float
        The smallest C.

    Examples
    --------
    >>> from maxmargin import l1_min_c
    >>> round(l1_min_c([[-1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [0, 1, 1]), 4)
    0.25
    """
    given = {
        "loss": loss,
        "fit_intercept": fit_intercept,
        "intercept_scaling": intercept_scaling,
    }
    for name, value in given.items():
        check_value("l1_min_c", name, value, _RULES[name])
    with input_errors():
        rows = check_array(X, accept_sparse="csc")
        labels = column_or_1d(y, warn=True)
        check_consistent_length(rows, labels)
        assert_all_finite(labels, input_name="y")
    classes, codes, _ = encode_labels(labels, None, None)
    ones = range(len(classes)) if len(classes) > 2 else (1,)
    signs = np.array([np.where(codes == one, 1.0, -1.0) for one in ones])
    pulls = np.abs(rows.T @ signs.T).max()
    if fit_intercept:
        pulls = max(pulls, float(np.abs(intercept_scaling * signs.sum(axis=1)).max()))
    if pulls == 0.0:
        msg = (
            "Ill-posed l1_min_c calculation: l1 will always select zero coefficients for "
            "this data: no column says anything about y"
        )
        raise InputError(msg)
    return float(1.0 / (_FACTORS[loss] * pulls))
