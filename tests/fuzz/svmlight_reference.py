"""LIBSVM's text read the slow, obvious way: what the fast reader is compared with.

Lines, tokens, regular expressions, ``float`` and ``int``; nothing is shared with the
library.
"""

import math
import re
from typing import NamedTuple

NUMBER = re.compile(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
QUERY = re.compile(rb"qid:[0-9]+")
PAIR = re.compile(rb"([0-9]+):(.*)", re.DOTALL)


class BadLineError(Exception):
    """The number of the first line that is wrong (0: there are no rows)."""


class Rows(NamedTuple):
    """Labels, and for every row its columns (from 0) and values."""

    labels: list[float]
    columns: list[list[int]]
    values: list[list[float]]


def number(token: bytes) -> float:
    """A finite decimal number."""
    if not NUMBER.fullmatch(token) or not math.isfinite(float(token)):
        raise ValueError(token)
    return float(token)


def parse_line(line: bytes, base: int, last: int):
    """Label, columns and values of a line, or None where it has none."""
    data, _, comment = line.removesuffix(b"\r").partition(b"#")
    if b"\0" in comment:
        raise ValueError("zero byte")
    tokens = [token for token in re.split(rb"[ \t]+", data) if token]
    if not tokens:
        return None
    label = number(tokens.pop(0))
    if tokens and QUERY.fullmatch(tokens[0]):
        tokens.pop(0)
    columns, values = [], []
    for token in tokens:
        pair = PAIR.fullmatch(token)
        if not pair:
            raise ValueError(token)
        column = int(pair.group(1)) - base
        previous = columns[-1] if columns else -1
        if not previous < column <= last:
            raise ValueError(token)
        columns.append(column)
        values.append(number(pair.group(2)))
    return label, columns, values


def parse(text: bytes, *, n_features: int | None = None, zero_based: bool = False):
    """All rows of a text."""
    last = (2**63 - 1 if n_features is None else n_features) - 1
    rows = Rows([], [], [])
    for count, line in enumerate(text.split(b"\n"), 1):
        try:
            row = parse_line(line, 0 if zero_based else 1, last)
        except ValueError:
            raise BadLineError(count) from None
        if row:
            for part, value in zip(rows, row, strict=True):
                part.append(value)
    if not rows.labels:
        raise BadLineError(0)
    return rows
