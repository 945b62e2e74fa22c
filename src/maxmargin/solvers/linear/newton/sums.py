"""Sums over rows that a line search needs of a loss."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from maxmargin._arrays import Vector
    from maxmargin.parallel import Workers

_PARTS = 8  # policy: parts that many rows are cut into, for threads
_WORTH = 1 << 16  # policy: rows; fewer are summed in one part


class Sums(NamedTuple):
    """Σ loss, Σβu, Σu²·curvature, Σβ and Σ|β| at one point of a line."""

    paid: float
    along: float
    curved: float
    total: float
    size: float


class Looks(Protocol):
    """A loss of many rows."""

    def look(
        self, workers: Workers, z: Vector, u: Vector, t: float, beta: Vector
    ) -> Sums:
        """Write −loss' at z − t·u into β; return its sums, the same for all threads."""


def summed(
    compiled: Callable[..., None],
    workers: Workers,
    arrays: tuple[Any, ...],
    numbers: tuple[float, ...],
) -> Sums:
    """Add up ``compiled(*arrays, *numbers, found)`` over parts of the rows, in order."""
    n = len(arrays[0])
    parts = _PARTS if n >= _WORTH else 1
    edges = [n * number // parts for number in range(parts + 1)]
    found = np.empty((parts, 5))

    def one(number: int) -> None:
        rows = slice(edges[number], edges[number + 1])
        compiled(*(array[rows] for array in arrays), *numbers, found[number])

    if parts == 1:
        one(0)
    else:
        workers.map(one, range(parts))
    return Sums(*found.sum(axis=0).tolist())
