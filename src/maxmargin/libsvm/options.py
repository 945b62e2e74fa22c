"""The options of LIBSVM's programs, as its README lists them.

An option is a word that begins with ``-`` and stands before the files; each but ``-q``
is followed by its value.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from maxmargin.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class UsageError(InputError):
    """A command was called in a way that LIBSVM's programs do not know."""


@dataclass
class TrainOptions:
    """What ``svm-train`` is told; the defaults are LIBSVM's."""

    svm_type: int = 0
    kernel_type: int = 2
    degree: int = 3
    gamma: float = 0.0  # 0: 1/(largest index)
    coef0: float = 0.0
    C: float = 1.0
    nu: float = 0.5
    p: float = 0.1
    cache_size: float = 100.0
    eps: float = 0.001
    shrinking: int = 1
    probability: int = 0
    weights: dict[int, float] = field(default_factory=dict)
    nr_fold: int = 0  # 0: no cross-validation
    quiet: bool = False

    @property
    def precomputed(self) -> bool:
        """Whether rows hold kernel values."""
        return self.kernel_type == 4

    @property
    def classifies(self) -> bool:
        """Whether there are classes."""
        return self.svm_type in (0, 1)

    @property
    def regresses(self) -> bool:
        """Whether there are numbers to predict."""
        return self.svm_type in (3, 4)


@dataclass
class PredictOptions:
    """What ``svm-predict`` is told."""

    probability: int = 0
    quiet: bool = False


@dataclass
class ScaleOptions:
    """What ``svm-scale`` is told."""

    lower: float = -1.0
    upper: float = 1.0
    target: tuple[float, float] | None = None  # None: labels stay as they are
    save: str | None = None
    restore: str | None = None


def _whole(option: str, text: str, low: int, high: int) -> int:
    try:
        value = int(text)
    except ValueError:
        value = low - 1
    if not low <= value <= high:
        upper = f"to {high}" if high < 2**31 - 1 else "up"
        msg = f"{option} {text}: it takes a whole number from {low} {upper}"
        raise UsageError(msg)
    return value


def _real(option: str, text: str, allowed: Callable[[float], bool], words: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and allowed(value)):
        msg = f"{option} {text}: it takes a {words}"
        raise UsageError(msg)
    return value


def _positive(value: float) -> bool:
    return value > 0.0


def _not_negative(value: float) -> bool:
    return value >= 0.0


def _any(value: float) -> bool:  # noqa: ARG001
    return True


# option: field, and what it takes: a range of whole numbers, or a test and its words
_WHOLE = {
    "-s": ("svm_type", 0, 4),
    "-t": ("kernel_type", 0, 4),
    "-d": ("degree", 0, 2**31 - 1),
    "-h": ("shrinking", 0, 1),
    "-b": ("probability", 0, 1),
    "-v": ("nr_fold", 2, 2**31 - 1),
}
_REAL: dict[str, tuple[str, Callable[[float], bool], str]] = {
    "-g": ("gamma", _not_negative, "finite number of at least 0"),
    "-r": ("coef0", _any, "finite number"),
    "-c": ("C", _positive, "positive, finite number"),
    "-n": ("nu", lambda value: 0.0 < value <= 1.0, "number above 0, at most 1"),
    "-p": ("p", _not_negative, "finite number of at least 0"),
    "-m": ("cache_size", _positive, "positive, finite number of MB"),
    "-e": ("eps", _positive, "positive, finite number"),
}


def _words(options: str | Sequence[str] | None) -> list[str]:
    if options is None:
        return []
    if isinstance(options, str):
        return options.split()
    return [str(word) for word in options]


def parse_train(
    options: str | Sequence[str] | None,
) -> tuple[TrainOptions, list[str]]:
    """Options of ``svm-train``, and the words that follow them.

    Parameters
    ----------
    options : str, list of str or None
        As on a command line.

    Returns
    -------
    TrainOptions, list of str
        What was told, and what was not an option.
    """
    words = _words(options)
    found = TrainOptions()
    while words and words[0].startswith("-") and words[0] != "-":
        option = words.pop(0)
        if option == "-q":
            found.quiet = True
            continue
        weighs = option.startswith("-w")
        if not weighs and option not in _WHOLE and option not in _REAL:
            _unknown(option)
        text = _value(option, words)
        if weighs:
            label = _whole("-w", option[2:], -(2**31), 2**31 - 1)
            found.weights[label] = _real(option, text, _positive, "positive number")
        elif option in _WHOLE:
            name, low, high = _WHOLE[option]
            setattr(found, name, _whole(option, text, low, high))
        else:
            known: Any = _REAL[option]
            setattr(found, known[0], _real(option, text, known[1], known[2]))
    return found, words


def parse_predict(
    options: str | Sequence[str] | None,
) -> tuple[PredictOptions, list[str]]:
    """Options of ``svm-predict``, and the words that follow them."""
    words = _words(options)
    found = PredictOptions()
    while words and words[0].startswith("-") and words[0] != "-":
        option = words.pop(0)
        if option == "-q":
            found.quiet = True
        elif option == "-b":
            found.probability = _whole(option, _value(option, words), 0, 1)
        else:
            _unknown(option)
    return found, words


def parse_scale(
    options: str | Sequence[str] | None,
) -> tuple[ScaleOptions, list[str]]:
    """Options of ``svm-scale``, and the words that follow them."""
    words = _words(options)
    found = ScaleOptions()

    def number(option: str) -> float:
        return _real(option, _value(option, words), _any, "finite number")

    while words and words[0].startswith("-") and words[0] != "-":
        option = words.pop(0)
        if option == "-l":
            found.lower = number(option)
        elif option == "-u":
            found.upper = number(option)
        elif option == "-y":
            found.target = (number(option), number(option))
        elif option == "-s":
            found.save = _value(option, words)
        elif option == "-r":
            found.restore = _value(option, words)
        else:
            _unknown(option)
    ends = [(found.lower, found.upper), found.target or (0.0, 1.0)]
    if any(not lower < upper for lower, upper in ends):
        msg = "inconsistent lower/upper specification: lower must be below upper"
        raise UsageError(msg)
    if found.save and found.restore:
        msg = "cannot use -r and -s simultaneously"
        raise UsageError(msg)
    return found, words


def _value(option: str, words: list[str]) -> str:
    if not words:
        msg = f"{option} has no value behind it"
        raise UsageError(msg)
    return words.pop(0)


def _unknown(option: str) -> None:
    msg = f"Unknown option: {option}"
    raise UsageError(msg)
