"""The description of a model in words and figures, written beside it for people.

It is plain JSON and restores nothing: :func:`maxmargin.persist.load` reads the model
itself. Numbers that JSON does not have are the words inf, -inf and nan.
"""

from __future__ import annotations

import inspect
import math
import re
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.certificate import Certificate
from maxmargin.persist.own_files.malformed import refuse, shown
from maxmargin.persist.own_files.registry import (
    check_known,
    name_of,
    objects,
    parameters_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

_MOST_NAMES = 1000  # policy: classes and columns that are listed
_LONGEST = 200  # policy: letters of a value
_WORDS = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
_LISTS = ("classes", "feature_names")


def summary_of(estimator: Any) -> dict[str, Any]:
    """Describe a model without its arrays.

    Returns
    -------
    dict
        ``class`` and ``parameters`` of the machine (the last step of a pipeline);
        ``steps``, the preprocessing in front of it, each with ``name``, ``class`` and
        ``parameters`` (those that are not the default); ``certificate``, its figures, or
        None; ``n_support_vectors``, one count for each class; ``classes``,
        ``n_features``, ``feature_names`` of the whole model; None where a model has none.
    """
    machine, steps = _parts(estimator)
    certificate = vars(machine).get("certificate_")
    support = np.asarray(vars(machine).get("n_support_"))
    classes = getattr(machine, "classes_", None)
    return {
        "class": name_of(type(machine), objects()),
        "parameters": _parameters(machine, changed=False),
        "steps": steps,
        "certificate": _figures(certificate)
        if type(certificate) is Certificate
        else None,
        "n_support_vectors": support.ravel().tolist()
        if support.dtype.kind == "i"
        else None,
        "classes": _names(classes),
        "n_features": _count(getattr(estimator, "n_features_in_", None)),
        "feature_names": _names(getattr(estimator, "feature_names_in_", None)),
    }


def _parts(estimator: Any) -> tuple[Any, list[dict[str, Any]]]:
    """The machine at the end, and the steps in front of it."""
    steps = []
    machine = estimator
    while isinstance(getattr(machine, "steps", None), list) and machine.steps:
        last = machine.steps[-1][1]
        if name_of(type(last), objects()) is None:  # "passthrough"
            break
        for name, step in machine.steps[:-1]:
            steps += list(_flat(name, step))
        machine = last
    return machine, steps


def _flat(name: str, step: Any) -> Iterator[dict[str, Any]]:
    """A step and the steps inside it."""
    inner: list[tuple[Any, ...]] = getattr(step, "steps", [])
    inner = inner or getattr(step, "transformers_", [])
    known = None if isinstance(step, str | None) else name_of(type(step), objects())
    yield {
        "name": str(name),
        "class": known or str(step),
        "parameters": {} if known is None else _parameters(step, changed=True),
    }
    for own, part, *_ in inner:
        if not isinstance(part, str | None):
            yield from _flat(f"{name}.{own}", part)


def _parameters(estimator: Any, *, changed: bool) -> dict[str, Any]:
    """Parameters of the constructor; with ``changed`` only those with another value."""
    found = {}
    for name, default in parameters_of(type(estimator)).items():
        value = getattr(estimator, name, None)
        if name in ("steps", "transformers", "callbacks", "memory"):
            continue
        if not changed or _shown(value) != _shown(default):
            found[name] = _shown(value)
    gamma = vars(estimator).get("gamma_")
    if isinstance(gamma, float) and isinstance(found.get("gamma"), str):
        found["gamma_"] = _shown(gamma)  # the number that the word gamma meant
    return found


def _shown(value: Any) -> Any:
    """A value as JSON can hold it, or in words."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | np.integer) and abs(int(value)) < 1 << 53:
        return int(value)
    if isinstance(value, float | np.floating):
        return _number(value)
    if inspect.isroutine(value):
        value = value.__qualname__
    # Places in memory are left out.
    text = value if isinstance(value, str) else re.sub(" at 0x[0-9A-F]+", "", repr(value))
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _number(value: Any) -> Any:
    number = float(value)
    return number if math.isfinite(number) else repr(number)


def _figures(certificate: Any) -> dict[str, Any]:
    """The figures of a certificate, without those of its problems."""
    found = {}
    for one in fields(certificate):
        value = getattr(certificate, one.name)
        if one.name == "problems":
            found["n_problems"] = len(value) or 1
        elif one.name == "bias_interval":
            found["bias_low"], found["bias_high"] = map(_number, value)
        else:
            found[one.name] = _shown(value)
    return {**found, "ok": bool(certificate.ok)}


def _count(value: Any) -> int | None:
    return int(value) if isinstance(value, int | np.integer) else None


def _names(values: Any) -> list[str] | None:
    if values is None:
        return None
    listed = [str(value) for value in np.asarray(values).reshape(-1)[:_MOST_NAMES]]
    left_out = np.size(values) - len(listed)
    return [*listed, f"… and {left_out} more"] if left_out else listed


# --- reading ----------------------------------------------------------------------------


def checked_summary(summary: Any) -> dict[str, Any]:
    """Check a summary from a file: every part must be of its kind."""
    names = {"class", "parameters", "steps", "certificate", "n_support_vectors"}
    names |= {"classes", "n_features", "feature_names"}
    if not isinstance(summary, dict) or set(summary) != names:
        refuse(f"the summary must have {', '.join(sorted(names))}")
    steps, support = summary["steps"], summary["n_support_vectors"]
    check_known(summary["class"], objects())
    right = isinstance(steps, list)
    right = right and all(
        isinstance(step, dict) and set(step) == {"name", "class", "parameters"}
        for step in steps
    )
    right = right and all(
        isinstance(step[key], str) for step in steps for key in ("name", "class")
    )
    right = right and (support is None or _all_of(support, int))
    right = right and all(
        summary[key] is None or _all_of(summary[key], str) for key in _LISTS
    )
    right = right and isinstance(summary["n_features"], int | None)
    if not right:
        refuse("the summary does not say what a summary has to")
    certificate = summary["certificate"]
    return {
        **summary,
        "parameters": _table(summary["parameters"]),
        "steps": [{**step, "parameters": _table(step["parameters"])} for step in steps],
        "certificate": None if certificate is None else _numbers(certificate),
    }


def _all_of(values: Any, kind: type) -> bool:
    return isinstance(values, list) and all(type(value) is kind for value in values)


def _table(content: Any) -> dict[str, Any]:
    if not isinstance(content, dict) or not all(
        isinstance(value, str | int | float | None) for value in content.values()
    ):
        refuse(f"{shown(content)} is no table of plain values")
    return content


def _numbers(content: Any) -> dict[str, Any]:
    """Figures of a certificate; the words inf, -inf and nan become numbers."""
    texts = ("stop", "criterion", "name", "solver")
    found = {}
    for key, value in _table(content).items():
        number = _WORDS.get(value, value) if isinstance(value, str) else value
        if (key in texts) != isinstance(number, str) or value is None:
            refuse(f"the certificate has {shown(key)}: {shown(value)}")
        found[key] = value if key in texts else number
    needed = {"primal", "dual", "gap", "relative_gap", "violation", "tol", "n_support"}
    missing = (needed | {"n_free", "n_bound", "n_iter", "n_kernel", "seconds", "ok"}) | {
        *texts, "n_problems", "bias_low", "bias_high", "balance"
    }  # fmt: skip
    missing -= set(found)
    if missing:
        refuse(f"the certificate lacks {', '.join(sorted(missing))}")
    if found["criterion"] not in ("violation", "relative_gap"):
        refuse(f"the certificate has the criterion {shown(found['criterion'])}")
    return found
