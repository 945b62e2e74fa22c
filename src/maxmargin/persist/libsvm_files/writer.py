""":class:`LibsvmModel` → LIBSVM's model text, without losing a bit.

LIBSVM writes coefficients with 17 digits, but the values of support vectors with 8: a
model that was read back decides a little differently. Here every number has the fewest
digits that bring back its bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.data_files.columns.cells import shortest
from maxmargin.data_files.opened import opened_for_writing
from maxmargin.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike
    from typing import BinaryIO

    from maxmargin.persist.libsvm_files.layout import LibsvmModel

_BLOCK = 1 << 10  # policy: support vectors written at a time


def write_libsvm_model(
    model: LibsvmModel, target: str | PathLike[str] | BinaryIO
) -> None:
    """Write a model file that LIBSVM loads, and :func:`read_libsvm_model` to the bit.

    Parameters
    ----------
    model : LibsvmModel
        The model.
    target : path or binary file object
        Where to. A file of that name is replaced when the new one is complete; one that
        ends in .gz, .bz2 or .xz is packed, which LIBSVM does not read.
    """
    for name in ("rho", "sv_coef", "probA", "probB", "prob_density_marks"):
        values = getattr(model, name)
        if values is not None and not np.isfinite(values).all():
            msg = (
                f"{name} of the model is not finite, and LIBSVM's text holds only numbers"
            )
            raise InputError(msg)
    with opened_for_writing(target) as stream:
        for piece in _text(model):
            stream.write(piece)


def _text(model: LibsvmModel) -> Iterator[bytes]:
    kernel = model.kernel_type
    head: dict[str, Any] = {
        "svm_type": model.svm_type,
        "kernel_type": kernel,
        "degree": model.degree if kernel == "polynomial" else None,
        "gamma": model.gamma if kernel in ("polynomial", "rbf", "sigmoid") else None,
        "coef0": model.coef0 if kernel in ("polynomial", "sigmoid") else None,
        "nr_class": model.nr_class,
        "total_sv": model.total_sv,
        "rho": model.rho,
        "label": model.label,
        "probA": model.probA,
        "probB": model.probB,
        "prob_density_marks": model.prob_density_marks,
        "nr_sv": model.nr_sv,
    }
    lines = [
        " ".join([keyword, *map(_number, np.ravel(values).tolist())])
        for keyword, values in head.items()
        if values is not None
    ]
    yield "\n".join([*lines, "SV", ""]).encode("ascii")
    for start in range(0, model.total_sv, _BLOCK):
        some = slice(start, min(start + _BLOCK, model.total_sv))
        yield "".join(_vector_lines(model, some)).encode("ascii")


def _vector_lines(model: LibsvmModel, some: slice) -> Iterator[str]:
    """A line a support vector; LIBSVM's have a blank at the end too."""
    for row, coef in enumerate(model.sv_coef[:, some].T.tolist(), start=some.start):
        words = [_number(one) for one in coef]
        if model.serial is not None:
            words.append(f"0:{int(model.serial[row])}")
        else:
            begin, end = model.SV.indptr[row : row + 2]
            columns = model.SV.indices[begin:end].tolist()
            values = model.SV.data[begin:end].tolist()
            words += [
                f"{column + 1}:{_number(value)}"
                for column, value in zip(columns, values, strict=True)
            ]
        yield " ".join(words) + " \n"


def _number(value: Any) -> str:
    """Shortest digits that bring the bits back; whole numbers as LIBSVM shows them."""
    return shortest(value) if isinstance(value, float) else str(value)
