"""NumPy's npz: ``X`` and ``y``, or a CSR matrix as ``scipy.sparse.save_npz`` writes it.

A zip of npy arrays (NumPy Enhancement Proposal 1). Keys: ``X`` of shape (rows, features),
or ``data``, ``indices``, ``indptr`` and ``shape``; ``y`` of shape (rows,), numbers or
text, may be absent; ``columns``, if there, names the features. Nothing is unpickled, and
the size of an array is compared with the bytes of the file before it is allocated.
"""

from __future__ import annotations

import io
import lzma
import math
import struct
import tokenize
import zipfile
import zlib
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from maxmargin.data_files.columns.cells import words_of
from maxmargin.errors import DataFileError, InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

Arrays = tuple[Any, "NDArray[Any] | None", list[str] | None]
"""X (ndarray or CSR), y or None, names of the columns or None."""

_CSR = ("data", "indices", "indptr", "shape")
_KEPT = ("X", "y", "columns", "format", *_CSR)
_KINDS = "biufUS"
# Exceptions of the zipfile module for bytes that are no zip.
_DAMAGE = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError,
           OSError, ValueError, OverflowError, RuntimeError)  # fmt: skip


def read_npz(content: bytes, *, name: str, limit: int) -> Arrays:
    """Read X, y and the names of the columns.

    All arrays together may have ``limit`` bytes; ``name`` is the file's in errors.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            found = _members(archive, name, limit)
    except DataFileError:
        raise
    except _DAMAGE as error:
        reason = f"this is no npz file, or damaged: {error}"
        raise DataFileError(name, 0, reason) from error
    X = _features(found, name)
    y = found.get("y")
    if y is not None:
        y = _target(y, X.shape[0], name)
    columns = None
    if "columns" in found:
        columns = [str(one) for one in found["columns"].ravel()]
        if len(columns) != X.shape[1] or len(set(columns)) != len(columns):
            reason = f"columns must give {X.shape[1]} different names, one a column of X"
            raise DataFileError(name, 0, reason)
    return X, y, columns


def _members(archive: zipfile.ZipFile, name: str, limit: int) -> dict[str, Any]:
    members = {
        one.filename.removesuffix(".npy"): one
        for one in archive.infolist()
        if one.filename.removesuffix(".npy") in _KEPT
    }
    claimed = sum(one.file_size for one in members.values())
    if claimed > limit:
        reason = f"its arrays claim {claimed:,} bytes, more than the {limit:,} allowed"
        raise DataFileError(name, 0, reason)
    return {key: _array(archive, one, key, name) for key, one in members.items()}


def _array(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo, key: str, name: str
) -> NDArray[Any]:
    """One npy member; its size must be that of its bytes."""
    if member.flag_bits & 1:
        raise DataFileError(name, 0, f"{key} is encrypted")
    with archive.open(member) as stream:
        try:
            version = np.lib.format.read_magic(stream)
            if version not in ((1, 0), (2, 0)):
                msg = f"version {version} of npy is not known"
                raise ValueError(msg)
            read = (
                np.lib.format.read_array_header_1_0
                if version == (1, 0)
                else np.lib.format.read_array_header_2_0
            )
            shape, fortran, dtype = read(stream)
        except (ValueError, SyntaxError, TypeError, tokenize.TokenError) as error:
            raise DataFileError(name, 0, f"{key} is no npy array: {error}") from error
        if dtype.kind not in _KINDS:
            reason = f"{key} has dtype {dtype}: numbers or text are needed, not objects"
            raise DataFileError(name, 0, reason)
        size = math.prod(shape) * dtype.itemsize
        there = member.file_size - stream.tell()
        if any(length < 0 for length in shape) or size != there:
            reason = f"{key} claims shape {shape}, {size:,} bytes; {there:,} are there"
            raise DataFileError(name, 0, reason)
        content = stream.read()
    if len(content) != size:
        raise DataFileError(name, 0, f"{key} is cut short")
    flat = np.frombuffer(content, dtype) if size else np.empty(math.prod(shape), dtype)
    return flat.reshape(shape, order="F" if fortran else "C")


def _features(found: dict[str, Any], name: str) -> Any:
    if "X" in found:
        return _dense(found["X"], name)
    if all(key in found for key in _CSR):
        return _csr(found, name)
    reason = (
        "neither X nor a CSR matrix (data, indices, indptr, shape) is in it; "
        "write np.savez(file, X=X, y=y)"
    )
    raise DataFileError(name, 0, reason)


def _dense(X: NDArray[Any], name: str) -> NDArray[Any]:
    if X.dtype.kind not in "biuf" or X.ndim != 2:
        reason = (
            f"X has dtype {X.dtype} and shape {X.shape}: a table of numbers is needed"
        )
        raise DataFileError(name, 0, reason)
    if 0 in X.shape:
        raise DataFileError(name, 0, f"X is empty, its shape is {X.shape}")
    kept = X.dtype if X.dtype in (np.float32, np.float64) else np.float64
    X = np.ascontiguousarray(X, dtype=kept)
    infinite = np.isinf(X)
    if infinite.any():
        row, column = np.unravel_index(int(np.argmax(infinite)), X.shape)
        raise DataFileError(name, 0, f"row {row + 1}: X[{row}, {column}] is infinite")
    return X


def _csr(found: dict[str, Any], name: str) -> Any:
    from maxmargin.validation.csr import check_structure, checked_csr

    kind = found.get("format")
    if kind is not None and str(np.asarray(kind).astype(str)) != "csr":
        raise DataFileError(name, 0, "the sparse matrix is not CSR; save X.tocsr()")
    shape = found["shape"]
    if shape.shape != (2,) or shape.dtype.kind not in "iu" or (shape < 1).any():
        raise DataFileError(name, 0, f"shape is {shape.tolist()}: two counts are needed")
    if found["data"].dtype.kind not in "biuf":
        raise DataFileError(name, 0, f"data has dtype {found['data'].dtype}, no numbers")
    rows, columns = (int(one) for one in shape)
    data = found["data"]
    if data.dtype not in (np.float32, np.float64):
        data = data.astype(np.float64)
    parts = {"data": data, "indices": found["indices"], "indptr": found["indptr"]}
    try:
        # Before SciPy sees them: its own conversions would follow any index.
        check_structure(SimpleNamespace(format="csr", shape=(rows, columns), **parts))
        X = checked_csr(sparse.csr_matrix(tuple(parts.values()), shape=(rows, columns)))
    except InputError as error:
        raise DataFileError(name, 0, str(error)) from error
    if not np.isfinite(X.data).all():
        raise DataFileError(name, 0, "the sparse matrix holds NaN or infinite values")
    return X


def _target(y: NDArray[Any], rows: int, name: str) -> NDArray[Any]:
    if y.ndim == 2 and 1 in y.shape:
        y = y.ravel()
    if y.shape != (rows,):
        reason = f"y has shape {y.shape}, X has {rows} rows: one target a row is needed"
        raise DataFileError(name, 0, reason)
    if y.dtype.kind in "US":
        words = np.empty(rows, dtype=object)
        try:
            cells = [
                one.decode() if isinstance(one, bytes) else str(one) for one in y.tolist()
            ]
        except UnicodeDecodeError as error:
            reason = f"y holds text that is not UTF-8: {error.object!r}"
            raise DataFileError(name, 0, reason) from error
        words[:] = words_of(cells, {})
        return words
    if y.dtype.kind in "iu" and bool(((y > 2**53) | (y < -(2**53))).any()):
        reason = "y holds whole numbers beyond 2^53, which float64 would merge; code them"
        raise DataFileError(name, 0, reason)
    return y.astype(np.float64)


def write_npz(
    stream: Any, X: Any, y: NDArray[Any] | None, columns: list[str] | None
) -> None:
    """Write a file for :func:`read_npz`, uncompressed; its bytes depend on the data."""
    arrays: dict[str, Any] = {}
    if sparse.issparse(X):
        arrays = {key: getattr(X, key) for key in ("data", "indices", "indptr")}
        arrays |= {"shape": np.array(X.shape), "format": np.array(b"csr")}
    else:
        arrays["X"] = X
    if y is not None:
        arrays["y"] = y.astype(str) if y.dtype == object else y
    if columns is not None:
        arrays["columns"] = np.array(columns, dtype=str)
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        for key, values in arrays.items():
            entry = zipfile.ZipInfo(f"{key}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            with archive.open(entry, "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asarray(values), allow_pickle=False)
