"""Products with some of the rows of a design: Xw, X'u and X'DXv over an index.

Cut by counts alone and added up in order, as in :mod:`maxmargin.design`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin._jit import is_record, njit, overload
from maxmargin.design import add_row, dot_row
from maxmargin.rows import DenseRows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin.design import Design

    Index = NDArray[np.intp]
    Vector = NDArray[np.float64]

__all__ = ["back", "squares", "there_and_back", "times"]

_PARTS = 8  # sums over rows are cut into so many
_WORTH = 1 << 17  # numbers below which a second thread does not pay


def add_square(rows: Any, i: int, factor: float, out: Any) -> None:
    """Out += factor·x_i², entry by entry."""
    raise TypeError(f"no squares for {type(rows).__name__}: compiled code only")  # noqa: EM102


@overload(add_square)
def _overload_square(rows, i, factor, out):  # noqa: ARG001
    return _square_dense if is_record(rows, DenseRows) else _square_csr


def _square_dense(rows, i, factor, out):
    row = rows.data[i]
    for k in range(row.size):
        x = np.float64(row[k])
        out[k] += factor * x * x


def _square_csr(rows, i, factor, out):
    for e in range(rows.indptr[i], rows.indptr[i + 1]):
        x = np.float64(rows.data[e])
        out[rows.indices[e]] += factor * x * x


def _times(rows, some, w, scaling, out):
    for k in range(some.size):
        out[k] = dot_row(rows, some[k], w, scaling)


def _back(rows, some, u, scaling, out):
    for k in range(some.size):
        if u[k] != 0.0:
            add_row(rows, some[k], u[k], out, scaling)


def _there_and_back(rows, some, weight, v, scaling, out):
    """Out += X'DXv in one pass over the rows; Σ D·Xv."""
    total = 0.0
    for k in range(some.size):
        factor = weight[k] * dot_row(rows, some[k], v, scaling)
        add_row(rows, some[k], factor, out, scaling)
        total += factor
    return total


def _squares(rows, some, weight, scaling, out):
    """Out += the diagonal of X'DX."""
    for k in range(some.size):
        add_square(rows, some[k], weight[k], out)
        if scaling != 0.0:
            out[-1] += weight[k] * scaling * scaling


_times = njit(_times)
_back = njit(_back)
_there_and_back = njit(_there_and_back)
_squares = njit(_squares)


def times(design: Design, some: Index, w: Vector) -> Vector:
    """x̃_i·w for i in ``some``."""
    out = np.empty(some.size)
    grain = max(1, _WORTH * design.n // max(1, design.stored))
    design.workers.spread(
        lambda a, b: _times(design.rows, some[a:b], w, design.scaling, out[a:b]),
        some.size,
        grain,
    )
    return out


def back(design: Design, some: Index, u: Vector) -> Vector:
    """Σ u_k·x̃_i over i = some[k]."""
    sums, edges = _parts(design, some)

    def part(k: int) -> None:
        at = slice(edges[k], edges[k + 1])
        _back(design.rows, some[at], u[at], design.scaling, sums[k])

    design.workers.map(part, range(len(sums)))
    return _total(sums)


def squares(design: Design, some: Index, weight: Vector) -> Vector:
    """The diagonal of X̃'DX̃ over the rows ``some``."""
    sums, edges = _parts(design, some)

    def part(k: int) -> None:
        at = slice(edges[k], edges[k + 1])
        _squares(design.rows, some[at], weight[at], design.scaling, sums[k])

    design.workers.map(part, range(len(sums)))
    return _total(sums)


def there_and_back(
    design: Design, some: Index, weight: Vector, v: Vector
) -> tuple[Vector, float]:
    """X̃'DX̃v over the rows ``some``, and ΣDX̃v."""
    sums, edges = _parts(design, some)

    def part(k: int) -> float:
        at = slice(edges[k], edges[k + 1])
        total: float = _there_and_back(
            design.rows, some[at], weight[at], v, design.scaling, sums[k]
        )
        return total

    totals = design.workers.map(part, range(len(sums)))
    return _total(sums), sum(totals)


def _parts(design: Design, some: Index) -> tuple[NDArray[np.float64], list[int]]:
    """A sum of its own for every part, and where the parts begin and end."""
    work = design.stored * some.size // max(1, design.n)
    # A sum must be worth the clearing and the adding up.
    parts = max(1, min(_PARTS, work // (_WORTH + 4 * design.width)))
    edges = [some.size * part // parts for part in range(parts + 1)]
    return np.zeros((parts, design.width)), edges


def _total(sums: NDArray[np.float64]) -> Vector:
    total: Vector = sums[0] if len(sums) == 1 else sums.sum(axis=0)
    return total
