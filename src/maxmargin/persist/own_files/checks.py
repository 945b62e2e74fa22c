"""Checks of restored objects: their parts fit together before compiled code uses them.

Machines of maxmargin check the numbers in their attributes at every prediction; here the
attributes are checked to be of the kinds that methods expect. All other classes have
readers that check nothing: SciPy writes where a one-hot encoder's or a vectorizer's
column numbers point, random generators read where their position says, a walk that goes
on writes as many sums as it has weights.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from maxmargin.certificate import Certificate
from maxmargin.errors import InputError
from maxmargin.estimators import MACHINES
from maxmargin.estimators.parameters import check_parameters
from maxmargin.persist.own_files.malformed import refuse, shown
from maxmargin.persist.own_files.registry import parameters_of
from maxmargin.validation import is_function

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

_KEYS = 624  # numbers of a Mersenne twister
_WALK = {"reals": 4, "counters": 6}


def check(name: str, made: Any) -> None:
    """Refuse a restored object whose parts do not fit together; ``name`` is its class."""
    if name in _CHECKS:
        _CHECKS[name](made)
    elif name in MACHINES.names_in_files():
        _machine(made, ours=name.startswith("maxmargin."))


def _refuse(what: str) -> NoReturn:
    refuse(f"{what}: the file was altered, or is damaged")


# --- kinds of values --------------------------------------------------------------------


def _is_int(value: Any, low: float = -math.inf, high: float = math.inf) -> bool:
    integer = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return integer and low <= int(value) < high


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray)


def _is_column(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.ndim == 1


def _is_vector(value: Any, dtype: Any = np.float64) -> bool:
    return _is_column(value) and value.dtype == dtype


def _are_numbers(value: Any) -> bool:
    plain = isinstance(value, np.ndarray) or sparse.issparse(value)
    return plain and value.dtype.kind in "biuf"


def _is_number(value: Any) -> bool:
    real = isinstance(value, float | np.floating) or _is_int(value)
    return real or (_are_numbers(value) and not sparse.issparse(value))


def _length(value: Any) -> int:
    """Of a list or a column; −1 of anything else."""
    return len(value) if _is_column(value) or isinstance(value, list) else -1


def _are_all(values: Any, kind: Any) -> bool:
    return all(isinstance(one, kind) for one in values)


# --- machines ---------------------------------------------------------------------------

_KINDS: dict[str, Callable[[Any], bool]] = {
    "certificate_": lambda value: isinstance(value, Certificate),
    "class_weight_": _are_numbers,
    "classes_": lambda value: _is_column(value) and value.size >= 1,
    "coef_": _are_numbers,
    "dual_coef_": _are_numbers,
    "feature_names_in_": lambda value: (
        _is_vector(value, object) and all(type(name) is str for name in value)
    ),
    "gamma_": _is_number,
    "intercept_": _is_number,
    "n_features_in_": lambda value: _is_int(value, 1, 1 << 62),
    "n_support_": _is_array,
    "offset_": _is_number,
    "radius_": _is_number,
    "shape_fit_": lambda value: isinstance(value, tuple) and all(map(_is_int, value)),
    "support_": _is_array,
}


def _machine(machine: Any, *, ours: bool) -> None:
    """Kinds and sizes of attributes.

    Of a class from outside of maxmargin (not ``ours``) those are checked that are there,
    and not whether all are there that it needs.
    """
    state = vars(machine)
    name = type(machine).__name__
    for attribute, is_right in _KINDS.items():
        if attribute in state and not is_right(state[attribute]):
            refuse(f"{attribute} of {name} cannot be {shown(state[attribute])}")
    names, width = state.get("feature_names_in_"), state.get("n_features_in_")
    if names is not None and (width is None or names.size != width):
        refuse(f"{name} has {names.size} names for {shown(width)} features")
    if ours:
        _whole_machine(machine, name)
    if "support_" in state and state.get("shape_fit_"):
        support, rows = state["support_"], state["shape_fit_"][0]
        right = support.dtype.kind in "iu"
        if not right or (support.size and not 0 <= support.min() <= support.max() < rows):
            refuse(f"support_ of {name} must number some of {rows} rows")
    if "coef_" in state and width is not None:
        shape = np.shape(state["coef_"])
        if len(shape) not in (1, 2) or shape[-1] != width:
            refuse(f"coef_ of {name} has shape {shown(shape)}, with {width} features")
    if "_walks" in state:
        walks, radius = state["_walks"], state.get("_radius")
        walk = isinstance(walks, list) and len(walks) > 0
        if not walk or not all(hasattr(one, "counters") for one in walks):
            refuse(f"{name} has no walks to go on with")
        if not isinstance(radius, float | np.floating):
            refuse(f"{name} has a radius {shown(radius)}")


def _whole_machine(machine: Any, name: str) -> None:
    """All that predictions need is there, or nothing; parameters are as ``fit`` wants."""
    state = vars(machine)
    classes = ("classes_",) if hasattr(machine, "class_weight") else ()
    needed = ("coef_", "intercept_", "n_features_in_", *classes)
    by_kernel = "kernel" in parameters_of(type(machine))
    if by_kernel:
        width = () if is_function(machine.kernel) else ("n_features_in_",)  # any rows
        needed = ("support_", "n_support_", "dual_coef_", "intercept_", *classes)
        needed = (*needed, "gamma_", *width)
    # The sign of a fit, for scikit-learn.
    there = [one for one in state if one.endswith("_") and not one.startswith("__")]
    lacks = [attribute for attribute in needed if attribute not in state]
    if there and lacks:
        refuse(f"{name} has {there[0]}, but lacks {', '.join(lacks)}")
    if by_kernel and "support_" in state:  # before a fit, parameters may be anything
        try:
            check_parameters(machine)
        except InputError as error:
            refuse(shown(str(error), 200), error)


# --- values -----------------------------------------------------------------------------


def _isotonic(value: Any) -> None:
    scores, values = value
    right = _is_vector(scores) and _is_vector(values) and scores.size == values.size > 0
    right = right and bool(np.isfinite(scores).all() and (np.diff(scores) > 0.0).all())
    right = right and bool(((values >= 0.0) & (values <= 1.0)).all())
    if not (right and (np.diff(values) >= 0.0).all()):
        _refuse("an isotonic calibrator is no increasing function")


def _walk(value: Any) -> None:
    right = all(map(_is_vector, (value.v, value.u, value.reals)))
    right = right and _is_vector(value.counters, np.int64)
    right = right and all(len(getattr(value, name)) == n for name, n in _WALK.items())
    right = right and _is_array(value.sums) and value.sums.dtype == np.float64
    right = right and value.u.size in (0, value.v.size)
    if not right or value.sums.shape != (3, value.u.size) or (value.counters < 0).any():
        _refuse("a walk has not as many sums as weights")
    if not all(np.isfinite(part).all() for part in value[:4]):
        _refuse("a walk is not finite")


def _certificate(value: Any) -> None:
    interval = value.bias_interval
    numbers = [getattr(value, name) for name in ("primal", "dual", "gap", "tol")]
    numbers += [value.relative_gap, value.violation, value.balance, value.seconds]
    counts = (value.n_support, value.n_free, value.n_bound, value.n_iter, value.n_kernel)
    words = (value.stop, value.criterion, value.name, value.solver)
    right = isinstance(interval, tuple) and len(interval) == 2
    right = right and _are_all((*numbers, *interval), float | int | np.floating)
    right = right and _are_all(counts, int | np.integer) and _are_all(words, str)
    right = right and value.criterion in ("violation", "relative_gap")
    right = right and isinstance(value.problems, tuple)
    if not right or not all(type(one) is type(value) for one in value.problems):
        _refuse("a certificate does not hold figures")


# --- preprocessing ----------------------------------------------------------------------


def _vocabulary(vectorizer: Any) -> None:
    """Every word has a column of its own that exists."""
    if "vocabulary_" not in vars(vectorizer):
        return
    words = vectorizer.vocabulary_
    columns = list(words.values()) if isinstance(words, dict) else [None]
    size = len(columns)
    if not all(_is_int(one, 0, size) for one in columns) or len(set(columns)) != size:
        _refuse("the vocabulary of a vectorizer does not number its words")


def _one_hot(encoder: Any) -> None:
    """The number of columns of every feature is that of its categories that are kept."""
    state = vars(encoder)
    if "categories_" not in state:
        return
    categories = state["categories_"]
    if not isinstance(categories, list) or not all(map(_is_column, categories)):
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
    if not all(_length(one) == len(categories) for one in (maps, dropped, counts)):
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


def _check_groups(grouped: Any, size: int) -> None:
    right = _is_array(grouped) and grouped.shape == (size,) and grouped.dtype.kind in "iu"
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
    if not right or not _are_all(fills, str | float | int | None):
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


def check_random(state: Any) -> None:
    """Positions of a generator's state within its numbers."""
    if not isinstance(state, dict):
        _refuse("the state of a random generator is no table")
    for inner in (state, state.get("state")):
        for place, numbers in (("pos", _KEYS + 1), ("buffer_pos", 5)):
            known = inner if isinstance(inner, dict) else {}
            if place in known and not _is_int(known[place], 0, numbers):
                _refuse("a random generator stands outside its numbers")
