"""``maxmargin convert IN OUT``: data or models in another format."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from maxmargin.cli.failures import DONE, USAGE, Failure
from maxmargin.cli.options import data_options, output_options
from maxmargin.cli.output import Voice, checked_output
from maxmargin.data_files.formats import FORMATS
from maxmargin.workflow.choices import Choices

if TYPE_CHECKING:
    from maxmargin.data_files.table import Table


@click.command("convert")
@click.argument("source", metavar="IN")
@click.argument("output", metavar="OUT")
@click.option("--to", type=click.Choice(FORMATS), help="Format of OUT; by its extension.")
@data_options()
@output_options()
def command(
    source: str, output: str, to: str | None, json_: bool, quiet: bool, **choices: Any
) -> int:
    """Convert data, or a model, to the format that OUT's extension names.

    Models are .maxmargin (ours) and .model (LIBSVM's text). Everything else is data:
    .csv, .tsv, .npz, .parquet, .arrow, and LIBSVM text for any other name. Where OUT
    holds numbers only, words become columns of zeros and ones, and labels numbers.
    """
    voice = Voice("convert", json=json_, quiet=quiet)
    from maxmargin.workflow.models import MODEL_EXTENSIONS

    if output == "-":
        raise Failure(USAGE, "convert: OUT must be a file, whose extension is its format")
    checked_output(output, source)
    kinds = [Path(path).suffix.lower() in MODEL_EXTENSIONS for path in (source, output)]
    if all(kinds):
        _convert_model(source, output, voice)
    elif any(kinds):
        msg = f"{source} → {output}: a model cannot become data, nor data a model"
        raise Failure(USAGE, f"{msg}; maxmargin train learns one")
    else:
        _convert_data(source, output, to, Choices(**choices), voice)
    size = Path(output).stat().st_size
    voice.wrote(f"{output} ({size:,} bytes)")
    voice.know(source=source, output=output, bytes=size)
    voice.finish()
    return DONE


def _convert_model(source: str, output: str, voice: Voice) -> None:
    from maxmargin.workflow.models import is_own_file, load_model, save_model

    model = load_model(source)
    known = None
    if is_own_file(source):
        from maxmargin.persist import header

        known = header(source)["data_hash"]
    save_model(model, output, data_hash=known)
    voice.know(kind="model")


def _convert_data(
    source: str, output: str, to: str | None, chosen: Choices, voice: Voice
) -> None:
    from maxmargin.data_files.formats import format_of
    from maxmargin.data_files.reading import read_table
    from maxmargin.data_files.writing import write_table

    kind = format_of(output, to)
    table = read_table(source, format=chosen.format, target=chosen.target, guess="last")
    for note in table.notes:
        voice.note(note)
    if kind in ("libsvm", "npz"):
        table = _numeric(table, kind, chosen.impute, voice)
    write_table(table, output, format=kind)
    voice.know(kind="data", rows=table.n_rows, columns=table.n_columns, format=kind)


def _numeric(table: Table, kind: str, impute: str | None, voice: Voice) -> Table:
    """Turn words into columns of zeros and ones, and labels of text into numbers."""
    import numpy as np

    from maxmargin.data_files.table import is_words
    from maxmargin.workflow.preparing import blamed_on, fitted_encoder

    words = any(is_words(column) for column in table.columns.values())
    if words or impute:
        encoder = fitted_encoder(table, impute)
        assert encoder is not None  # there are words, or something to fill in
        with blamed_on(table.source):
            X = encoder.transform(table)
        names = encoder.get_feature_names_out().tolist()
        if words:
            voice.note(f"words became zeros and ones: {len(names)} columns")
        if kind == "npz" and isinstance(X, np.ndarray):
            columns = {name: X[:, place] for place, name in enumerate(names)}
            table = replace(table, matrix=None, columns=columns)
        else:
            table = replace(table, matrix=X, columns={})
    elif kind == "libsvm" and table.named:
        for name, column in table.columns.items():
            if np.isnan(column).any():
                row = int(np.argmax(np.isnan(column)))
                raise table.refuse(row, f"no value in column {name!r}; say --impute")
    if kind == "libsvm" and table.y is not None and is_words(table.y):
        classes = np.unique(table.target().astype(str))
        coded = np.searchsorted(classes, table.y.astype(str)).astype(np.float64)
        told = ", ".join(f"{place}={name}" for place, name in enumerate(classes.tolist()))
        voice.note(f"labels became numbers: {told}")
        voice.know(
            labels={str(place): name for place, name in enumerate(classes.tolist())}
        )
        table = replace(table, y=coded)
    return table
