"""``maxmargin inspect MODEL``: a model and its certificate."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from maxmargin.cli.failures import DONE
from maxmargin.cli.options import output_options
from maxmargin.cli.output import Voice


@click.command("inspect")
@click.argument("model")
@output_options()
def command(model: str, json_: bool, quiet: bool) -> int:
    """Show a model: machine, parameters, certificate, support vectors, origin.

    Only the header of a .maxmargin file is read; LIBSVM's text is read as a whole.
    """
    voice = Voice("inspect", json=json_, quiet=quiet)
    from maxmargin.workflow.models import is_own_file

    if is_own_file(model):
        from maxmargin.persist import header

        facts = header(model)
    else:
        facts = _libsvm(model)
    voice.know(model=model, bytes=Path(model).stat().st_size, **facts)
    _tell(model, facts, voice)
    voice.finish()
    return DONE


def _libsvm(path: str) -> dict[str, Any]:
    """Facts of LIBSVM's text, which has no C, nu or epsilon."""
    from maxmargin.persist.libsvm_model import read_libsvm_model, to_estimator

    model = read_libsvm_model(path)
    machine = to_estimator(model)
    of_kernel = {
        "polynomial": ("degree", "gamma", "coef0"),
        "rbf": ("gamma",),
        "sigmoid": ("gamma", "coef0"),
    }.get(model.kernel_type, ())
    counts = model.nr_sv
    return {
        "format": "LIBSVM model text",
        "class": type(machine).__name__,
        "parameters": {"kernel": machine.kernel}
        | {name: getattr(model, name) for name in of_kernel},
        "steps": [],
        "certificate": None,
        "n_support_vectors": [model.total_sv] if counts is None else counts.tolist(),
        "classes": None if model.label is None else model.label.tolist(),
        "n_features": model.n_features,
    }


def _tell(path: str, facts: dict[str, Any], voice: Voice) -> None:
    version = facts.get("format_version")
    title = facts["format"] + (f", version {version}" if version else "")
    voice.figure("file", f"{path}: {title}")
    given = ", ".join(f"{name}={_short(value)}" for name, value in _chosen(facts).items())
    voice.figure("machine", f"{facts['class'].removeprefix('maxmargin.')}({given})")
    for step in facts["steps"]:
        inside = ", ".join(
            f"{name}={_short(value)}" for name, value in step["parameters"].items()
        )
        voice.figure("before it", f"{step['name']}: {step['class']}({inside})")
    _tell_shape(facts, voice)
    if facts["certificate"]:
        _tell_certificate(facts["certificate"], voice)
    if facts.get("created"):
        versions = facts["versions"].items()
        voice.figure("created", str(facts["created"]))
        voice.figure("with", ", ".join(f"{name} {number}" for name, number in versions))
        voice.figure("data", f"SHA-256 {facts['data_hash'] or 'not recorded'}")
        voice.figure("arrays", f"{facts['n_arrays']}, {facts['n_bytes']:,} bytes")


def _chosen(facts: dict[str, Any]) -> dict[str, Any]:
    """Kernel and C, and every other parameter that is not the default."""
    from maxmargin.estimators import MACHINES

    titles = MACHINES.names_in_files()
    title = titles.get(facts["class"], facts["class"])
    default = MACHINES.load(title)().get_params() if title in titles.values() else {}
    known = facts["parameters"]
    first = {name: known[name] for name in ("kernel", "C") if name in known}
    return first | {
        name: value
        for name, value in known.items()
        if value is not None and (name not in default or default[name] != value)
    }


def _tell_shape(facts: dict[str, Any], voice: Voice) -> None:
    features = facts.get("n_features")
    if features is not None:
        names = facts.get("feature_names")
        voice.figure(
            "features", f"{features:,}" + (f": {_listed(names)}" if names else "")
        )
    if facts["classes"]:
        classes = facts["classes"]
        voice.figure("classes", f"{len(classes)}: {_listed(classes)}")
    if facts["n_support_vectors"]:
        counts = facts["n_support_vectors"]
        each = f" ({_listed(counts)} by class)" if len(counts) > 1 else ""
        voice.figure("support", f"{sum(counts):,} vectors{each}")


def _tell_certificate(figures: dict[str, Any], voice: Voice) -> None:
    bound = figures["criterion"]
    sign = "≤" if figures["ok"] else "vs."
    voice.figure("primal", f"{figures['primal']:.10g}")
    voice.figure("dual", f"{figures['dual']:.10g}")
    voice.figure("gap", f"{figures['gap']:.3g} (relative {figures['relative_gap']:.2g})")
    voice.figure(
        bound.replace("_", " "), f"{figures[bound]:.3g} {sign} tol {figures['tol']:g}"
    )
    if figures["n_problems"] > 1:
        voice.figure(
            "problems", f"{figures['n_problems']} binary; the worst: {figures['name']}"
        )
    voice.figure(
        "work",
        f"{figures['n_iter']:,} iterations, {figures['n_kernel']:,} kernel values, "
        f"{figures['seconds']:.3g} s",
    )
    voice.figure("stop", figures["stop"])


def _short(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _listed(values: list[Any]) -> str:
    shown = ", ".join(str(one) for one in values[:10])
    return shown + (", …" if len(values) > 10 else "")
