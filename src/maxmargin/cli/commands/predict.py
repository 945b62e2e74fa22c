"""``maxmargin predict MODEL DATA``: one prediction a line."""

from __future__ import annotations

from typing import Any

import click

from maxmargin.cli.failures import DONE, USAGE, Failure
from maxmargin.cli.options import data_options, output_options
from maxmargin.cli.output import Voice, checked_output
from maxmargin.workflow.choices import Choices


@click.command("predict")
@click.argument("model")
@click.argument("data")
@click.option("-o", "--output", metavar="OUT", help="File to write [standard output].")
@click.option("--proba", is_flag=True, help="Probabilities, a column for each class.")
@click.option("--decision", is_flag=True, help="Decision values.")
@click.option("--target", metavar="NAME", help="Column with the truth, if DATA has it.")
@click.option(
    "--ignore-extra",
    is_flag=True,
    help="Leave out features of LIBSVM text that the model does not know.",
)
@data_options(target=False)
@output_options(strict="Refuse categories that training did not have.")
def command(
    model: str,
    data: str,
    output: str | None,
    proba: bool,
    decision: bool,
    ignore_extra: bool,
    json_: bool,
    quiet: bool,
    strict: bool,
    **choices: Any,
) -> int:
    """Predict every row of DATA with MODEL, one line each.

    DATA is raw, as it was for training: MODEL encodes and scales it. Columns are found
    by name, in any order. Where DATA has the target, the accuracy (or R²) is told: on
    standard output with -o, else on standard error.

    MODEL is a .maxmargin file, or LIBSVM's text.
    """
    voice = Voice("predict", json=json_, quiet=quiet)
    if proba and decision:
        raise Failure(USAGE, "--proba and --decision: give one of the two")
    from maxmargin.workflow import models
    from maxmargin.workflow.preparing import refuse_missing
    from maxmargin.workflow.scores import known_truth

    if output == "-":
        output = None
    checked_output(output, model, data)
    fitted = models.load_model(model)
    encoder, machine = models.encoder_of(fitted), models.machine_of(fitted)
    if strict and encoder is not None:
        encoder.unknown = "error"
    table = models.read_for_model(data, fitted, Choices(**choices), voice.note)
    method = _method(machine, proba=proba, decision=decision)
    if encoder is None:
        refuse_missing(table, advice="fill it in")
    rows = models.rows_for(fitted, table, ignore_extra=ignore_extra)
    values = models.answers(fitted, method, rows, model)
    _write(values, _head(machine, method, values), method, output, voice)
    truth = known_truth(machine, table.y)
    if truth is None and table.y is not None:
        voice.note("the target cannot be held against predictions: no score is told")
    if truth is not None and (method == "predict" or not json_):
        labels = values if method == "predict" else fitted.predict(rows)
        line = _score(machine, truth, labels, voice)
        if output is None:
            voice.note(line)
        else:
            voice.line(line)
    voice.know(model=model, data=table.source, rows=table.n_rows)
    voice.finish()
    return DONE


def _method(machine: Any, *, proba: bool, decision: bool) -> str:
    """The method of the machine that the options ask for."""
    if not proba:
        if decision and not hasattr(machine, "decision_function"):
            raise Failure(USAGE, "--decision: a regression has predictions only")
        return "decision_function" if decision else "predict"
    if not hasattr(machine, "predict_proba"):
        advice = "; use --decision" if hasattr(machine, "decision_function") else ""
        if "probability" in machine.get_params():
            advice = "; train with --probability"
        msg = f"--proba: this {type(machine).__name__} has no probabilities{advice}"
        raise Failure(USAGE, msg)
    return "predict_proba"


def _head(machine: Any, method: str, values: Any) -> list[str] | None:
    """Names of the columns, where there are several."""
    from maxmargin.workflow.models import labels_as_text

    if method == "predict" or values.ndim == 1:
        return None
    names = labels_as_text(machine.classes_)
    if len(names) == values.shape[1]:
        return names
    return [
        f"{first} against {second}"
        for place, first in enumerate(names)
        for second in names[place + 1 :]
    ]


def _write(
    values: Any, head: list[str] | None, method: str, output: str | None, voice: Voice
) -> None:
    from maxmargin.workflow.models import labels_as_text

    if voice.json and output is None:
        named = {"predict_proba": "probabilities", "decision_function": "decisions"}
        voice.know(columns=head, **{named.get(method, "predictions"): values})
        return
    lines = (
        labels_as_text(values)
        if values.ndim == 1
        else ["\t".join(labels_as_text(row)) for row in values]
    )
    if head is not None:
        lines.insert(0, "\t".join(head))
    text = "".join(f"{line}\n" for line in lines)
    if output is None:
        click.echo(text, nl=False)
        return
    from maxmargin.data_files.opened import opened_for_writing

    with opened_for_writing(output) as stream:
        stream.write(text.encode())
    voice.know(output=output)


def _score(machine: Any, truth: Any, predicted: Any, voice: Voice) -> str:
    """The line about how good the predictions are."""
    from maxmargin.workflow.scores import score_of, task_of_model

    task = task_of_model(machine)
    score = score_of(task, truth, predicted)
    if task == "regress":
        voice.know(measure="R²", score=score)
        return f"R² {score:.4f}"
    right = int((truth == predicted).sum())
    voice.know(measure="accuracy", score=score, right=right)
    return f"accuracy {score:.4f} ({right:,} of {truth.size:,})"
