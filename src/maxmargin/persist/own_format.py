"""Models in files of the own format ``.maxmargin``: saved, loaded, looked into.

A file is a zip of ``header.json`` (what the model is) and ``arrays/NNNN.npy`` (its
numbers); docs/format.md specifies version 1. There is no pickle: a file can bring values
and the names of known classes, never code. docs/decisions/0017 gives the reasons.
"""

from __future__ import annotations

import json
import math
import os
import sys
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from maxmargin._atomic import atomic_file
from maxmargin.errors import InputError, InputTypeError, ModelFileError, warn
from maxmargin.persist.own_files.container import Container, write_members
from maxmargin.persist.own_files.deleted import DELETED
from maxmargin.persist.own_files.malformed import MalformedError, refuse, shown
from maxmargin.persist.own_files.npy import (
    ArrayLine,
    described,
    is_digest,
    line_of,
    pieces,
    restored,
)
from maxmargin.persist.own_files.registry import name_of, objects
from maxmargin.persist.own_files.summary import checked_summary, summary_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from maxmargin.persist.own_files.decoding import Decoder

FORMAT = "maxmargin model"
FORMAT_VERSION = 1
LONGEST_HEADER = 64 << 20  # bytes; a vocabulary of a million words has half of that
_FIELDS = {
    "format", "format_version", "versions", "created", "data_hash", "summary", "model",
    "arrays",
}  # fmt: skip

# --- saving -----------------------------------------------------------------------------


def save(
    estimator: Any,
    path: str | os.PathLike[str],
    *,
    data_hash: str | None = None,
    overwrite: bool = True,
) -> None:
    """Save a model, fitted or not, so that it comes back equal to the bit.

    Parameters
    ----------
    estimator : estimator
        A machine of maxmargin, alone or behind scalers, encoders, imputers, text and
        component transformers of scikit-learn in a ``Pipeline``. A kernel that is a
        function is saved by its name; ``callbacks`` are not saved.
    path : str or path-like
        Where. The file appears as a whole or not at all, whenever the process is killed.
    data_hash : str or None
        The result of :func:`maxmargin.persist.data_hash` for the data of the fit.
    overwrite : bool, default=True
        Whether an existing file may be replaced.

    Raises
    ------
    InputError
        If something in the model cannot be saved, or ``path`` may not be written.

    Warns
    -----
    UserWarning
        If callbacks are left behind.
    """
    from maxmargin.persist.own_files.encoding import Encoder

    kind = type(estimator)
    if isinstance(estimator, type) or name_of(kind, objects()) is None:
        msg = (
            f"save({estimator!r:.60}): give a machine of maxmargin, or a Pipeline of "
            f"scikit-learn with one; {kind.__module__}.{kind.__qualname__} is neither"
        )
        raise InputTypeError(msg)
    if data_hash is not None and not is_digest(data_hash):
        msg = (
            f"data_hash={data_hash!r:.80}: give what maxmargin.persist.data_hash(X, y) "
            "returns, 64 digits of base 16"
        )
        raise InputError(msg)
    encoder = Encoder()
    model = encoder.encode(estimator, kind.__name__)
    arrays = [described(array) for array in encoder.arrays]
    content = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "versions": _versions(),
        "created": _now(),
        "data_hash": data_hash,
        "summary": summary_of(estimator),
        "arrays": [line._asdict() for line, _ in arrays],
        "model": model,
    }
    text = json.dumps(content, separators=(",", ":"), allow_nan=False).encode("ascii")
    if len(text) > LONGEST_HEADER:
        msg = (
            f"save({kind.__name__}): names, categories and words take {len(text):,} "
            f"bytes, and a file may have {LONGEST_HEADER:,}; keep fewer of them"
        )
        raise InputError(msg)
    bodies = [[memoryview(text)], *(pieces(line, flat) for line, flat in arrays)]
    with atomic_file(path, overwrite=overwrite) as file:
        write_members(file, bodies)


def _versions() -> dict[str, str]:
    import numpy as np
    import scipy
    import sklearn

    return {
        "maxmargin": sys.modules[__name__.partition(".")[0]].__version__,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "python": ".".join(map(str, sys.version_info[:3])),
    }


