"""``maxmargin predict MODEL DATA``: one prediction a line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from maxmargin.cli.failures import DONE, MISFIT, USAGE, Failure, blame
from maxmargin.cli.options import data_options, output_options
from maxmargin.cli.say import Voice

if TYPE_CHECKING:
    from maxmargin.data_files.table import Table


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
def command(**options: Any) -> int:
    """Predict every row of DATA with MODEL, one line each.

    DATA is raw, as it was for training: MODEL encodes and scales it. Columns are found
    by name, in any order. Where DATA has the target, the accuracy (or R²) is told: on
    standard output with -o, else on standard error.

    MODEL is a .maxmargin file, or LIBSVM's text.
    """
    voice = Voice("predict", json=options["json_"], quiet=options["quiet"])
    if options["proba"] and options["decision"]:
        raise Failure(USAGE, "--proba and --decision: give one of the two")
    from maxmargin.cli.outputs import checked_output
    from maxmargin.workflow.models import (
        encoder_of,
        load_model,
        machine_of,
        rows_for,
    )
    from maxmargin.workflow.preparing import refuse_missing

    if options["output"] == "-":
        options["output"] = None
    checked_output(options["output"], options["model"], options["data"])
    model = load_model(options["model"])
    table = _table(model, options, voice)
    method = _method(machine_of(model), options)
    if encoder_of(model) is None:
        refuse_missing(table, advice="fill it in")
    with blame(MISFIT):
        rows = rows_for(model, table, ignore_extra=options["ignore_extra"])
        values = _asked(model, method, rows, options["model"])
    head = _head(machine_of(model), method, values)
    _write(values, head, options, voice)
    truth = _truth(machine_of(model), table, voice)
    if truth is not None and (method == "predict" or not options["json_"]):
        labels = values if method == "predict" else model.predict(rows)
        _tell_score(machine_of(model), truth, labels, options, voice)
    voice.know(model=options["model"], data=table.source, rows=table.n_rows)
    voice.finish()
    return DONE


def _asked(model: Any, method: str, rows: Any, path: str) -> Any:
    """What the model answers; a file that was altered may hold one that cannot."""
    from maxmargin.errors import InputError, ModelFileError, NumericalError

    try:
        return getattr(model, method)(rows)
    except (InputError, NumericalError, MemoryError):
        raise
    except Exception as error:
        told = f"{type(error).__name__}: {error}"
        raise ModelFileError(path, 0, f"the model fails on these rows, {told}") from error


def _table(model: Any, options: dict[str, Any], voice: Voice) -> Table:
    from maxmargin.data_files.reading import read_table
    from maxmargin.workflow.models import encoder_of, machine_of, n_features_of

    encoder = encoder_of(model)
    known = encoder is not None and encoder.names_ is not None
    target = options["target"] or (encoder.target_name_ if known else None)
    words = []
    if known:
        kinds = zip(encoder.names_, encoder.kinds_, strict=True)
        words = [name for name, kind in kinds if kind == "words"]
        if options["strict"]:
            encoder.unknown = "error"
    classes = getattr(machine_of(model), "classes_", None)
    if target is not None and classes is not None and classes.dtype.kind in "US":
        words.append(target)
    table = read_table(
        options["data"],
        format=options["format_"],
        target=target,
        guess="none" if known else "name",
        required=options["target"] is not None,
        words=words,
    )
    if known and table.named:
        extra = [name for name in table.columns if name not in encoder.names_]
        if extra:
            shown = ", ".join(map(repr, extra[:5])) + (", …" if len(extra) > 5 else "")
            voice.note(f"columns that the model does not know are ignored: {shown}")
    expected = n_features_of(model)
    if table.format == "libsvm" and expected and table.n_columns < expected:
        voice.note(
            f"{table.source} uses features up to {table.n_columns}; the model knows "
            f"{expected}, and the others count as 0"
        )
    return table


def _method(machine: Any, options: dict[str, Any]) -> str:
    if not options["proba"]:
        if options["decision"] and not hasattr(machine, "decision_function"):
            raise Failure(USAGE, "--decision: a regression has predictions only")
        return "decision_function" if options["decision"] else "predict"
    if not hasattr(machine, "predict_proba"):
        kind = type(machine).__name__
        advice = "; use --decision" if hasattr(machine, "decision_function") else ""
        if kind in ("SVC", "NuSVC"):
            advice = "; train with --probability"
        raise Failure(USAGE, f"--proba: this {kind} has no probabilities{advice}")
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
    values: Any, head: list[str] | None, options: dict[str, Any], voice: Voice
) -> None:
    from maxmargin.workflow.models import labels_as_text

    key = "probabilities" if options["proba"] else "decisions"
    key = key if options["proba"] or options["decision"] else "predictions"
    if options["json_"] and options["output"] is None:
        voice.know(columns=head, **{key: values})
        return
    lines = (
        labels_as_text(values)
        if values.ndim == 1
        else ["\t".join(labels_as_text(row)) for row in values]
    )
    if head is not None:
        lines.insert(0, "\t".join(head))
    text = "".join(f"{line}\n" for line in lines)
    if options["output"] is None:
        click.echo(text, nl=False)
        return
    from maxmargin.data_files.opened import opened_for_writing

    with opened_for_writing(options["output"]) as stream:
        stream.write(text.encode())
    voice.know(output=options["output"])


def _truth(machine: Any, table: Table, voice: Voice) -> Any:
    """What the predictions are held against; None where that is not known."""
    from maxmargin.workflow.scores import known_truth

    truth = known_truth(machine, table.y)
    if truth is None and table.y is not None:
        voice.note("the target cannot be held against predictions: no score is told")
    return truth


def _tell_score(
    machine: Any, truth: Any, predicted: Any, options: dict[str, Any], voice: Voice
) -> None:
    from maxmargin.workflow.scores import score_of, task_of_model

    task = task_of_model(machine)
    score = score_of(task, truth, predicted)
    if task == "regress":
        voice.know(measure="R²", score=score)
        line = f"R² {score:.4f}"
    else:
        right = int((truth == predicted).sum())
        voice.know(measure="accuracy", score=score, right=right)
        line = f"accuracy {score:.4f} ({right:,} of {truth.size:,})"
    if options["output"] is None:
        voice.note(line)
    else:
        voice.line(line)
