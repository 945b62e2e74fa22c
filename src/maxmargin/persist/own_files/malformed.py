"""Refusals by code that does not know the name of the file."""

from __future__ import annotations

from typing import NoReturn


class MalformedError(ValueError):
    """The reason why a file is refused; becomes a ModelFileError with its name."""


def refuse(reason: str, cause: Exception | None = None) -> NoReturn:
    """Raise a MalformedError; ``cause`` is the exception that showed what is wrong."""
    raise MalformedError(reason) from cause


def shown(value: object, longest: int = 60) -> str:
    """A piece of the file for an error message: one short line of ASCII."""
    text = ascii(value)
    return text if len(text) <= longest else text[: longest - 3] + "..."
