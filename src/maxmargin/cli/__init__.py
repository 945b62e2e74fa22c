"""The command line: ``maxmargin train DATA`` and its companions.

Results go to standard output; notes, progress and the one line of an error go to standard
error. Nothing heavy is imported before a command needs it.

- :mod:`~maxmargin.cli.program`: the group of all commands.
- :mod:`~maxmargin.cli.commands`: the commands, one a file.
- :mod:`~maxmargin.cli.libsvm`: LIBSVM's three programs.
- :mod:`~maxmargin.cli.options`: options that several commands share.
- :mod:`~maxmargin.cli.output`: notes, results, JSON, and files to write.
- :mod:`~maxmargin.cli.progress`: progress of a fit, a bar or lines.
- :mod:`~maxmargin.cli.failures`: exceptions → exit codes and one line.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code.

    Parameters
    ----------
    argv : sequence of str or None
        Arguments; None takes those of the process.

    Returns
    -------
    int
        0 done, 1 internal error, 2 wrong usage, 3 bad data, 4 not converged with
        ``--strict``, 5 model and data do not fit or the model file is bad,
        130 interrupted.
    """
    try:
        from maxmargin.cli.program import program

        code: int = program.main(
            None if argv is None else list(argv),
            prog_name="maxmargin",
            standalone_mode=False,
        )
    except KeyboardInterrupt:  # pressed while Python itself was still at work
        sys.stderr.write("maxmargin: interrupted\n")
        return 130
    return code
