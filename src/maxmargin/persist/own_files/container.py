"""The zip around header and arrays: written by zipfile, read by a stricter reader.

The reader accepts one layout: ``header.json`` and ``arrays/0000.npy``,
``arrays/0001.npy``, … in this order, uncompressed, one behind the other from the first
byte to the directory, which ends the file. So no entry can claim more bytes than there
are, unpack to more, hide behind another, or have a name that leads elsewhere.

Format: PKWARE's APPNOTE 6.3, sections 4.3.7 (local headers), 4.3.12 (directory), 4.3.14
to 4.3.16 (its end) and 4.5.3 (sizes from 4 GiB on).
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from typing import IO, TYPE_CHECKING, NamedTuple

from maxmargin.persist.own_files.malformed import refuse, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

MOST_MEMBERS = 1_000_000  # policy
_BLOCK = 1 << 24  # policy: bytes read or written at a time

_END = struct.Struct("<4s4H2LH")
_END64 = struct.Struct("<4sQ2H2L4Q")
_LOCATOR = struct.Struct("<4sLQL")
_DIRECTORY = struct.Struct("<4s4B4HL2L5H2L")
_LOCAL = struct.Struct("<4s2B4HL2L2H")
_WIDE = 0xFFFFFFFF  # the number is in the extra field
_MANY = 0xFFFF


def _name_of(number: int) -> str:
    """The name of an entry."""
    return f"arrays/{number - 1:04d}.npy" if number else "header.json"


def write_members(file: IO[bytes], bodies: Iterable[Sequence[memoryview]]) -> None:
    """Write a zip of the header and the arrays; its bytes depend on them alone."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for number, parts in enumerate(bodies):
            about = zipfile.ZipInfo(_name_of(number), date_time=(1980, 1, 1, 0, 0, 0))
            about.create_system = 3
            about.external_attr = 0o100644 << 16
            about.file_size = sum(part.nbytes for part in parts)
            with archive.open(about, "w") as member:
                for part in parts:
                    for at in range(0, part.nbytes, _BLOCK):
                        member.write(part[at : at + _BLOCK])


class _Member(NamedTuple):
    """An entry, as the directory describes it."""

    name: bytes
    offset: int
    size: int
    crc: int
    end: int  # where the next begins


