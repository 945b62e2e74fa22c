"""The fault of a line of LIBSVM text, in a sentence that helps."""

from __future__ import annotations

import re

from maxmargin.data_files.columns.cells import show
from maxmargin.data_files.libsvm_text import parse

_TOKEN = re.compile(rb"[^ \t\n#]*")
_NOT_FINITE = re.compile(rb"[+-]?(nan|inf|infinity)", re.IGNORECASE)
_INTEGER = re.compile(rb"[+-]?[0-9]+")


def reason_of(code: int, text: bytes, place: int, n_features: int | None) -> str:
    """The sentence for a code of ``parse_lines``, whose token is at ``text[place]``."""
    if code == parse.BAD_BYTE:
        return _stray(text[place])
    found = _TOKEN.match(text, place)
    token = found.group().removesuffix(b"\r") if found else b""
    if code == parse.BAD_ORDER:
        index, before = token.partition(b":")[0], _previous_index(text, place)
        return f"index {show(index)} follows index {show(before)}: indices must ascend"
    if code == parse.BAD_ABOVE:
        return _above(token, n_features)
    if code == parse.BAD_QUERY:
        return (
            f"{show(token)}: a query is written qid:3, once, between label and features"
        )
    says = {parse.BAD_LABEL: _label, parse.BAD_INDEX: _index, parse.BAD_VALUE: _value}
    return says[code](token)


def _previous_index(text: bytes, place: int) -> bytes:
    """The index of the pair before ``place``; the rest of the line is not read."""
    end = place
    while text[end - 1 : end] in (b" ", b"\t"):
        end -= 1
    colon = text.rfind(b":", 0, end)
    start = colon
    while text[start - 1 : start].isdigit():
        start -= 1
    return text[start:colon]


def _value(token: bytes) -> str:
    value = token.partition(b":")[2]
    if not value:
        return f"{show(token)} has no value; write index:value"
    return f"the value of {show(token)} {_number(value)}"


def _stray(byte: int) -> str:
    if byte == 13:
        return "a carriage return inside a line; lines end with LF or CR LF"
    return f"byte 0x{byte:02x} in a comment: this is no text file"


def _label(token: bytes) -> str:
    if token.startswith(b"\xef\xbb\xbf"):
        return "a byte-order mark; save the file as plain text (UTF-8 without BOM)"
    if b":" in token:
        return f"the label is missing before {show(token)}; write label index:value …"
    if b"," in token:
        return (
            f"the label {show(token)} has a comma: several labels a line are not "
            "supported; write one number"
        )
    return f"the label {show(token)} {_number(token)}"


def _number(token: bytes) -> str:
    """The fault of a number; a grammatical one can only be too large."""
    if _NOT_FINITE.fullmatch(token):
        return "is not finite; remove or replace it"
    if b"\0" in token:
        return "holds a zero byte: this is no text file"
    if b":" in token:
        return "holds a second colon; write index:value"
    try:
        float(token)
    except ValueError:
        return "is not a decimal number"
    if b"_" in token or not token.isascii() or token.strip() != token:
        return "is not a decimal number"
    return "is too large for its type; scale the data"


def _index(token: bytes) -> str:
    index, colon, _ = token.partition(b":")
    if not (colon and index):
        return f"{show(token)} is no pair; write index:value"
    if not _INTEGER.fullmatch(index):
        return f"the index of {show(token)} is not a whole number"
    if index.startswith(b"-"):
        return f"index {show(index)} is negative; indices count from 1"
    if index.startswith(b"+"):
        return f"index {show(index)} has a sign; write digits only"
    if not index.strip(b"0"):
        return "index 0: indices count from 1; add 1 to all of them"
    return _above(token, None)


def _above(token: bytes, n_features: int | None) -> str:
    index = token.partition(b":")[0]
    if n_features is None:
        return f"index {show(index)} is too large for 64 bits"
    return f"index {show(index)} is above what {n_features} features allow"
