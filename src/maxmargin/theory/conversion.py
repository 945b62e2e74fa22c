r"""C from every way to write the soft margin, and back.

The library minimises :math:`\tfrac12\|w\|^2 + C\sum_i\xi_i` over n points. The seeds
write

============  ==========================================================  ==============
form          objective                                                   C
============  ==========================================================  ==============
``pegasos``   λ/2·‖w‖² + 1/n·Σξ   (S0's Pegasos, S2's SGD)                1/(λn)
``notes``     λ/(2n)·‖w‖² + 1/n·Σξ   (S1)                                 1/λ
``soft-svm``  λ·‖w‖² + 1/n·Σξ   (S2's Soft-SVM)                           1/(2λn)
``ridge``     λ·‖w‖² + Σξ   (S4)                                          1/(2λ)
``sum``       ‖w‖² + c·Σξ   (S0)                                          c/2
============  ==========================================================  ==============

Each is a multiple of ours, so the minimisers are the same. For ``sum`` S0 prints the box
0 ≤ α ≤ C of the dual; with ½‖w‖² in front it is [0, c/2], as this conversion has it.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from maxmargin.errors import InputError, InputTypeError

if TYPE_CHECKING:
    from collections.abc import Mapping


class Form(NamedTuple):
    """One way to write the soft margin."""

    objective: str
    factor: float
    inverse: bool  # C falls as the constant grows
    averaged: bool  # the slacks are averaged and the penalty is not
    aliases: tuple[str, ...]


FORMS: Mapping[str, Form] = {
    "pegasos": Form(
        "λ/2·‖w‖² + 1/n·Σξ", 1.0, True, True, ("sgd", "S0-pegasos", "S2-sgd")
    ),
    "notes": Form("λ/(2n)·‖w‖² + 1/n·Σξ", 1.0, True, False, ("S1",)),
    "soft-svm": Form("λ·‖w‖² + 1/n·Σξ", 0.5, True, True, ("S2-soft-svm",)),
    "ridge": Form("λ·‖w‖² + Σξ", 0.5, True, False, ("S4",)),
    "sum": Form("‖w‖² + c·Σξ", 0.5, False, False, ("S0",)),
}
_NAMES = {name: form for key, form in FORMS.items() for name in (key, *form.aliases)}


def to_C(value: float, n: int, form: str) -> float:  # noqa: N802 - C is its name
    """Return C of the library's soft margin, from the constant of another form.

    Parameters
    ----------
    value : float
        λ of that form, or c of ``"sum"``; positive and finite.
    n : int
        Number of training points.
    form : str
        One of :data:`FORMS` (see the table above) or its alias: ``"pegasos"``
        (``"sgd"``, ``"S0-pegasos"``, ``"S2-sgd"``), ``"notes"`` (``"S1"``),
        ``"soft-svm"`` (``"S2-soft-svm"``), ``"ridge"`` (``"S4"``), ``"sum"``
        (``"S0"``).

    Examples
    --------
    >>> to_C(0.01, n=200, form="pegasos")
    0.5
    """
    return _converted("value", value, n, _form(form))


def from_C(C: float, n: int, form: str) -> float:  # noqa: N802
    """Return the constant of another form, from C: the inverse of :func:`to_C`.

    Parameters
    ----------
    C : float
        Price of a margin error; positive and finite.
    n : int
        Number of training points.
    form : str
        As for :func:`to_C`.

    Examples
    --------
    >>> from_C(0.5, n=200, form="pegasos")
    0.01
    """
    asked = _form(form)
    if asked.inverse:  # C = a/λ and λ = a/C are one function
        return _converted("C", C, n, asked)
    return _converted("C", C, n, asked._replace(factor=1.0 / asked.factor))


def _form(name: str) -> Form:
    if not isinstance(name, str) or name not in _NAMES:
        known = "; ".join(
            f"{key!r} ({form.objective}; also {', '.join(map(repr, form.aliases))})"
            for key, form in FORMS.items()
        )
        msg = f"form={name!r}: the ways to write the soft margin are {known}"
        raise InputError(msg)
    return _NAMES[name]


def _converted(name: str, value: float, n: int, form: Form) -> float:
    if not isinstance(value, Real) or isinstance(value, bool | np.bool_):
        msg = f"{name}={value!r}: give a positive number"
        raise InputTypeError(msg)
    if not isinstance(n, Integral) or isinstance(n, bool | np.bool_):
        msg = f"n={n!r}: give the number of training points, an integer of at least 1"
        raise InputTypeError(msg)
    if not 0.0 < float(value) < np.inf:
        msg = (
            f"{name}={value!r} must be positive and finite: without a price there is no "
            "margin, and the hard margin is C=inf in every form"
        )
        raise InputError(msg)
    if n < 1:
        msg = f"n={n!r}: give the number of training points, at least 1"
        raise InputError(msg)
    scaled = float(value) * (int(n) if form.averaged else 1)
    found = form.factor / scaled if form.inverse else form.factor * scaled
    if not 0.0 < found < np.inf:
        msg = f"{name}={value!r} with n={n}: the result {found} is beyond float64"
        raise InputError(msg)
    return found
