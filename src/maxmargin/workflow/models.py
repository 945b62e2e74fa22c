"""Files of models, ours and LIBSVM's; rows in the form that a model predicts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler

from maxmargin.data_files.columns.cells import shortest
from maxmargin.data_files.columns.encoder import TableEncoder
from maxmargin.data_files.reading import read_table
from maxmargin.data_files.table import dense_rows
from maxmargin.errors import InputError, MisfitError, ModelFileError
from maxmargin.workflow.preparing import refused_as

if TYPE_CHECKING:
    from maxmargin.data_files.table import Table
    from maxmargin.workflow.choices import Choices, Tell

_ZIP = b"PK\x03\x04"
_LIBSVM = ".model"  # .libsvm is what people call LIBSVM's *data*
MODEL_EXTENSIONS = (".maxmargin", _LIBSVM)
"""Endings of the names of models; every other file is data."""


def is_libsvm_name(path: str) -> bool:
    """True if a model of this name is LIBSVM's text."""
    return Path(path).suffix.lower() == _LIBSVM


def is_own_file(path: str) -> bool:
    """True if the file begins as one of ours does."""
    try:
        if Path(path).exists() and not Path(path).is_file():  # a pipe would wait
            raise ModelFileError(path or "''", 0, "this is no file of a model")
        with Path(path).open("rb") as stream:
            return stream.read(4) == _ZIP
    except OSError as error:
        raise ModelFileError(path, 0, str(error.strerror or error)) from error


def load_model(path: str) -> Any:
    """Read a fitted estimator from our format or from LIBSVM's text."""
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
    """Write LIBSVM's text if the name ends in .model, else our format."""
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
    """Number of features that rows must have; None if the model does not know it."""
    found = getattr(steps_of(model)[0][1], "n_features_in_", None)
    return None if found is None else int(found)


def read_for_model(data: str, model: Any, choices: Choices, tell: Tell) -> Table:
    """Read the table to predict; find columns and target as in training."""
    encoder = encoder_of(model)
    names = None if encoder is None else encoder.names_
    target, words = choices.target, []
    if names is not None:
        target = target or encoder.target_name_
        kinds = zip(names, encoder.kinds_, strict=True)
        words = [name for name, kind in kinds if kind == "words"]
    classes = getattr(machine_of(model), "classes_", None)
    if target is not None and classes is not None and classes.dtype.kind in "US":
        words.append(target)
    table = read_table(
        data,
        format=choices.format,
        target=target,
        guess="name" if names is None else "none",
        required=choices.target is not None,
        words=words,
    )
    if names is not None and not table.columns.keys() <= set(names):
        extra = [name for name in table.columns if name not in names]
        shown = ", ".join(map(repr, extra[:5])) + (", …" if len(extra) > 5 else "")
        tell(f"columns that the model does not know are ignored: {shown}")
    expected = n_features_of(model)
    if table.format == "libsvm" and expected and table.n_columns < expected:
        tell(
            f"{table.source} uses features up to {table.n_columns}; the model knows "
            f"{expected}, and the others count as 0"
        )
    return table


def rows_for(model: Any, table: Table, *, ignore_extra: bool = False) -> Any:
    """Return the rows of a table in the form that the model's ``predict`` takes.

    Raises
    ------
    MisfitError
        If model and data do not go together.
    """
    encoder = encoder_of(model)
    if encoder is not None and encoder.names_ is not None:
        if not table.named:
            msg = (
                f"{table.source} has no names of columns, and the model was trained on "
                f"{len(encoder.names_)} columns by name; give a table with a header"
            )
            raise MisfitError(msg)
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
    with refused_as(MisfitError):
        return dense_rows(X, source=table.source)


def _matrix(table: Table) -> Any:
    if not table.named:
        return table.matrix
    with refused_as(MisfitError):
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
    """Fit LIBSVM text, which leaves zeros out, to the width; refuse any other table."""
    found, text = X.shape[1], table.format == "libsvm"
    if not text or (found > expected and not ignore_extra):
        msg = f"{table.source} has {found} features, the model {expected}"
        ways = f"; --ignore-extra leaves them out, train --n-features {found} knows them"
        raise MisfitError(msg + (ways if text else ""))
    X = X.copy()
    X.resize((X.shape[0], expected))
    return X


def answers(model: Any, method: str, rows: Any, path: str) -> Any:
    """Call a method of a model from a file; one that was altered may fail in any way."""
    try:
        with refused_as(MisfitError):
            return getattr(model, method)(rows)
    except (InputError, MemoryError):
        raise
    except Exception as error:
        reason = f"the model fails on these rows, {type(error).__name__}: {error}"
        raise ModelFileError(path, 0, reason) from error


def labels_as_text(values: Any) -> list[str]:
    """One text for each prediction: whole numbers without a fraction."""
    array = np.asarray(values)
    if array.dtype.kind == "f":
        return [shortest(one) for one in array.tolist()]
    return [str(one) for one in array.tolist()]
