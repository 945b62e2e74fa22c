"""Columns of numbers and words → numbers for a machine to learn from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from maxmargin.data_files.columns.cells import is_missing, numbers_of, shortest, show
from maxmargin.data_files.table import Table, absent_in, is_words
from maxmargin.errors import DataFileError, InputError, warn

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import NDArray

IMPUTATIONS = ("mean", "median", "most_frequent")
UNKNOWN = ("zero", "error")

_SPARSE_FROM = 64  # policy: from so many columns on the result is sparse, …
_DENSITY = 0.25  # … if fewer of its numbers than this share are not zero


class TableEncoder(TransformerMixin, BaseEstimator):
    """Numbers stay as they are; every category of a column of words gets a 0/1 column.

    Columns are found by name, in any order; further ones are ignored.

    Parameters
    ----------
    impute : {"mean", "median", "most_frequent"} or None, default=None
        The replacement of a missing value; None refuses it. For words it is always the
        most frequent one (the first in order, if there are several).
    unknown : {"zero", "error"}, default="zero"
        Categories that training did not have belong to no column, with a warning, or are
        refused.

    Attributes
    ----------
    names_ : list of str or None
        Columns, in the order of training; None if they had no names.
    kinds_ : list of str
        "number" or "words" for each of them.
    categories_ : list of list of str
        The categories of each column of words, sorted; empty for numbers.
    fills_ : list of float or str or None
        The replacement of missing values in each column.
    sparse_ : bool
        Whether the result is CSR: where it is wide, and mostly zeros.
    target_name_ : str or None
        Name of the column that the table had for its target.
    n_features_in_, feature_names_in_ : int, ndarray
        Number of columns, and their names if they have any.

    Examples
    --------
    >>> from maxmargin.data_files import TableEncoder
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"size": [1.0, 2.0], "colour": ["red", "blue"]})
    >>> encoder = TableEncoder().fit(frame)
    >>> encoder.get_feature_names_out().tolist()
    ['size', 'colour=blue', 'colour=red']
    >>> encoder.transform(frame).tolist()
    [[1.0, 0.0, 1.0], [2.0, 1.0, 0.0]]
    """

    def __init__(self, impute: str | None = None, unknown: str = "zero") -> None:
        self.impute = impute
        self.unknown = unknown

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Learn the categories, and the replacements of missing values.

        Parameters
        ----------
        X : Table, data frame or array
            Rows; without names, columns are known by their place.
        y : object
            Not used.
        """
        for name, value, allowed in (
            ("impute", self.impute, (None, *IMPUTATIONS)),
            ("unknown", self.unknown, UNKNOWN),
        ):
            if value not in allowed:
                words = " or ".join(map(repr, allowed))
                msg = f"{name}={value!r}: it must be {words}"
                raise InputError(msg)
        table = as_table(X)
        self.names_ = list(table.columns) if _has_names(X) else None
        self.target_name_ = table.target_name
        self.n_features_in_ = table.n_columns
        if self.names_ is not None:
            self.feature_names_in_ = np.array(self.names_, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_  # of an earlier fit
        self.kinds_, self.categories_, self.fills_ = [], [], []
        for name, column in table.columns.items():
            absent = absent_in(column)
            if absent.any() and self.impute is None:
                raise _missing(table, name, absent)
            known = column[~absent]
            if known.size == 0:
                reason = f"column {show(name)} has no value at all; leave it out"
                raise DataFileError(table.source, 0, reason)
            textual = is_words(column)
            self.kinds_.append("words" if textual else "number")
            self.categories_.append(sorted(set(known.tolist())) if textual else [])
            self.fills_.append(_fill(known, self.impute))
        self.sparse_ = self._is_sparse()
        return self

    def _is_sparse(self) -> bool:
        wide = sum(len(one) or 1 for one in self.categories_)
        return wide >= _SPARSE_FROM and len(self.kinds_) < _DENSITY * wide

    def transform(self, X: Any) -> Any:
        """The numbers of a table with the same columns.

        Parameters
        ----------
        X : Table, data frame or array
            Rows.

        Returns
        -------
        ndarray or csr_matrix of float64
            One column for each number and each category.
        """
        check_is_fitted(self)
        table = as_table(X)
        columns = self._matched(table, named=_has_names(X))
        blocks = [
            self._encoded(table, place, name, column)
            for place, (name, column) in enumerate(columns)
        ]
        if self.sparse_:
            return sparse.csr_matrix(sparse.hstack(blocks, format="csr"))
        dense = [
            one.toarray() if sparse.issparse(one) else one.reshape(-1, 1)
            for one in blocks
        ]
        return np.hstack(dense)

    def _matched(self, table: Table, *, named: bool) -> list[tuple[str, NDArray[Any]]]:
        """The columns of training in their order."""
        if self.names_ is None or not named:
            if table.n_columns != self.n_features_in_:
                msg = (
                    f"{table.source} has {table.n_columns} columns, and the model was "
                    f"trained on {self.n_features_in_}"
                )
                raise InputError(msg)
            return list(table.columns.items())
        for name in self.names_:
            if name not in table.columns:
                msg = (
                    f"{table.source} has no column {show(name)}, which the model was "
                    "trained on"
                )
                raise InputError(msg)
        return [(name, table.columns[name]) for name in self.names_]

    def _encoded(self, table: Table, place: int, name: str, column: NDArray[Any]) -> Any:
        words = self.kinds_[place] == "words"
        if not words and is_words(column):
            column = _as_numbers(table, name, column)
        absent = absent_in(column)
        if absent.any():
            if self.impute is None:
                advice = "fill it in, as training had no imputation"
                raise _missing(table, name, absent, advice)
            column = column.copy()
            column[absent] = self.fills_[place]
        if not words:
            return sparse.csr_matrix(column.reshape(-1, 1)) if self.sparse_ else column
        return self._indicators(table, place, name, _as_words(column))

    def _indicators(
        self, table: Table, place: int, name: str, column: NDArray[Any]
    ) -> Any:
        """A column of zeros and ones for each category."""
        categories = self.categories_[place]
        code = {word: number for number, word in enumerate(categories)}
        codes = np.fromiter((code.get(one, -1) for one in column), np.int64, column.size)
        known = codes >= 0
        if not known.all():
            self._meet_unknown(table, name, column, ~known)
        indptr = np.zeros(column.size + 1, np.int32)
        np.cumsum(known, out=indptr[1:])
        parts = (np.ones(int(known.sum())), codes[known].astype(np.int32), indptr)
        return sparse.csr_matrix(parts, shape=(column.size, len(categories)))

    def _meet_unknown(
        self, table: Table, name: str, column: NDArray[Any], unknown: NDArray[np.bool_]
    ) -> None:
        row = int(np.argmax(unknown))
        if self.unknown == "error":
            cell = show(column[row])
            reason = f"column {show(name)} holds {cell}, which training did not have"
            raise InputError(str(table.refuse(row, reason)))
        msg = (
            f"column {show(name)}: {int(unknown.sum())} rows hold a category that "
            f"training did not have (the first: {show(column[row])}); "
            "they count as none of its categories"
        )
        warn(msg, UserWarning)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:  # noqa: ARG002
        """Names of the columns of the result: ``colour=red`` for a category."""
        check_is_fitted(self)
        names = self.names_ or [f"x{place + 1}" for place in range(self.n_features_in_)]
        out = []
        for name, kind, words in zip(names, self.kinds_, self.categories_, strict=True):
            out += [name] if kind == "number" else [f"{name}={one}" for one in words]
        return np.array(out, dtype=object)


def _has_names(X: Any) -> bool:
    return X.named if isinstance(X, Table) else hasattr(X, "columns")


def as_table(X: Any) -> Table:
    """Columns of a table, a data frame (pandas, polars, pyarrow) or an array."""
    if isinstance(X, Table):
        return X.in_columns()
    if hasattr(X, "columns") and hasattr(X, "__getitem__"):
        named = {str(name): _plain(np.asarray(X[name])) for name in X.columns}
        return Table("X", "frame", columns=named)
    array = np.asarray(X)
    if array.ndim != 2:
        msg = f"X has {array.ndim} dimensions: a table of rows and columns is needed"
        raise InputError(msg)
    columns = {f"x{place}": _plain(one) for place, one in enumerate(array.T, start=1)}
    return Table("X", "array", columns=columns)


def _plain(column: NDArray[Any]) -> NDArray[Any]:
    """A column of a data frame as the readers would have read it."""
    if column.dtype.kind in "iuf":
        return column.astype(np.float64)
    if column.dtype.kind == "b":
        return _as_words(column)
    values = column.tolist()
    if all(one is None or _is_number(one) for one in values):
        return np.array([np.nan if one is None else float(one) for one in values])
    return _as_words(column)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def _as_words(column: NDArray[Any]) -> NDArray[Any]:
    words = np.empty(column.size, dtype=object)
    words[:] = [_word(one) for one in column.tolist()]
    return words


def _word(value: Any) -> str | None:
    """A cell as CSV would write it; None if its value is missing."""
    if value is None or value != value:  # noqa: PLR0124 - NaN and NaT
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return shortest(value)
    return None if is_missing(text := str(value)) else text.strip()


def _as_numbers(table: Table, name: str, column: NDArray[Any]) -> NDArray[np.float64]:
    """A column of text as numbers, as CSV is read; other text is refused."""
    cells = ["" if one is None else str(one) for one in column]
    numbers = numbers_of(cells)
    if numbers is not None and not np.isinf(numbers).any():
        return numbers
    alone = [numbers_of([cell]) for cell in cells]
    row = next(row for row, one in enumerate(alone) if one is None or np.isinf(one).any())
    reason = (
        f"column {show(name)} holds {show(cells[row])}, and finite numbers when the "
        "model was trained"
    )
    raise InputError(str(table.refuse(row, reason)))


def _missing(
    table: Table, name: str, absent: NDArray[np.bool_], advice: str = ""
) -> InputError:
    row, more = int(np.argmax(absent)), int(absent.sum()) - 1
    others = f", as in {more:,} more rows" if more else ""
    advice = advice or (
        "fill it in, leave it out, or impute it (mean, median, most_frequent)"
    )
    return table.refuse(row, f"no value in column {show(name)}{others}; {advice}")


def _fill(known: NDArray[Any], impute: str | None) -> float | str | None:
    if impute is None:
        return None
    words = is_words(known)
    if words or impute == "most_frequent":
        values, counts = np.unique(
            known.astype(str) if words else known, return_counts=True
        )
        most = values[int(np.argmax(counts))]
        return str(most) if words else float(most)
    return float(np.mean(known) if impute == "mean" else np.median(known))
