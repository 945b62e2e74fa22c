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
from maxmargin.persist.own_files.malformed import MalformedError, shown
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


def _check(machine: Any, needed: tuple[str, ...]) -> None:
    state = vars(machine)
    name = type(machine).__name__
    for attribute, right in _KINDS.items():
        if attribute in state and not right(state[attribute]):
            msg = f"{attribute} of {name} cannot be {shown(state[attribute])}"
            raise MalformedError(msg)
    names, width = state.get("feature_names_in_"), state.get("n_features_in_")
    if names is not None and (width is None or names.size != width):
        msg = f"{name} has {names.size} names for {shown(width)} features"
        raise MalformedError(msg)
    # What scikit-learn takes for the sign of a fit.
    there = [one for one in state if one.endswith("_") and not one.startswith("__")]
    lacks = [attribute for attribute in needed if attribute not in state]
    if there and lacks:
        msg = f"{name} has {there[0]}, but lacks {', '.join(lacks)}"
        raise MalformedError(msg)


def check_kernel_machine(machine: Any) -> None:
    """What predictions with a kernel need, all or nothing."""
    needed: tuple[str, ...] = ("support_", "n_support_", "dual_coef_", "intercept_")
    if hasattr(machine, "class_weight"):
        needed += ("classes_",)
    own_rows = is_function(machine.kernel)  # which may be anything
    _check(machine, (*needed, "gamma_", *(() if own_rows else ("n_features_in_",))))
    state = vars(machine)
    if "support_" in state and state.get("shape_fit_"):
        support, rows = state["support_"], state["shape_fit_"][0]
        right = support.dtype.kind in "iu"
        if not right or (support.size and not 0 <= support.min() <= support.max() < rows):
            msg = f"support_ of {type(machine).__name__} must number some of {rows} rows"
            raise MalformedError(msg)
    if "support_" in state:  # before a fit, parameters may be anything
        try:
            check_parameters(machine)
        except InputError as error:
            raise MalformedError(shown(str(error), 200)) from error


def check_linear_machine(machine: Any) -> None:
    """What predictions with weights need, all or nothing."""
    needed: tuple[str, ...] = ("coef_", "intercept_", "n_features_in_")
    if hasattr(machine, "class_weight"):
        needed += ("classes_",)
    _check(machine, needed)
    state = vars(machine)
    if "coef_" in state:
        shape, width = np.shape(state["coef_"]), state["n_features_in_"]
        if len(shape) not in (1, 2) or shape[-1] != width:
            name = type(machine).__name__
            msg = f"coef_ of {name} has shape {shown(shape)}, with {width} features"
            raise MalformedError(msg)
    if "_walks" in state:
        walks, radius = state["_walks"], state.get("_radius")
        walk = isinstance(walks, list) and len(walks) > 0
        if not walk or not all(hasattr(one, "counters") for one in walks):
            msg = f"{type(machine).__name__} has no walks to go on with"
            raise MalformedError(msg)
        if not isinstance(radius, float | np.floating):
            msg = f"{type(machine).__name__} has a radius {shown(radius)}"
            raise MalformedError(msg)
