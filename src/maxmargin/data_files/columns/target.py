"""The choice of the target, and whether its values are classes or quantities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from maxmargin.data_files.columns.cells import show
from maxmargin.data_files.table import is_words
from maxmargin.errors import DataFileError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

CUSTOMARY = ("target", "label", "class", "y")
"""Names that a target customarily has, in any case."""

MOST_CLASSES = 50  # policy: more different whole numbers are quantities
ROWS_A_CLASS = 5  # policy: with fewer rows on average whole numbers are quantities


class Choice(NamedTuple):
    """The name of the target, and a note if it was guessed."""

    name: str | None
    note: str = ""


class Wanted(NamedTuple):
    """The column that shall be the target.

    ``target`` is the user's or the model's choice, or None. For None, ``guess="last"``
    takes a customary name, else the last column; ``"name"`` only a customary name;
    ``"none"`` nothing. ``required`` refuses a file without ``target``.
    """

    target: str | None = None
    guess: str = "last"
    required: bool = True


def chosen_column(names: Sequence[str], wanted: Wanted, *, source: str) -> Choice:
    """The column to predict, of those of a file; ``source`` is its name in errors."""
    target, guess, required = wanted
    if target is not None:
        if target in names:
            return Choice(target)
        if required:
            known = ", ".join(map(show, names[:20])) + (", …" if len(names) > 20 else "")
            reason = (
                f"there is no column {show(target)} to be the target; there are {known}"
            )
            raise DataFileError(source, 1, reason)
        return Choice(None)
    if guess == "none":
        return Choice(None)
    lower = [name.lower() for name in names]
    for custom in CUSTOMARY:
        if lower.count(custom) == 1:
            name = names[lower.index(custom)]
            return Choice(name, f"target: column {show(name)}, by its name")
    if guess == "name":
        return Choice(None)
    return Choice(names[-1], f"target: the last column, {show(names[-1])}")


def guessed_task(y: NDArray[Any]) -> tuple[str, str]:
    """``"classify"`` or ``"regress"``, and why.

    Words are classes. Numbers are classes if they are whole, of at most 50 different
    values, and each value has five rows on average; two values are always classes.
    """
    if is_words(y):
        return "classify", "the target is text"
    distinct = np.unique(y)
    if not bool((distinct == np.rint(distinct)).all()):
        return "regress", "the target has fractions"
    many = int(distinct.size)
    if many <= 2 or (many <= MOST_CLASSES and y.size >= ROWS_A_CLASS * many):
        plural = "values" if many != 1 else "value"
        return "classify", f"the target has {many} whole {plural}"
    return "regress", f"the target has {many} different whole numbers"


def labels_of(y: NDArray[Any]) -> NDArray[Any]:
    """The target as class labels: text as text, whole numbers as integers."""
    if is_words(y):
        return y.astype(str)
    whole = bool((y == np.rint(y)).all()) and bool((np.abs(y) < 2.0**53).all())
    return y.astype(np.int64) if whole else y
