"""Ctrl-C: the first leaves a usable model, a second aborts.

A KeyboardInterrupt in the middle of a step would destroy the solver's state, and with it
an answer that may have taken hours. During a fit the first Ctrl-C therefore only sets a
flag, which the run checks between two chunks of about 50 ms.

No handler is installed, and Ctrl-C raises KeyboardInterrupt as always,

- off the main thread, where Python allows no signal handlers;
- when the program has a handler of its own;
- inside a search or another routine that fits many machines or stores them
  (:data:`SEARCHES`): it would count or cache the one interrupted machine like the others,
  and go on.
"""

from __future__ import annotations

import signal
import sys
import threading
from functools import cache
from typing import TYPE_CHECKING

from maxmargin.errors import Stop
from maxmargin.observers import Watcher

if TYPE_CHECKING:
    from types import FrameType
    from typing import Self

    from maxmargin.solvers.base import Snapshot

SEARCHES = (
    "sklearn.model_selection",
    "joblib",  # all of scikit-learn's parallel ensembles, one-vs-rest, Memory
    "sklearn.ensemble",  # AdaBoost fits one after another without joblib
    "sklearn.feature_selection",
    "sklearn.multioutput",
    "sklearn.semi_supervised",
    "dask",
    "distributed",
    "optuna",
    "ray",
    "hyperopt",
    "skopt",
)
"""Packages and modules on the call stack that fit many machines, not one."""

MESSAGE = "maxmargin: stopping at the next step; press Ctrl-C again to abort\n"


def inside_search() -> bool:
    """Whether one of :data:`SEARCHES` is on the call stack."""
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        module = frame.f_globals.get("__name__")
        if isinstance(module, str) and _is_search(module):
            return True
        frame = frame.f_back
    return False


@cache
def _is_search(module: str) -> bool:
    return any(module == name or module.startswith(name + ".") for name in SEARCHES)


class Interrupt(Watcher):
    """Observer and context manager that turns the first Ctrl-C into a Stop.

    Enter it around the runs of one fit, and pass it to them as an observer. Runs in other
    threads share the flag and stop too. A fit inside a fit (in a callback, say) uses the
    flag of the outer one, so that one Ctrl-C stops both.

    Attributes
    ----------
    installed : bool
        Whether the handler of this object is in place.

    Examples
    --------
    >>> from maxmargin._interrupt import Interrupt
    >>> with Interrupt() as interrupt:
    ...     interrupt.pressed
    False
    """

    def __init__(self) -> None:
        self._pressed = False
        self._abandoned = False
        self._announced = False
        self.installed = False
        self._outer: Interrupt | None = None

    @property
    def pressed(self) -> bool:
        """Whether Ctrl-C was pressed, even if it was too late to stop a run."""
        return self._pressed or (self._outer is not None and self._outer.pressed)

    def __enter__(self) -> Self:
        self._pressed = self._abandoned = self._announced = False
        if threading.current_thread() is not threading.main_thread() or inside_search():
            return self
        current = signal.getsignal(signal.SIGINT)
        if current is signal.default_int_handler:
            self.installed = True
            signal.signal(signal.SIGINT, self._handle)
        elif isinstance(owner := getattr(current, "__self__", None), Interrupt):
            self._outer = owner
        return self

    def __exit__(self, *details: object) -> None:
        self._restore()

    def abandon(self) -> None:
        """Stop every run of a fit that has failed, by a KeyboardInterrupt for example."""
        self._abandoned = True

    def on_step(self, snapshot: Snapshot) -> Stop | None:  # noqa: ARG002
        """Stop when Ctrl-C was pressed, or the fit has failed in another thread."""
        if self._abandoned:
            return Stop.INTERRUPTED
        if not self.pressed:
            return None
        if self._pressed and not self._announced:
            self._announce()
        return Stop.INTERRUPTED

    def _restore(self) -> None:
        # Only the default handler is ever replaced, so it was there before.
        if self.installed:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            self.installed = False
        self._outer = None

    def _handle(self, signum: int, frame: FrameType | None) -> None:
        if self._pressed:
            # Restored here as well: the exception may come inside __exit__ itself.
            self._restore()
            signal.default_int_handler(signum, frame)
        self._pressed = True
        self._announce()

    def _announce(self) -> None:
        """Write the message to stderr, or leave it to the next step."""
        stream = sys.stderr
        if stream is None:  # a program without a console
            return
        try:
            # The line may already hold a progress bar or the terminal's ^C.
            terminal = hasattr(stream, "isatty") and stream.isatty()
            stream.write(("\n" if terminal else "") + MESSAGE)
            stream.flush()
            self._announced = True
        except (OSError, ValueError, RuntimeError):
            # The stream is closed, or the signal came in the middle of a write, which is
            # not reentrant. An exception here would end the run for one line of text.
            self._announced = False
