"""Refusals in the same words, wherever they come from."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import NotFittedError

from maxmargin.errors import InputError, InputTypeError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from maxmargin._arrays import Vector

LARGEST = 1e150  # rounding: larger targets and weights have no square in float64

# The beginning of a sentence of scikit-learn's → advice.
_ADVICE = {
    "Input X contains NaN": "fill such values in (sklearn.impute.SimpleImputer) or leave "
    "their rows out",
    "Input X contains infinity": "give finite numbers",
    "Input y contains NaN": "leave rows without a target out",
    "Found input variables with inconsistent numbers": "give X, y and weights of as many "
    "rows",
    "could not convert string to float": "encode words as numbers "
    "(sklearn.preprocessing.OneHotEncoder)",
}


@contextmanager
def input_errors() -> Iterator[None]:
    """Turn the exceptions of scikit-learn's checks into InputErrors of one sentence."""
    try:
        yield
    except (InputError, NotFittedError):
        raise
    except TypeError as error:
        raise InputTypeError(_sentence(str(error))) from error
    except ValueError as error:
        raise InputError(_sentence(str(error))) from error


def _sentence(words: str) -> str:
    """Shorten a message: no values of a whole array, no further paragraphs."""
    words = re.sub(r":\narray=.*\.\n", ". ", words, flags=re.DOTALL)
    for begins, advice in _ADVICE.items():
        if words.startswith(begins):
            return f"{words.partition(chr(10))[0].rstrip('.')}: {advice}"
    return words


def refuse_huge(name: str, values: Vector) -> None:
    """Refuse numbers whose products, of which objectives are made, overflow."""
    peak = float(np.abs(values).max(initial=0.0))
    if peak > LARGEST:
        msg = (
            f"{name} holds values as large as {peak:.3g}, whose squares are no float64; "
            f"scale {name} to a maximum of 1, say"
        )
        raise InputError(msg)


@contextmanager
def unless_refused(estimator: Any) -> Iterator[None]:
    """Restore the columns of an earlier model when X or y is refused."""
    names = ("n_features_in_", "feature_names_in_")
    known = {name: vars(estimator)[name] for name in names if name in vars(estimator)}
    try:
        yield
    except BaseException:
        for name in names:
            if name in known:
                estimator.__dict__[name] = known[name]
            else:
                estimator.__dict__.pop(name, None)
        raise
