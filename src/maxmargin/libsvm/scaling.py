"""Features scaled to a common range, as by ``svm-scale``.

Feature j becomes lower + (upper − lower)·(x − min_j)/(max_j − min_j), where min and max
are over all rows, with features that a row does not name counting as 0; a feature that
is the same in all rows is left out, and so is every result of 0 (README of LIBSVM,
"svm-scale Usage"). The file of ranges is

    y                                 only with -y
    y_lower y_upper
    y_min y_max
    x
    lower upper
    index min max                     a line for every feature that varies
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.data_files.opened import open_bytes
from maxmargin.errors import DataFileError
from maxmargin.persist.libsvm_model import LARGEST_INT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from maxmargin._arrays import Vector

_LONGEST = 1 << 30  # policy: bytes of a file of ranges: some ten million features


@dataclass(frozen=True)
class Target:
    """The range of labels, and the range that they are scaled to."""

    lower: float
    upper: float
    least: float
    most: float


@dataclass(frozen=True, eq=False)
class Ranges:
    """The ranges of features, and the range that they are scaled to."""

    lower: float
    upper: float
    index: NDArray[np.int64]  # of the features that vary, ascending, from 1
    least: Vector
    most: Vector
    target: Target | None = None

    def text(self) -> str:
        """The file of ranges, with all digits."""
        lines = []
        if self.target is not None:
            y = self.target
            lines += ["y", _pair(y.lower, y.upper), _pair(y.least, y.most)]
        lines += ["x", _pair(self.lower, self.upper)]
        ranges = zip(
            self.index.tolist(), self.least.tolist(), self.most.tolist(), strict=True
        )
        lines += [f"{index} {_pair(least, most)}" for index, least, most in ranges]
        return "\n".join([*lines, ""])


def _pair(first: float, second: float) -> str:
    return f"{first:.17g} {second:.17g}"


def ranges_of(
    X: Any, y: Vector, lower: float, upper: float, target: tuple[float, float] | None
) -> Ranges:
    """Ranges of the columns of a CSR matrix, column 0 being index 1.

    Features shall lie between ``lower`` and ``upper``, labels in the range ``target``.
    """
    # Only columns with entries can vary, however many there are.
    used, place = np.unique(X.indices, return_inverse=True)
    place = place.reshape(-1)
    least, most = np.full(used.size, np.inf), np.full(used.size, -np.inf)
    np.minimum.at(least, place, X.data)
    np.maximum.at(most, place, X.data)
    absent = np.bincount(place, minlength=used.size) < X.shape[0]
    least[absent] = np.minimum(least[absent], 0.0)
    most[absent] = np.maximum(most[absent], 0.0)
    varies = least != most
    labels = None
    if target is not None:
        labels = Target(*target, float(y.min()), float(y.max()))
    index = used[varies].astype(np.int64) + 1
    return Ranges(lower, upper, index, least[varies], most[varies], labels)


def read_ranges(path: str) -> Ranges:
    """Read a file of ranges; an error names the line at fault."""
    lines = open_bytes(path, limit=_LONGEST).decode("ascii", "replace").split("\n")

    def numbers(at: int, count: int) -> list[float]:
        words = lines[at].split() if at < len(lines) else []
        try:
            found = [float(word) for word in words]
        except ValueError:
            found = []
        if len(found) != count or not all(map(math.isfinite, found)):
            reason = f"{count} finite numbers must stand here, of a file of ranges"
            raise DataFileError(path, at + 1, reason)
        return found

    at, target = 0, None
    if lines[0].strip() == "y":
        target = Target(*numbers(1, 2), *numbers(2, 2))
        at = 3
    if at >= len(lines) or lines[at].strip() != "x":
        raise DataFileError(path, at + 1, "a file of ranges has a line 'x' here")
    lower, upper = numbers(at + 1, 2)
    while lines and not lines[-1].strip():
        lines.pop()
    table = np.array(
        [numbers(one, 3) for one in range(at + 2, len(lines))], np.float64
    ).reshape(-1, 3)
    index = table[:, 0]
    sound = (index == np.rint(index)) & (index >= 1) & (index <= LARGEST_INT)
    sound[1:] &= index[1:] > index[:-1]
    if not sound.all():
        worst = at + 3 + int(np.flatnonzero(~sound)[0])
        raise DataFileError(path, worst, "indices are whole numbers from 1, ascending")
    varies = table[:, 1] != table[:, 2]
    kept = table[varies]
    return Ranges(
        lower, upper, kept[:, 0].astype(np.int64), kept[:, 1], kept[:, 2], target
    )


def unseen(X: Any, ranges: Ranges) -> list[int]:
    """Indices of features with entries for which there is no range."""
    used = np.unique(X.indices).astype(np.int64) + 1
    found: list[int] = np.setdiff1d(used, ranges.index).tolist()
    return found


def _stretched(
    value: Vector, least: Vector | float, most: Vector | float, lower: float, upper: float
) -> Vector:
    """Scaled values; the ends are exact, without rounding."""
    inner = lower + (upper - lower) * (value - least) / (most - least)
    return np.where(value == least, lower, np.where(value == most, upper, inner))


def scaled_lines(X: Any, y: Vector, ranges: Ranges) -> Iterator[tuple[str, int]]:
    """Every row of a CSR matrix as a line of LIBSVM's format, and its feature count."""
    labels = y
    if ranges.target is not None:
        to = ranges.target
        same = to.least == to.most  # a label that never varies goes to the lower end
        most = to.least + 1.0 if same else to.most
        labels = _stretched(y, to.least, most, to.lower, to.upper)
    least, most_, index = ranges.least, ranges.most, ranges.index
    nothing = _stretched(np.zeros(index.size), least, most_, ranges.lower, ranges.upper)
    columns = index - 1
    for row, label in enumerate(labels.tolist()):
        some = slice(X.indptr[row], X.indptr[row + 1])
        place = np.searchsorted(columns, X.indices[some])
        known = place < index.size
        known[known] = columns[place[known]] == X.indices[some][known]
        at = place[known]
        line = nothing.copy()
        line[at] = _stretched(
            X.data[some][known], least[at], most_[at], ranges.lower, ranges.upper
        )
        kept = np.flatnonzero(line)
        words = [
            f"{one}:{value:g} "
            for one, value in zip(index[kept].tolist(), line[kept].tolist(), strict=True)
        ]
        yield f"{label:.17g} {''.join(words)}\n", kept.size
