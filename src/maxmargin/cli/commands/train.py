"""``maxmargin train DATA``: learn a model."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import click

from maxmargin.cli.failures import DONE, INTERRUPTED, NOT_CONVERGED, USAGE, Failure
from maxmargin.cli.options import data_options, learning_options, output_options
from maxmargin.cli.say import Voice, rounded

if TYPE_CHECKING:
    from maxmargin.data_files.table import Table
    from maxmargin.workflow.folds import CrossValidation
    from maxmargin.workflow.learning import Fitted, Plan


@click.command("train")
@click.argument("data")
@click.option(
    "-o",
    "--output",
    metavar="MODEL",
    help="Model to write [DATA's name + .maxmargin]; .model is LIBSVM's text.",
)
@click.option(
    "--libsvm", is_flag=True, help="Write LIBSVM's text [DATA's name + .model]."
)
@click.option(
    "--cv", type=click.IntRange(2), metavar="K", help="Cross-validate on K folds, too."
)
@data_options()
@learning_options()
@output_options(progress=True, strict="Exit with 4 if the solver did not converge.")
def command(**options: Any) -> int:
    """Learn a model from DATA, and write it with all its preprocessing.

    \b
      maxmargin train heart_scale -C 4 --gamma 0.1
      maxmargin train houses.csv --target price --cv 5
      zcat rows.gz | maxmargin train - -o rows.maxmargin
    """  # noqa: D301
    voice = Voice("train", json=options["json_"], quiet=options["quiet"])
    output = _output(options)
    from maxmargin.cli.outputs import checked_output
    from maxmargin.workflow.learning import (
        fit,
        is_converged,
        planned,
        read_for_learning,
        was_interrupted,
    )
    from maxmargin.workflow.models import is_libsvm_name

    checked_output(output, options["data"])
    table = read_for_learning(options["data"], options, voice)
    scaling = options["scale"]
    if is_libsvm_name(output) and scaling == "auto":
        scaling = "none"  # for which that text has no room
    plan = planned(table, options, voice, scaling=scaling)
    if is_libsvm_name(output):
        _refuse_preprocessing(table, plan, output)
    voice.tell_notes()
    fitted = fit(table, plan.y, plan, voice)
    _save(fitted, table, plan, output, voice)
    certificate = fitted.certificate
    stopped, converged = was_interrupted(certificate), is_converged(certificate)
    found = None
    if options["cv"] and not stopped:
        from maxmargin.workflow.folds import cross_validate

        found = cross_validate(table, plan, options["cv"], options["seed"])
        stopped = found.interrupted
    _tell(fitted, table, plan, output, found, voice)
    if not (stopped or converged or options["strict"]):
        _warn(certificate)
    if stopped:
        raise Failure(INTERRUPTED, f"interrupted; what there is was saved in {output}")
    if options["strict"] and not converged:
        msg = f"not converged ({certificate.stop}); the model is in {output} all the same"
        raise Failure(NOT_CONVERGED, msg)
    return DONE


def _warn(certificate: Any) -> None:
    """Say that the answer is not what was asked for, and what helps here."""
    warnings.warn(
        f"not converged ({certificate.stop}): {certificate.criterion.replace('_', ' ')} "
        f"{getattr(certificate, certificate.criterion):.3g}, tol {certificate.tol:.3g}; "
        "raise --max-iter, --time-limit or --tol, scale the features, or lower --C",
        UserWarning,
        stacklevel=2,
    )


def _output(options: dict[str, Any]) -> str:
    from maxmargin.workflow.models import is_libsvm_name

    if options["output"] == "-":
        raise Failure(USAGE, "train -o -: a model goes to a file; name it")
    if options["output"] is not None:
        output: str = options["output"]
        if options["libsvm"] and not is_libsvm_name(output):
            raise Failure(USAGE, f"--libsvm with -o {output}: name it .model")
        return output
    from maxmargin.data_files.formats import STDIN, stem_of

    if options["data"] == STDIN:
        raise Failure(USAGE, "train -: say with -o where the model is to go")
    return stem_of(options["data"]) + (".model" if options["libsvm"] else ".maxmargin")


def _save(fitted: Fitted, table: Table, plan: Plan, output: str, voice: Voice) -> None:
    from maxmargin.cli.failures import blame
    from maxmargin.persist import data_hash
    from maxmargin.workflow.models import is_libsvm_name, save_model

    model = fitted.model
    if is_libsvm_name(output) and plan.encoder is not None:
        voice.note("LIBSVM's text knows columns by their place: their names are lost")
        model = fitted.machine  # the encoder does nothing but find columns by name
    with blame(USAGE):
        save_model(model, output, data_hash=data_hash(table))


def _refuse_preprocessing(table: Table, plan: Plan, output: str) -> None:
    """LIBSVM's text holds the machine alone; better said before hours of work."""
    from maxmargin.data_files.table import is_words

    words = [name for name, column in table.columns.items() if is_words(column)]
    what = f"categories ({words[0]!r})" if words else ""
    if plan.encoder is not None and plan.encoder.impute is not None:
        what = "--impute"
    if plan.scaler is not None:
        what = "--scale"
    if what:
        msg = f"{output}: LIBSVM's text has no room for {what}; write a .maxmargin file"
        raise Failure(USAGE, msg)


def _tell(
    fitted: Fitted,
    table: Table,
    plan: Plan,
    output: str,
    found: CrossValidation | None,
    voice: Voice,
) -> None:
    from pathlib import Path

    from maxmargin.cli.describe import certificate_facts, machine_line, tuned
    from maxmargin.workflow.folds import tell_scores
    from maxmargin.workflow.learning import is_converged

    certificate = fitted.certificate
    if not voice.quiet:
        voice.figure("machine", machine_line(fitted.machine))
        for line in str(certificate).splitlines():
            label, _, text = line.partition(" ")
            voice.figure(label, text.strip())
        voice.figure("seconds", rounded(fitted.seconds, 3))
    if found is not None:
        tell_scores(found, voice)
    if not voice.quiet:
        voice.figure("model", f"{output} ({Path(output).stat().st_size:,} bytes)")
    voice.know(
        data={
            "path": table.source,
            "format": table.format,
            "rows": table.n_rows,
            "columns": table.n_columns,
            "features": fitted.n_features,
            "target": table.target_name,
        },
        task=plan.task,
        machine={
            "class": type(fitted.machine).__name__,
            "parameters": tuned(fitted.machine),
        },
        classes=getattr(fitted.machine, "classes_", None),
        preprocessing=[
            type(step).__name__
            for step in (plan.encoder, plan.scaler)
            if step is not None
        ],
        certificate=certificate_facts(certificate),
        converged=is_converged(certificate),
        seconds=fitted.seconds,
        model=output,
        cv=None if found is None else found.facts(),
    )
    voice.finish()
