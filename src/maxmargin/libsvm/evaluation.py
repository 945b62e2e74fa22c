"""How good predictions are: the three figures that LIBSVM gives."""

from __future__ import annotations

import numpy as np

from maxmargin.errors import InputError


def evaluations(
    ty: object,
    pv: object,
    useScipy: bool = True,  # noqa: ARG001
) -> tuple[float, float, float]:
    """Accuracy in percent, mean squared error, squared correlation coefficient.

    Parameters
    ----------
    ty, pv : list, tuple or ndarray
        True and predicted values.
    useScipy : bool
        Only here because LIBSVM's function has it.

    Returns
    -------
    tuple of float
        The correlation is nan where the true or the predicted values are all equal.

    Examples
    --------
    >>> evaluations([1, 2, 3], [1, 2, 4])
    (66.66666666666667, 0.3333333333333333, 0.9642857142857143)
    """
    true, found = np.asarray(ty, np.float64), np.asarray(pv, np.float64)
    if true.shape != found.shape or true.ndim != 1 or true.size == 0:
        msg = (
            f"len(ty) must be equal to len(pv), and not 0; got {true.size} and "
            f"{found.size} values"
        )
        raise InputError(msg)
    n = true.size
    accuracy = 100.0 * float(np.count_nonzero(true == found)) / n
    error = float(((found - true) ** 2).mean())
    sums, products = (found.sum(), true.sum()), found @ true
    below = (n * (found @ found) - sums[0] ** 2) * (n * (true @ true) - sums[1] ** 2)
    above = (n * products - sums[0] * sums[1]) ** 2
    return accuracy, error, float(above / below) if below > 0.0 else float("nan")
