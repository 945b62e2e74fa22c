"""Whole files as bytes, unpacked and bounded; and files that replace others at once.

A stream of a few bytes can unpack to more than any memory holds (a "bomb"). Unpacking
therefore proceeds in pieces and stops as soon as there is more than the limit.
"""

from __future__ import annotations

import bz2
import errno
import gzip
import io
import lzma
import os
import stat
import zlib
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeAlias

from maxmargin._atomic import atomic_file, naming
from maxmargin.errors import DataFileError, FileError, InputError, InputTypeError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Source: TypeAlias = "str | os.PathLike[str] | IO[bytes] | bytes | bytearray | memoryview"

_PIECE = 1 << 20  # policy: bytes read at a time
_HEAD = 16  # bytes that tell packed streams from text
_MOST = 64 << 30  # policy: no file of data that fits into a computer's memory is longer
_DICTIONARY = 1 << 28  # policy: memory for an .xz; `xz -9` needs a quarter of it


class _Gunzip:
    """One member of a .gz, with the interface of bz2's and lzma's decompressors."""

    def __init__(self) -> None:
        self._stream = zlib.decompressobj(wbits=31)
        self._waiting = b""

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """Up to so many bytes; the rest of ``data`` is kept."""
        out = self._stream.decompress(self._waiting + data, max_length)
        self._waiting = self._stream.unconsumed_tail
        return out

    @property
    def needs_input(self) -> bool:
        """Whether nothing more comes out before something goes in."""
        return not self._waiting

    @property
    def eof(self) -> bool:
        """Whether the member is complete, its check sum included."""
        return self._stream.eof

    @property
    def unused_data(self) -> bytes:
        """The bytes behind the member."""
        return self._stream.unused_data


# By extension: a decompressor of one stream, and the first bytes of every such stream.
_PACKED: dict[str, tuple[Callable[[], Any], bytes]] = {
    ".gz": (_Gunzip, b"\x1f\x8b\x08"),
    ".bz2": (bz2.BZ2Decompressor, b"BZh"),
    ".xz": (lambda: lzma.LZMADecompressor(memlimit=_DICTIONARY), b"\xfd7zXZ\x00"),
}


def name_of(source: Source, name: str | None = None) -> str:
    """The name of a source in errors: ``name``, its path, or its kind."""
    if name is not None:
        return name
    if isinstance(source, str | os.PathLike):
        return os.fspath(source)
    if isinstance(source, bytes | bytearray | memoryview):
        return "<bytes>"
    called = getattr(source, "name", None)
    return called if isinstance(called, str) else "<stream>"


def open_bytes(
    source: Source,
    *,
    limit: int | None = None,
    name: str | None = None,
    error: type[FileError] = DataFileError,
) -> bytes:
    """Read all bytes of a source, unpacked.

    Parameters
    ----------
    source : path, binary file or bytes
        A path is unpacked if it ends in .gz, .bz2 or .xz; files and bytes if they begin
        like such a stream, which no text does.
    limit : int or None
        More bytes than this, unpacked, are an error, and so are more than the memory
        that is available. None: 64 GiB.
    name : str or None
        The name of the source in errors.
    error : class
        Of the exception: :class:`~maxmargin.errors.ModelFileError` for a model.

    Raises
    ------
    FileError
        Line 0, and of the class ``error``: the source cannot be opened or read, is
        damaged, or exceeds the limit.
    """
    called = name_of(source, name)
    bound = min(_MOST if limit is None else limit, available_memory())
    try:
        return _all_bytes(source, bound, called)
    except DataFileError as refused:
        if error is DataFileError:
            raise
        raise error(refused.path, refused.line, refused.reason) from refused
    except MemoryError as full:  # the limit of a process may be below the system's
        reason = "does not fit into the memory that this process may use"
        raise error(called, 0, reason) from full


def _all_bytes(source: Any, bound: int, called: str) -> bytes:
    try:
        if isinstance(source, str | os.PathLike):
            with open(source, "rb") as file:
                return _read_path(file, Path(source).suffix.lower(), bound, called)
        if isinstance(source, bytes | bytearray | memoryview):
            if not _kind(bytes(source[:_HEAD])) and len(source) <= bound:
                return bytes(source)
            source = io.BytesIO(source)
        if not callable(getattr(source, "read", None)):
            msg = f"{source!r} is neither a path, a binary file nor bytes"
            raise InputTypeError(msg)
        return _read_stream(source, bound, called)
    except OSError as error:
        reason = error.strerror or str(error) or type(error).__name__
        raise DataFileError(called, 0, f"cannot be read: {reason}") from error


def _read_path(file: IO[bytes], extension: str, bound: int, name: str) -> bytes:
    """All bytes of a file that was just opened; they are read at once, not copied."""
    if extension in _PACKED:
        return _unpacked(file, b"", extension, bound, name)
    status = os.fstat(file.fileno())
    size = status.st_size if stat.S_ISREG(status.st_mode) else 0
    if size > bound:
        raise _too_much(name, bound)
    whole = file.read(size)
    more = file.read(1)  # it is a device, or grew meanwhile
    return whole if not more else _rest(file, whole + more, bound, name)


