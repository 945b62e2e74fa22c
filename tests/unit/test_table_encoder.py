"""Columns of numbers and words become numbers, by name, and nothing is guessed."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

from maxmargin import SVC
from maxmargin.data_files import Table, TableEncoder
from maxmargin.errors import DataFileError, InputError

FRAME = pd.DataFrame(
    {"n": [1.0, 2.0, 3.0], "w": ["b", "a", "b"], "f": [True, False, True]}
)


def table(**columns):
    arrays = {
        name: np.array(values, dtype=object if _has_words(values) else np.float64)
        for name, values in columns.items()
    }
    rows = len(next(iter(arrays.values())))
    return Table("t.csv", "csv", columns=arrays, lines=np.arange(rows) + 2)


def _has_words(values):
    return any(isinstance(one, str) or one is None for one in values)


def test_numbers_pass_and_categories_get_columns():
    encoder = TableEncoder().fit(FRAME)
    names = ["n", "w=a", "w=b", "f=false", "f=true"]
    assert encoder.get_feature_names_out().tolist() == names
    assert encoder.transform(FRAME).tolist() == [
        [1, 0, 1, 0, 1],
        [2, 1, 0, 1, 0],
        [3, 0, 1, 0, 1],
    ]
    assert encoder.feature_names_in_.tolist() == ["n", "w", "f"]


@pytest.mark.parametrize("make", [pl.from_pandas, lambda frame: frame, pd.DataFrame])
def test_frames_of_any_library_are_read_alike(make):
    expected = TableEncoder().fit_transform(FRAME)
    assert (TableEncoder().fit_transform(make(FRAME)) == expected).all()


def test_columns_are_found_by_name():
    encoder = TableEncoder().fit(FRAME)
    shuffled = FRAME[["f", "w", "n"]].assign(more=0)
    assert (encoder.transform(shuffled) == encoder.transform(FRAME)).all()
    with pytest.raises(InputError, match="has no column 'w'"):
        encoder.transform(FRAME[["n", "f"]])


def test_arrays_have_places_instead_of_names():
    encoder = TableEncoder(impute="mean").fit(np.array([[1.0, np.nan], [3.0, 4.0]]))
    assert encoder.names_ is None
    assert encoder.transform(np.array([[np.nan, 1.0]])).tolist() == [[2.0, 1.0]]
    with pytest.raises(InputError, match="has 3 columns"):
        encoder.transform(np.zeros((1, 3)))


def test_missing_values_are_refused_with_column_and_line():
    with pytest.raises(
        DataFileError, match=r"t\.csv:3: no value in column 'b'"
    ) as caught:
        TableEncoder().fit(table(a=[1, 2, 3], b=[1, np.nan, np.nan]))
    assert "1 more rows" in str(caught.value)
    assert "impute it (mean, median, most_frequent)" in str(caught.value)
    with pytest.raises(DataFileError, match="no value in column 'w'"):
        TableEncoder().fit(table(w=["x", None]))
    fitted = TableEncoder().fit(table(a=[1, 2]))
    with pytest.raises(DataFileError, match=r"t\.csv:2: no value in column 'a'"):
        fitted.transform(table(a=[np.nan, 1]))


@pytest.mark.parametrize(("how", "fill"), [("mean", 3.0), ("median", 2.0),
                                           ("most_frequent", 1.0)])  # fmt: skip
def test_missing_values_can_be_filled_in(how, fill):
    rows = table(n=[1, 1, 3, 7, np.nan], w=["b", "a", "b", "a", None])
    encoder = TableEncoder(impute=how).fit(rows)
    assert encoder.fills_ == [fill, "a"]
    assert encoder.transform(rows)[-1].tolist() == [fill, 1.0, 0.0]


def test_a_column_without_any_value_cannot_be_filled_in():
    with pytest.raises(InputError, match="column 'n' has no value at all"):
        TableEncoder(impute="mean").fit(table(n=[np.nan, np.nan]))


def test_unknown_categories_are_none_or_refused():
    encoder = TableEncoder().fit(table(w=["a", "b"]))
    new = table(w=["b", "c", "d"])
    with pytest.warns(UserWarning, match="2 rows hold a category .* 'c'"):
        found = encoder.transform(new)
    assert found.tolist() == [[0, 1], [0, 0], [0, 0]]
    encoder.unknown = "error"
    with pytest.raises(InputError, match=r"t\.csv:3: column 'w' holds 'c'"):
        encoder.transform(new)


def test_words_where_there_were_numbers_are_refused():
    encoder = TableEncoder().fit(table(n=[1, 2]))
    with pytest.raises(InputError, match=r"t\.csv:3: column 'n' holds 'x'"):
        encoder.transform(table(n=["1", "x"]))


def test_text_of_numbers_where_there_were_numbers_is_read_as_csv_would():
    encoder = TableEncoder().fit(table(n=[1, 2]))
    assert encoder.transform(table(n=["1", " 2.5 "])).tolist() == [[1.0], [2.5]]
    with pytest.raises(DataFileError, match=r"t\.csv:3: no value in column 'n'"):
        encoder.transform(table(n=["1", "NA"]))
    with pytest.raises(InputError, match=r"t\.csv:3: column 'n' holds '1e999'"):
        encoder.transform(table(n=["1", "1e999"]))


@pytest.mark.parametrize("others", [["x"], ["x", 1]])
def test_na_is_missing_in_every_frame(others):
    """As it is in CSV, whether or not the column holds something else than text."""
    frame = pd.DataFrame({"w": ["NA", " b ", *others]}, dtype=object)
    with pytest.raises(DataFileError, match="row 1: no value in column 'w'"):
        TableEncoder().fit(frame)
    fitted = TableEncoder(impute="most_frequent").fit(frame)
    assert "NA" not in fitted.categories_[0]
    assert "b" in fitted.categories_[0]


def test_numbers_where_there_were_words_are_words():
    encoder = TableEncoder().fit(table(w=["1", "2", "x"]))
    assert encoder.transform(table(w=[2, 1])).tolist() == [[0, 1, 0], [1, 0, 0]]


def test_many_categories_are_sparse():
    words = [f"word {i}" for i in range(100)]
    rows = table(w=words, n=range(100))
    found = TableEncoder().fit_transform(rows)
    assert sp.issparse(found)
    assert found.shape == (100, 101)
    assert found.toarray()[7, :100].sum() == 1
    assert found.toarray()[:, 100].tolist() == list(range(100))


def test_parameters_are_checked():
    with pytest.raises(InputError, match="impute='zero'"):
        TableEncoder(impute="zero").fit(FRAME)
    with pytest.raises(InputError, match="unknown=None"):
        TableEncoder(unknown=None).fit(FRAME)
    with pytest.raises(InputError, match="dimensions"):
        TableEncoder().fit([1.0, 2.0])
    with pytest.raises(NotFittedError):
        TableEncoder().transform(FRAME)


def test_attributes_are_plain():
    """A model file holds no functions and no objects of unknown classes."""
    encoder = TableEncoder(impute="mean").fit(FRAME)
    for name, value in vars(encoder).items():
        if name != "feature_names_in_":
            assert type(value) in (str, bool, int, list, type(None)), name
    assert clone(encoder).get_params() == {"impute": "mean", "unknown": "zero"}


def test_a_pipeline_predicts_from_raw_rows():
    labels = ["one", "two", "one"]
    model = make_pipeline(TableEncoder(), SVC(C=100)).fit(FRAME, labels)
    assert model.predict(FRAME[["w", "f", "n"]]).tolist() == labels
