"""From a file to a fitted model: read, plan, fit."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from maxmargin.data_files.columns.target import guessed_task, labels_of
from maxmargin.data_files.formats import TITLES
from maxmargin.data_files.reading import read_table
from maxmargin.data_files.table import Table, is_words
from maxmargin.errors import ConvergenceWarning, DataFileError, InputError, Stop
from maxmargin.workflow.choices import TASKS, Choices, Tell, silent
from maxmargin.workflow.machines import machine_facts, made_machine
from maxmargin.workflow.preparing import (
    blamed_on,
    fitted_encoder,
    made_scaler,
    prepared,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin._arrays import Index
    from maxmargin.certificate import Certificate
    from maxmargin.data_files.columns.encoder import TableEncoder

Watch: TypeAlias = Callable[[str, float, int], AbstractContextManager[Any]]
"""Makes the observer of a fit from its title, tol and number of binary problems.

The observer is used while the context lasts.
"""

_FIGURES = ("primal", "dual", "gap", "relative_gap", "violation", "tol", "criterion",
            "n_support", "n_free", "n_bound", "n_iter", "n_kernel", "seconds", "stop",
            "solver")  # fmt: skip


@dataclass(frozen=True, eq=False)
class Plan:
    """A task and estimators for a table.

    Attributes
    ----------
    table : Table
        The rows.
    task : {"classify", "regress", "outliers"}
        The task.
    y : ndarray
        The target as the machine takes it; zeros for outliers.
    machine : estimator
        Not fitted.
    encoder : TableEncoder or None
        Fitted to the whole table; None for a matrix.
    scaler : estimator or None
        Not fitted; None for rows as they are.
    """

    table: Table
    task: str
    y: NDArray[Any]
    machine: Any
    encoder: TableEncoder | None
    scaler: Any

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


@dataclass(frozen=True, eq=False)
class Fitted:
    """A fitted model: the machine with all its preprocessing."""

    plan: Plan
    model: Any
    machine: Any
    seconds: float
    n_features: int

    @property
    def certificate(self) -> Certificate:
        """The proof of its quality."""
        found: Certificate = self.machine.certificate_
        return found

    @property
    def stops(self) -> set[Stop]:
        """The reasons why the solver stopped, over all binary problems."""
        certificate = self.certificate
        return {one.stop for one in certificate.problems or (certificate,)}

    @property
    def converged(self) -> bool:
        """True if every binary problem converged."""
        return all(stop.converged for stop in self.stops)

    @property
    def interrupted(self) -> bool:
        """True if Ctrl-C ended the fit."""
        return Stop.INTERRUPTED in self.stops

    def facts(self) -> dict[str, Any]:
        """Data, machine and certificate for JSON."""
        plan, table, certificate = self.plan, self.plan.table, self.certificate
        figures = {name: getattr(certificate, name) for name in _FIGURES}
        return {
            "data": {
                "path": table.source,
                "format": table.format,
                "rows": table.n_rows,
                "columns": table.n_columns,
                "features": self.n_features,
                "target": table.target_name,
            },
            "task": plan.task,
            "machine": machine_facts(self.machine),
            "classes": getattr(self.machine, "classes_", None),
            "preprocessing": [
                type(step).__name__
                for step in (plan.encoder, plan.scaler)
                if step is not None
            ],
            "certificate": figures
            | {
                "bias_interval": list(certificate.bias_interval),
                "n_problems": max(1, len(certificate.problems)),
                "ok": bool(certificate.ok),
            },
            "converged": self.converged,
            "seconds": self.seconds,
        }


def read_for_learning(data: str, choices: Choices, tell: Tell = silent) -> Table:
    """Read the table to learn from, and find its target."""
    outliers = choices.known_task == "outliers"
    table = read_table(
        data,
        format=choices.format,
        target=choices.target,
        guess="name" if outliers else "last",
        n_features=choices.n_features,
    )
    if table.format == "libsvm" and choices.target is not None:
        msg = f"--target {choices.target}: columns of LIBSVM text have no names"
        msg += "; the label is the target"
        raise InputError(msg)
    title = TITLES[table.format]
    tell(f"{table.source}: {table.n_rows:,} rows × {table.n_columns:,} ({title})")
    for note in table.notes:
        other = " (--target NAME for another)" if "the last column" in note else ""
        tell(note + other)
    if table.y is None and not outliers:
        reason = "there is no target to learn from; --task outliers needs none"
        raise DataFileError(table.source, 0, reason)
    return table


def planned(table: Table, choices: Choices, tell: Tell = silent) -> Plan:
    """Decide what the choices leave open; refuse before the fit whatever would fail."""
    task = choices.known_task
    if task == "outliers" and choices.folds:
        msg = "cross-validation needs a target; outliers have none"
        raise InputError(msg)
    if task is None:
        task, why = guessed_task(table.target())
        other = "regress" if task == "classify" else "classify"
        hint = "" if "text" in why else f" (--task {other} for the other)"
        tell(f"task: {TASKS[task]}, as {why}{hint}")
    y = _target(table, task)
    machine = made_machine(task, choices, None if task == "outliers" else y, tell)
    encoder = fitted_encoder(table, choices.impute)
    scale = choices.scale
    if scale == "auto":
        scale = "none" if sparse.issparse(table.matrix) else "standard"
        if scale == "standard":
            tell("scale: every feature to mean 0 and variance 1 (--scale none: not)")
    return Plan(table, task, y, machine, encoder, made_scaler(scale))


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


def fit(
    plan: Plan,
    rows: Index | None = None,
    *,
    title: str = "train",
    tell: Tell = silent,
    watch: Watch | None = None,
) -> Fitted:
    """Fit encoder, scaler and machine.

    Parameters
    ----------
    plan : Plan
        It is not changed: one plan serves many folds.
    rows : ndarray of int or None
        The rows to learn from; None is all, for which the plan's encoder is fitted.
    title : str
        Name of this fit for the observer.
    tell : callable
        Takes notes.
    watch : callable or None
        Makes the observer of the fit, if the machine takes callbacks.
    """
    began = time.perf_counter()
    watch = watch if hasattr(plan.machine, "callbacks") else None
    table, y, encoder = plan.table, plan.y, copy(plan.encoder)
    if rows is not None:
        table, y = table.take(rows), y[rows]
        encoder = encoder and fitted_encoder(table, encoder.impute)
    scaler = None if plan.scaler is None else clone(plan.scaler)
    X, steps = prepared(table, encoder, scaler, tell)
    machine = clone(plan.machine)
    steps.append(("machine", machine))
    with blamed_on(table.source), ExitStack() as watching, warnings.catch_warnings():
        # Its advice is for Python; callers see the certificate.
        warnings.simplefilter("ignore", ConvergenceWarning)
        if watch is not None:
            observer = watch(title, float(machine.tol), plan.n_problems)
            machine.set_params(callbacks=[watching.enter_context(observer)])
        machine.fit(X, y)
    if watch is not None:
        machine.set_params(callbacks=None)  # they are no part of a model
    model = Pipeline(steps) if len(steps) > 1 else machine
    return Fitted(plan, model, machine, time.perf_counter() - began, int(X.shape[1]))