def _read_stream(file: Any, bound: int, name: str) -> bytes:
    """The rest of a file of the caller's, unpacked if it is packed."""
    head = b""
    while len(head) < _HEAD and (piece := _piece(file, _HEAD - len(head), name)):
        head += piece
    if extension := _kind(head):
        return _unpacked(file, head, extension, bound, name)
    return _rest(file, head, bound, name)


def _rest(file: Any, head: bytes, bound: int, name: str) -> bytes:
    """``head`` and the bytes that follow it in an unpacked file."""
    out = io.BytesIO()
    piece = head
    while piece:
        out.write(piece)
        if out.tell() > bound:
            raise _too_much(name, bound)
        piece = _piece(file, _PIECE, name)
    return out.getvalue()


def _piece(file: Any, size: int, name: str) -> bytes:
    """The next bytes of a file, which must be binary."""
    piece = file.read(size)
    if isinstance(piece, str):
        msg = f"{name} was opened as text; open it with mode 'rb'"
        raise InputTypeError(msg)
    if piece is None:  # nothing yet, which is not the end
        raise BlockingIOError(errno.EAGAIN, "the stream does not wait for its data")
    return bytes(piece)


def _kind(head: bytes) -> str:
    """Extension of a stream that begins so; empty where it is not packed."""
    for extension, (_, magic) in _PACKED.items():
        # A word may begin with BZh; in a stream a digit and the digits of π follow.
        if head.startswith(magic) and (extension != ".bz2" or head[4:7] == b"1AY"):
            return extension
    return ""


def _unpacked(file: Any, head: bytes, extension: str, bound: int, name: str) -> bytes:
    """All streams of a packed file, one behind the other as ``cat`` leaves them."""
    make, _ = _PACKED[extension]
    decoder = make()
    out = io.BytesIO()
    data = head or _piece(file, _PIECE, name)
    if not data:
        raise DataFileError(name, 0, f"is empty, which no {extension} file is")
    try:
        while True:
            out.write(decoder.decompress(data, _PIECE))
            if out.tell() > bound:
                raise _too_much(name, bound)
            data = b""
            if decoder.eof:
                data = decoder.unused_data.lstrip(b"\0")  # padding is allowed
                while not data and (more := _piece(file, _PIECE, name)):
                    data = more.lstrip(b"\0")
                if not data:
                    return out.getvalue()
                decoder = make()
            elif decoder.needs_input:
                data = _piece(file, _PIECE, name)
                if not data:
                    reason = f"is cut off: the {extension} stream does not end"
                    raise DataFileError(name, 0, reason)
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        reason = f"is damaged, or no {extension} file: {error}"
        raise DataFileError(name, 0, reason) from error


def _too_much(name: str, bound: int) -> DataFileError:
    reason = (
        f"holds more than {bound} bytes (unpacked), the most that is read: split the "
        "file, or use a machine with more memory"
    )
    return DataFileError(name, 0, reason)


def available_memory() -> int:
    """Bytes that may still be used, as far as the system tells."""
    found = _MOST
    with suppress(OSError, ValueError, IndexError):
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                found = 1024 * int(line.split()[1])
    with suppress(OSError, ValueError):  # a container's limit; "max" where there is none
        most = int(Path("/sys/fs/cgroup/memory.max").read_text())
        used = int(Path("/sys/fs/cgroup/memory.current").read_text())
        found = min(found, max(0, most - used))
    return found


@contextmanager
def opened_for_writing(target: str | os.PathLike[str] | IO[bytes]) -> Iterator[IO[bytes]]:
    """A binary file to write to; a path is replaced at once, when all is written.

    At every moment there is the old file or the new one (:mod:`maxmargin._atomic`). Paths
    that end in .gz, .bz2 or .xz are packed. Files that are not ordinary (``/dev/stdout``,
    a pipe) or already open are written to directly.
    """
    if not isinstance(target, str | os.PathLike):
        if not callable(getattr(target, "write", None)):
            msg = f"{target!r} is neither a path nor a binary file"
            raise InputTypeError(msg)
        yield target
        return
    path = Path(os.path.realpath(target))  # a link stays, its target is replaced
    if path.exists() and not path.is_file():
        if path.is_dir():
            msg = f"{os.fspath(target)} is a folder; give the path of a file"
            raise InputError(msg)
        with naming(os.fspath(target)), open(path, "wb") as stream:
            yield stream
        return
    if not path.parent.is_dir():
        msg = f"{os.fspath(target)} cannot be written: there is no folder {path.parent}"
        raise InputError(msg)
    with atomic_file(path) as file, _packing(file, path.suffix.lower()) as packed:
        yield packed


@contextmanager
def _packing(file: IO[bytes], extension: str) -> Iterator[Any]:
    """The file itself, or a compressor into it, by the extension."""
    if extension == ".gz":  # without a time: the same data give the same file
        with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
            yield packed
    elif extension in (".bz2", ".xz"):
        kind: Any = bz2.BZ2File if extension == ".bz2" else lzma.LZMAFile
        with kind(file, "wb") as packed:
            yield packed
    else:
        yield file
