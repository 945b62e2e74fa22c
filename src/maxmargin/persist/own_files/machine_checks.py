"""Attributes of a restored machine are of the kinds that its methods take for granted.

Shapes, indices and finite values are checked by the machines, at every prediction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from maxmargin.certificate import Certificate
from maxmargin.errors import InputError
from maxmargin.estimators.parameters import check_parameters
from maxmargin.persist.own_files.malformed import refuse, shown
from maxmargin.persist.own_files.registry import parameters_of
from maxmargin.validation import is_function

if TYPE_CHECKING:
    from collections.abc import Callable


def _count(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _positive(value: Any) -> bool:
    return _count(value) and 1 <= int(value) < 1 << 62


def _array(value: Any) -> bool:
    return isinstance(value, np.ndarray)


def _numbers(value: Any) -> bool:
    plain = isinstance(value, np.ndarray) or sparse.issparse(value)
    return plain and value.dtype.kind in "biuf"


def _number(value: Any) -> bool:
    real = isinstance(value, float | np.floating) or _count(value)
    return real or (_numbers(value) and not sparse.issparse(value))


def _labels(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.ndim == 1 and value.size >= 1


def _shape(value: Any) -> bool:
    return isinstance(value, tuple) and all(_count(size) for size in value)


def _names(value: Any) -> bool:
    listed = isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind == "O"
    return listed and all(type(name) is str for name in value)


_KINDS: dict[str, Callable[[Any], bool]] = {
    "certificate_": lambda value: isinstance(value, Certificate),
    "class_weight_": _numbers,
    "classes_": _labels,
    "coef_": _numbers,
    "dual_coef_": _numbers,
    "feature_names_in_": _names,
    "gamma_": _number,
    "intercept_": _number,
    "n_features_in_": _positive,
    "n_support_": _array,
    "offset_": _number,
    "radius_": _number,
    "shape_fit_": _shape,
    "support_": _array,
}


def check_machine(machine: Any, *, ours: bool) -> None:
    """Refuse a machine whose attributes do not fit together.

    Of a class from outside of maxmargin (not ``ours``) the attributes are checked that it
    has, and not whether it has all that it needs.
    """
    state = vars(machine)
    name = type(machine).__name__
    for attribute, kind in _KINDS.items():
        if attribute in state and not kind(state[attribute]):
            refuse(f"{attribute} of {name} cannot be {shown(state[attribute])}")
    names, width = state.get("feature_names_in_"), state.get("n_features_in_")
    if names is not None and (width is None or names.size != width):
        refuse(f"{name} has {names.size} names for {shown(width)} features")
    if ours:
        _check_whole(machine, name)
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


def _check_whole(machine: Any, name: str) -> None:
    """All that predictions need is there, or nothing; parameters are as ``fit`` wants."""
    state = vars(machine)
    classes = ("classes_",) if hasattr(machine, "class_weight") else ()
    needed = ("coef_", "intercept_", "n_features_in_", *classes)
    by_kernel = "kernel" in parameters_of(type(machine))
    if by_kernel:
        width = () if is_function(machine.kernel) else ("n_features_in_",)  # any rows
        needed = ("support_", "n_support_", "dual_coef_", "intercept_", *classes)
        needed = (*needed, "gamma_", *width)
    # What scikit-learn takes for the sign of a fit.
    there = [one for one in state if one.endswith("_") and not one.startswith("__")]
    lacks = [attribute for attribute in needed if attribute not in state]
    if there and lacks:
        refuse(f"{name} has {there[0]}, but lacks {', '.join(lacks)}")
    if by_kernel and "support_" in state:  # before a fit, parameters may be anything
        try:
            check_parameters(machine)
        except InputError as error:
            refuse(shown(str(error), 200), error)
