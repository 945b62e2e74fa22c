"""Scores of rows by machines that have not seen them: five folds on one kernel matrix.

A fold's machine is the same problem with the box [0, 0] for the rows it holds out, so
every fold asks the same Gram, and the gradient of the held-out rows is their score.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.estimators.kernel.fit.parts import solve
from maxmargin.kernels.gram.copies import CopiedGram
from maxmargin.kernels.gram.row_cache import StoredGram

if TYPE_CHECKING:
    from collections.abc import Sequence

    from maxmargin._arrays import Index, Vector
    from maxmargin.estimators.kernel.fit.parts import Solved
    from maxmargin.parallel import Workers
    from maxmargin.solvers.base import Observer

FOLDS = 5


def stratified_folds(codes: Index, random: np.random.RandomState) -> Index:
    """A fold for every row, each class dealt out evenly; −1 for rows left out."""
    folds = np.full(codes.size, -1, dtype=np.intp)
    dealt = 0
    for code in np.unique(codes[codes >= 0]):
        mine = random.permutation(np.flatnonzero(codes == code))
        folds[mine] = (dealt + np.arange(mine.size)) % FOLDS
        dealt += mine.size
    return folds


def out_of_fold(
    whole: Solved,
    folds: Index,
    gram: Any,
    solver: Any,
    workers: Workers,
    observers: Sequence[Observer],
) -> tuple[Vector, list[Solved]]:
    """Out-of-fold scores of all rows of a classification, and the folds' own ends.

    Where a fold was stopped early, the scores are those of the whole machine.

    Parameters
    ----------
    whole : Solved
        The machine of all rows.
    folds : ndarray of int
        Fold of every row of the part.
    gram : Gram
        Of the part; shared by the folds, several of which may be at work.
    solver : Solver
        How; its memory is divided among the folds.
    workers : Workers
        Threads.
    observers : sequence of Observer
        Who watches.
    """
    part: Any = whole.part
    lesser = replace(solver, cache_bytes=max(1, solver.cache_bytes // FOLDS))
    scores = np.zeros(part.rows.size)

    def one(fold: int) -> Solved | None:
        held = folds == fold
        kept = np.where(held, 0.0, 1.0)
        signs = np.unique(part.y[~held])
        if signs.size < 2:
            # A class with one row: who has seen only the other class says so.
            scores[held] = signs[0] if signs.size else 0.0
            return None
        # What is kept of a part depends on who came first: in folds, on the threads.
        keeper = gram.distinct if isinstance(gram, CopiedGram) else gram
        stored = isinstance(keeper, StoredGram) and keeper.keeps_all
        found = solve(
            part,
            gram if stored else _view(gram),
            lesser,
            kept=kept,
            observers=observers,
            counted=not stored,  # what is stored is counted where it is kept
        )
        # Who was stopped in the middle knows less than the machine itself.
        scores[held] = (found if found.stop.converged else whole).scores[held]
        return found

    ended = workers.map(one, [fold for fold in range(FOLDS) if (folds == fold).any()])
    return scores, [found for found in ended if found is not None]


def _view(gram: Any) -> Any:
    """The same matrix with a counter of its own."""
    return gram.narrowed(np.arange(gram.n, dtype=np.intp))
