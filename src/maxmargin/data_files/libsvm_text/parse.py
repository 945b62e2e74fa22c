"""The compiled reader of lines ``label index:value …``.

It stops at the first byte that does not belong, with a code and the place;
:mod:`maxmargin.data_files.libsvm_text.reasons` makes a sentence of them. Text must end
with a line feed, which belongs to no token: so no code asks where the text ends.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from maxmargin._jit import njit
from maxmargin.data_files.libsvm_text.decimals import HARD, MALFORMED, read_number

# The end of a chunk. WIDE asks for 64-bit indices, CROWDED for more room in ``hard``: the
# chunk has to be parsed again. The others are faults.
FINE, WIDE, CROWDED = 0, 1, 2
BAD_LABEL, BAD_INDEX, BAD_VALUE, BAD_ORDER, BAD_ABOVE, BAD_QUERY, BAD_BYTE = range(3, 10)

_TAB, _LINE_FEED, _RETURN, _SPACE, _HASH, _COLON = 9, 10, 13, 32, 35, 58
_U0, _U10, _U48 = np.uint64(0), np.uint64(10), np.uint64(48)
_LARGEST = np.uint64(2**63 - 1)


class Arrays(NamedTuple):
    """The arrays that all chunks write to: labels and ends of rows, columns, values."""

    labels: Any
    ends: Any
    indices: Any
    values: Any


@njit
def count_marks(text: Any, start: int, stop: int) -> tuple[int, int]:
    """Line feeds and colons in ``text[start:stop]``: at least the rows and pairs."""
    lines, colons = 0, 0
    for c in text[start:stop]:
        lines += c == _LINE_FEED
        colons += c == _COLON
    return lines, colons


@njit
def _ends_token(c: Any) -> Any:
    return c in (_SPACE, _LINE_FEED, _TAB, _RETURN, _HASH)


@njit
def _read_index(text: Any, p: int) -> tuple[int, Any, bool]:
    """Digits at p and a colon: the place behind, the index, whether they are there."""
    first = p
    index = _U0
    digit = np.uint64(text[p]) - _U48
    while digit < _U10:
        index = index * _U10 + digit
        p += 1
        digit = np.uint64(text[p]) - _U48
    if p == first or text[p] != _COLON:
        return p, 0, False
    if p - first > 18:  # 19 digits may exceed 63 bits, 20 exceed 64
        while text[first] == 48:
            first += 1
        if p - first > 19 or index > _LARGEST:
            return p, 0, False
    return p + 1, np.int64(index), True


@njit
def _read_query(text: Any, p: int) -> tuple[int, bool]:
    """``qid:digits`` at p: the place behind, and whether it is well formed."""
    if text[p + 1] != 105 or text[p + 2] != 100 or text[p + 3] != _COLON:
        return p, False
    p += 4
    first = p
    while text[p] >= 48 and text[p] <= 57:
        p += 1
    return p, p > first and _ends_token(text[p])


@njit
def _between_singles(value: float, single: float) -> Any:
    """Whether a float64 lies halfway between its float32 and the next.

    Then the digits, which are not known here, decide between the two.
    """
    other = 2.0 * value - single
    return other == np.float64(np.float32(other))


@njit
def parse_lines(  # noqa: PLR0911, PLR0912, PLR0915 - one loop over bytes, kept in registers
    text: Any,
    start: int,
    stop: int,
    base: int,
    most: int,
    widest: int,
    arrays: Arrays,
    row: int,
    at: int,
    hard: Any,
) -> tuple[int, int, int, int, int, int]:
    """Parse the lines of ``text[start:stop]``, whose last byte is a line feed.

    Labels and ends of rows are written from ``row`` on, columns and values from ``at``.
    Indices count from ``base``; they may be up to ``most``, and their array can hold up
    to ``widest``. Numbers that Python's ``float`` must convert are noted in rows of
    ``hard``: the slot in ``values`` (or −1 − row for a label) and the place of the text.

    Returns
    -------
    code, place : FINE or a fault, and the place of its token (or byte)
    row, at : behind the last row and pair
    largest : the largest index as it is written, or base − 1
    count : how many numbers are noted in ``hard``
    """
    labels, ends, indices, values = arrays
    count = 0
    largest = base - 1
    limit = min(most, widest)
    p = start
    while p < stop:
        c = text[p]
        if c in (_SPACE, _TAB):
            p += 1
            continue
        if c not in (_LINE_FEED, _HASH, _RETURN):
            token = p
            p, number, kind = read_number(text, p)
            if kind == MALFORMED or not _ends_token(text[p]):
                return BAD_LABEL, token, row, at, largest, count
            labels[row] = number
            if kind == HARD:
                if count == hard.shape[0]:
                    return CROWDED, token, row, at, largest, count
                hard[count, 0] = -1 - row
                hard[count, 1] = token
                count += 1
            previous = base - 1
            may_be_query = True
            while True:
                c = text[p]
                if c in (_SPACE, _TAB):
                    p += 1
                    continue
                if c in (_LINE_FEED, _HASH, _RETURN):
                    break
                token = p
                if c == 113:  # q
                    p, fine = _read_query(text, p)
                    if not (fine and may_be_query):
                        return BAD_QUERY, token, row, at, largest, count
                    may_be_query = False
                    continue
                may_be_query = False
                p, index, fine = _read_index(text, p)
                if not fine or index < base:
                    return BAD_INDEX, token, row, at, largest, count
                if index <= previous:
                    return BAD_ORDER, token, row, at, largest, count
                if index > limit:
                    code = BAD_ABOVE if index > most else WIDE
                    return code, token, row, at, largest, count
                previous = index
                place = p
                p, number, kind = read_number(text, p)
                if kind == MALFORMED or not _ends_token(text[p]):
                    return BAD_VALUE, token, row, at, largest, count
                indices[at] = index - base
                values[at] = number
                stored = np.float64(values[at])
                if kind == HARD or (
                    stored != number and _between_singles(number, stored)
                ):
                    if count == hard.shape[0]:
                        return CROWDED, token, row, at, largest, count
                    hard[count, 0] = at
                    hard[count, 1] = place
                    count += 1
                at += 1
            ends[row] = at
            row += 1
            largest = max(largest, previous)
        if c == _HASH:
            while text[p] not in (0, _LINE_FEED):
                p += 1
        elif c == _RETURN:
            p += 1
        if text[p] != _LINE_FEED:
            place = p - 1 if c == _RETURN else p
            return BAD_BYTE, place, row, at, largest, count
        p += 1
    return FINE, stop, row, at, largest, count
