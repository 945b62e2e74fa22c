"""The kernel matrix of a kernel of pairs of rows: sums over features, users' functions.

Everything is float64: a user's function is compiled for float64 rows, and sums of
distances have no cheap form that float32 would speed up much.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from maxmargin.errors import InputError
from maxmargin.kernels.gram import pair_tiles, tiles
from maxmargin.kernels.gram.contract import Unkept
from maxmargin.parallel import Tally, Workers
from maxmargin.rows.records import CsrRows, DenseRows, Rows, frozen, rows_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin._arrays import Index, Vector
    from maxmargin.kernels.function import FunctionKernel
    from maxmargin.kernels.row_pairs import PairKernel

_DOUBLE = np.dtype(np.float64)
_NOTHING = np.empty((0, 0))
_GRAIN = 64  # policy: rows below which a second thread costs more than it brings
_SAMPLE = 64  # policy: rows on which a function is tested for symmetry
_SPARSE = 8  # policy: features for each stored value from which merging beats writing out


class PairGram(Unkept):
    """K over the rows of X, or over some of them (``subset``).

    Parameters
    ----------
    kernel : PairKernel
        The kernel.
    X : ndarray (C order) or CSR matrix
        The points; kept, not copied.
    workers : Workers
        Threads for large requests.
    """

    precisions: tuple[np.dtype[Any], ...] = (_DOUBLE,)

    def __init__(self, kernel: Any, X: Any, workers: Workers) -> None:
        self.n, self._d = X.shape
        self.kernel, self._workers = kernel, workers
        self._rows = rows_of(X)
        self._index: Index | None = None
        self._count = Tally()
        if kernel.is_function:
            check_function(kernel, X, X)
            self._refuse_asymmetric(kernel)

    def _refuse_asymmetric(self, kernel: Any) -> None:
        """Compare both orders, for blocks of a Gram are symmetric by construction."""
        some = np.linspace(0, self.n - 1, min(self.n, _SAMPLE)).astype(np.intp)
        K = np.empty((some.size, some.size))
        _spread_pairs(
            kernel, (self._rows, self._rows), some, some, _NOTHING, tiles.STORE, K,
            self._workers,
        )  # fmt: skip
        apart = np.abs(K - K.T)
        if float(apart.max(initial=0.0)) > 1e-6 * float(np.abs(K).max(initial=0.0)):
            i, j = np.unravel_index(int(apart.argmax()), K.shape)
            name = kernel.__name__
            msg = (
                f"kernel {name} is asymmetric: {name}(x, z)={K[i, j]:.6g} and "
                f"{name}(z, x)={K[j, i]:.6g} for two rows; a kernel has "
                "k(x, z) = k(z, x)"
            )
            raise InputError(msg)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Freeze the arrays again: writable ones would be compiled for anew."""
        self.__dict__.update(state)
        self._rows = frozen(self._rows)

    @property
    def cost(self) -> float:
        """Work of one kernel value, in units of about one nanosecond."""
        return 2.0 + float(self._d) * (1.0 if self.kernel.is_function else 0.2)

    @property
    def n_kernel(self) -> int:
        """Kernel values computed so far."""
        return self._count.total

    def precisions_for(self, n: int) -> tuple[np.dtype[Any], ...]:
        """Float64 always."""
        return self.precisions

    def subset(self, index: Index, dtype: np.dtype[Any] | None = None) -> PairGram:
        """The kernel matrix of the points ``index``, in one thread."""
        part = self.narrowed(index)
        part._workers = Workers(1)
        return part

    def narrowed(self, index: Index) -> PairGram:
        """The kernel matrix of the points ``index``, with the same threads."""
        part = object.__new__(PairGram)
        part.__dict__.update(self.__dict__)
        part.n, part._count = index.size, Tally()
        part._index = self._global(index)
        return part

    def diagonal(self) -> Vector:
        """K[i, i]."""
        return _diagonal(self.kernel, self._rows, self._global(np.arange(self.n)))

    def block(self, rows: Index, cols: Index, out: NDArray[Any]) -> None:
        """K[rows, cols] into the top left corner of ``out``."""
        if rows.size < cols.size:  # K is symmetric: let the longer side be the rows
            self._product(cols, rows, _NOTHING, out, tiles.TURN)
        else:
            self._product(rows, cols, _NOTHING, out, tiles.STORE)

    def apply(
        self, rows: Index, cols: Index, coef: Vector, out: Vector, dtype: Any = None
    ) -> None:
        """``out[t] += Σ_j K[rows[t], cols[j]]·coef[j]``."""
        table = out.reshape(-1, 1)
        self._product(rows, cols, coef.reshape(1, -1), table, tiles.ADD)

    def _product(
        self, rows: Index, cols: Index, coef: Vector, out: NDArray[Any], mode: int
    ) -> None:
        rows, cols = self._global(rows), self._global(cols)
        sides = (self._rows, self._rows)
        _spread_pairs(
            self.kernel, sides, rows, cols, coef, mode, out, self._workers, symmetric=True
        )
        self._count.add(rows.size * cols.size)

    def _global(self, index: Index) -> Index:
        return index if self._index is None else self._index[index]


