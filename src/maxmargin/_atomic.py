"""Files that are there as a whole or not at all."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

from maxmargin.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

# Errors of systems that cannot open or sync a folder: Windows, some network drives.
_NO_FOLDERS = {
    errno.EACCES,
    errno.EBADF,
    errno.EINVAL,
    errno.EISDIR,
    errno.ENOTSUP,
    errno.EPERM,
}


@contextmanager
def atomic_file(
    path: str | os.PathLike[str], *, overwrite: bool = True
) -> Iterator[IO[bytes]]:
    """A file to write, which takes its name only when the block ends well.

    It is written beside its place under another name, synced to the disk, and renamed,
    which replaces an earlier file in one step: a process killed at any moment leaves the
    old file or the new one (and perhaps the unfinished one, ``.name.….tmp``). After an
    exception the unfinished file is removed.

    Parameters
    ----------
    path : str or path-like
        Where. A symbolic link is followed; an existing file keeps its permissions.
    overwrite : bool, default=True
        Whether an existing file may be replaced.

    Yields
    ------
    file object, binary, readable and seekable

    Raises
    ------
    InputError
        If there is something at ``path`` that may not be replaced.
    OSError
        If the file system refuses; it names the file, of a full disk too.
    """
    given = os.fspath(path)
    place = Path(os.path.realpath(given))
    mode = _permissions(given, place, overwrite)
    # The name may be as long as the system allows, so no more than a part of it is used.
    draft = place.with_name(f".{place.name[:32]}.{secrets.token_hex(8)}.tmp")
    try:
        with naming(given), draft.open("x+b") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            draft.chmod(mode)
        _permissions(given, place, overwrite)  # it may have come while we wrote
        draft.replace(place)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    _sync_folder(place.parent)


@contextmanager
def naming(path: str) -> Iterator[None]:
    """Name the file in errors of the system, which do so only when it is opened."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = path
        raise


def _permissions(given: str, place: Path, overwrite: bool) -> int | None:
    """Permissions of the file that will be replaced; None if there is none."""
    try:
        found = place.stat()
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found.st_mode):
        msg = f"{given}: it exists and is no ordinary file; give the name of a file"
        raise InputError(msg)
    if not overwrite:
        msg = f"{given}: the file exists; give another name, or overwrite=True"
        raise InputError(msg)
    return stat.S_IMODE(found.st_mode)


def _sync_folder(folder: Path) -> None:
    """Make the new name survive a power cut, where the system can."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError as error:
        if error.errno in _NO_FOLDERS:
            return
        raise
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in _NO_FOLDERS:
            raise
    finally:
        os.close(handle)
