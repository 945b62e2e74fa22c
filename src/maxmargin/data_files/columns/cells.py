"""Cells of text → columns of numbers or of words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

MISSING = frozenset({"", "?", "na", "n/a", "nan", "null"})
"""Cells that say that a value is missing, in any case and with blanks around them."""

_CODE = re.compile(r"^\s*[+-]?0[0-9]", re.MULTILINE)


def is_missing(cell: str) -> bool:
    """Whether the cell says that its value is not known."""
    return cell.strip().lower() in MISSING


def numbers_of(cells: Sequence[str]) -> NDArray[np.float64] | None:
    """The cells as float64, NaN where a value is missing; None if one is no number.

    Numbers are those that Python's ``float`` reads, without underscores (``1_000``),
    digits of other scripts and zeros in front (``007``): these are more likely to be
    names, and as numbers ``01`` and ``1`` would be one.
    """
    try:
        numbers = np.fromiter(map(float, cells), np.float64, len(cells))
    except ValueError:
        try:
            known = ("nan" if is_missing(cell) else cell for cell in cells)
            numbers = np.fromiter(map(float, known), np.float64, len(cells))
        except ValueError:
            return None
    together = "\n".join(cells)
    named = "_" in together or not together.isascii() or _CODE.search(together)
    return None if named else numbers


def words_of(cells: Sequence[str], known: dict[str, str]) -> list[str | None]:
    """The cells as words without blanks around them, None where a value is missing.

    ``known`` keeps one object a word, so that a long column of few words is small.
    """
    words: list[str | None] = []
    for cell in cells:
        word = cell.strip()
        missing = word.lower() in MISSING
        words.append(None if missing else known.setdefault(word, word))
    return words


def shortest(number: float) -> str:
    """The fewest digits that bring a number's bits back; no fraction if it is whole."""
    return repr(number).removesuffix(".0")


def show(value: Any, *, longest: int = 40) -> str:
    """A piece of a file for a message: quoted, and shortened if need be."""
    text = value.decode("latin-1") if isinstance(value, bytes) else str(value)
    if len(text) > longest:
        text = text[: longest - 1] + "…"
    return ascii(text).replace("\\u2026", "…") if isinstance(value, bytes) else repr(text)
