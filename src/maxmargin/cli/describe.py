"""Machines and certificates in words and as facts for JSON."""

from __future__ import annotations

from typing import Any

_FIGURES = ("primal", "dual", "gap", "relative_gap", "violation", "tol", "criterion",
            "n_support", "n_free", "n_bound", "n_iter", "n_kernel", "seconds", "stop",
            "solver")  # fmt: skip
_OF_THE_RUN = ("callbacks", "verbose", "n_jobs", "warm_start", "cache_size")


def certificate_facts(certificate: Any) -> dict[str, Any]:
    """The main figures of a certificate, and how many problems it speaks for."""
    facts = {name: getattr(certificate, name) for name in _FIGURES}
    facts["bias_interval"] = list(certificate.bias_interval)
    facts["n_problems"] = max(1, len(certificate.problems))
    facts["ok"] = bool(certificate.ok)
    return facts


def tuned(machine: Any) -> dict[str, Any]:
    """Parameters that make the model, as numbers and words."""
    known = {
        name: value
        for name, value in machine.get_params(deep=False).items()
        if name not in _OF_THE_RUN
    }
    if isinstance(known.get("gamma"), str) and hasattr(machine, "gamma_"):
        known["gamma_"] = float(machine.gamma_)
    return known


def machine_line(machine: Any) -> str:
    """The machine with the parameters that somebody chose, and the gamma it came to."""
    default = type(machine)().get_params()
    given = {
        name: value
        for name, value in machine.get_params(deep=False).items()
        if name not in (*_OF_THE_RUN, "random_state") and value != default[name]
    }
    for name in ("C", "kernel"):  # what everybody wants to know
        if name in default:
            given = {name: getattr(machine, name)} | given
    if given.get("kernel") not in (None, "linear") and hasattr(machine, "gamma_"):
        given["gamma"] = float(machine.gamma_)
    inside = ", ".join(
        f"{name}={value:.6g}" if isinstance(value, float) else f"{name}={value}"
        for name, value in given.items()
    )
    return f"{type(machine).__name__}({inside})"
