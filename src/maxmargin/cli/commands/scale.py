"""``maxmargin scale DATA``: features on a common scale, in a file."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from maxmargin.cli.failures import DONE, USAGE, Failure
from maxmargin.cli.options import data_options, output_options
from maxmargin.cli.output import Voice, checked_output
from maxmargin.data_files.formats import FORMATS
from maxmargin.workflow.choices import SCALINGS, Choices

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
    type=click.Choice(SCALINGS[1:]),
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
def command(
    data: str,
    output: str | None,
    to: str | None,
    method: str,
    range_: tuple[float, float] | None,
    save: str | None,
    restore: str | None,
    json_: bool,
    quiet: bool,
    **choices: Any,
) -> int:
    """Scale the features of DATA; the target stays as it is.

    Test data must be scaled as training data were: --save on the one, --restore on the
    other. (A model of `maxmargin train --scale` does so by itself.)
    """
    voice, chosen = Voice("scale", json=json_, quiet=quiet), Choices(**choices)
    if restore and (range_ or save):
        raise Failure(USAGE, "--restore scales as it was saved: no --range, no --save")
    if range_ and method != "minmax":
        raise Failure(USAGE, "--range is the range of --method minmax")
    if json_ and output in (None, "-"):
        raise Failure(USAGE, "--json: say with -o where the scaled data are to go")
    from maxmargin.data_files.formats import format_of
    from maxmargin.data_files.writing import write_table
    from maxmargin.persist import save as save_file

    if output == "-":
        output = None
    checked_output(output, data, restore)
    checked_output(save, data)
    model = _restored(restore) if restore else None
    table = _read(data, model, chosen)
    for note in table.notes:
        voice.note(note)
    if model is None:
        model = _fitted(table, chosen.impute, method, range_ or (-1.0, 1.0), voice)
    scaled = _applied(model, table)
    kind = format_of(output or "-", to or (None if output else table.format))
    write_table(scaled, output or sys.stdout.buffer, format=kind)
    if save:
        save_file(model, save)
    if output:
        rows, columns = scaled.shape
        voice.wrote(f"{output}: {rows:,} rows × {columns:,}")
        voice.know(output=output, format=kind, rows=rows, columns=columns)
        voice.finish()
    return DONE


def _read(data: str, model: Any, chosen: Choices) -> Table:
    """Read the table; a restored scaling finds columns and target by their names."""
    from maxmargin.data_files.reading import read_table
    from maxmargin.workflow.models import encoder_of

    target, guess = chosen.target, "last"
    encoder = None if model is None else encoder_of(model)
    if encoder is not None and encoder.names_ is not None:
        target, guess = target or encoder.target_name_, "none"
    return read_table(
        data,
        format=chosen.format,
        target=target,
        guess=guess,
        required=chosen.target is not None,
    )


def _fitted(
    table: Table, impute: str | None, method: str, span: tuple[float, float], voice: Voice
) -> Any:
    """Fit encoder (for named columns) and scaler as train does."""
    from sklearn.pipeline import Pipeline

    from maxmargin.workflow.preparing import fitted_encoder, made_scaler, prepared

    low, high = span
    if not low < high:
        raise Failure(USAGE, f"--range {low:g} {high:g}: the first must be less")
    encoder, scaler = fitted_encoder(table, impute), made_scaler(method, span)
    return Pipeline(prepared(table, encoder, scaler, voice.note, option="--method")[1])


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


def _applied(model: Any, table: Table) -> Table:
    from maxmargin.data_files.table import dense_rows
    from maxmargin.errors import MisfitError
    from maxmargin.workflow.models import encoder_of, rows_for
    from maxmargin.workflow.preparing import refuse_missing, refused_as

    encoder = encoder_of(model)
    if encoder is None:
        refuse_missing(table)
    rows = rows_for(model, table)
    with refused_as(MisfitError):
        X = model.transform(rows)
    if encoder is None:
        return replace(table, matrix=X, columns={})
    names = encoder.get_feature_names_out().tolist()
    dense = dense_rows(X, source=table.source)
    columns = {name: dense[:, place] for place, name in enumerate(names)}
    return replace(table, matrix=None, columns=columns)
