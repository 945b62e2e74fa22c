"""Observers that end a run: after a time, or when the dual stops improving."""

from __future__ import annotations

import math
import time
from numbers import Integral
from typing import TYPE_CHECKING, Any

from maxmargin.errors import InputError, Stop
from maxmargin.observers.watcher import Guarded, Watcher, number

if TYPE_CHECKING:
    from typing import Self

    from maxmargin.solvers.base import Snapshot


class TimeLimit(Watcher):
    """End a run ``seconds`` after construction, or after :meth:`start`.

    All binary problems of a machine share one limit, which bounds their sum.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = number(seconds)
        if not self.seconds > 0.0:
            msg = f"time_limit={seconds!r}: give a positive number of seconds"
            raise InputError(msg)
        self.start()

    def start(self) -> Self:
        """Restart the clock."""
        self._began = time.monotonic()
        return self

    def on_step(self, snapshot: Snapshot) -> Stop | None:  # noqa: ARG002
        """Stop after the time limit."""
        late = time.monotonic() - self._began >= self.seconds
        return Stop.TIME_LIMIT if late else None

    def __getstate__(self) -> dict[str, Any]:
        # Clocks of two computers have different zeros: the time already used is stored.
        return self.__dict__ | {"_began": self._began - time.monotonic()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._began += time.monotonic()


class Patience(Guarded):
    """End a run whose dual has not risen by ``rel`` times its value in ``checks`` steps.

    A solver updates its measures only now and then, and a run begins with very short
    steps: steps (of about 50 ms) are therefore counted from the first change of the dual.
    """

    def __init__(self, checks: int, rel: float) -> None:
        super().__init__()
        self.checks, self.rel = checks, number(rel)
        whole = isinstance(checks, Integral) and checks >= 1
        if not (whole and 0.0 <= self.rel < math.inf):
            msg = f"checks={checks!r}, rel={rel!r}: give an integer ≥ 1 and a number ≥ 0"
            raise InputError(msg)
        self._runs: dict[str, tuple[float, int | None]] = {}

    def on_start(self, snapshot: Snapshot) -> None:
        """Store the first value; the count is None until its first change."""
        with self._lock:
            self._runs[snapshot.name] = (snapshot.measures.dual, None)

    def on_step(self, snapshot: Snapshot) -> Stop | None:
        """Count the steps since the last improvement."""
        dual = snapshot.measures.dual
        with self._lock:
            best, waited = self._runs[snapshot.name]
            least = best + self.rel * abs(best) if math.isfinite(best) else -math.inf
            if dual > least:
                best, waited = dual, 0
            elif waited is not None:
                waited += 1
            elif dual != best:
                waited = 1
            self._runs[snapshot.name] = (best, waited)
        return Stop.CALLBACK if waited is not None and waited >= self.checks else None
