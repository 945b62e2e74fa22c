"""What is refused in the same words wherever it comes from."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import NotFittedError

from maxmargin.errors import InputError, InputTypeError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Vector = NDArray[np.float64]

__all__ = ["input_errors", "refuse_huge", "unless_refused"]

LARGEST = 1e150  # of targets and weights


@contextmanager
def input_errors() -> Iterator[None]:
    """Turn what scikit-learn's checks raise into InputError, with the same words."""
    try:
        yield
    except (InputError, NotFittedError):
        raise
    except TypeError as error:
        raise InputTypeError(str(error)) from error
    except ValueError as error:
        raise InputError(str(error)) from error


def refuse_huge(name: str, values: Vector) -> None:
    """Objectives are made of products of two such numbers."""
    peak = float(np.abs(values).max(initial=0.0))
    if peak > LARGEST:
        msg = (
            f"{name} holds values as large as {peak:.3g}, whose squares are no float64; "
            f"scale {name} to a maximum of 1, say"
        )
        raise InputError(msg)


@contextmanager
def unless_refused(estimator: Any) -> Iterator[None]:
    """Leave an earlier model as it was, its columns too, when X or y is refused."""
    names = ("n_features_in_", "feature_names_in_")
    known = {name: vars(estimator)[name] for name in names if name in vars(estimator)}
    try:
        yield
    except BaseException:
        for name in names:
            estimator.__dict__.pop(name, None)
        estimator.__dict__.update(known)
        raise
