"""What a person chooses about a fit, and what there is to choose from.

Nothing here is heavy to import: ``--help`` reads these lists.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from maxmargin.estimators import MACHINES
from maxmargin.kernels import KERNELS

TASKS = {
    "classify": "classification",
    "regress": "regression",
    "outliers": "outlier detection",
}
"""Tasks, and what people call them."""

SCALINGS = ("none", "standard", "minmax", "maxabs")
"""What may be done to features before a fit."""

Tell: TypeAlias = Callable[[str], None]
"""Takes a note: one sentence about a decision that the data made."""


def silent(note: str) -> None:
    """Drop a note."""
    del note


def default_machine(task: str) -> str:
    """The machine that ``"auto"`` means: the first one of the task."""
    return MACHINES.names(task)[0]


def machine_names() -> tuple[str, ...]:
    """The machines, as they are named at this moment."""
    return ("auto", *MACHINES.names())


def kernel_names() -> tuple[str, ...]:
    """The kernels that take the rows of a file."""
    return tuple(one.name for one in KERNELS if one.name and one.task != "matrix")


@dataclass(frozen=True)
class Choices:
    """What a person chose; where it is None, the data or the machine decides.

    The names are those of the command line's options. ``folds`` is the number of folds
    of a cross-validation, None if there is none; ``class_weight`` has labels as text.
    """

    format: str | None = None
    target: str | None = None
    n_features: int | None = None
    impute: str | None = None
    scale: str = "auto"
    task: str | None = None
    machine: str = "auto"
    kernel: str | None = None
    C: float | None = None
    gamma: float | str | None = None
    sigma: float | None = None
    degree: int | None = None
    coef0: float | None = None
    nu: float | None = None
    epsilon: float | None = None
    solver: str | None = None
    tol: float | None = None
    max_iter: int | None = None
    time_limit: float | None = None
    class_weight: str | dict[str, float] | None = None
    probability: bool = False
    seed: int = 0
    jobs: int | None = None
    folds: int | None = None

    @property
    def known_task(self) -> str | None:
        """The task that ``task`` or ``machine`` names; None: the target decides."""
        if self.task is not None or self.machine == "auto":
            return self.task
        return MACHINES.entry(self.machine).task or None
