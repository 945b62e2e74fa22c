"""Exceptions, warnings, and reasons to stop.

Every exception and warning of the library lives here, together with :class:`Stop`,
whose values are the sentences that people read in a certificate.
"""

from __future__ import annotations

import importlib
import sys
import warnings
from enum import StrEnum
from typing import Any

from sklearn.exceptions import ConvergenceWarning as _SklearnConvergenceWarning

__all__ = [
    "LINEAR_OVERFLOW",
    "OVERFLOW",
    "ConvergenceWarning",
    "DataFileError",
    "FileError",
    "IndefiniteKernelWarning",
    "InputError",
    "InputTypeError",
    "MisfitError",
    "MissingExtraError",
    "ModelFileError",
    "NumericalError",
    "Stop",
    "VanishingMarginWarning",
    "load_extra",
    "warn",
]


class InputError(ValueError):
    """The caller's mistake: what was given, what is allowed, what to do."""


class InputTypeError(InputError, TypeError):
    """The caller's mistake, where the kind of object is wrong rather than its value."""


class FileError(InputError):
    """A file is wrong: its name, the line (0: as a whole), and the reason."""

    def __init__(self, path: object, line: int, reason: str) -> None:
        super().__init__(str(path), int(line), reason)

    @property
    def path(self) -> str:
        """The file's name, as it was given."""
        return str(self.args[0])

    @property
    def line(self) -> int:
        """The line, counted from 1; 0 where no line is to blame."""
        return int(self.args[1])

    @property
    def reason(self) -> str:
        """The fault, and the remedy."""
        return str(self.args[2])

    def __str__(self) -> str:
        where = f"{self.path}:{self.line}" if self.line else self.path
        return f"{where}: {self.reason}"


class DataFileError(FileError):
    """A file of data cannot be read, or holds data that no machine can learn from."""


class ModelFileError(FileError):
    """A file of a model cannot be read, or is no model that this version knows."""


class MisfitError(InputError):
    """A model and the rows that it is to predict do not go together."""


class MissingExtraError(ImportError):
    """An optional library that was asked for is not installed."""


class NumericalError(ArithmeticError):
    """Arithmetic broke down (overflow, NaN) where no input rule was violated."""


OVERFLOW = (
    "the gradient overflows float64: kernel values or C are too large for this data; "
    "scale the features (StandardScaler), reduce gamma and degree, or lower C"
)
LINEAR_OVERFLOW = (
    "a linear machine overflows float64: features, intercept_scaling or C are too large "
    "together; scale the features (StandardScaler), or lower intercept_scaling or C"
)


class ConvergenceWarning(_SklearnConvergenceWarning):
    """The solver stopped before reaching its tolerance; the model is usable."""


class IndefiniteKernelWarning(UserWarning):
    """The kernel is not positive semi-definite: the optimum may only be local."""


class VanishingMarginWarning(UserWarning):
    """The classes overlap by more than nu allows: there is no margin between them."""


class Stop(StrEnum):
    """Why a solver stopped. The value is the sentence shown to people."""

    CONVERGED = "converged: the optimality conditions hold within tol"
    CLOSED = "converged: the relative duality gap is at most tol"
    MAX_ITER = "stopped early: the iteration limit was reached"
    TIME_LIMIT = "stopped early: the time limit was reached"
    INTERRUPTED = "stopped early: interrupted by Ctrl-C"
    CALLBACK = "stopped early: a callback asked to stop"
    STALLED = "stopped early: no further progress is possible in float64"
    UNBOUNDED = "stopped: the dual grows without bound, so the classes overlap"
    RECOMPUTED = "recomputed in float64 from the fitted model, without its solver"
    UNKNOWN = ""

    @property
    def converged(self) -> bool:
        """True when the answer is optimal within the tolerance."""
        return self in (Stop.CONVERGED, Stop.CLOSED)


_OURS = ("maxmargin", "sklearn", "joblib")  # packages between a user's call and a warning


def warn(message: str, category: type[Warning]) -> None:
    """Warn, with the line of the caller: the first frame outside of this package.

    Frames of scikit-learn and joblib are skipped too: they call ``fit`` for the user.
    """
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and _is_ours(frame.f_globals.get("__name__", "")):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] in _OURS


def load_extra(module: str, *, extra: str, purpose: str) -> Any:
    """Import an optional module; without it, say how to get it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as missing:
        library = module.split(".", maxsplit=1)[0]
        if missing.name is None or missing.name.split(".")[0] != library:
            raise  # it is there, but something that it needs is not
        msg = (
            f"{purpose} needs {library}, which is not installed: "
            f"pip install 'maxmargin[{extra}]'"
        )
        raise MissingExtraError(msg, name=module) from missing