class PairCross:
    """The values between the rows of A and those of B."""

    def __init__(self, kernel: PairKernel, A: Any, B: Any, workers: Workers) -> None:
        self._kernel, self._workers = kernel, workers
        self._sides = rows_of(A), rows_of(B)

    def block(self, rows: Index, cols: Index, out: NDArray[Any]) -> None:
        """k(A[rows], B[cols]) into the top left corner of ``out``."""
        _spread_pairs(
            self._kernel, self._sides, rows, cols, _NOTHING, tiles.STORE, out,
            self._workers,
        )  # fmt: skip

    def expand(self, coef: Vector, out: NDArray[Any]) -> None:
        """``out[t, m] += Σ_j k(A[t], B[j])·coef[m, j]``."""
        rows, cols = (np.arange(one, dtype=np.intp) for one in (len(out), coef.shape[1]))
        _spread_pairs(
            self._kernel, self._sides, rows, cols, coef, tiles.ADD, out, self._workers
        )


def pair_diagonal(kernel: PairKernel, X: Any) -> Vector:
    """k(x, x) of every row."""
    return _diagonal(kernel, rows_of(X), np.arange(X.shape[0], dtype=np.intp))


def check_function(kernel: FunctionKernel, A: Any, B: Any) -> None:
    """Call the function once in Python: compiled code would read past the end of a row.

    Compiled loops have no bounds checks, so an index beyond the last feature would
    give a number from foreign memory where Python raises IndexError.
    """
    if A.shape[0] == 0 or B.shape[0] == 0:
        return
    x, z = _written_out(A, 0), _written_out(B, B.shape[0] - 1)
    name = kernel.__name__
    kernel.compiled_product()  # a refusal by Numba is reported first
    try:
        with np.errstate(all="ignore"):
            kernel.function(x, z)
    except Exception as error:
        msg = (
            f"kernel {name} raised {type(error).__name__} for two rows of {x.size} "
            f"features: {error}; k(x, z) must give a number for every pair of rows"
        )
        raise InputError(msg) from error


def _written_out(X: Any, i: int) -> Vector:
    row = X[[i]].toarray()[0] if sp.issparse(X) else X[i]
    row = np.array(row, dtype=np.float64)
    row.flags.writeable = False
    return row


def _features(rows: Rows) -> int:
    return rows.data.shape[1] if isinstance(rows, DenseRows) else int(rows.d)


def _are_thin(*sides: Rows) -> bool:
    """Whether both sides are sparse, and store so little that merging rows pays."""
    stored = 0.0
    for rows in sides:
        if not isinstance(rows, CsrRows):
            return False
        stored += rows.data.size / max(1, rows.indptr.size - 1)
    return stored * _SPARSE < _features(sides[0])


def _diagonal(kernel: Any, rows: Rows, index: Index) -> Vector:
    layout = pair_tiles.layout_of(_features(rows), 1)
    space, seen = _memory(layout.d)
    out = np.empty(index.size)
    if kernel.is_function:
        run = kernel.compiled_diagonal()
        run(kernel.compiled_pair(), rows, index, layout, space, seen, out)
        _check_finite(kernel, out)
    else:
        record = kernel.compiled()
        run = tiles.compiled_for(record, pair_tiles.panel_diagonal)
        run(record, rows, index, layout, space, out)
    return out


def _memory(size: int) -> tuple[Vector, Vector]:
    """Working memory of one thread, and the same as a user's function sees it."""
    space = np.zeros(size)
    seen = space.view()
    seen.flags.writeable = False
    return space, seen


def _spread_pairs(
    kernel: Any,
    sides: tuple[Rows, Rows],
    index: Index,
    cols: Index,
    coef: Vector,
    mode: int,
    out: NDArray[Any],
    workers: Workers,
    *,
    symmetric: bool = False,
) -> None:
    """One request, its rows spread over the threads."""
    left, right = sides
    others = pair_tiles.Side(right, cols)
    user = kernel.is_function
    layout = pair_tiles.layout_of(_features(right), 1 if user else pair_tiles.WIDTH)
    size = layout.columns * (layout.d + 1) + layout.d
    table, sums = (_NOTHING, out) if mode == tiles.ADD else (out, _NOTHING)
    if user:
        pair, run = kernel.compiled_pair(), kernel.compiled_product()
    else:
        record, merge = kernel.compiled(), _are_thin(left, right)
        loop = pair_tiles.merge_product if merge else pair_tiles.panel_product
        run = tiles.compiled_for(record, loop)
        size = layout.columns if merge else size

    def slab(a: int, b: int) -> None:
        some, (space, seen) = pair_tiles.Side(left, index[a:b]), _memory(size)
        if user:
            run(
                pair, some, others, coef, symmetric, layout, space, seen, mode, a, table,
                sums,
            )  # fmt: skip
        else:
            run(record, some, others, coef, layout, space, mode, a, table, sums)

    workers.spread(slab, index.size, _GRAIN)
    if user:
        shape = (cols.size, index.size) if mode == tiles.TURN else (index.size, cols.size)
        written = out if mode == tiles.ADD else out[: shape[0], : shape[1]]
        _check_finite(kernel, written)


def _check_finite(kernel: FunctionKernel, values: Vector) -> None:
    """A NaN or infinite value makes a sum of products with it NaN or infinite."""
    if not np.isfinite(values).all():
        msg = (
            f"kernel {kernel.__name__} returned NaN or infinity for some pair of "
            "rows; k(x, z) must be finite: look for divisions by 0, logarithms and "
            "square roots of numbers below 0, and overflow"
        )
        raise InputError(msg)
