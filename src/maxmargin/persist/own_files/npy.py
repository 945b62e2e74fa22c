"""Arrays as npy, version 1.0; the npy header is compared and never parsed.

The JSON header has the dtype, shape and order of every array. The npy header must say the
same, so that any NumPy can read the entry, and nothing is ever evaluated.
"""

from __future__ import annotations

import hashlib
import math
import re
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from maxmargin.persist.own_files.malformed import refuse, shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

# bool, integers, floats but for the platform's own long double, text, bytes, times
_PLAIN = re.compile(
    r"(\|b1|\|[iu]1|[<>][iu][248]|[<>]f[248]|[<>]U[1-9]\d{0,8}|\|S[1-9]\d{0,8}"
    r"|[<>][Mm]8(\[\d{0,9}[a-zA-Z]{1,2}\])?)\Z"
)
_MAGIC = b"\x93NUMPY\x01\x00"
_ALIGN = 64
_MOST_AXES = 32  # NumPy 1's limit
_LAST_CHARACTER = 0x10FFFF
_DIGEST = re.compile("[0-9a-f]{64}")


class ArrayLine(NamedTuple):
    """An entry of the table of arrays."""

    dtype: str
    shape: tuple[int, ...]
    order: str  # "C" or "F"
    sha256: str  # of the values, as they lie in the file

    @property
    def n_bytes(self) -> int:
        """Length of the values; Python's integers do not overflow."""
        return math.prod(self.shape) * np.dtype(self.dtype).itemsize

    def text(self) -> bytes:
        """The npy header without its padding, as NumPy writes it."""
        return (
            f"{{'descr': {self.dtype!r}, 'fortran_order': {self.order == 'F'}, "
            f"'shape': {self.shape!r}, }}"
        ).encode("ascii")


def checked_dtype(name: object) -> np.dtype[Any]:
    """The dtype of a name, if arrays of it may be in a file."""
    if not isinstance(name, str) or not _PLAIN.match(name):
        refuse(
            f"an array has the dtype {shown(name)}; allowed are booleans, integers, "
            "floats, text, bytes and times"
        )
    try:
        dtype = np.dtype(name)
    except (TypeError, ValueError) as error:  # an unknown unit of time, a huge text
        refuse(f"an array has the dtype {shown(name)}, which NumPy does not know", error)
    if dtype.str != name:
        refuse(f"an array has the dtype {shown(name)}; {dtype.str!r} is how to write it")
    return dtype


def is_shape(value: Any) -> bool:
    """Whether a value of JSON lists the sizes of an array's axes."""
    listed = isinstance(value, list) and len(value) <= _MOST_AXES
    return listed and all(type(n) is int and 0 <= n < 1 << 63 for n in value)


def is_digest(value: object) -> bool:
    """Whether a value of JSON is a SHA-256."""
    return isinstance(value, str) and _DIGEST.fullmatch(value) is not None


def order_of(array: NDArray[Any]) -> Literal["C", "F"]:
    """The order in which an array's values are written."""
    return "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"


def is_allowed(dtype: np.dtype[Any]) -> bool:
    """Whether arrays of a dtype can be in a file."""
    plain = dtype.names is None and dtype.subdtype is None and dtype.metadata is None
    return plain and _PLAIN.match(dtype.str) is not None


def described(array: NDArray[Any]) -> tuple[ArrayLine, NDArray[np.uint8]]:
    """The line of an array, and its values as bytes, without a copy where possible."""
    order = order_of(array)
    if not array.flags.forc:
        array = array.copy(order="C")
    flat = array.reshape(-1, order="A").view(np.uint8)
    digest = hashlib.sha256(flat.data).hexdigest()
    return ArrayLine(array.dtype.str, array.shape, order, digest), flat


def pieces(line: ArrayLine, flat: NDArray[np.uint8]) -> list[memoryview]:
    """The npy file of an array, in parts."""
    text = line.text()
    before = len(_MAGIC) + 2
    padding = -(before + len(text) + 1) % _ALIGN
    length = len(text) + padding + 1
    head = _MAGIC + length.to_bytes(2, "little") + text + b" " * padding + b"\n"
    return [memoryview(head), flat.data]


def restored(
    line: ArrayLine, n_bytes: int, read_into: Callable[[memoryview], None]
) -> NDArray[Any]:
    """Read an npy file of ``n_bytes``, whose header must agree with the array's line.

    Memory is allocated only after the lengths agree.
    """
    head = bytearray(len(_MAGIC) + 2)
    if n_bytes < len(head):
        refuse(f"an array has {n_bytes} bytes, too few for an npy header")
    read_into(memoryview(head))
    length = int.from_bytes(head[-2:], "little")
    n_values = n_bytes - len(head) - length
    if not head.startswith(_MAGIC) or n_values != line.n_bytes:
        refuse(
            f"an array of {line.dtype} and shape {shown(line.shape)} needs "
            f"{line.n_bytes} bytes behind an npy header of version 1.0, and there are "
            f"{max(0, n_values)}"
        )
    text = bytearray(length)
    read_into(memoryview(text))
    if bytes(text).rstrip(b" \n") != line.text():
        refuse(
            f"an npy header says {shown(bytes(text))}, the JSON header {line.text()!r}"
        )
    try:
        array = np.empty(line.shape, dtype=line.dtype, order=line.order)  # type: ignore[call-overload]
    except ValueError as error:  # the product of the axes beside a 0 overflows
        refuse(f"an array has the shape {shown(line.shape)}, which is too large", error)
    flat = array.reshape(-1, order="A").view(np.uint8)
    if array.nbytes != line.n_bytes:
        refuse(f"an array of {line.dtype} and shape {shown(line.shape)} has no such size")
    read_into(flat.data)
    if hashlib.sha256(flat.data).hexdigest() != line.sha256:
        refuse("the values of an array do not have their SHA-256: the file is damaged")
    check_values(array)
    return array  # type: ignore[no-any-return]


def check_values(array: NDArray[Any]) -> None:
    """Refuse bits that are no value of their dtype: NumPy does not check them."""
    flat = array.reshape(-1, order="A")
    if array.dtype.kind == "b" and flat.view(np.uint8).max(initial=0) > 1:
        refuse("an array of booleans holds other bytes than 0 and 1")
    if array.dtype.kind == "U":
        letters = flat.view(np.dtype(np.uint32).newbyteorder(array.dtype.byteorder))
        if letters.max(initial=0) > _LAST_CHARACTER:
            refuse("an array of text holds numbers that are no characters")


def line_of(entry: object) -> ArrayLine:
    """A line of the table of arrays in the JSON header, checked."""
    fields = set(ArrayLine._fields)
    if not isinstance(entry, dict) or set(entry) != fields:
        refuse(f"an entry of the table of arrays must have {', '.join(sorted(fields))}")
    shape, order, digest = entry["shape"], entry["order"], entry["sha256"]
    dtype = checked_dtype(entry["dtype"])
    if not is_shape(shape):
        refuse(f"an array has the shape {shown(shape)}: no list of counts")
    if order not in ("C", "F"):
        refuse(f"an array has the order {shown(order)}: it must be 'C' or 'F'")
    if not is_digest(digest):
        refuse(f"an array has the SHA-256 {shown(digest)}: 64 digits of base 16")
    return ArrayLine(dtype.str, tuple(shape), order, digest)
