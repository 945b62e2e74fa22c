"""The best (C, σ) of a grid on a validation part: the purpose of example 3.

Seed S3 lists example 3 as "a slightly non-linear problem with outliers". C and the width
σ of the Gaussian kernel are chosen on ``Xval`` and ``yval`` of its file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from maxmargin.errors import InputError
from maxmargin.kernels import RBF
from maxmargin.tutorial._checks import checked_positive, points, signs
from maxmargin.tutorial.model import svm_predict
from maxmargin.tutorial.training import svm_train

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from maxmargin.tutorial.model import TutorialModel

# policy: a factor of about three from one to the next, over three and a half decades
GRID = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)


class Choice(NamedTuple):
    """The chosen (C, σ), and the table of all errors.

    ``errors[i, j]`` is the share of wrong predictions on the validation part with
    ``Cs[i]`` and ``sigmas[j]``; ``model`` was trained with ``C`` and ``sigma``.
    """

    C: float
    sigma: float
    error: float
    Cs: tuple[float, ...]
    sigmas: tuple[float, ...]
    errors: NDArray[np.float64]
    model: TutorialModel

    @property
    def ties(self) -> list[tuple[float, float]]:
        """Every (C, σ) with the lowest error, the chosen one first."""
        best = np.argwhere(self.errors == self.error)
        return sorted((self.Cs[i], self.sigmas[j]) for i, j in best)


def choose(
    X: Any,
    y: Any,
    X_val: Any,
    y_val: Any,
    Cs: Sequence[float] = GRID,
    sigmas: Sequence[float] = GRID,
    *,
    tol: float = 1e-3,
    seed: int = 0,
) -> Choice:
    """Train with every (C, σ), and choose the pair with the best validation error.

    Among equals the smallest C is chosen (it has the widest margin), and for that C the
    smallest σ, as two rising loops do that replace a pair only by a better one.

    Parameters
    ----------
    X, y : array-like of shape (n, d) and (n,)
        Training part.
    X_val, y_val : array-like of shape (m, d) and (m,)
        Validation part.
    Cs, sigmas : sequence of float
        Values to try.
    tol, seed :
        As for :func:`~maxmargin.tutorial.svm_train`.

    Returns
    -------
    Choice
        C, sigma, error, the table of errors, and the trained model.
    """
    rows, held = points(X), points(X_val, "X_val")
    labels = signs(y, rows.shape[0])
    # A validation part may lack a class.
    expected = signs(y_val, held.shape[0], "y_val", both=False) > 0.0
    prices, widths = _values("Cs", Cs), _values("sigmas", sigmas)
    errors = np.empty((len(prices), len(widths)))
    best: tuple[float, float, float] | None = None
    for i, C in enumerate(prices):
        for j, sigma in enumerate(widths):
            model = svm_train(rows, labels, C, RBF(sigma=sigma), tol=tol, seed=seed)
            errors[i, j] = float((svm_predict(model, held) != expected).mean())
            if best is None or (errors[i, j], C, sigma) < best:
                best, chosen = (float(errors[i, j]), C, sigma), model
    assert best is not None  # _values refuses empty lists
    error, C, sigma = best
    return Choice(C, sigma, error, prices, widths, errors, chosen)


def _values(name: str, given: Sequence[float]) -> tuple[float, ...]:
    values = tuple(checked_positive(f"{name}[{k}]", one) for k, one in enumerate(given))
    if not values:
        msg = f"{name} is empty: give at least one value to try"
        raise InputError(msg)
    return values