class Container:
    """An open zip; every fault is refused."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.size = file.seek(0, 2)
        self._members = self._directory()

    @property
    def n_arrays(self) -> int:
        """How many arrays there are."""
        return len(self._members) - 1

    def length(self, number: int) -> int:
        """Bytes of the entry; 0 is the header, n + 1 the array n."""
        return self._members[number].size

    def reader(self, number: int) -> Callable[[memoryview], None]:
        """Return a function that fills buffers with the entry, from its beginning on.

        At its last byte the entry's checksum is compared.
        """
        member = self._members[number]
        self._file.seek(self._begin(member))
        left, crc = member.size, 0

        def read_into(buffer: memoryview) -> None:
            nonlocal left, crc
            for at in range(0, buffer.nbytes, _BLOCK):
                part = buffer[at : at + _BLOCK]
                self._fill(part)
                crc = zlib.crc32(part, crc)
            left -= buffer.nbytes
            if left == 0 and crc != member.crc:
                refuse(
                    f"{member.name.decode()} does not have its checksum: it is damaged"
                )

        return read_into

    # --- the layout -------------------------------------------------------------------

    def _take(self, offset: int, count: int) -> bytes:
        self._file.seek(offset)
        buffer = bytearray(count)
        self._fill(memoryview(buffer))
        return bytes(buffer)

    def _fill(self, buffer: memoryview) -> None:
        done = 0
        while done < buffer.nbytes:
            count = self._file.readinto(buffer[done:])  # type: ignore[attr-defined]
            if not count:
                refuse("it ends in the middle of an entry: the file is cut off")
            done += count

    def _directory(self) -> list[_Member]:
        """Read the directory; names, sizes and places must fit together."""
        count, begin, end = self._end()
        if not 1 <= count <= MOST_MEMBERS:
            refuse(f"the zip claims {count} entries; there may be 1 to {MOST_MEMBERS}")
        if begin + count * _DIRECTORY.size > end:
            refuse(
                f"the zip claims {count} entries, and its directory is too short for them"
            )
        raw = self._take(begin, end - begin)
        found, at = [], 0
        for number in range(count):
            member, at = _line(raw, at)
            expected = _name_of(number)
            if member.name != expected.encode():
                refuse(
                    f"the zip has an entry {shown(member.name.decode('latin-1'))} where "
                    f"{expected!r} belongs; nothing else may be in it"
                )
            found.append(member)
        starts = [member.offset for member in found] + [begin]
        laid = [
            one._replace(end=after) for one, after in zip(found, starts[1:], strict=True)
        ]
        right = starts[0] == 0 and at == len(raw)
        if not right or any(one.offset + one.size >= one.end for one in laid):
            refuse("the entries of the zip overlap, or do not lie one behind the other")
        return laid

    def _end(self) -> tuple[int, int, int]:
        """Number of entries, and where the directory begins and ends."""
        end = self.size - _END.size
        if end < 0:
            refuse("it is too short to be a model of maxmargin")
        sign, *disks, n_here, n, size, begin, comment = _END.unpack(
            self._take(end, _END.size)
        )
        if sign != b"PK\x05\x06":
            refuse(
                "it is no model of maxmargin, or it is cut off: no zip ends where it ends"
            )
        locator = end - _LOCATOR.size
        if locator >= 0 and self._take(locator, 4) == b"PK\x06\x07":
            end, wide = self._wide_end(locator)
            # Numbers that do not fit into the narrow fields are all ones there.
            narrow = (*disks, n_here, n, size, begin)
            most = (_MANY, _MANY, _MANY, _MANY, _WIDE, _WIDE)
            if any(min(x, m) != y for x, m, y in zip(wide, most, narrow, strict=True)):
                refuse("the end of the zip contradicts itself")
            *disks, n_here, n, size, begin = wide
        if any(disks) or n_here != n or comment or begin + size != end:
            refuse(
                "the end of the zip contradicts itself, or something is hidden around it"
            )
        return n, begin, end

    def _wide_end(self, locator: int) -> tuple[int, tuple[int, ...]]:
        """The end of a zip with sizes from 4 GiB on: its place, and its numbers."""
        record = locator - _END64.size
        if record < 0:
            refuse("it is too short for what it claims to hold")
        _, disk, place, n_disks = _LOCATOR.unpack(self._take(locator, _LOCATOR.size))
        sign, length, _, _, *numbers = _END64.unpack(self._take(record, _END64.size))
        right = sign == b"PK\x06\x06" and length == _END64.size - 12
        if not right or disk or place != record or n_disks != 1:
            refuse("the end of the zip contradicts itself")
        return record, tuple(numbers)

    def _begin(self, member: _Member) -> int:
        """The place where the bytes of an entry begin; its own header must agree."""
        (sign, _, _, flags, method, _, _, crc, packed, size, n_name, n_extra) = (
            _LOCAL.unpack(self._take(member.offset, _LOCAL.size))
        )
        begin: int = member.offset + _LOCAL.size + n_name + n_extra
        if begin + member.size != member.end or n_name != len(member.name):
            refuse("the entries of the zip overlap, or do not lie one behind the other")
        rest = self._take(member.offset + _LOCAL.size, n_name + n_extra)
        sizes = _sizes(size, packed, 0, rest[n_name:])[:2]
        same = sign == b"PK\x03\x04" and flags == method == 0 and crc == member.crc
        if not same or rest[:n_name] != member.name or set(sizes) != {member.size}:
            refuse(f"the zip contradicts itself about {member.name.decode()}")
        return begin


def _line(raw: bytes, at: int) -> tuple[_Member, int]:
    """One line of the directory, and the place of the next."""
    if at + _DIRECTORY.size > len(raw):
        refuse("the directory of the zip is cut off")
    (sign, _, _, _, _, flags, method, _, _, crc, packed, size, n_name, n_extra,
     n_comment, disk, _, kind, offset) = _DIRECTORY.unpack_from(raw, at)  # fmt: skip
    begin = at + _DIRECTORY.size
    end = begin + n_name + n_extra + n_comment
    if sign != b"PK\x01\x02" or end > len(raw) or disk or n_comment:
        refuse("the directory of the zip is damaged")
    name = raw[begin : begin + n_name]
    if flags or method or kind >> 28 not in (0, 8):
        refuse(
            f"the entry {shown(name.decode('latin-1'))} is compressed, encrypted or no "
            "ordinary file; entries must be stored as they are"
        )
    size, packed, offset = _sizes(size, packed, offset, raw[begin + n_name : end])
    if size != packed:
        refuse(f"the entry {shown(name.decode('latin-1'))} has two sizes")
    return _Member(name, offset, size, crc, 0), end


def _sizes(size: int, packed: int, offset: int, extra: bytes) -> tuple[int, int, int]:
    """Sizes and offset; the extra field has those from 4 GiB on."""
    numbers = [size, packed, offset]
    wide = [place for place, number in enumerate(numbers) if number == _WIDE]
    if extra or wide:
        n_bytes = 8 * len(wide)
        right = wide and len(extra) == 4 + n_bytes
        if not right or struct.unpack_from("<2H", extra) != (1, n_bytes):
            refuse("an entry of the zip has an extra field that does not belong here")
        values = struct.unpack_from(f"<{len(wide)}Q", extra, 4)
        for place, value in zip(wide, values, strict=True):
            numbers[place] = value
    return numbers[0], numbers[1], numbers[2]
