"""Cross-validation: encoder, scaler and machine are fitted on the other folds alone."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold

from maxmargin.errors import DataFileError, warn
from maxmargin.workflow.learning import fit
from maxmargin.workflow.models import rows_for
from maxmargin.workflow.scores import score_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from maxmargin._arrays import Index
    from maxmargin.workflow.learning import Plan, Watch


class Fold(NamedTuple):
    """The score of one fold, and the fit on the others."""

    score: float
    n_train: int
    n_test: int
    seconds: float
    converged: bool


@dataclass
class CrossValidation:
    """The folds that are done; ``measure`` is the name of the score."""

    measure: str
    folds: list[Fold] = field(default_factory=list)
    interrupted: bool = False

    @property
    def scores(self) -> list[float]:
        """The score of each fold."""
        return [one.score for one in self.folds]

    @property
    def mean(self) -> float:
        """Mean of the scores."""
        return float(np.mean(self.scores))

    @property
    def std(self) -> float:
        """Standard deviation of the scores."""
        return float(np.std(self.scores))

    @property
    def converged(self) -> bool:
        """True if every fit converged."""
        return all(one.converged for one in self.folds)

    def facts(self) -> dict[str, Any]:
        """Measure and scores for JSON."""
        return {
            "measure": self.measure,
            "scores": self.scores,
            "mean": self.mean,
            "std": self.std,
            "folds": [one._asdict() for one in self.folds],
        }

    def lines(self) -> Iterator[tuple[str, str]]:
        """A label and a text for each fold, and for all of them."""
        for number, one in enumerate(self.folds, start=1):
            late = "" if one.converged else ", not converged"
            score = f"{self.measure} {one.score:.4f}"
            done = f"({one.n_test:,} rows, {one.seconds:.2g} s{late})"
            yield f"fold {number}", f"{score}  {done}"
        yield "mean", f"{self.measure} {self.mean:.4f} ± {self.std:.4f}"


def cross_validate(
    plan: Plan, k: int, seed: int, *, watch: Watch | None = None
) -> CrossValidation:
    """Score a plan on k folds, stratified by class where there are classes.

    Ctrl-C ends it with the folds that are done.
    """
    found = CrossValidation("accuracy" if plan.task == "classify" else "R²")
    for number, (train, test) in enumerate(_split(plan, k, seed), start=1):
        try:
            fitted = fit(plan, train, title=f"fold {number} of {k}", watch=watch)
        except KeyboardInterrupt:
            found.interrupted = True
            break
        if fitted.interrupted:
            found.interrupted = True
            break
        predicted = fitted.model.predict(rows_for(fitted.model, plan.table.take(test)))
        found.folds.append(
            Fold(
                score=score_of(plan.task, plan.y[test], predicted),
                n_train=train.size,
                n_test=test.size,
                seconds=fitted.seconds,
                converged=fitted.converged,
            )
        )
    if found.interrupted and not found.folds:
        raise KeyboardInterrupt
    return found


def _split(plan: Plan, k: int, seed: int) -> Iterator[tuple[Index, Index]]:
    places, source = np.zeros((plan.y.size, 1)), plan.table.source
    if plan.task != "classify":
        if k > plan.y.size:
            reason = f"{k} folds are too many for {plan.y.size} rows"
            raise DataFileError(source, 0, reason)
        return iter(KFold(k, shuffle=True, random_state=seed).split(places))
    _check_classes(plan.y, k, source)
    splitter = StratifiedKFold(k, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        # _check_classes has said so, with the name of the class.
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        return iter(list(splitter.split(places, plan.y)))


def _check_classes(y: NDArray[Any], k: int, source: str) -> None:
    """Refuse, or warn of, a class with fewer rows than there are folds."""
    classes, counts = np.unique(y, return_counts=True)
    least = int(np.argmin(counts))
    name, rows = classes.tolist()[least], int(counts[least])
    many = f"class {name!r} has {rows} row{'' if rows == 1 else 's'}"
    if int(counts.max()) < k:
        reason = f"{k} folds are too many: {many}, and no class has as many as {k}"
        raise DataFileError(source, 0, reason)
    if rows == 1 and classes.size == 2:
        reason = f"{many} only: without it, there is nothing to tell apart"
        raise DataFileError(source, 0, reason)
    if rows < k:
        msg = f"{source}: {many}: {k - rows} of the {k} folds are tested without it"
        warn(msg, UserWarning)