def _now() -> str:
    """The time now, or SOURCE_DATE_EPOCH, which reproducible builds set."""
    fixed = os.environ.get("SOURCE_DATE_EPOCH", "")
    now = datetime.fromtimestamp(int(fixed), UTC) if fixed else datetime.now(UTC)
    return now.isoformat(timespec="seconds")


# --- loading ----------------------------------------------------------------------------


def load(path: str | os.PathLike[str], *, kernel: Any = None) -> Any:
    """Load a model that :func:`save` has written.

    Loading runs no code from the file, and allocates a few times the length of the file
    at most. It is safe for files of unknown origin.

    Parameters
    ----------
    path : str or path-like
        The file.
    kernel : callable, dict from names to callables, or None
        The function that is the model's kernel, of which the file has only the name; of
        several functions, a dict.

    Returns
    -------
    estimator
        As it was saved: predictions are equal to the bit.

    Raises
    ------
    ModelFileError
        If the file is absent, damaged, no model, or one of a newer version.

    Warns
    -----
    UserWarning
        If the model has parts of another version of scikit-learn, or names a solver
        that this version no longer has.
    """
    _check_kernel(kernel)
    with _reported(path), Path(path).open("rb") as file:
        estimator, decoder, content = _loaded(file, kernel)
    if kernel is not None and not decoder.functions:
        msg = f"load({os.fspath(path)!r}, kernel=...): its kernel is no function"
        raise InputError(msg)
    _warn_of_other_version(path, decoder.classes, content["versions"])
    _warn_of_deleted(path, decoder.deleted)
    return estimator


def _check_kernel(kernel: Any) -> None:
    given = kernel.values() if isinstance(kernel, dict) else [kernel]
    if kernel is not None and not all(
        callable(one) and not isinstance(one, type) for one in given
    ):
        msg = f"kernel={kernel!r:.60}: give a function, or a dict of names and functions"
        raise InputTypeError(msg)


def _loaded(file: IO[bytes], kernel: Any) -> tuple[Any, Decoder, dict[str, Any]]:
    """Read an open file: the model, its decoder, and the header."""
    from maxmargin.persist.own_files.decoding import Decoder

    container = Container(file)
    content = _content(container)
    found: dict[int, NDArray[Any]] = {}
    lines = content["arrays"]

    def array(number: int) -> NDArray[Any]:
        if not 0 <= number < len(lines):
            refuse(f"it refers to array {shown(number)} of {len(lines)}")
        if number not in found:
            length, reader = container.length(number + 1), container.reader(number + 1)
            found[number] = restored(lines[number], length, reader)
        return found[number]

    decoder = Decoder(array, kernel)
    model = content["model"]
    if not isinstance(model, dict) or set(model) != {"object"}:
        refuse("it holds no model")
    estimator = decoder.decode(model)
    if len(found) != len(lines):
        lost = len(lines) - len(found)
        refuse(f"it has {len(lines)} arrays, of which {lost} belong nowhere")
    return estimator, decoder, content


def _content(container: Container) -> dict[str, Any]:
    """Read the JSON header and check all of it but the model."""
    length = container.length(0)
    if length > LONGEST_HEADER:
        refuse(f"its header has {length:,} bytes; it may have {LONGEST_HEADER:,}")
    raw = bytearray(length)
    container.reader(0)(memoryview(raw))
    return parsed_header(bytes(raw), container.n_arrays)


