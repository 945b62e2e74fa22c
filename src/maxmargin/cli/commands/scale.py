"""``maxmargin scale DATA``: features on a common scale, in a file."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from maxmargin.cli.failures import BAD_DATA, DONE, MISFIT, USAGE, Failure, blame
from maxmargin.cli.options import FORMATS, data_options, output_options
from maxmargin.cli.say import Voice

if TYPE_CHECKING:
    from maxmargin.data_files.table import Table


@click.command("scale")
@click.argument("data")
@click.option(
    "-o",
    "--output",
    metavar="OUT",
    help="File to write, its extension the format [standard output].",
)
@click.option("--to", type=click.Choice(FORMATS), help="Format of OUT.")
@click.option(
    "--method",
    type=click.Choice(("standard", "minmax", "maxabs")),
    default="standard",
    show_default=True,
    help="Mean 0 and variance 1; the range; the largest absolute value 1.",
)
@click.option(
    "--range",
    "range_",
    nargs=2,
    type=float,
    metavar="LOW HIGH",
    help="Range of minmax [-1 1].",
)
@click.option("--save", metavar="SCALER", help="Keep the scaling in a .maxmargin file.")
@click.option("--restore", metavar="SCALER", help="Scale as an earlier --save did.")
@data_options()
@output_options()
def command(**options: Any) -> int:
    """Scale the features of DATA; the target stays as it is.

    Test data must be scaled as training data were: --save on the one, --restore on the
    other. (A model of `maxmargin train --scale` does so by itself.)
    """
    voice = Voice("scale", json=options["json_"], quiet=options["quiet"])
    if options["restore"] and (options["range_"] or options["save"]):
        raise Failure(USAGE, "--restore scales as it was saved: no --range, no --save")
    if options["range_"] and options["method"] != "minmax":
        raise Failure(USAGE, "--range is the range of --method minmax")
    if options["json_"] and options["output"] in (None, "-"):
        raise Failure(USAGE, "--json: say with -o where the scaled data are to go")
    from maxmargin.cli.outputs import checked_output
    from maxmargin.data_files.formats import format_of
    from maxmargin.data_files.reading import read_table
    from maxmargin.data_files.writing import write_table
    from maxmargin.workflow.models import encoder_of

    if options["output"] == "-":
        options["output"] = None
    checked_output(options["output"], options["data"], options["restore"])
    checked_output(options["save"], options["data"])
    target, guess, model = options["target"], "last", None
    if options["restore"]:
        model = _restored(options["restore"])
        encoder = encoder_of(model)
        if encoder is not None and encoder.names_ is not None:
            # Columns are found by name, and the target, if there is one, too.
            target, guess = target or encoder.target_name_, "none"
    table = read_table(
        options["data"],
        format=options["format_"],
        target=target,
        guess=guess,
        required=options["target"] is not None,
    )
    for note in table.notes:
        voice.note(note)
    if model is None:
        model = _fitted(table, options, voice)
    scaled = _applied(model, table, options["restore"])
    given = options["to"] or (None if options["output"] else table.format)
    kind = format_of(options["output"] or "-", given)
    target = options["output"] or sys.stdout.buffer
    with blame(USAGE):
        write_table(scaled, target, format=kind)
    if options["save"]:
        from maxmargin.persist import save

        save(model, options["save"])
    if options["output"]:
        rows, columns = scaled.shape
        voice.wrote(f"{options['output']}: {rows:,} rows × {columns:,}")
        voice.know(output=options["output"], format=kind, rows=rows, columns=columns)
        voice.finish()
    return DONE


def _fitted(table: Table, options: dict[str, Any], voice: Voice) -> Any:
    """Encoder (for named columns) and scaler, fitted as train does it."""
    from sklearn.pipeline import Pipeline

    from maxmargin.workflow.preparing import (
        blamed_on,
        faster,
        fit_scaler,
        made_encoder,
        made_scaler,
    )

    low, high = options["range_"] or (-1.0, 1.0)
    if not low < high:
        raise Failure(USAGE, f"--range {low:g} {high:g}: the first must be less")
    steps: list[tuple[str, Any]] = []
    X: Any = table.matrix
    encoder = made_encoder(table, options["impute"])
    with blamed_on(table.source):
        if encoder is not None:
            steps.append(("encode", encoder))
            X = encoder.fit_transform(table)
        scaler = made_scaler(options["method"], (low, high))
        fit_scaler(scaler, faster(X), voice, option="--method")
    steps.append(("scale", scaler))
    return Pipeline(steps)


def _restored(path: str) -> Any:
    from maxmargin.errors import ModelFileError
    from maxmargin.persist import load
    from maxmargin.workflow.models import is_own_file, steps_of

    if not is_own_file(path):
        raise ModelFileError(path, 0, "this is no file of scale --save")
    model = load(path)
    if not hasattr(steps_of(model)[-1][1], "transform"):
        raise ModelFileError(path, 0, "this is a machine, no file of scale --save")
    return model


def _applied(model: Any, table: Table, restored: str | None) -> Table:
    from maxmargin.data_files.table import dense_rows
    from maxmargin.workflow.models import encoder_of, rows_for
    from maxmargin.workflow.preparing import refuse_missing

    encoder = encoder_of(model)
    if encoder is None:
        refuse_missing(table)
    with blame(MISFIT if restored else BAD_DATA):
        X = model.transform(rows_for(model, table))
    if encoder is None:
        return replace(table, matrix=X, columns={})
    names = encoder.get_feature_names_out().tolist()
    with blame(USAGE):
        dense = dense_rows(X, source=table.source)
    columns = {name: dense[:, place] for place, name in enumerate(names)}
    return replace(table, matrix=None, columns=columns)
