"""Out-of-fold scores: five folds on one kernel matrix.

The problem of a fold is the same, with the box [0, 0] for the held-out rows: every fold
uses the same Gram, and the gradient at the held-out rows gives their scores.
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

FOLDS = 5  # policy: as in LIBSVM


def stratified_folds(codes: Index, random: np.random.RandomState) -> Index:
    """Return a fold for every row, even within each class; −1 for rows left out."""
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
    """Return out-of-fold scores of all rows of a classification, and the solved folds.

    Where a fold was stopped early, the scores are those of the whole machine.

    Parameters
    ----------
    whole : Solved
        The solved problem of all rows.
    folds : ndarray of int
        Fold of every row of the part.
    gram : Gram
        Kernel matrix of the part, shared by the folds; several may run at a time.
    solver : Solver
        The solver; its memory is divided among the folds.
    workers : Workers
        Threads.
    observers : sequence of Observer
        Called during the runs.
    """
    part: Any = whole.part
    lesser = replace(solver, cache_bytes=max(1, solver.cache_bytes // FOLDS))
    scores = np.zeros(part.rows.size)

    def one(fold: int) -> Solved | None:
        held = folds == fold
        kept = np.where(held, 0.0, 1.0)
        signs = np.unique(part.y[~held])
        if signs.size < 2:
            # The only row of a class is held out: the score is the sign of the other.
            scores[held] = signs[0] if signs.size else 0.0
            return None
        # A store of some rows keeps those asked for first, which depends on threads.
        keeper = gram.distinct if isinstance(gram, CopiedGram) else gram
        stored = isinstance(keeper, StoredGram) and keeper.keeps_all
        found = solve(
            part,
            gram if stored else _view(gram),
            lesser,
            kept=kept,
            observers=observers,
            counted=not stored,  # a stored matrix counts its own values
        )
        # A fold that was stopped early is less exact than the whole machine.
        scores[held] = (found if found.stop.converged else whole).scores[held]
        return found

    ended = workers.map(one, [fold for fold in range(FOLDS) if (folds == fold).any()])
    return scores, [found for found in ended if found is not None]


def _view(gram: Any) -> Any:
    """Return the same matrix with its own counter."""
    return gram.narrowed(np.arange(gram.n, dtype=np.intp))
