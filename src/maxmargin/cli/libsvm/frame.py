"""The start and the end of LIBSVM's three commands, and the files that they read.

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
    """Run a command and return its exit code.

    Parameters
    ----------
    program, usage : str
        Its name, and its output without arguments.
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
    """Write a warning in LIBSVM's words to stderr."""
    click.echo(f"{program}: WARNING: {text}", err=True)


def opened(path: str) -> tuple[Any, str]:
    """Return a file of data as readers take it, and its name; ``-`` is standard input.

    A pipe can be read only once: it is read here, for :func:`line_of_row` too.
    """
    from maxmargin.data_files.opened import open_bytes

    if path == "-":
        return open_bytes(sys.stdin.buffer, name="<stdin>"), "<stdin>"
    return path if os.path.isfile(path) else open_bytes(path), path


def line_of_row(source: Any, row: int) -> int:
    """Return the line, from 1, of a row, from 0; 0 if there is none."""
    from maxmargin.data_files.opened import open_bytes

    rows = -1
    for number, line in enumerate(open_bytes(source).split(b"\n"), start=1):
        rows += bool(line.split(b"#", 1)[0].strip())
        if rows == row:
            return number
    return 0
