"""Base classes of observers: empty methods, a lock, and callbacks of users."""

from __future__ import annotations

import math
import threading
from numbers import Real
from typing import TYPE_CHECKING, Any

from maxmargin.errors import InputError, Stop
from maxmargin.solvers.base import Observer

if TYPE_CHECKING:
    from maxmargin.solvers.base import Snapshot

METHODS = ("on_start", "on_step", "on_stop")


class Watcher(Observer):
    """An observer whose three methods do nothing: subclasses override some of them."""


class Guarded(Watcher):
    """A watcher with a lock; a copy or a pickle gets a lock of its own."""

    def __init__(self) -> None:
        self._lock = threading.RLock()

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.RLock()


class _Adapted(Watcher):
    """A callback of a user, as an observer with all three methods."""

    def __init__(self, thing: Any) -> None:
        self.thing = thing
        self.plain = not any(hasattr(thing, name) for name in METHODS)

    def _call(self, name: str, *details: Any) -> Any:
        plain = self.plain and name == "on_step"
        method = self.thing if plain else getattr(self.thing, name, None)
        return None if method is None else method(*details)

    def on_start(self, snapshot: Snapshot) -> None:
        self._call("on_start", snapshot)

    def on_step(self, snapshot: Snapshot) -> Stop | None:
        answer = self._call("on_step", snapshot)
        # A function may only end the run, not declare it converged.
        if isinstance(answer, Stop) and not self.plain:
            return answer
        return Stop.CALLBACK if answer else None

    def on_stop(self, snapshot: Snapshot, stop: Stop | None) -> None:
        self._call("on_stop", snapshot, stop)


def as_observer(thing: Any) -> Observer:
    """Return a callback of a user as an observer.

    Parameters
    ----------
    thing : object
        An object with at least one of the methods ``on_start(snapshot)``,
        ``on_step(snapshot)`` and ``on_stop(snapshot, stop)``; or a function
        ``f(snapshot)``, called after every step. A true return value ends the run with
        ``Stop.CALLBACK``, or, from an object's ``on_step``, with the returned Stop.
    """
    if isinstance(thing, _Adapted):
        return thing
    found = [getattr(thing, name) for name in METHODS if hasattr(thing, name)] or [thing]
    if not isinstance(thing, type) and all(callable(method) for method in found):
        return _Adapted(thing)
    msg = f"callback {thing!r}: give a function f(snapshot), or an object with one of "
    msg += f"the methods {', '.join(METHODS)}"
    if isinstance(thing, type):
        msg += f"; {thing.__name__} is a class: give {thing.__name__}(...)"
    elif hasattr(thing, "on_fit_task_end"):
        msg += "; hand scikit-learn's own callbacks to the method set_callbacks"
    raise InputError(msg)


class Locked(Guarded, _Adapted):
    """A callback that is never called from two threads at once.

    Several callbacks with one ``lock`` are never called at the same time either.
    """

    def __init__(self, observer: Any, lock: threading.RLock | None = None) -> None:
        Guarded.__init__(self)
        _Adapted.__init__(self, observer)
        self._lock = lock or self._lock

    def _call(self, name: str, *details: Any) -> Any:
        with self._lock:
            return super()._call(name, *details)


def number(value: object) -> float:
    """Return a number as float, anything else as NaN."""
    return float(value) if isinstance(value, Real) else math.nan
