"""How a command ends: exit codes, and one line on stderr for every failure."""

from __future__ import annotations

import io
import os
import sys
import warnings
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Iterator

DONE, INTERNAL, USAGE, BAD_DATA, NOT_CONVERGED, MISFIT = range(6)
INTERRUPTED = 130  # 128 + SIGINT, as shells have it


class Failure(Exception):  # noqa: N818 - it is caught here, and never seen
    """The end of a command: an exit code, and the line that people read."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


@contextmanager
def unknown_to_click() -> Iterator[None]:
    """Keep Ctrl-C and a closed pipe (``| head``) from click, which ends otherwise."""
    try:
        yield
        sys.stdout.flush()
    except KeyboardInterrupt as pressed:
        raise Failure(INTERRUPTED, "interrupted") from pressed
    except BrokenPipeError as closed:
        _detach_stdout()
        raise click.exceptions.Exit(DONE) from closed


class Ended:
    """The exit code of a command; a command that ends well sets it by itself."""

    code: int = DONE


@contextmanager
def shielded(program: str = "maxmargin") -> Iterator[Ended]:
    """Turn an exception in this block into an exit code and one line on stderr.

    Parameters
    ----------
    program : str
        The first word of lines that do not begin with a file of data.
    """
    _attach_streams()
    ended, line = Ended(), ""
    try:
        with _plain_warnings(program):
            yield ended
            sys.stdout.flush()
    except BrokenPipeError:
        _detach_stdout()
        ended.code = DONE
    except (KeyboardInterrupt, click.Abort):
        ended.code, line = INTERRUPTED, "interrupted"
    except click.exceptions.Exit as exited:
        ended.code = int(exited.exit_code)
    except click.ClickException as error:
        ended.code, line = USAGE, _usage(error)
    except Failure as failure:
        ended.code, line = failure.code, str(failure)
    except Exception as error:
        ended.code, line = _judged(error)
        if isinstance(error, OSError) and error.filename is None:
            _detach_stdout()
        if ended.code == INTERNAL and os.environ.get("MAXMARGIN_TRACEBACK"):
            raise
    if line:
        _tell(_one_line(line if ended.code == BAD_DATA else f"{program}: {line}"))


def _attach_streams() -> None:
    """Replace standard streams that the caller has closed (``>&-``): Python has None.

    Text for stdout then fails when it is flushed, as in a process that writes to the
    closed stream; text for stderr is dropped.
    """
    if sys.stdout is None:
        sys.stdout = open(os.open(os.devnull, os.O_RDONLY), "w", encoding="utf-8")  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115


def _detach_stdout() -> None:
    """Drop the rest of the output: Python would complain when it flushes at its exit."""
    with suppress(io.UnsupportedOperation):  # Python's own streams need no flush
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _judged(error: Exception) -> tuple[int, str]:
    """Exit code and line for an exception that no command has caught."""
    unknown = (
        f"internal error, {type(error).__name__}: {error} "
        "(MAXMARGIN_TRACEBACK=1 shows where)"
    )
    try:
        from maxmargin import errors
    except Exception:  # the installation is broken, which ``error`` most likely says
        return INTERNAL, unknown
    file, reason = getattr(error, "filename", None), getattr(error, "strerror", None)
    ends: list[tuple[Any, int, str]] = [
        (errors.DataFileError, BAD_DATA, str(error)),
        ((errors.ModelFileError, errors.MisfitError), MISFIT, str(error)),
        ((errors.InputError, errors.MissingExtraError), USAGE, str(error)),
        (errors.NumericalError, BAD_DATA, str(error)),
        (MemoryError, INTERNAL, "there is not enough memory for this"),
    ]
    if file is not None:
        ends.append((OSError, USAGE, f"{file}: {reason}"))
    elif reason:  # all code that writes to files names them
        ends.append((OSError, INTERNAL, f"cannot write to standard output: {reason}"))
    ends.append((Exception, INTERNAL, unknown))
    return next(end[1:] for end in ends if isinstance(error, end[0]))


def _usage(error: click.ClickException) -> str:
    context = getattr(error, "ctx", None)
    words = error.format_message().rstrip(".")
    if context is None:
        return words
    path = context.command_path.removeprefix("maxmargin").strip()
    return f"{path + ': ' if path else ''}{words}; see {context.command_path} --help"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _tell(line: str) -> None:
    with suppress(OSError):  # stderr is full or closed
        click.echo(line, err=True)


@contextmanager
def _plain_warnings(program: str) -> Iterator[None]:
    """Show warnings as one line each, once; leave out those for programmers."""
    told: set[str] = set()

    def show(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        line = _one_line(str(message))
        if issubclass(category, UserWarning) and line not in told:
            told.add(line)
            _tell(f"{program}: warning: {line}")

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = show
        yield
