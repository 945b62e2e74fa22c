"""Cross-validation: everything, encoder and scaler too, is fitted on the other folds."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold

from maxmargin.cli.failures import BAD_DATA, Failure
from maxmargin.cli.learning import fit, is_converged, was_interrupted
from maxmargin.cli.models import rows_for
from maxmargin.cli.say import Voice
from maxmargin.cli.scores import score_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from maxmargin.cli.learning import Plan
    from maxmargin.data_files.table import Table

__all__ = ["CrossValidation", "cross_validate", "tell_scores"]


class Fold(NamedTuple):
    """One of the folds."""

    score: float
    n_train: int
    n_test: int
    seconds: float
    converged: bool


@dataclass
class CrossValidation:
    """The folds that were done, and what was measured."""

    measure: str
    folds: list[Fold] = field(default_factory=list)
    interrupted: bool = False

    @property
    def scores(self) -> list[float]:
        """One number a fold."""
        return [one.score for one in self.folds]

    @property
    def mean(self) -> float:
        """Over the folds."""
        return float(np.mean(self.scores))

    @property
    def std(self) -> float:
        """Over the folds."""
        return float(np.std(self.scores))

    @property
    def converged(self) -> bool:
        """Whether every fit was."""
        return all(one.converged for one in self.folds)

    def facts(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "measure": self.measure,
            "scores": self.scores,
            "mean": self.mean,
            "std": self.std,
            "folds": [one._asdict() for one in self.folds],
        }


def cross_validate(table: Table, plan: Plan, k: int, seed: int) -> CrossValidation:
    """Score a plan on k folds, stratified by class where there are classes.

    Ctrl-C ends it with the folds that are done.
    """
    measure = "accuracy" if plan.task == "classify" else "R²"
    found = CrossValidation(measure)
    quiet = Voice("cv", quiet=True)
    for number, (train, test) in enumerate(_split(plan, k, seed, table.source)):
        plan.title = f"fold {number + 1} of {k}"
        try:
            fitted = fit(table.take(train), plan.y[train], plan, quiet)
        except KeyboardInterrupt:
            found.interrupted = True
            break
        if was_interrupted(fitted.certificate):
            found.interrupted = True
            break
        held = table.take(test)
        predicted = fitted.model.predict(rows_for(fitted.model, held))
        found.folds.append(
            Fold(
                score=score_of(plan.task, plan.y[test], predicted),
                n_train=train.size,
                n_test=test.size,
                seconds=fitted.seconds,
                converged=is_converged(fitted.certificate),
            )
        )
    if found.interrupted and not found.folds:
        raise KeyboardInterrupt
    return found


def _split(plan: Plan, k: int, seed: int, source: str) -> Iterator[tuple[Any, Any]]:
    stratified = plan.task == "classify"
    kind = StratifiedKFold if stratified else KFold
    splitter = kind(k, shuffle=True, random_state=seed)
    places = np.zeros((plan.y.size, 1))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a class with fewer rows than folds
            parts = list(splitter.split(places, plan.y if stratified else None))
    except ValueError as error:
        msg = f"{source}: {k} folds are too many: {error}"
        raise Failure(BAD_DATA, msg) from error
    return iter(parts)


def tell_scores(found: CrossValidation, voice: Voice) -> None:
    """A line for each fold, and one for all of them."""
    for number, one in enumerate(found.folds, start=1):
        late = "" if one.converged else ", not converged"
        voice.figure(
            f"fold {number}",
            f"{found.measure} {one.score:.4f}  ({one.n_test:,} rows, "
            f"{one.seconds:.2g} s{late})",
        )
    voice.figure("mean", f"{found.measure} {found.mean:.4f} ± {found.std:.4f}")
