"""Kernel rows that are computed once and kept, where there is memory for them.

Solvers ask again and again for the rows of points that move: :class:`StoredGram` keeps
them. A problem small enough to keep its whole matrix computes no value twice. Whether
something is stored depends on sizes alone, so results do not depend on threads.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin._jit import njit
from maxmargin.kernels.gram.mirror import mirror

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin._arrays import Index, Vector

SMALL = 2560  # policy: points up to which the whole matrix is kept: 26 MB in float32
CHEAP = 16.0  # policy: cost of a kernel value, in nanoseconds, up to which it is computed
# before it is needed, for so few points
_BESIDE = 1 << 20  # policy: values that are computed beside the table at a time: 8 MB
DEAR = 3.0  # policy: cost above which keeping a value beats computing it again


def _gather(table, slots, cols, out):
    for t in range(slots.size):
        source, target = table[slots[t]], out[t]
        for c in range(cols.size):
            target[c] = source[cols[c]]


def _add_rows(table, slots, coef, rows, out):
    ordered = rows.size == table.shape[1]
    for t in range(rows.size):
        ordered = ordered and rows[t] == t
    if ordered:
        for c in range(slots.size):
            source, factor = table[slots[c]], coef[c]
            for t in range(rows.size):
                out[t] += factor * np.float64(source[t])
    else:
        for c in range(slots.size):
            source, factor = table[slots[c]], coef[c]
            for t in range(rows.size):
                out[t] += factor * np.float64(source[rows[t]])


_gather = njit(_gather)
_add_rows = njit(_add_rows, fastmath={"contract"})


class StoredGram:
    """A Gram that keeps the rows of points that move, in one precision.

    Rows are kept as long as there is room; then the others are computed whenever they
    are asked for. Several threads may ask at once: a row is computed by one of them,
    under a lock, and counts as present only when all its values are.

    Parameters
    ----------
    gram : Gram
        Where the values come from. They are kept in the precision in which it begins;
        it answers itself in the other.
    own : tuple of two ndarrays, optional
        Tables of the two classes that make up the points: first those of one class,
        then those of the other. Their values are not computed again. They come with
        room for all rows.
    space : ndarray, optional
        Memory to keep the rows in. It is lent: until :meth:`forget` no other Gram may
        write to it.
    room : int, optional
        Rows that may be kept; all by default.
    eager : bool
        Whether a row is computed whole and kept when a block asks for some of its
        values: several problems that share the Gram will need it.
    """

    def __init__(
        self,
        gram: Any,
        own: tuple[NDArray[Any], NDArray[Any]] | None = None,
        space: NDArray[Any] | None = None,
        room: int | None = None,
        eager: bool = True,
    ) -> None:
        self.n, self.precisions, self.cost = gram.n, gram.precisions, gram.cost
        self._gram, self._dtype, self._own = gram, gram.precisions[0], own
        self.room = self.n if room is None else min(room, self.n)
        self._eager = eager and self.keeps_all
        self._space = space
        self._clear()
        self._lock = threading.Lock()

    def _clear(self) -> None:
        self._table: NDArray[Any] | None = None
        self._slot = np.full(self.n, -1, np.intp)
        self._used = 0
        self._owed = np.empty(0, np.intp)

    def __getstate__(self) -> dict[str, Any]:
        """Values are left behind when pickled: they can be computed again.

        The numbers of the kept rows are not: sums over kept and other rows have bits
        of their own, and a run that goes on from a copy must have the same bits.
        """
        kept = {**self.__dict__, "_space": None}
        for gone in ("_lock", "_table", "_slot", "_used"):
            del kept[gone]
        here = np.flatnonzero(self._slot >= 0)
        kept["_owed"] = here[np.argsort(self._slot[here])] if here.size else self._owed
        return kept

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Threads that share the copy share a lock of its own."""
        self.__dict__.update(state)
        self._clear()
        self._owed = state["_owed"]
        self._lock = threading.Lock()

    def _restore(self) -> None:
        """Compute the rows that were kept before a pickle."""
        if self._owed.size:
            with self._lock:
                owed, self._owed = self._owed, np.empty(0, np.intp)
                if owed.size:
                    self._fill(owed)

    @property
    def design(self) -> Any:
        """That of the Gram whose values it keeps."""
        return self._gram.design

    @property
    def n_kernel(self) -> int:
        """Kernel values computed so far."""
        return int(self._gram.n_kernel)

    @property
    def keeps_all(self) -> bool:
        """Whether there is room for the whole matrix."""
        return bool(self.room == self.n)

    @property
    def _in_order(self) -> bool:
        """Whether every point has the row of its number: a full table is the matrix.

        Not where few of many rows will be needed. Scattered over a large table they
        would touch all of its pages, and fresh memory costs more than the values
        (one class of mnist, 1,000 rows of 10,000: 0.7 s of 1.1).
        """
        return self.keeps_all and self.n <= SMALL

    def diagonal(self) -> Vector:
        """K[i, i] in float64."""
        diagonal: Vector = self._gram.diagonal()
        return diagonal

    def precisions_for(self, n: int) -> tuple[np.dtype[Any], ...]:
        """The precisions of the Gram behind this one."""
        precisions: tuple[np.dtype[Any], ...] = self._gram.precisions_for(n)
        return precisions

    def subset(self, index: Index, dtype: np.dtype[Any] | None = None) -> Any:
        """The matrix of the points ``index``, without the rows that are kept here."""
        return self._gram.subset(index, dtype)

    def narrowed(self, index: Index) -> Any:
        """The matrix of the points ``index``, without the rows that are kept here."""
        return self._gram.narrowed(index)

    def forget(self) -> None:
        """Give lent memory back; values asked for later are computed again."""
        with self._lock:
            self._clear()
            self._space = None

    def whole(self, dtype: np.dtype[Any]) -> NDArray[Any] | None:
        """The matrix itself, not to be changed, where it is kept in this precision."""
        if dtype != self._dtype or not self._in_order:
            return None
        self._restore()
        with self._lock:
            if self._used == 0:
                self._compute_whole()
            elif self._used < self.n:
                self._fill(np.flatnonzero(self._slot < 0))
        return self._table

    def block(self, rows: Index, cols: Index, out: NDArray[Any]) -> None:
        """K[rows, cols] into ``out``."""
        if out.dtype != self._dtype:
            self._gram.block(rows, cols, out)
            return
        self._restore()
        if self._eager:
            self._keep(rows)
        slots = self._slot[rows]
        if (slots >= 0).all() and self._table is not None:
            _gather(self._table, slots, cols, out)
        else:
            self._gram.block(rows, cols, out)

    def apply(
        self, rows: Index, cols: Index, coef: Vector, out: Vector, dtype: np.dtype[Any]
    ) -> None:
        """``out[t] += Σ_j K[rows[t], cols[j]]·coef[j]``; K[j, :] is row j by symmetry."""
        if dtype != self._dtype:
            self._gram.apply(rows, cols, coef, out, dtype)
            return
        self._restore()
        self._keep(cols)
        slots = self._slot[cols]
        here = slots >= 0
        if self._table is not None:
            _add_rows(self._table, slots[here], coef[here], rows, out)
        if not here.all():
            self._gram.apply(rows, cols[~here], coef[~here], out, dtype)

    def _keep(self, wanted: Index) -> None:
        """Compute those of the wanted rows that are not there, while there is room."""
        if (self._slot[wanted] >= 0).all() or self._used == self.room:
            return
        with self._lock:
            self._fill(wanted[self._slot[wanted] < 0][: self.room - self._used])

    def _fill(self, missing: Index) -> None:
        """Compute rows that are not there, for which there is room.

        They are put where they stay: others may be reading the rows beside them.
        """
        if self.keeps_all:
            missing = np.unique(missing)
        slots = np.arange(self._used, self._used + missing.size)
        if self._in_order:
            slots = missing
        if self._own is None:
            self._compute_rows(missing, slots)
        else:
            self._compute_beside(missing, slots, self._own)
        # As solvers take it: of a cube the product and NumPy's power differ by a bit.
        self._allot()[slots, missing] = self.diagonal()[missing]
        self._used += missing.size
        self._slot[missing] = slots  # now, not before: others read without lock

    def _compute_rows(self, missing: Index, slots: Index) -> None:
        """Whole rows, in place where they are neighbours."""
        table = self._allot()
        everyone = np.arange(self.n, dtype=np.intp)
        if missing.size and np.array_equal(slots, slots[0] + everyone[: slots.size]):
            self._gram.block(missing, everyone, table[slots[0] :])
            return
        step = max(64, _BESIDE // self.n)
        values = np.empty((min(step, missing.size), self.n), self._dtype)
        for start in range(0, missing.size, step):
            some = missing[start : start + step]
            self._gram.block(some, everyone, values)
            table[slots[start : start + step]] = values[: some.size]

    def _allot(self) -> NDArray[Any]:
        if self._table is None:
            size = self.room * self.n
            space = np.empty(size, self._dtype) if self._space is None else self._space
            self._table = space[:size].reshape(self.room, self.n)
        return self._table

    def _compute_whole(self) -> None:
        """All values at once, in the order of the points."""
        table = self._allot()
        everyone = np.arange(self.n, dtype=np.intp)
        if self._own is None:
            self._gram.block(everyone, everyone, table)
        else:  # between the classes every value is computed only once
            border = self._own[0].shape[0]
            table[:border, :border] = self._own[0]
            table[border:, border:] = self._own[1]
            self._gram.block(everyone[border:], everyone[:border], table[border:])
            mirror(table, border, self.n)
        np.fill_diagonal(table, self.diagonal())
        self._slot, self._used = everyone, self.n

    def _compute_beside(
        self, missing: Index, slots: Index, own: tuple[NDArray[Any], NDArray[Any]]
    ) -> None:
        """Values within a class are copied, those between the classes computed."""
        kept = self._allot()
        border = own[0].shape[0]
        everyone = np.arange(self.n, dtype=np.intp)
        first = missing < border
        for mine, table, start, others in (
            (first, own[0], 0, everyone[border:]),
            (~first, own[1], border, everyone[:border]),
        ):
            points, places = missing[mine], slots[mine]
            if points.size:
                kept[places, start : start + len(table)] = table[points - start]
                values = np.empty((points.size, others.size), self._dtype)
                self._gram.block(points, others, values)
                kept[places, others[0] : others[-1] + 1] = values


def binary_gram(gram: Any, cache_bytes: int, *, again: bool = False) -> tuple[Any, int]:
    """The Gram of a single problem, and the memory left for its working set.

    A small matrix is kept where its values are cheap, or will be needed ``again``, by
    folds or for another C: then the solver need not choose rows that are worth having
    (1,200 points of covtype: a fifth of the values, 0.4 of the time). Where values are
    dear, half of the memory is for rows.
    """
    row = gram.n * gram.precisions[0].itemsize
    room = min(gram.n, cache_bytes // 2 // row)
    small = room == gram.n <= SMALL and (again or gram.cost <= CHEAP)
    if (small and gram.cost > 0.0) or (gram.cost >= DEAR and room >= 1):
        return StoredGram(gram, room=room, eager=False), cache_bytes - room * row
    return gram, cache_bytes
