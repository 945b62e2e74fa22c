"""What is refused in the same words wherever it comes from."""

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

LARGEST = 1e150  # of targets and weights

# How a sentence of scikit-learn's begins → what is to be done about it.
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
    """Turn what scikit-learn's checks raise into an InputError of one sentence."""
    try:
        yield
    except (InputError, NotFittedError):
        raise
    except TypeError as error:
        raise InputTypeError(_sentence(str(error))) from error
    except ValueError as error:
        raise InputError(_sentence(str(error))) from error


def _sentence(words: str) -> str:
    """Without the values of a whole array, and without paragraphs of reading."""
    words = re.sub(r":\narray=.*\.\n", ". ", words, flags=re.DOTALL)
    for begins, advice in _ADVICE.items():
        if words.startswith(begins):
            return f"{words.partition(chr(10))[0].rstrip('.')}: {advice}"
    return words


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
            if name in known:
                estimator.__dict__[name] = known[name]
            else:
                estimator.__dict__.pop(name, None)
        raise
