"""Rows as LIBSVM's text, with the fewest digits that lose nothing."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from maxmargin._jit import njit
from maxmargin.data_files.libsvm_text.decimals import shortest_digits
from maxmargin.data_files.opened import opened_for_writing
from maxmargin.errors import InputError
from maxmargin.parallel import Workers

if TYPE_CHECKING:
    import os
    from typing import IO

    from numpy.typing import ArrayLike, NDArray

_CHUNK = 1 << 16  # numbers formatted at a time by one thread
_EXACT = 2**53  # whole numbers up to here have a float64 of their own
_LONGEST = 25  # characters of a number: -2.2250738585072014e-308 and its separator
_LONGEST_INDEX = 20  # digits of 2^63 and the colon

_U0, _U1, _U10, _U48 = np.uint64(0), np.uint64(1), np.uint64(10), np.uint64(48)
_TEN_4, _TEN_8 = np.uint64(10**4), np.uint64(10**8)
_SPACE, _MINUS, _PLUS, _POINT, _ZERO, _E, _COLON, _LINE_FEED = b" -+.0e:\n"


@njit
def _put_integer(out: Any, p: int, n: Any) -> int:
    """Digits of an unsigned integer; returns the place behind."""
    q = p + 1
    bound = _U10
    while n >= bound:  # n is below 10^19, and that below 2^64
        q += 1
        bound = bound * _U10
    end = q
    while q > p:
        q -= 1
        tens = n // _U10
        out[q] = n - tens * _U10 + _U48
        n = tens
    return end


@njit
def _put_exponent(out: Any, p: int, end: int, exponent: int) -> int:
    """Make the digits from p to end scientific: one before the point, and an exponent."""
    if end > p + 1:
        for q in range(end, p + 1, -1):
            out[q] = out[q - 1]
        out[p + 1] = _POINT
        end += 1
    out[end] = _E
    out[end + 1] = _MINUS if exponent < 0 else _PLUS
    end += 2
    if abs(exponent) < 10:
        out[end] = _ZERO
        end += 1
    return _put_integer(out, end, np.uint64(abs(exponent)))


@njit
def _put_decimal(out: Any, p: int, digits: Any, k: int) -> int:
    """digits·10^k as Python's ``repr`` lays it out, but whole numbers without ``.0``."""
    # Zeros at the end, in steps: a division by a constant is a multiplication.
    if digits % _TEN_8 == _U0:
        digits = digits // _TEN_8
        k += 8
    if digits % _TEN_4 == _U0:
        digits = digits // _TEN_4
        k += 4
    while digits % _U10 == _U0:
        digits = digits // _U10
        k += 1
    end = _put_integer(out, p, digits)
    count = end - p
    point = count + k  # digits before the point
    if point < -3 or point > 16:
        return _put_exponent(out, p, end, point - 1)
    if k >= 0:
        for _ in range(k):
            out[end] = _ZERO
            end += 1
        return end
    if point > 0:
        for q in range(end, p + point, -1):
            out[q] = out[q - 1]
        out[p + point] = _POINT
        return end + 1
    zeros = 2 - point  # "0." and those behind it
    for q in range(end - 1, p - 1, -1):
        out[q + zeros] = out[q]
    for q in range(p, p + zeros):
        out[q] = _ZERO
    out[p + 1] = _POINT
    return end + zeros


@njit
def _put_float(out: Any, p: int, bits: Any, mantissa_bits: int) -> int:
    """A finite float from its bits: 52 of mantissa in a float64, 23 in a float32."""
    width = np.uint64(mantissa_bits)
    exponent_bits = 11 if mantissa_bits == 52 else 8
    bits = np.uint64(bits)
    fraction = bits & ((_U1 << width) - _U1)
    exponent: Any = np.int64((bits >> width) & ((_U1 << np.uint64(exponent_bits)) - _U1))
    if bits >> np.uint64(mantissa_bits + exponent_bits):
        out[p] = _MINUS
        p += 1
    if exponent == 0 and fraction == _U0:
        out[p] = _ZERO
        return p + 1
    bias = (1 << (exponent_bits - 1)) - 1 + mantissa_bits
    c = fraction if exponent == 0 else fraction | (_U1 << width)
    q = max(exponent, 1) - bias
    if -mantissa_bits <= q <= 0:
        whole = c >> np.uint64(-q)
        if whole << np.uint64(-q) == c:  # a whole number below 2^53: its own digits
            return _put_integer(out, p, whole)
    digits, k = shortest_digits(c, q, fraction == _U0 and exponent > 1)
    return _put_decimal(out, p, digits, k)


@njit
def _put_rows(
    out: Any, labels: Any, indptr: Any, indices: Any, bits: Any, base: int
) -> int:
    """Write lines of rows, whose pairs begin at ``indptr[0]``; returns their length."""
    mantissa_bits = 52 if bits.itemsize == 8 else 23
    first = indptr[0]
    p = 0
    for row in range(labels.size):
        p = _put_float(out, p, labels[row], 52)
        for at in range(indptr[row] - first, indptr[row + 1] - first):
            out[p] = _SPACE
            p = _put_integer(out, p + 1, np.uint64(indices[at] + base))
            out[p] = _COLON
            p = _put_float(out, p + 1, bits[at], mantissa_bits)
        out[p] = _LINE_FEED
        p += 1
    return p


