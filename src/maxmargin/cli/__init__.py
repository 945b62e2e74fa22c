"""The command line: ``maxmargin train DATA`` and its companions.

One file a command. Results go to standard output; notes, progress and the one line that
an error has go to standard error. Nothing heavy is imported before a command needs it.
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
