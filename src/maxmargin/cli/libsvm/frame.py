"""What LIBSVM's three commands have in common: how they end, and what they read.

Exit codes and lines on stderr are those of all commands (:mod:`maxmargin.cli.failures`).
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from maxmargin.cli.failures import USAGE, Failure, shielded

if TYPE_CHECKING:
    from collections.abc import Callable


def run_program(
    program: str, usage: str, run: Callable[[list[str]], int], argv: list[str]
) -> int:
    """The exit code of a command, whatever happens in it.

    Parameters
    ----------
    program, usage : str
        Its name, and what it says without arguments.
    run : callable
        Takes the arguments, returns the exit code.
    argv : list of str
        The arguments.
    """
    with shielded(program) as ended:
        if not argv:
            click.echo(usage, nl=False)
            ended.code = USAGE
        else:
            from maxmargin.libsvm.options import UsageError

            try:
                ended.code = run(argv)
            except UsageError as error:
                hint = f"({program} without arguments lists the options)"
                raise Failure(USAGE, f"{error} {hint}") from error
    return ended.code


def warn(program: str, text: str) -> None:
    """A warning in LIBSVM's words, on stderr."""
    click.echo(f"{program}: WARNING: {text}", err=True)


def opened(path: str) -> tuple[Any, str]:
    """A file of data as readers take it, and its name; ``-`` is standard input.

    What can be read only once (a pipe) is read here, for :func:`line_of_row` too.
    """
    from maxmargin.data_files.opened import open_bytes

    if path == "-":
        return open_bytes(sys.stdin.buffer, name="<stdin>"), "<stdin>"
    return path if os.path.isfile(path) else open_bytes(path), path


def line_of_row(source: Any, row: int) -> int:
    """The line of a file of data in which its row stands; both, rows from 0."""
    from maxmargin.data_files.opened import open_bytes

    rows = -1
    for number, line in enumerate(open_bytes(source).split(b"\n"), start=1):
        rows += bool(line.split(b"#", 1)[0].strip())
        if rows == row:
            return number
    return 0
