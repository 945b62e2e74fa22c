"""Options of the command line → an estimator, or a word on what does not go together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import maxmargin
from maxmargin.cli.failures import USAGE, Failure, blame
from maxmargin.cli.options import gamma_of
from maxmargin.estimators.parameters import check_parameters

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin.cli.say import Voice

# name → its class, and what it learns
_CLASSES = {
    "svc": ("SVC", "classify"),
    "nu-svc": ("NuSVC", "classify"),
    "linear-svc": ("LinearSVC", "classify"),
    "pegasos": ("PegasosClassifier", "classify"),
    "averaged-sgd": ("AveragedSGDClassifier", "classify"),
    "svr": ("SVR", "regress"),
    "nu-svr": ("NuSVR", "regress"),
    "linear-svr": ("LinearSVR", "regress"),
    "one-class": ("OneClassSVM", "outliers"),
    "svdd": ("SVDD", "outliers"),
}
_DEFAULT = {"classify": "svc", "regress": "svr", "outliers": "one-class"}
TASKS = {
    "classify": "classification",
    "regress": "regression",
    "outliers": "outlier detection",
}
"""Tasks, and what people call them."""

# option → parameter, where they differ
_PARAMETERS = {"jobs": "n_jobs", "seed": "random_state"}
_TUNED = ("kernel", "C", "gamma", "degree", "coef0", "nu", "epsilon", "solver", "tol",
          "max_iter", "time_limit", "class_weight", "probability")  # fmt: skip


def task_of(machine: str) -> str | None:
    """What the machine learns; None where the task decides about the machine."""
    return None if machine == "auto" else _CLASSES[machine][1]


def made_machine(
    task: str, options: dict[str, Any], y: NDArray[Any] | None, voice: Voice
) -> Any:
    """The unfitted estimator that the options describe.

    Parameters
    ----------
    task : {"classify", "regress", "outliers"}
        What to learn.
    options : dict
        By the names of the command line; None means that the user said nothing.
    y : ndarray or None
        The target, in whose units a regression has its defaults.
    voice : Voice
        Who tells the user about them.
    """
    name = options["machine"] if options["machine"] != "auto" else _DEFAULT[task]
    kind, learns = _CLASSES[name]
    if learns != task:
        msg = f"--machine {name} with --task {task}: {name} is for {TASKS[learns]}"
        raise Failure(USAGE, msg)
    estimator = getattr(maxmargin, kind)()
    allowed = estimator.get_params()
    chosen = {
        key: value
        for key in _TUNED
        if (value := options[key]) is not None and value is not False
    }
    gamma = gamma_of(options["gamma"], options["sigma"], options["kernel"])
    if gamma is not None:
        chosen["gamma"] = gamma
    if "kernel" not in allowed and chosen.get("kernel") == "linear":
        del chosen["kernel"]  # which is what such a machine has
    for key in chosen:
        if key not in allowed:
            option = "sigma" if key == "gamma" and options["sigma"] else key
            msg = (
                f"--{option.replace('_', '-')} with --machine {name}: "
                f"{kind} has no such parameter"
            )
            raise Failure(USAGE, msg)
    if isinstance(chosen.get("class_weight"), dict):
        chosen["class_weight"] = _labelled(chosen["class_weight"], y)
    for option, parameter in _PARAMETERS.items():
        if parameter in allowed and options[option] is not None:
            chosen[parameter] = options[option]
    if task == "regress" and y is not None:
        chosen |= _in_units_of(y, allowed, chosen, voice)
    estimator.set_params(**chosen)
    with blame(USAGE):
        check_parameters(estimator)
    return estimator


def _labelled(weights: dict[str, float], y: NDArray[Any] | None) -> dict[Any, float]:
    """Weights by label, instead of by the text of a label."""
    labels = {} if y is None else {str(one): one for one in np.unique(y).tolist()}
    for text in weights:
        if text not in labels:
            known = ", ".join(list(labels)[:20])
            msg = f"--class-weight {text}=…: the classes are {known}"
            raise Failure(USAGE, msg)
    return {labels[text]: weight for text, weight in weights.items()}


def _in_units_of(
    y: NDArray[Any], allowed: dict[str, Any], chosen: dict[str, Any], voice: Voice
) -> dict[str, Any]:
    """Defaults of a regression in standard deviations of its target.

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
        voice.note(f"in units of the target (standard deviation {spread:.6g}): {figures}")
    return new
