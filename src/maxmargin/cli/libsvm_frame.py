"""What LIBSVM's three commands have in common: how they end, and what they read.

Exit codes: 0 done, 1 internal, 2 usage, 3 bad data, 5 the model file is bad or does not
fit the data, 130 interrupted. What went wrong is one line on stderr, never a traceback.
"""

from __future__ import annotations

import os
import sys
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["INTERRUPTED", "complain", "guarded", "line_of_row", "opened", "told"]

INTERNAL, USAGE, BAD_DATA, DOES_NOT_FIT, INTERRUPTED = 1, 2, 3, 5, 130


def complain(program: str, text: object) -> None:
    """One line on stderr."""
    sys.stderr.write(f"{program}: {' '.join(str(text).split())}\n")


def guarded(program: str, run: Callable[[], int]) -> int:
    """The exit code of a command, whatever happens in it."""
    try:
        return run()
    except KeyboardInterrupt:
        complain(program, "interrupted; nothing was written")
        return INTERRUPTED
    except BrokenPipeError:  # the reader of our output has enough
        # Python would complain once more when it closes the stream at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return INTERNAL
    except Exception as error:
        code, line = _end(program, error)
        sys.stderr.write(" ".join(line.split()) + "\n")
        return code


def _end(program: str, error: Exception) -> tuple[int, str]:
    """Exit code and line of an error; ``file:line: reason`` where a file is to blame."""
    from maxmargin.errors import FileError, InputError, ModelFileError, NumericalError
    from maxmargin.libsvm.options import UsageError

    unknown = f"internal error, please report it: {error!r}"
    file, reason = getattr(error, "filename", None), getattr(error, "strerror", None)
    ends: list[tuple[Any, int, str]] = [
        (UsageError, USAGE, f"{error} ({program} without arguments lists the options)"),
        (ModelFileError, DOES_NOT_FIT, str(error)),
        ((InputError, NumericalError), BAD_DATA, str(error)),
        (OSError, USAGE, f"can't write {file}: {reason or error}"),
        (MemoryError, INTERNAL, "not enough memory for these data; give fewer rows"),
        (Exception, INTERNAL, unknown),
    ]
    code, line = next(end[1:] for end in ends if isinstance(error, end[0]))
    return code, line if isinstance(error, FileError) else f"{program}: {line}"


def opened(path: str) -> tuple[Any, str]:
    """A file of data as readers take it, and its name; ``-`` is standard input."""
    if path == "-":
        return sys.stdin.buffer.read(), "<stdin>"
    return path, path


def line_of_row(source: Any, row: int) -> int:
    """The line of a file of data in which its row stands; both, rows from 0."""
    from maxmargin.data_files._opened import open_bytes

    rows = -1
    for number, line in enumerate(bytes(open_bytes(source)).split(b"\n"), start=1):
        rows += bool(line.split(b"#", 1)[0].strip())
        if rows == row:
            return number
    return 0


@contextmanager
def told(program: str) -> Iterator[None]:
    """Warnings as lines on stderr; of Ctrl-C the command itself has something to say."""
    from maxmargin.errors import Stop

    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        try:
            yield
        finally:
            texts = {str(one.message): None for one in found}
            for one in [text for text in texts if Stop.INTERRUPTED.value not in text]:
                complain(program, f"WARNING: {one}")
