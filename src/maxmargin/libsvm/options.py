"""The options of LIBSVM's programs, as its README lists them.

An option is a word that begins with ``-`` and stands before the files; each but ``-q``
is followed by its value.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from maxmargin.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_Reader: TypeAlias = "Callable[[str, list[str]], Any]"
"""Takes the value of an option off the words behind it, and reads it."""
_Known: TypeAlias = "dict[str, tuple[str, _Reader]]"
_Options = TypeVar("_Options")
_LARGEST = 2**31 - 1


class UsageError(InputError):
    """A command was called in a way that LIBSVM's programs do not know."""


@dataclass
class TrainOptions:
    """The options of ``svm-train``, with LIBSVM's defaults."""

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
    """The options of ``svm-predict``."""

    probability: int = 0
    quiet: bool = False


@dataclass
class ScaleOptions:
    """The options of ``svm-scale``."""

    lower: float = -1.0
    upper: float = 1.0
    target: tuple[float, float] | None = None  # None: labels stay as they are
    save: str | None = None
    restore: str | None = None


def _value(option: str, words: list[str]) -> str:
    if not words:
        msg = f"{option} has no value behind it"
        raise UsageError(msg)
    return words.pop(0)


def _integer(option: str, text: str, low: int, high: int) -> int:
    try:
        value = int(text)
    except ValueError:
        value = low - 1
    if not low <= value <= high:
        upper = f"to {high}" if high < _LARGEST else "up"
        msg = f"{option} {text}: it takes a whole number from {low} {upper}"
        raise UsageError(msg)
    return value


def _whole(low: int, high: int = _LARGEST) -> _Reader:
    return lambda option, words: _integer(option, _value(option, words), low, high)


def _real(test: Callable[[float], bool], sort: str) -> _Reader:
    def read(option: str, words: list[str]) -> float:
        text = _value(option, words)
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not (math.isfinite(value) and test(value)):
            msg = f"{option} {text}: it takes a {sort}"
            raise UsageError(msg)
        return value

    return read


def _weight(option: str, words: list[str]) -> dict[int, float]:
    """The value of an option such as ``-w3 0.5``: the weight of label 3."""
    weight = _value(option, words)
    label = _integer("-w", option[2:], -(2**31), _LARGEST)
    return {label: _real(_positive, "positive number")(option, [weight])}


def _positive(value: float) -> bool:
    return value > 0.0


_any = _real(lambda _: True, "finite number")
_not_negative = _real(lambda value: value >= 0.0, "finite number of at least 0")
_above_zero = _real(_positive, "positive, finite number")

# option: the field that it sets, and how its value is read
_TRAIN: _Known = {
    "-s": ("svm_type", _whole(0, 4)),
    "-t": ("kernel_type", _whole(0, 4)),
    "-d": ("degree", _whole(0)),
    "-g": ("gamma", _not_negative),
    "-r": ("coef0", _any),
    "-c": ("C", _above_zero),
    "-n": ("nu", _real(lambda value: 0.0 < value <= 1.0, "number above 0, at most 1")),
    "-p": ("p", _not_negative),
    "-m": ("cache_size", _real(_positive, "positive, finite number of MB")),
    "-e": ("eps", _above_zero),
    "-h": ("shrinking", _whole(0, 1)),
    "-b": ("probability", _whole(0, 1)),
    "-v": ("nr_fold", _whole(2)),
    "-w": ("weights", _weight),
    "-q": ("quiet", lambda *_: True),
}
_PREDICT = {option: _TRAIN[option] for option in ("-b", "-q")}
_SCALE: _Known = {
    "-l": ("lower", _any),
    "-u": ("upper", _any),
    "-y": ("target", lambda option, words: (_any(option, words), _any(option, words))),
    "-s": ("save", _value),
    "-r": ("restore", _value),
}


def _parse(
    found: _Options, options: str | Sequence[str] | None, known: _Known
) -> tuple[_Options, list[str]]:
    """Set the fields of ``found`` as the options say."""
    given = options.split() if isinstance(options, str) else options or ()
    words = [str(word) for word in given]
    while words and words[0].startswith("-") and words[0] != "-":
        option = words.pop(0)
        key = "-w" if option.startswith("-w") else option  # a label follows at once
        if key not in known:
            msg = f"Unknown option: {option}"
            raise UsageError(msg)
        name, read = known[key]
        value = read(option, words)
        setattr(found, name, getattr(found, name) | value if key == "-w" else value)
    return found, words


def parse_train(options: str | Sequence[str] | None) -> tuple[TrainOptions, list[str]]:
    """Options of ``svm-train`` as on a command line, and the words that follow them."""
    return _parse(TrainOptions(), options, _TRAIN)


def parse_predict(
    options: str | Sequence[str] | None,
) -> tuple[PredictOptions, list[str]]:
    """Options of ``svm-predict``, and the words that follow them."""
    return _parse(PredictOptions(), options, _PREDICT)


def parse_scale(options: str | Sequence[str] | None) -> tuple[ScaleOptions, list[str]]:
    """Options of ``svm-scale``, and the words that follow them."""
    found, words = _parse(ScaleOptions(), options, _SCALE)
    ends = [(found.lower, found.upper), found.target or (0.0, 1.0)]
    if any(not lower < upper for lower, upper in ends):
        msg = "inconsistent lower/upper specification: lower must be below upper"
        raise UsageError(msg)
    if found.save and found.restore:
        msg = "cannot use -r and -s simultaneously"
        raise UsageError(msg)
    return found, words
