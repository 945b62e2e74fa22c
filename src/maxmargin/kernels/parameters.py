"""Checks of the parameters of kernel objects; each refusal is one sentence."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

import numpy as np

from maxmargin.errors import InputError, InputTypeError


def number(kind: str, name: str, value: Any) -> float:
    """Return a finite number."""
    if not isinstance(value, Real) or isinstance(value, bool | np.bool_):
        msg = f"{kind}({name}={value!r}): {name} must be a number"
        raise InputTypeError(msg)
    try:
        found = float(value)
    except OverflowError:
        found = math.inf
    if not math.isfinite(found):
        msg = f"{kind}({name}={value!r}): {name} must be finite"
        raise InputError(msg)
    return found


def positive(kind: str, name: str, value: Any) -> float:
    """Return a finite number above 0."""
    found = number(kind, name, value)
    if found <= 0.0:
        msg = f"{kind}({name}={value!r}): {name} must be positive"
        raise InputError(msg)
    return found


def whole(kind: str, name: str, value: Any) -> int:
    """Return an integer from 1 on."""
    if not isinstance(value, Integral) or isinstance(value, bool):
        msg = f"{kind}({name}={value!r}): {name} must be an integer"
        raise InputTypeError(msg)
    if value < 1:
        msg = f"{kind}({name}={value!r}): {name} must be at least 1"
        raise InputError(msg)
    return int(value)