def write_svmlight(
    target: str | os.PathLike[str] | IO[bytes],
    X: Any,
    y: ArrayLike,
    *,
    zero_based: bool = False,
    n_jobs: int | None = None,
) -> None:
    """Write rows as LIBSVM's text, exactly.

    Numbers have the fewest digits that are read back to the same bits, whole numbers no
    point: ``read_svmlight(path)`` restores float64 data, ``read_svmlight(path,
    dtype=np.float32)`` those of float32. Zeros that a sparse matrix stores are written;
    of a dense array all values but +0.0. The format does not hold the number of columns:
    if the last ones are empty, give ``n_features`` to the reader.

    Parameters
    ----------
    target : path or binary file
        A path is replaced at once when all is written, and packed if it ends in .gz, .bz2
        or .xz.
    X : array or sparse matrix of shape (n, d)
        Finite numbers.
    y : array of shape (n,)
        Finite numbers.
    zero_based : bool
        Whether indices count from 0 (LIBSVM's count from 1).
    n_jobs : int or None
        Threads; None: every core. The file does not depend on it.

    Raises
    ------
    InputError
        Where X or y have the wrong shape, or numbers that the format cannot hold.
    """
    matrix = _checked_matrix(X)
    labels = _checked_labels(y, matrix.shape[0])
    base = 0 if zero_based else 1
    edges = _edges(matrix)
    with opened_for_writing(target) as file, Workers(n_jobs) as workers:
        batch = 2 * workers.count

        def lines(part: tuple[int, int]) -> memoryview:
            return _lines(matrix, labels, part, base)

        parts = list(pairwise(edges))
        for start in range(0, len(parts), batch):
            for text in workers.map(lines, parts[start : start + batch]):
                file.write(text)


def _edges(matrix: Any) -> list[int]:
    """Rows at which chunks of about :data:`_CHUNK` numbers begin, and the end."""
    rows = matrix.shape[0]
    if not sp.issparse(matrix):
        step = max(1, _CHUNK // max(1, matrix.shape[1] + 1))
        return [*range(0, rows, step), rows]
    numbers = matrix.indptr.astype(np.int64) + np.arange(rows + 1)
    marks = np.arange(0, int(numbers[-1]), _CHUNK)
    starts = np.unique(np.searchsorted(numbers, marks)).tolist()
    return [*(start for start in starts if start < rows), rows]


def _lines(
    matrix: Any, labels: NDArray[np.uint64], part: tuple[int, int], base: int
) -> memoryview:
    """The text of some rows."""
    start, stop = part
    if sp.issparse(matrix):
        indptr = matrix.indptr[start : stop + 1]
        pairs = slice(indptr[0], indptr[-1])
        indices, values = matrix.indices[pairs], matrix.data[pairs]
    else:
        block = matrix[start:stop]
        rows, indices = np.nonzero((block != 0.0) | np.signbit(block))
        values = block[rows, indices]
        indptr = np.searchsorted(rows, np.arange(stop - start + 1))
    values = _floats(values)
    if not np.isfinite(values).all():
        raise InputError(_not_finite("X"))
    bits = values.view(np.uint64 if values.dtype == np.float64 else np.uint32)
    longest = (stop - start) * (_LONGEST + 1) + values.size * (_LONGEST + _LONGEST_INDEX)
    out = np.empty(longest, np.uint8)
    size = _put_rows(out, labels[start:stop], indptr, indices, bits, base)
    return out[:size].data


def _floats(values: NDArray[Any]) -> NDArray[Any]:
    """The same numbers as contiguous float64 or float32, exactly."""
    if values.dtype == np.float16:
        return values.astype(np.float32)
    if values.dtype in (np.float32, np.float64):
        return np.ascontiguousarray(values)
    if values.dtype.itemsize == 8 and values.dtype.kind in "iu":
        beyond = values > _EXACT
        if values.dtype.kind == "i":
            beyond |= values < -_EXACT
        if beyond.any():
            msg = (
                f"{values[beyond][0]} is beyond 2^53, where float64, and so the format, "
                "does not hold every whole number: scale the data"
            )
            raise InputError(msg)
    return values.astype(np.float64)


def _not_finite(what: str) -> str:
    return f"{what} holds NaN or infinity, which the format cannot: remove or impute them"


def _check_kind(what: str, dtype: np.dtype[Any]) -> None:
    if dtype.kind not in "fiub" or dtype.itemsize > 8:
        msg = (
            f"{what} holds {dtype}; the format holds real numbers up to float64: convert "
            "or encode it"
        )
        raise InputError(msg)


def _checked_matrix(X: Any) -> Any:
    """A dense array or a CSR matrix with sorted indices; the caller's is not changed."""
    matrix: Any = X if sp.issparse(X) else np.asarray(X)
    if matrix.ndim != 2:
        msg = f"X has {matrix.ndim} dimensions; it must be a table of rows and columns"
        raise InputError(msg)
    _check_kind("X", matrix.dtype)
    if not sp.issparse(matrix):
        return matrix
    rows = matrix.tocsr()
    try:
        rows.check_format(full_check=True)  # compiled code trusts every index
    except ValueError as error:
        msg = f"X is no valid sparse matrix: {error}"
        raise InputError(msg) from error
    if not rows.has_canonical_format:
        if rows is X:
            rows = rows.copy()
        rows.sum_duplicates()
    return rows


def _checked_labels(y: ArrayLike, rows: int) -> NDArray[np.uint64]:
    """Bits of the labels as float64."""
    labels = np.asarray(y)
    if labels.shape != (rows,):
        msg = f"y has shape {labels.shape}; X has {rows} rows, and each has one label"
        raise InputError(msg)
    _check_kind("y", labels.dtype)
    exact = _floats(labels).astype(np.float64)
    if not np.isfinite(exact).all():
        raise InputError(_not_finite("y"))
    return exact.view(np.uint64)
