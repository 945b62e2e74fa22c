"""What must fit together in a restored object before compiled code believes it.

Machines of maxmargin look at the numbers in their attributes at every prediction. What is
here has readers that do not: SciPy writes where a one-hot encoder's or a vectorizer's
column numbers point, random generators read where their position says, a walk that goes
on writes as many sums as it has weights.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator

from maxmargin.estimators import MACHINES
from maxmargin.persist.own_files.machine_checks import check_machine
from maxmargin.persist.own_files.malformed import refuse

if TYPE_CHECKING:
    from collections.abc import Callable

_KEYS = 624  # numbers of a Mersenne twister
_WALK = {"reals": 4, "counters": 6}


def _refuse(what: str) -> None:
    refuse(f"{what}: the file was altered, or is damaged")


def _is_int(value: Any, low: int, high: int) -> bool:
    integer = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return integer and low <= int(value) < high


def _is_vector(value: Any, dtype: Any = np.float64) -> bool:
    return isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype == dtype


def _isotonic(value: Any) -> None:
    scores, values = value
    right = _is_vector(scores) and _is_vector(values) and scores.size == values.size > 0
    right = right and bool(np.isfinite(scores).all() and (np.diff(scores) > 0.0).all())
    right = right and bool(((values >= 0.0) & (values <= 1.0)).all())
    if not (right and (np.diff(values) >= 0.0).all()):
        _refuse("an isotonic calibrator is no increasing function")


def _walk(value: Any) -> None:
    right = _is_vector(value.v) and _is_vector(value.u) and _is_vector(value.reals)
    right = right and _is_vector(value.counters, np.int64)
    right = right and all(len(getattr(value, name)) == n for name, n in _WALK.items())
    right = (
        right and isinstance(value.sums, np.ndarray) and value.sums.dtype == np.float64
    )
    if not (right and value.u.size in (0, value.v.size)):
        _refuse("a walk has not as many sums as weights")
    if value.sums.shape != (3, value.u.size) or (value.counters < 0).any():
        _refuse("a walk has not as many sums as weights")
    if not all(np.isfinite(part).all() for part in value[:4]):
        _refuse("a walk is not finite")


def _certificate(value: Any) -> None:
    interval = value.bias_interval
    numbers = [getattr(value, name) for name in ("primal", "dual", "gap", "tol")]
    numbers += [value.relative_gap, value.violation, value.balance, value.seconds]
    right = isinstance(interval, tuple) and len(interval) == 2
    right = right and all(
        isinstance(one, float | int | np.floating) for one in (*numbers, *interval)
    )
    counts = (value.n_support, value.n_free, value.n_bound, value.n_iter, value.n_kernel)
    right = right and all(isinstance(one, int | np.integer) for one in counts)
    words = (value.stop, value.criterion, value.name, value.solver)
    right = right and all(isinstance(one, str) for one in words)
    right = right and value.criterion in ("violation", "relative_gap")
    inside = value.problems
    right = right and isinstance(inside, tuple)
    if not right or not all(type(one) is type(value) for one in inside):
        _refuse("a certificate does not hold figures")


def _vocabulary(vectorizer: Any) -> None:
    """Every word has a column of its own that exists."""
    if "vocabulary_" not in vars(vectorizer):
        return
    words = vectorizer.vocabulary_
    size = len(words) if isinstance(words, dict) else 0
    columns = list(words.values()) if isinstance(words, dict) else [None]
    if not all(_is_int(one, 0, size) for one in columns) or len(set(columns)) != size:
        _refuse("the vocabulary of a vectorizer does not number its words")


def _one_hot(encoder: Any) -> None:
    """The number of columns of every feature is that of its categories that are kept."""
    state = vars(encoder)
    if "categories_" not in state:
        return
    categories = state["categories_"]
    right = isinstance(categories, list) and all(
        isinstance(one, np.ndarray) and one.ndim == 1 for one in categories
    )
    if not right:
        _refuse("the categories of an encoder are no lists")
    maps = [None] * len(categories)
    grouping = state.get("_infrequent_enabled", False)
    if not isinstance(grouping, bool | np.bool_):
        _refuse("an encoder does not know whether it groups categories")
    if grouping:
        maps = state.get("_default_to_infrequent_mappings", [])
    dropped = state.get("_drop_idx_after_grouping")
    dropped = [None] * len(categories) if dropped is None else dropped
    counts = state.get("_n_features_outs")
    right = all(_length(one) == len(categories) for one in (maps, dropped, counts))
    if not right:
        _refuse("an encoder does not know the columns of every feature")
    for own, grouped, drop, count in zip(categories, maps, dropped, counts, strict=True):
        columns = own.size
        if grouped is not None:
            _check_groups(grouped, own.size)
            columns = int(grouped.max(initial=-1)) + 1
        if drop is not None:
            if not _is_int(drop, 0, columns):
                _refuse("an encoder drops a category that does not exist")
            columns -= 1
        if not _is_int(count, columns, columns + 1):
            _refuse("an encoder has not as many columns as categories")


def _length(value: Any) -> int:
    """Of a list or a column; −1 of anything else."""
    column = isinstance(value, np.ndarray) and value.ndim == 1
    return len(value) if column or isinstance(value, list) else -1


def _check_groups(grouped: Any, size: int) -> None:
    right = isinstance(grouped, np.ndarray) and grouped.shape == (size,)
    right = right and grouped.dtype.kind in "iu"
    if not right or (size and int(grouped.min()) < 0):
        _refuse("the infrequent categories of an encoder have no place")


def _table_encoder(encoder: Any) -> None:
    """Lists that say something of every column."""
    state = vars(encoder)
    if "kinds_" not in state:
        return
    lists = [state.get(name) for name in ("kinds_", "categories_", "fills_")]
    width, names = state.get("n_features_in_"), state.get("names_")
    lists += [] if names is None else [names]
    if not _is_int(width, 0, 1 << 31) or any(_length(one) != width for one in lists):
        _refuse("an encoder does not know every column")
    kinds, categories, fills = lists[:3]
    words = [name for column in categories if isinstance(column, list) for name in column]
    right = all(isinstance(column, list) for column in categories)
    right = right and all(type(one) is str for one in [*words, *(names or [])])
    right = right and all(type(kind) is str for kind in kinds)
    right = right and set(kinds) <= {"number", "words"}
    if not right or not all(isinstance(one, str | float | int | None) for one in fills):
        _refuse("an encoder does not know every column")


def _pipeline(pipeline: Any) -> None:
    """Steps that have a name each, and are estimators or nothing."""
    steps = pipeline.steps
    right = isinstance(steps, list) and len(steps) > 0
    right = right and all(isinstance(one, tuple) and len(one) == 2 for one in steps)
    if not right or not all(isinstance(name, str) for name, _ in steps):
        _refuse("a pipeline is no list of names and steps")
    for name, step in steps:
        idle = step is None or (isinstance(step, str) and step == "passthrough")
        if not (idle or isinstance(step, BaseEstimator)):
            _refuse(f"the step {name!r} of a pipeline is no estimator")


_CHECKS: dict[str, Callable[[Any], None]] = {
    "maxmargin.Certificate": _certificate,
    "maxmargin.data_files.TableEncoder": _table_encoder,
    "maxmargin.probability.Isotonic": _isotonic,
    "maxmargin.solvers.linear.Walk": _walk,
    "sklearn.feature_extraction.text.CountVectorizer": _vocabulary,
    "sklearn.feature_extraction.text.TfidfVectorizer": _vocabulary,
    "sklearn.pipeline.Pipeline": _pipeline,
    "sklearn.preprocessing.OneHotEncoder": _one_hot,
}


def check(name: str, made: Any) -> None:
    """Refuse a restored object whose parts do not fit together; ``name`` is its class."""
    if name in MACHINES.names_in_files():
        check_machine(made, ours=name.startswith("maxmargin."))
    elif name in _CHECKS:
        _CHECKS[name](made)


def check_random(state: Any) -> None:
    """Positions of a generator's state within its numbers."""
    if not isinstance(state, dict):
        _refuse("the state of a random generator is no table")
    for inner in (state, state.get("state")):
        if not isinstance(inner, dict):
            continue
        if "pos" in inner and not _is_int(inner["pos"], 0, _KEYS + 1):
            _refuse("a random generator stands outside its numbers")
        if "buffer_pos" in inner and not _is_int(inner["buffer_pos"], 0, 5):
            _refuse("a random generator stands outside its numbers")
