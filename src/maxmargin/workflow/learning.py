"""From a table to a fitted model: encode, scale, learn. What train and cv share."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from maxmargin.cli.failures import USAGE, Failure
from maxmargin.cli.progress import shown_progress
from maxmargin.data_files.columns.target import guessed_task, labels_of
from maxmargin.data_files.formats import TITLES
from maxmargin.data_files.reading import read_table
from maxmargin.data_files.table import Table, is_words
from maxmargin.errors import ConvergenceWarning, DataFileError, Stop
from maxmargin.workflow.machines import TASKS, made_machine, task_of
from maxmargin.workflow.preparing import (
    blamed_on,
    faster,
    fit_scaler,
    made_encoder,
    made_scaler,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin.cli.say import Voice


@dataclass
class Plan:
    """What is to be learnt from a table, and how; nothing is fitted yet."""

    task: str
    y: NDArray[Any]
    machine: Any
    encoder: Any  # None for a matrix
    scaler: Any  # None for rows as they are
    progress: str = "none"
    title: str = "train"

    @property
    def n_problems(self) -> int:
        """Binary problems of one fit, at most."""
        if self.task != "classify":
            return 1
        classes = int(np.unique(self.y).size)
        pairs = getattr(self.machine, "multi_class", "ovr") == "ovo"
        count = classes * (classes - 1) // 2 if pairs else classes
        folds = 6 if getattr(self.machine, "probability", False) else 1
        return folds * (1 if classes == 2 else count)


@dataclass
class Fitted:
    """A model, and what its fit was."""

    model: Any
    machine: Any
    seconds: float
    n_features: int

    @property
    def certificate(self) -> Any:
        """The proof of its quality."""
        return self.machine.certificate_


def read_for_learning(data: str, options: dict[str, Any], voice: Voice) -> Table:
    """The table to learn from, its target found."""
    task = options["task"] or task_of(options["machine"])
    table = read_table(
        data,
        format=options["format_"],
        target=options["target"],
        guess="name" if task == "outliers" else "last",
        n_features=options["n_features"],
    )
    if table.format == "libsvm" and options["target"] is not None:
        msg = f"--target {options['target']}: columns of LIBSVM text have no names"
        raise Failure(USAGE, f"{msg}; the label is the target")
    title = TITLES[table.format]
    voice.note(f"{table.source}: {table.n_rows:,} rows × {table.n_columns:,} ({title})")
    for note in table.notes:
        other = " (--target NAME for another)" if "the last column" in note else ""
        voice.note(note + other)
    if table.y is None and task != "outliers":
        reason = "there is no target to learn from; --task outliers needs none"
        raise DataFileError(table.source, 0, reason)
    return table


def planned(
    table: Table, options: dict[str, Any], voice: Voice, *, scaling: str = "auto"
) -> Plan:
    """Decide what the options leave open, and say so."""
    task = options["task"] or task_of(options["machine"])
    if task == "outliers" and (options.get("folds") or options.get("cv")):
        raise Failure(USAGE, "cross-validation needs a target; outliers have none")
    if task is None:
        task, why = guessed_task(table.target())
        other = "regress" if task == "classify" else "classify"
        hint = "" if "text" in why else f" (--task {other} for the other)"
        voice.note(f"task: {TASKS[task]}, as {why}{hint}")
    y = _target(table, task)
    machine = made_machine(task, options, None if task == "outliers" else y, voice)
    encoder = made_encoder(table, options["impute"])
    if encoder is not None:
        with blamed_on(table.source):
            clone(encoder).fit(table)  # what it refuses is better known at once
    return Plan(
        task=task,
        y=y,
        machine=machine,
        encoder=encoder,
        scaler=_scaler(table, scaling, voice),
        progress="none" if voice.quiet else options.get("progress", "none"),
    )


def _target(table: Table, task: str) -> NDArray[Any]:
    if task == "outliers":
        return np.zeros(table.n_rows)
    y = table.target()
    if task == "classify":
        labels = labels_of(y)
        if is_words(y):
            broken = [row for row, one in enumerate(y) if len(one.splitlines()) > 1]
            if broken:
                reason = f"the class {y[broken[0]]!r} has several lines; rename it"
                raise table.refuse(broken[0], reason)
        if np.unique(labels).size < 2:
            reason = (
                f"all rows have the class {labels.tolist()[0]!r}: there is nothing to "
                "tell apart; --task outliers learns from one class"
            )
            raise DataFileError(table.source, 0, reason)
        return labels
    if is_words(y):
        reason = (
            f"the target {table.target_name!r} is text ({y[0]!r}), and a regression "
            "predicts numbers; --task classify predicts classes"
        )
        raise table.refuse(0, reason)
    return y


def _scaler(table: Table, scaling: str, voice: Voice) -> Any:
    """The scaler, unfitted; whether it may centre is known when it is fitted."""
    wide = sparse.issparse(table.matrix)
    if scaling == "auto":
        scaling = "none" if wide else "standard"
        if scaling == "standard":
            voice.note(
                "scale: every feature to mean 0 and variance 1 (--scale none: not)"
            )
    return made_scaler(scaling)


def fit(table: Table, y: NDArray[Any], plan: Plan, voice: Voice) -> Fitted:
    """Fit everything on some rows.

    The plan's estimators are cloned, so that one plan serves many folds.
    """
    began = time.perf_counter()
    steps: list[tuple[str, Any]] = []
    X: Any = table.matrix
    with blamed_on(table.source):
        if plan.encoder is not None:
            encoder = clone(plan.encoder)
            X = encoder.fit_transform(table)
            steps.append(("encode", encoder))
        X = faster(X)
        if plan.scaler is not None:
            scaler = clone(plan.scaler)
            X = fit_scaler(scaler, X, voice)
            steps.append(("scale", scaler))
        machine = clone(plan.machine)
        steps.append(("machine", machine))
        with (
            shown_progress(
                machine, plan.progress, title=plan.title, problems=plan.n_problems
            ),
            warnings.catch_warnings(),
        ):
            # Its advice is for Python; commands have their own, from the certificate.
            warnings.simplefilter("ignore", ConvergenceWarning)
            machine.fit(X, y)
    model = Pipeline(steps) if len(steps) > 1 else machine
    return Fitted(model, machine, time.perf_counter() - began, int(X.shape[1]))


def is_converged(certificate: Any) -> bool:
    """Whether no problem of a fit was stopped early."""
    good = {stop.value for stop in Stop if stop.converged}
    return all(one.stop in good for one in certificate.problems or (certificate,))


def was_interrupted(certificate: Any) -> bool:
    """Whether Ctrl-C ended a fit."""
    problems = certificate.problems or (certificate,)
    return any(one.stop == Stop.INTERRUPTED.value for one in problems)