def parsed_header(raw: bytes, n_arrays: int) -> dict[str, Any]:
    """Parse the header of a file with so many arrays; ``arrays`` become ArrayLines."""
    try:
        content = json.loads(
            raw.decode("utf-8"),
            object_pairs_hook=_without_duplicates,
            parse_constant=_no_constant,
            parse_float=_finite,
        )
    except RecursionError as error:
        refuse("its header is nested too deeply", error)
    except MalformedError:
        raise
    except ValueError as error:  # of JSON, of UTF-8, of integers with too many digits
        refuse(f"its header is no JSON: {shown(str(error))}", error)
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        refuse("it is a zip, but no model of maxmargin")
    version = content.get("format_version")
    if type(version) is not int or version < 1:
        refuse(f"its format version is {shown(version)}: it must be a number from 1 on")
    if version > FORMAT_VERSION:
        maker = content.get("versions")
        by = maker.get("maxmargin") if isinstance(maker, dict) else None
        refuse(
            f"it was made by a newer version of maxmargin ({shown(by)}), in format "
            f"{version}; this one reads formats up to {FORMAT_VERSION}: update maxmargin"
        )
    if set(content) != _FIELDS:
        refuse(f"its header must have {', '.join(sorted(_FIELDS))}")
    lines = content["arrays"]
    if not isinstance(lines, list) or len(lines) != n_arrays:
        refuse(f"its table of arrays is not one of {n_arrays}")
    versions, hashed = content["versions"], content["data_hash"]
    right = isinstance(versions, dict) and isinstance(content["created"], str)
    right = right and all(isinstance(one, str) for one in versions.values())
    if not right or not (hashed is None or is_digest(hashed)):
        refuse("its versions, time of creation or data hash are not what they have to be")
    content["arrays"] = [line_of(line) for line in lines]
    content["summary"] = checked_summary(content["summary"])
    return content


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        refuse("its header has a name twice in one place")
    return found


def _no_constant(word: str) -> Any:
    refuse(f"its header has the word {word}, which is no JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        refuse(f"its header has the number {shown(digits)}, which is beyond float64")
    return number


@contextmanager
def _reported(path: str | os.PathLike[str]) -> Iterator[None]:
    """Raise every fault of a file as a ModelFileError with the file's name."""
    try:
        yield
    except MalformedError as error:
        raise ModelFileError(os.fspath(path), 0, str(error)) from error
    except OSError as error:
        reason = f"it cannot be read: {error.strerror or error}"
        raise ModelFileError(os.fspath(path), 0, reason) from error


def _warn_of_other_version(
    path: str | os.PathLike[str], classes: set[str], versions: dict[str, str]
) -> None:
    """Warn of parts of another scikit-learn, whose classes change inside."""
    foreign = [name for name in classes if name.startswith("sklearn.")]
    then, now = versions.get("scikit-learn", "?"), _versions()["scikit-learn"]
    if foreign and then.split(".")[:2] != now.split(".")[:2]:
        warn(
            f"{os.fspath(path)}: the preprocessing was fitted by scikit-learn {then:.20} "
            f"and this is {now}; it may behave differently: compare some predictions, or "
            "fit the model anew",
            UserWarning,
        )


def _warn_of_deleted(path: str | os.PathLike[str], names: set[str]) -> None:
    """Warn of solvers of earlier versions."""
    for name in sorted(names):
        warn(
            f"{os.fspath(path)}: it names the solver {name.rpartition('.')[2]}, which "
            "this version of maxmargin no longer has; predictions are unaffected, and a "
            f"new fit uses solver={DELETED[name]!r}",
            UserWarning,
        )


# --- looking ----------------------------------------------------------------------------


def header(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Describe the model in a file; arrays are not read, and nothing is restored.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    dict
        ``format``, ``format_version``, ``created`` (UTC, ISO 8601), ``versions`` (of
        maxmargin, numpy, scipy, scikit-learn and python), ``data_hash`` (or None),
        ``n_arrays`` and ``n_bytes`` (of arrays); ``class``, ``parameters``, ``steps``,
        ``certificate``, ``n_support_vectors``, ``classes``, ``n_features`` and
        ``feature_names`` of :func:`maxmargin.persist.own_files.summary.summary_of`. All
        values are plain: text, numbers, lists and dicts.

    Raises
    ------
    ModelFileError
        As for :func:`load`.
    """
    with _reported(path), Path(path).open("rb") as file:
        content = _content(Container(file))
    lines: list[ArrayLine] = content["arrays"]
    plain = ("format", "format_version", "created", "versions", "data_hash")
    return {
        **{name: content[name] for name in plain},
        "n_arrays": len(lines),
        "n_bytes": sum(line.n_bytes for line in lines),
        **content["summary"],
    }
