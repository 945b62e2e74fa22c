"""The parent's end of a child process, which may be late, fail or crash."""

from __future__ import annotations

import atexit
import multiprocessing
from typing import TYPE_CHECKING, Any

from benchmarks.speed.server import Server, serve

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

__all__ = ["Late", "Remote", "Unable"]


class Unable(Exception):  # noqa: N818 - a result, to be printed
    """The library cannot do this; the sentence says why."""


class Late(Unable):
    """It did not answer in time, and its process was ended."""


class Remote:
    """A library in a process of its own, started when first asked.

    Parameters
    ----------
    name : str
        The library.
    server : type
        Whose methods are the verbs that can be asked for.
    """

    def __init__(self, name: str, server: type[Any] = Server) -> None:
        self.name = name
        self._server = server
        self._process: Any = None
        self._pipe: Connection | None = None

    @property
    def running(self) -> bool:
        """Whether there is a process, with all that it was given."""
        return self._process is not None

    def call(self, verb: str, *args: Any, seconds: float | None = None) -> Any:
        """Ask, and wait at most so long for the answer."""
        pipe = self._pipe or self._start()
        try:
            pipe.send((verb, args))
            if not pipe.poll(seconds):
                self.stop()
                raise Late(f"not done after {seconds:g} s")
            outcome, value = pipe.recv()
        except (EOFError, ConnectionError):
            self._process.join()
            code = self._process.exitcode
            self.stop()
            raise Unable(f"its process ended with status {code}") from None
        if outcome != "done":
            raise Unable(value)
        return value

    def stop(self) -> None:
        """End the process, whatever it is doing."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
        if self._pipe is not None:
            self._pipe.close()
        self._process = self._pipe = None

    def _start(self) -> Connection:
        context = multiprocessing.get_context("spawn")  # threads do not survive a fork
        self._pipe, theirs = context.Pipe()
        # Not a daemon: joblib gives those one core. Python would wait for it at the end.
        atexit.register(self.stop)
        self._process = context.Process(
            target=serve, args=(theirs, self.name, self._server), daemon=False
        )
        self._process.start()
        theirs.close()  # so that its end is seen here
        return self._pipe
