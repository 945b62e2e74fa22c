"""The output of a command: notes on stderr, results on stdout or in a file."""

from __future__ import annotations

import json
import math
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from maxmargin.cli.failures import USAGE, Failure

if TYPE_CHECKING:
    from maxmargin.workflow.learning import Watch

SCHEMA_VERSION = 1
"""Version of the JSON objects; it rises when a key changes its meaning or goes."""


@dataclass
class Voice:
    """Writes notes and results of a command, as text or as one JSON object.

    Parameters
    ----------
    command : str
        Its name.
    json : bool
        One object on stdout instead of text.
    quiet : bool
        No notes on stderr, and no words about files that were written; results that are
        text (scores, problems, what a model is) are told all the same.
    """

    command: str
    json: bool = False
    quiet: bool = False
    known: dict[str, Any] = field(default_factory=dict)
    _waiting: list[str] = field(default_factory=list)

    def note(self, text: str) -> None:
        """Keep a line about a decision, for stderr when the work begins.

        A command that fails before that has one line only: the reason.
        """
        if not self.quiet:
            self._waiting.append(text)

    def tell_notes(self) -> None:
        """Write the notes that were kept."""
        for text in self._waiting:
            click.echo(text, err=True)
        self._waiting.clear()

    def line(self, text: str = "") -> None:
        """Write a line of the result, unless it is JSON; notes come before it."""
        self.tell_notes()
        if not self.json:
            click.echo(text, color=_colour())

    def figure(self, label: str, text: str) -> None:
        """Write a line of the result: a label and its value."""
        self.line(click.style(f"{label:<12}", bold=True) + text)

    def wrote(self, text: str) -> None:
        """Write a line about the file that holds the result."""
        if not self.quiet:
            self.line(text)

    def watch(self, progress: str) -> Watch | None:
        """Return a maker of observers that show progress, or None to show nothing.

        ``progress`` is "plain" (lines), "none", or "auto" (a bar on a terminal).
        """
        shown = progress == "plain" or (progress == "auto" and sys.stderr.isatty())
        if self.quiet or not shown:
            return None
        from maxmargin.cli.progress import watcher

        return watcher(plain=progress == "plain")

    def know(self, **facts: Any) -> None:
        """Add facts to the JSON object."""
        self.known |= facts

    def finish(self) -> None:
        """Write the notes that were kept, and the JSON object if there is one."""
        self.tell_notes()
        if self.json:
            told = {"schema_version": SCHEMA_VERSION, "command": self.command}
            text = json.dumps(
                plain(told | self.known), ensure_ascii=False, allow_nan=False
            )
            click.echo(text)


def _colour() -> bool | None:
    """False: no colour; None: click decides, as stdout may be a terminal."""
    seen = sys.stdout is not None and sys.stdout.isatty()
    return None if seen and not os.environ.get("NO_COLOR") else False


def plain(value: Any) -> Any:
    """Any value in JSON's types: NaN is null, an infinity the text "inf" or "-inf"."""
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(one) for one in value]
    if hasattr(value, "tolist"):  # NumPy's scalars and arrays
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(value)


def checked_output(path: str | None, *inputs: str | None) -> None:
    """Refuse, before hours of work, a file that a command cannot or must not write.

    Parameters
    ----------
    path : str or None
        The file to write; None is no file, or standard output.
    *inputs : str or None
        Files to read, which must not be overwritten.
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
