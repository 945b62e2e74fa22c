"""``maxmargin train DATA``: learn a model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from maxmargin.cli.failures import DONE, INTERRUPTED, NOT_CONVERGED, USAGE, Failure
from maxmargin.cli.options import data_options, learning_options, output_options
from maxmargin.cli.output import Voice, checked_output
from maxmargin.workflow.choices import Choices

if TYPE_CHECKING:
    from maxmargin.certificate import Certificate
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
    "--cv",
    "folds",
    type=click.IntRange(2),
    metavar="K",
    help="Also cross-validate on K folds.",
)
@data_options()
@learning_options()
@output_options(progress=True, strict="Exit with 4 if the solver did not converge.")
def command(
    data: str,
    output: str | None,
    libsvm: bool,
    json_: bool,
    quiet: bool,
    progress: str,
    strict: bool,
    **choices: Any,
) -> int:
    """Learn a model from DATA, and write it with all its preprocessing.

    \b
      maxmargin train heart_scale -C 4 --gamma 0.1
      maxmargin train houses.csv --target price --cv 5
      zcat rows.gz | maxmargin train - -o rows.maxmargin
    """  # noqa: D301
    voice, chosen = Voice("train", json=json_, quiet=quiet), Choices(**choices)
    output = _output(data, output, libsvm=libsvm)
    checked_output(output, data)
    from maxmargin.persist import data_hash
    from maxmargin.workflow.learning import fit, planned, read_for_learning
    from maxmargin.workflow.models import is_libsvm_name, save_model

    table = read_for_learning(data, chosen, voice.note)
    if is_libsvm_name(output) and chosen.scale == "auto":
        chosen = replace(chosen, scale="none")  # for which that text has no room
    plan = planned(table, chosen, voice.note)
    if is_libsvm_name(output):
        _refuse_preprocessing(plan, output)
    voice.tell_notes()
    watch = voice.watch(progress)
    fitted = fit(plan, tell=voice.note, watch=watch)
    model = fitted.model
    if is_libsvm_name(output) and plan.encoder is not None:
        voice.note("LIBSVM's text knows columns by their place: their names are lost")
        model = fitted.machine  # the encoder does nothing but find columns by name
    save_model(model, output, data_hash=data_hash(table))
    found, stopped, converged = None, fitted.interrupted, fitted.converged
    if chosen.folds and not stopped:
        from maxmargin.workflow.folds import cross_validate

        found = cross_validate(plan, chosen.folds, chosen.seed, watch=watch)
        stopped = found.interrupted
    _tell(fitted, output, found, voice)
    if stopped:
        raise Failure(INTERRUPTED, f"interrupted; what there is was saved in {output}")
    if converged:
        return DONE
    stop = fitted.certificate.stop
    if strict:
        msg = f"not converged ({stop}); the model is in {output} all the same"
        raise Failure(NOT_CONVERGED, msg)
    _warn(fitted.certificate)
    return DONE


def _output(data: str, output: str | None, *, libsvm: bool) -> str:
    """Return the file to write."""
    from maxmargin.data_files.formats import STDIN, stem_of
    from maxmargin.workflow.models import is_libsvm_name

    if output == "-":
        raise Failure(USAGE, "train -o -: a model goes to a file; name it")
    if output is not None:
        if libsvm and not is_libsvm_name(output):
            raise Failure(USAGE, f"--libsvm with -o {output}: name it .model")
        return output
    if data == STDIN:
        raise Failure(USAGE, "train -: say with -o where the model is to go")
    return stem_of(data) + (".model" if libsvm else ".maxmargin")


def _refuse_preprocessing(plan: Plan, output: str) -> None:
    """Refuse, before hours of work, a plan that LIBSVM's text cannot hold."""
    from maxmargin.data_files.table import is_words

    columns = plan.table.columns.items()
    words = [name for name, column in columns if is_words(column)]
    what = f"categories ({words[0]!r})" if words else ""
    if plan.encoder is not None and plan.encoder.impute is not None:
        what = "--impute"
    if plan.scaler is not None:
        what = "--scale"
    if what:
        msg = f"{output}: LIBSVM's text has no room for {what}; write a .maxmargin file"
        raise Failure(USAGE, msg)


def _tell(
    fitted: Fitted, output: str, found: CrossValidation | None, voice: Voice
) -> None:
    from maxmargin.workflow.machines import machine_line

    if not voice.quiet:
        voice.figure("machine", machine_line(fitted.machine))
        for line in str(fitted.certificate).splitlines():
            label, _, text = line.partition(" ")
            voice.figure(label, text.strip())
        voice.figure("seconds", f"{fitted.seconds:.3g}")
    if found is not None:
        for label, text in found.lines():
            voice.figure(label, text)
    if not voice.quiet:
        voice.figure("model", f"{output} ({Path(output).stat().st_size:,} bytes)")
    cv = None if found is None else found.facts()
    voice.know(**fitted.facts(), model=output, cv=cv)
    voice.finish()


def _warn(certificate: Certificate) -> None:
    """Warn that the fit ended early, and say what helps."""
    from maxmargin.errors import warn

    figure = getattr(certificate, certificate.criterion)
    warn(
        f"not converged ({certificate.stop}): {certificate.criterion.replace('_', ' ')} "
        f"{figure:.3g}, tol {certificate.tol:.3g}; "
        "raise --max-iter, --time-limit or --tol, scale the features, or lower --C",
        UserWarning,
    )
