"""User arrays → rows that compiled code may trust; the one caller of sklearn's checks.

Rows that leave here are C-contiguous float32 or float64 (kept as they came), or CSR whose
structure has been verified, with sorted and unique indices. They are finite, and the
user's arrays are unchanged. Every refusal is an :class:`~maxmargin.errors.InputError`.

- :mod:`~maxmargin.validation.rows`: the X and y of a fit, and the X of a prediction.
- :mod:`~maxmargin.validation.csr`: the structure of sparse rows.
- :mod:`~maxmargin.validation.labels`: labels as numbers, and weights of rows.
- :mod:`~maxmargin.validation.refusals`: refusals in the same words everywhere.
"""

from __future__ import annotations

from maxmargin.validation.csr import checked_csr
from maxmargin.validation.labels import (
    Labels,
    counted_rows,
    encode_labels,
    sample_weights,
)
from maxmargin.validation.refusals import input_errors, unless_refused
from maxmargin.validation.rows import (
    is_function,
    is_precomputed,
    prediction_rows,
    sum_of_squares,
    training_rows,
)

__all__ = [
    "Labels",
    "checked_csr",
    "counted_rows",
    "encode_labels",
    "input_errors",
    "is_function",
    "is_precomputed",
    "prediction_rows",
    "sample_weights",
    "sum_of_squares",
    "training_rows",
    "unless_refused",
]
