"""What is wrong with a file, said by code that does not know the file's name."""

from __future__ import annotations

__all__ = ["MalformedError", "shown"]

_LONGEST = 60


class MalformedError(ValueError):
    """The reason why a file is refused; becomes a ModelFileError with its name."""


def shown(value: object) -> str:
    """A piece of the file for an error message: one short line of ASCII."""
    text = ascii(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."
