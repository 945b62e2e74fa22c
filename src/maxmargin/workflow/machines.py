"""Choices → an unfitted estimator; an estimator → its parameters for people and JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.errors import InputError
from maxmargin.estimators import MACHINES
from maxmargin.estimators.parameters import check_parameters
from maxmargin.workflow.choices import TASKS, Choices, Tell, default_machine

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TUNED = ("kernel", "C", "gamma", "degree", "coef0", "nu", "epsilon", "solver", "tol",
          "max_iter", "time_limit", "class_weight", "probability")  # fmt: skip
_OF_THE_RUN = ("callbacks", "verbose", "n_jobs", "warm_start", "cache_size")


def made_machine(task: str, choices: Choices, y: NDArray[Any] | None, tell: Tell) -> Any:
    """Return the unfitted estimator that the choices describe.

    Parameters
    ----------
    task : {"classify", "regress", "outliers"}
        The task.
    choices : Choices
        Machine and parameters.
    y : ndarray or None
        The target; a regression has its defaults in units of it.
    tell : callable
        Takes the note about these defaults.
    """
    name = default_machine(task) if choices.machine == "auto" else choices.machine
    entry = MACHINES.entry(name)
    if entry.task not in ("", task):
        msg = f"--machine {name} with --task {task}: {name} is for {TASKS[entry.task]}"
        raise InputError(msg)
    estimator = MACHINES.named(name)()
    allowed = estimator.get_params()
    said = {key: getattr(choices, key) for key in _TUNED} | {"gamma": _gamma(choices)}
    chosen = {
        key: one for key, one in said.items() if one is not None and one is not False
    }
    if "kernel" not in allowed and choices.kernel == "linear":
        del chosen["kernel"]  # such a machine has no other
    for key in chosen:
        if key not in allowed:
            option = "sigma" if key == "gamma" and choices.sigma else key
            msg = (
                f"--{option.replace('_', '-')} with --machine {name}: "
                f"{entry.title} has no such parameter"
            )
            raise InputError(msg)
    if isinstance(choices.class_weight, dict):
        chosen["class_weight"] = _labelled(choices.class_weight, y)
    of_the_run = {"n_jobs": choices.jobs, "random_state": choices.seed}
    chosen |= {
        key: one for key, one in of_the_run.items() if key in allowed and one is not None
    }
    if task == "regress" and y is not None:
        chosen |= _in_units_of(y, allowed, chosen, tell)
    estimator.set_params(**chosen)
    check_parameters(estimator)
    return estimator


def _gamma(choices: Choices) -> float | str | None:
    """The gamma that ``gamma`` or ``sigma`` means."""
    sigma, kernel = choices.sigma, choices.kernel
    if sigma is None:
        return choices.gamma
    if choices.gamma is not None:
        msg = "--gamma and --sigma: give one of the two"
    elif kernel not in (None, "rbf"):
        msg = f"--sigma with --kernel {kernel}: sigma is the width of rbf"
    elif not 0.0 < sigma < float("inf"):
        msg = f"--sigma {sigma:g}: a width must be positive and finite"
    elif 2.0 * sigma * sigma in (0.0, float("inf")):
        msg = f"--sigma {sigma:g}: its square is no float64; scale the data"
    else:
        return 1.0 / (2.0 * sigma * sigma)
    raise InputError(msg)


def _labelled(weights: dict[str, float], y: NDArray[Any] | None) -> dict[Any, float]:
    """Return weights by label, instead of by the text of a label."""
    labels = {} if y is None else {str(one): one for one in np.unique(y).tolist()}
    for text in weights:
        if text not in labels:
            known = ", ".join(list(labels)[:20])
            msg = f"--class-weight {text}=…: the classes are {known}"
            raise InputError(msg)
    return {labels[text]: weight for text, weight in weights.items()}


def _in_units_of(
    y: NDArray[Any], allowed: dict[str, Any], chosen: dict[str, Any], tell: Tell
) -> dict[str, float]:
    """Return the defaults of a regression in standard deviations of its target.

    If y is multiplied by s, then so are the optimal f, C, ε and the gradient that tol
    bounds: C = s, ε = s/10 and tol = s/1000 for a target of standard deviation s find
    what C = 1, ε = 0.1 and tol = 0.001 find for the standardised one.
    """
    spread = float(np.std(y)) or 1.0
    wanted = {"C": spread, "epsilon": 0.1 * spread}
    if "kernel" in allowed:  # the tol of linear machines is relative
        wanted["tol"] = 1e-3 * spread
    new = {
        key: float(f"{value:.6g}")
        for key, value in wanted.items()
        if key in allowed and key not in chosen
    }
    if new:
        figures = ", ".join(f"{key} {value:.6g}" for key, value in new.items())
        tell(f"in units of the target (standard deviation {spread:.6g}): {figures}")
    return new


def machine_facts(machine: Any) -> dict[str, Any]:
    """Class and parameters for JSON, with the number for a gamma that is a word."""
    known = {
        name: value
        for name, value in machine.get_params(deep=False).items()
        if name not in _OF_THE_RUN
    }
    if isinstance(known.get("gamma"), str) and hasattr(machine, "gamma_"):
        known["gamma_"] = float(machine.gamma_)
    return {"class": type(machine).__name__, "parameters": known}


def machine_line(machine: Any) -> str:
    """One line: the machine, its parameters that are not the default, and its gamma."""
    default = type(machine)().get_params()
    given = {
        name: value
        for name, value in machine.get_params(deep=False).items()
        if name not in (*_OF_THE_RUN, "random_state") and value != default[name]
    }
    for name in ("C", "kernel"):  # which come first, default or not
        if name in default:
            given = {name: getattr(machine, name)} | given
    if given.get("kernel") not in (None, "linear") and hasattr(machine, "gamma_"):
        given["gamma"] = float(machine.gamma_)
    inside = ", ".join(
        f"{name}={value:.6g}" if isinstance(value, float) else f"{name}={value}"
        for name, value in given.items()
    )
    return f"{type(machine).__name__}({inside})"
