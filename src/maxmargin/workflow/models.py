"""Files of models, ours and LIBSVM's, and how rows are brought to them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler

from maxmargin.cli.failures import MISFIT, Failure, blame
from maxmargin.data_files.columns.cells import shortest
from maxmargin.data_files.columns.encoder import TableEncoder
from maxmargin.data_files.table import dense_rows
from maxmargin.errors import InputError, ModelFileError

if TYPE_CHECKING:
    from maxmargin.data_files.table import Table

_ZIP = b"PK\x03\x04"
_LIBSVM = ".model"  # .libsvm is what people call LIBSVM's *data*
MODEL_EXTENSIONS = (".maxmargin", _LIBSVM)
"""How names of models end: everything else is data."""


def is_libsvm_name(path: str) -> bool:
    """Whether a model of this name is LIBSVM's text."""
    return Path(path).suffix.lower() == _LIBSVM


def is_own_file(path: str) -> bool:
    """Whether the file is one of ours, by its first bytes."""
    try:
        if Path(path).exists() and not Path(path).is_file():  # a pipe would wait
            raise ModelFileError(path or "''", 0, "this is no file of a model")
        with Path(path).open("rb") as stream:
            return stream.read(4) == _ZIP
    except OSError as error:
        raise ModelFileError(path, 0, str(error.strerror or error)) from error


def load_model(path: str) -> Any:
    """A fitted estimator, from our format or from LIBSVM's text."""
    if is_own_file(path):
        from maxmargin.persist import load

        model = load(path)
    else:
        from maxmargin.persist.libsvm_model import read_libsvm_model, to_estimator

        model = to_estimator(read_libsvm_model(path))
    if not hasattr(machine_of(model), "predict"):
        kind = type(model).__name__
        raise ModelFileError(path, 0, f"{kind} is no machine, and predicts nothing")
    return model


def save_model(model: Any, path: str, *, data_hash: str | None = None) -> None:
    """Write a model: LIBSVM's text where the name says so, else our format."""
    if not is_libsvm_name(path):
        from maxmargin.persist import save

        save(model, path, data_hash=data_hash)
        return
    from maxmargin.persist.libsvm_model import from_estimator, write_libsvm_model

    if len(steps_of(model)) > 1:
        parts = " and ".join(name for name, _ in steps_of(model)[:-1])
        msg = (
            f"{path}: LIBSVM's text has no room for the model's preprocessing ({parts}); "
            "write a .maxmargin file"
        )
        raise InputError(msg)
    write_libsvm_model(from_estimator(model), path)


def steps_of(model: Any) -> list[tuple[str, Any]]:
    """The steps of a pipeline; a machine alone is its own only step."""
    return list(model.steps) if isinstance(model, Pipeline) else [("machine", model)]


def machine_of(model: Any) -> Any:
    """The last step."""
    return steps_of(model)[-1][1]


def encoder_of(model: Any) -> Any:
    """The encoder of a model that was trained on named columns, or None."""
    first = steps_of(model)[0][1]
    return first if isinstance(first, TableEncoder) else None


def n_features_of(model: Any) -> int | None:
    """How many features rows must have; None where the model does not say."""
    found = getattr(steps_of(model)[0][1], "n_features_in_", None)
    return None if found is None else int(found)


def rows_for(model: Any, table: Table, *, ignore_extra: bool = False) -> Any:
    """What the model's ``predict`` takes for a table: the rows, in its columns.

    Raises
    ------
    Failure
        With exit code 5, where model and data do not fit.
    """
    encoder = encoder_of(model)
    if encoder is not None and encoder.names_ is not None:
        if not table.named:
            msg = (
                f"{table.source} has no names of columns, and the model was trained on "
                f"{len(encoder.names_)} columns by name; give a table with a header"
            )
            raise Failure(MISFIT, msg)
        return table
    if encoder is not None and table.named:
        return table
    X = _matrix(table)
    expected = n_features_of(model)
    if expected is not None and X.shape[1] != expected:
        X = _resized(X, expected, table, ignore_extra=ignore_extra)
    if encoder is not None:
        return replace(table, matrix=X)
    # A scaler that moves zeros was fitted on dense rows.
    first = steps_of(model)[0][1]
    moves = isinstance(first, MinMaxScaler) or getattr(first, "with_mean", False)
    if not moves:
        return X
    with blame(MISFIT):
        return dense_rows(X, source=table.source)


def _matrix(table: Table) -> Any:
    if not table.named:
        return table.matrix
    with blame(MISFIT):
        # The model knows columns by their place: names and categories are of no use.
        encoder = TableEncoder().fit(table)
        if "words" in encoder.kinds_:
            name = list(table.columns)[encoder.kinds_.index("words")]
            msg = (
                f"{table.source}: column {name!r} is text, and the model was trained on "
                "numbers alone"
            )
            raise InputError(msg)
        return encoder.transform(table)


def _resized(X: Any, expected: int, table: Table, *, ignore_extra: bool) -> Any:
    """LIBSVM text leaves zeros out, the last ones too; nothing else may be missing."""
    found = X.shape[1]
    text = table.format == "libsvm"
    if found > expected and not (text and ignore_extra):
        ways = f"; --ignore-extra leaves them out, train --n-features {found} knows them"
        advice = ways if text else ""
        msg = f"{table.source} has {found} features, the model {expected}{advice}"
        raise Failure(MISFIT, msg)
    if found > expected:
        return X[:, :expected]
    if not text:
        msg = f"{table.source} has {found} features, the model {expected}"
        raise Failure(MISFIT, msg)
    X = X.copy()
    X.resize((X.shape[0], expected))
    return X


def labels_as_text(values: Any) -> list[str]:
    """Predictions, one text each: whole numbers without a fraction."""
    array = np.asarray(values)
    if array.dtype.kind == "f":
        return [shortest(one) for one in array.tolist()]
    return [str(one) for one in array.tolist()]
