"""The format of a file of data: the user's choice, else by the file's name.

The command line reads :data:`FORMATS` for ``--help``: nothing heavy is imported here.
"""

from __future__ import annotations

from pathlib import PurePath

STDIN = "-"
"""The file name that stands for standard input."""

TITLES = {
    "libsvm": "LIBSVM text",
    "csv": "CSV",
    "tsv": "TSV",
    "npz": "NumPy npz",
    "parquet": "Parquet",
    "arrow": "Arrow",
}
"""Formats, and their names for people."""

FORMATS = tuple(TITLES)

_EXTENSIONS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".npz": "npz",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
}
_COMPRESSED = (".bz2", ".gz", ".xz")
_TEXT = ("libsvm", "csv", "tsv")


def _parts(path: str) -> tuple[str, list[str]]:
    """The name without known extensions, and these in lower case."""
    name, found = PurePath(path).name, []
    for known in (_COMPRESSED, _EXTENSIONS):
        extension = PurePath(name).suffix.lower()
        if extension in known:
            found.append(extension)
            name = PurePath(name).stem
    return name, found


def format_of(path: str, given: str | None = None) -> str:
    """Return one of :data:`FORMATS`: ``given``, the user's choice, or by the name.

    Standard input and names without a known extension are LIBSVM text.
    """
    from maxmargin.errors import InputError  # which imports scikit-learn

    if given is not None and given not in FORMATS:
        msg = f"format={given!r}: the formats of data are {', '.join(FORMATS)}"
        raise InputError(msg)
    known = [_EXTENSIONS[one] for one in _parts(path)[1] if one in _EXTENSIONS]
    chosen = given or (known[0] if known else "libsvm")
    if is_compressed(path) and chosen not in _TEXT:
        msg = f"{path}: {TITLES[chosen]} is compressed inside; decompress the file first"
        raise InputError(msg)
    return chosen


def is_compressed(path: str) -> bool:
    """Whether the name says that the file is compressed."""
    return PurePath(path).suffix.lower() in _COMPRESSED


def stem_of(path: str) -> str:
    """The file's name without folder and known extensions: ``a/iris.csv.gz`` → iris."""
    return "stdin" if path == STDIN else _parts(path)[0]
