"""Places that a command is to write to, looked at before the work begins."""

from __future__ import annotations

import os
from pathlib import Path

from maxmargin.cli.failures import USAGE, Failure

__all__ = ["checked_output"]


def checked_output(path: str | None, *inputs: str | None) -> None:
    """Refuse a place that nothing can be written to, or that is read from.

    Parameters
    ----------
    path : str or None
        Where the result goes; None is nowhere.
    inputs : str or None
        Files that the command reads. Only ordinary files are compared: a terminal may
        well be both.
    """
    if path is None:
        return
    target = Path(path)
    if target.is_dir():
        raise Failure(USAGE, f"{path}: this is a folder; name a file in it")
    if not target.parent.is_dir():
        raise Failure(USAGE, f"{path}: there is no folder {target.parent}")
    for one in inputs:
        if one is None or not (target.is_file() and os.path.isfile(one)):
            continue
        if os.path.samefile(one, target):
            msg = f"{path}: the result would replace {one}, which is read; name another"
            raise Failure(USAGE, msg)
