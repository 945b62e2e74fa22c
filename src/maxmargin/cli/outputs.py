"""Places that a command is to write to, looked at before the work begins."""

from __future__ import annotations

from pathlib import Path

from maxmargin.cli.failures import USAGE, Failure


def checked_output(path: str | None, *inputs: str | None) -> None:
    """Refuse a place that nothing can be written to, before hours of work.

    Parameters
    ----------
    path : str or None
        Where a command is to write; None is nowhere, or standard output.
    *inputs : str or None
        Files that it reads, none of which may be lost.
    """
    if path is None:
        return
    if not path:
        raise Failure(USAGE, "the name of the file to write is empty")
    target = Path(path)
    if target.is_dir():
        raise Failure(USAGE, f"{path}: this is a folder; name a file in it")
    if not target.resolve().parent.is_dir():  # of what a link points to
        shown = target.resolve().parent if target.is_symlink() else target.parent
        raise Failure(USAGE, f"{path}: there is no folder {shown}")
    if not target.exists():
        return
    if not (target.is_file() or target.is_char_device()):
        raise Failure(USAGE, f"{path}: this is no file that can be written to")
    for one in inputs:  # a terminal may well be both
        if one and target.is_file() and Path(one).exists() and target.samefile(one):
            msg = f"{path}: the result would replace {one}, which is read; name another"
            raise Failure(USAGE, msg)
