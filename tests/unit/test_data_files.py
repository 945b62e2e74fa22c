"""Readers of tables: formats, cells, lines that are exact, and files that are refused."""

import bz2
import gzip
import io
import lzma
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin.data_files import Table, read_table, reading, write_table
from maxmargin.data_files.columns.cells import numbers_of, shortest, show
from maxmargin.data_files.columns.target import guessed_task, labels_of
from maxmargin.data_files.delimited import BLOCK, read_delimited
from maxmargin.data_files.formats import format_of, stem_of
from maxmargin.data_files.svmlight import read_svmlight
from maxmargin.data_files.table import columns_of, dense_rows
from maxmargin.errors import DataFileError, InputError

FRUIT = "weight,colour,label\n150,red,apple\n120,yellow,lemon\n"


@pytest.fixture
def put(tmp_path):
    """Write a file and return its path."""

    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def refusal(*args, **options):
    with pytest.raises(DataFileError) as caught:
        read_table(*args, **options)
    return caught.value


# Which format ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.csv", "csv"),
        ("a.b.CSV.gz", "csv"),
        ("a.tsv.xz", "tsv"),
        ("a.npz", "npz"),
        ("a.parquet", "parquet"),
        ("a.feather", "arrow"),
        ("heart_scale", "libsvm"),
        ("letter.scale.bz2", "libsvm"),
        ("a.data", "libsvm"),
        ("-", "libsvm"),
    ],
)
def test_the_name_tells_the_format(name, expected):
    assert format_of(name) == expected
    assert format_of("x.csv", "tsv") == "tsv"


def test_formats_that_do_not_exist_are_refused():
    with pytest.raises(InputError, match="the formats of data are libsvm, csv"):
        format_of("a", "xls")
    with pytest.raises(InputError, match="compressed inside"):
        format_of("a.npz.gz")


def test_stems_lose_what_the_format_is_known_by():
    names = ["a/iris.csv.gz", "letter.scale.bz2", "heart_scale", "-"]
    assert [stem_of(one) for one in names] == [
        "iris",
        "letter.scale",
        "heart_scale",
        "stdin",
    ]


# CSV and TSV ----------------------------------------------------------------------------


def test_columns_of_numbers_and_of_words(put):
    table = read_table(put("fruit.csv", FRUIT))
    assert table.columns["weight"].tolist() == [150.0, 120.0]
    assert table.columns["colour"].tolist() == ["red", "yellow"]
    assert table.y.tolist() == ["apple", "lemon"]
    assert (table.target_name, table.shape) == ("label", (2, 2))
    assert table.lines.tolist() == [2, 3]


@pytest.mark.parametrize(
    ("name", "pack"),
    [
        ("f.csv.gz", gzip.compress),
        ("f.csv.bz2", bz2.compress),
        ("f.csv.xz", lzma.compress),
    ],
)
def test_compressed_tables(put, name, pack):
    assert read_table(put(name, pack(FRUIT.encode()))).n_rows == 2


def test_quotes_byte_order_mark_line_ends_and_blank_lines(put):
    text = '\ufeffname,note,y\r\n"a, b","two\r\nlines",1\r\n\r\n c ,"say ""hi""",2\r\n'
    table = read_table(put("q.csv", text))
    assert table.columns["name"].tolist() == ["a, b", "c"]
    assert table.columns["note"].tolist() == ["two\r\nlines", 'say "hi"']
    assert table.lines.tolist() == [2, 5]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_the_header_tells_the_delimiter(put, delimiter):
    text = FRUIT.replace(",", delimiter)
    assert list(read_table(put("f.csv", text)).columns) == ["weight", "colour"]


def test_missing_values_are_none_of_them_a_word(put):
    cells = ["", "NA", "nan", "NULL", "?", " n/a ", "7"]
    rows = "".join(f"{cell},{cell if cell != '7' else 'w'},1\n" for cell in cells)
    table = read_table(put("m.csv", "a,b,y\n" + rows))
    assert np.isnan(table.columns["a"]).tolist() == [True] * 6 + [False]
    assert table.columns["b"].tolist() == [None] * 6 + ["w"]


def test_numbers_and_pieces_of_files_in_messages():
    assert [shortest(one) for one in (3.0, 0.1, -0.0, 1e300)] == [
        "3",
        "0.1",
        "-0",
        "1e+300",
    ]
    assert show("a" * 50) == "'" + "a" * 39 + "…'"
    assert show(b"\xff\x00a\n") == r"'\xff\x00a\n'"
    assert show(b"a" * 50) == "'" + "a" * 39 + "…'"


@pytest.mark.parametrize("cell", ["1_000", "٣", "0x10", "1,5", "abc"])
def test_what_is_no_number(cell):
    assert numbers_of([cell, "1"]) is None


def test_a_column_may_turn_out_to_hold_words_late(put):
    many = BLOCK + 10
    rows = "".join(f"{i}.50,{i},1\n" for i in range(many)) + "x1,y,1\n"
    table = read_table(put("late.csv", "a,b,y\n" + rows))
    assert table.columns["a"][0] == "0.50"
    assert table.columns["a"][-1] == "x1"
    assert table.columns["b"][many - 1] == str(many - 1)
    assert table.n_rows == many + 1


def test_a_column_that_begins_with_missing_values_is_read_once(put):
    rows = "".join("?,1\n" for _ in range(BLOCK + 1)) + "word,1\n"
    table = read_table(put("late.csv", "a,y\n" + rows))
    assert table.columns["a"].tolist() == [None] * (BLOCK + 1) + ["word"]


def test_words_that_look_like_numbers_stay_words_if_asked(put):
    path = put("w.csv", "zip,y\n01,1\n02,2\n")
    assert read_table(path, words=["zip"]).columns["zip"].tolist() == ["01", "02"]


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("", 0, "is empty"),
        ("\n\n", 0, "is empty"),
        ("a,b\n", 1, "no rows below the header"),
        ("a,b\n1,2\n3\n", 3, "1 field, but the header names 2"),
        ('a,b\n1,"x\ny"\n1,2,3\n', 4, "3 fields, but the header names 2"),
        ('a,b\n1,2\n1,"x\n3,4\n', 3, "does not end"),
        ('a,b\n1,2\n1,"x"y\n', 3, "behind the closing quote"),
        ("a,a\n1,2\n", 1, "two columns are named 'a'"),
        (",a\n1,2\n", 1, "column 1 has no name"),
        ("1,2\n3,4\n", 1, "must name the columns"),
        ("a,b\n1,2\n1,inf\n", 3, "column 'b' is infinite"),
        ("a,b\n1,2\n1,1e999\n", 3, "too large for a float64"),
        (b"a,b\n1,2\n\xe9,2\n", 3, "not UTF-8"),
        (b"\xff\xfea\x00", 1, "UTF-16"),
        (b"a,b\n1,\x002\n", 2, "NUL"),
        ("y\n1\n2\n", 1, "only column"),
    ],
)
def test_refused_tables_name_the_line(put, text, line, reason):
    error = refusal(put("bad.csv", text))
    assert error.line == line
    assert reason in error.reason
    assert error.path.endswith("bad.csv")


def test_all_problems_can_be_reported(put):
    told = []
    text = 'a,b,y\n1,2,0\n1,2\n1,"x"z,1\n3,4,1\n5,inf,1\n'
    table = read_table(put("bad.csv", text), report=told.append)
    assert [error.line for error in told] == [3, 4, 6]
    assert table.lines.tolist() == [2, 5, 6]


def test_blocks_of_records_join():
    text = b"a,b\n" + b"1.5,2.5\n" * (3 * BLOCK + 1)
    found = read_delimited(text, name="x")
    assert found.columns["b"].size == 3 * BLOCK + 1
    assert found.lines[-1] == 3 * BLOCK + 2


# LIBSVM text ----------------------------------------------------------------------------


def test_libsvm_text_is_a_matrix(put):
    table = read_table(put("rows", "1 1:0.5 3:2\n-1 2:1\n"), n_features=5)
    assert table.matrix.toarray().tolist() == [[0.5, 0, 2, 0, 0], [0, 1, 0, 0, 0]]
    assert table.y.tolist() == [1.0, -1.0]
    assert not table.named


def test_a_table_without_its_extension_gets_a_hint(put):
    error = refusal(put("table.data", FRUIT))
    assert error.line == 1
    assert "if this is a table, its format is csv or tsv" in error.reason


def test_every_bad_line_of_libsvm_text_is_reported(put):
    told = []
    text = "1 1:1\nx 1:2\n2 1:2\n1 2:1 1:1\n\n1 1:nan\n3 2:5\n"
    table = read_table(put("rows", text), report=told.append)
    assert [error.line for error in told] == [2, 4, 6]
    assert table.y.tolist() == [1.0, 2.0, 3.0]


def test_bad_lines_are_found_in_linear_time(put, monkeypatch):
    """Each line is parsed three times at most: as file, block and line."""
    parsed = []

    def counted(content, **options):
        parsed.append(len(content))
        return read_svmlight(content, **options)

    monkeypatch.setattr(reading, "read_svmlight", counted)
    monkeypatch.setattr(reading, "BLOCK", 100)
    text = "1 1:1\nx 1:2\n# only\n\n1 1:1 # y\r\n" * 300 + "2 1:1\n" * 90 + "3 2:5"
    told = []
    table = read_table(put("rows", text), report=told.append)
    assert [error.line for error in told] == list(range(2, 1500, 5))
    assert table.y.tolist() == [1.0] * 600 + [2.0] * 90 + [3.0]
    assert sum(parsed) <= 4 * len(text)
    monkeypatch.setattr(reading, "MOST_FAULTS", 7)
    told.clear()
    read_table(put("rows", text), report=told.append)
    assert len(told) == 8
    assert "7 lines cannot be used; what follows was not looked at" in told[-1].reason


def test_libsvm_text_with_no_good_line(put):
    told = []
    error = refusal(put("rows", "x\ny\n"), report=told.append)
    assert [one.line for one in told] == [1, 2]
    assert "no line" in error.reason


def test_a_file_that_is_not_there(tmp_path):
    assert "No such file" in refusal(tmp_path / "nothing.csv").reason


# npz ------------------------------------------------------------------------------------


def npz(**arrays):
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def test_npz_of_x_and_y(put):
    X = np.arange(6, dtype=np.float32).reshape(3, 2)
    table = read_table(put("a.npz", npz(X=X, y=np.array([0, 1, 0]))))
    assert table.matrix.dtype == np.float32
    assert (table.matrix == X).all()
    assert table.y.tolist() == [0.0, 1.0, 0.0]


def test_npz_with_text_labels_and_fortran_order(put):
    X = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    table = read_table(put("a.npz", npz(X=X, y=np.array(["no", "yes"]))))
    assert (table.matrix == X).all()
    assert table.y.tolist() == ["no", "yes"]


def test_npz_as_scipy_writes_it(put):
    X = sp.random_array((5, 7), density=0.3, rng=np.random.default_rng(0)).tocsr()
    stream = io.BytesIO()
    sp.save_npz(stream, X)
    table = read_table(put("a.npz", stream.getvalue()))
    assert (table.matrix != X).nnz == 0
    assert table.y is None


def test_npz_whose_y_is_also_the_name_of_a_column(put, tmp_path):
    content = npz(X=np.eye(2), y=np.array([3.0, 4.0]), columns=np.array(["y", "b"]))
    path = put("a.npz", content)
    table = read_table(path)
    assert (table.target_name, list(table.columns)) == ("y1", ["y", "b"])
    assert "named 'y1'" in table.notes[0]
    write_table(table, tmp_path / "t.csv")
    again = read_table(tmp_path / "t.csv", target="y1")
    assert again.y.tolist() == [3.0, 4.0]
    assert again.columns["y"].tolist() == [1.0, 0.0]
    chosen = read_table(path, target="b")
    assert (chosen.y.tolist(), list(chosen.columns)) == ([0.0, 1.0], ["y"])
    assert chosen.notes == ("the array y of the file is not used",)


def _bad_csr(**changes):
    X = sp.csr_matrix(np.eye(3))
    parts = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": X.shape}
    return npz(**(parts | changes))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"PK not a zip", "no npz file"),
        (npz(A=np.eye(2)), "neither X nor a CSR"),
        (npz(X=np.zeros((0, 3))), "X is empty"),
        (npz(X=np.zeros(3)), "table of numbers"),
        (npz(X=np.array([["a"]])), "table of numbers"),
        (npz(X=np.array([[1.0, np.inf]])), r"X\[0, 1\] is infinite"),
        (npz(X=np.eye(2), y=np.zeros(3)), "y has shape"),
        (npz(X=np.eye(2), columns=np.array(["a", "a"])), "2 different names"),
        (_bad_csr(indices=np.array([0, 1, 9])), "between 0 and 2"),
        (_bad_csr(indptr=np.array([0, 1, 2, 10**12])), "promises 1000000000000"),
        (_bad_csr(shape=np.array([-3, 3])), "two counts"),
        (_bad_csr(data=np.array([1.0, np.nan, 1.0])), "NaN or infinite"),
        (npz(X=np.eye(2), y=np.array([2**53 + 1, 2**53])), r"beyond 2\^53"),
        (npz(X=np.eye(2), y=np.array([b"a", b"\xe9"])), "not UTF-8"),
        (_bad_csr(format=np.array(b"csc")), "not CSR"),
    ],
)
def test_refused_npz(put, content, reason):
    with pytest.raises(DataFileError, match=reason):
        read_table(put("a.npz", content))


def test_objects_are_never_unpickled(put):
    stream = io.BytesIO()
    np.savez(stream, X=np.array([[{}]], dtype=object))
    assert "not objects" in refusal(put("a.npz", stream.getvalue())).reason


def test_a_size_that_is_only_claimed_is_refused_before_it_is_allocated(put):
    header = io.BytesIO()
    claim = {"descr": "<f8", "fortran_order": False, "shape": (10**12, 10**3)}
    np.lib.format.write_array_header_1_0(header, claim)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("X.npy", header.getvalue())
    assert "bytes; 0 are there" in refusal(put("a.npz", stream.getvalue())).reason


# Parquet and Arrow ----------------------------------------------------------------------


@pytest.mark.parametrize("name", ["t.parquet", "t.feather"])
def test_arrow_columns(tmp_path, name):
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import feather, parquet

    table = arrow.table(
        {
            "n": arrow.array([1, None, 3], arrow.int32()),
            "flag": [True, False, None],
            "kind": arrow.array(["a", "b", "a"]).dictionary_encode(),
            "target": [0.5, 1.5, 2.5],
        }
    )
    path = tmp_path / name
    write = parquet.write_table if "parquet" in name else feather.write_feather
    write(table, str(path))
    found = read_table(path)
    assert np.isnan(found.columns["n"]).tolist() == [False, True, False]
    assert found.columns["flag"].tolist() == ["true", "false", None]
    assert found.columns["kind"].tolist() == ["a", "b", "a"]
    assert found.y.tolist() == [0.5, 1.5, 2.5]


def test_na_is_missing_in_every_format(put, tmp_path):
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(
        arrow.table({"w": ["NA", " b "], "y": ["p", "?"]}), tmp_path / "t.parquet"
    )
    found = read_table(tmp_path / "t.parquet")
    assert found.columns["w"].tolist() == [None, "b"]
    assert found.y.tolist() == ["p", None]
    text = np.array(["p", "NA"])
    assert read_table(put("a.npz", npz(X=np.eye(2), y=text))).y.tolist() == ["p", None]


def test_arrow_refusals(put, tmp_path):
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    assert "no Parquet file" in refusal(put("a.parquet", b"PAR1 nothing")).reason
    assert "no Arrow or Feather" in refusal(put("a.arrow", b"nothing")).reason
    path = tmp_path / "t.parquet"
    parquet.write_table(
        arrow.table({"when": arrow.array([0], arrow.timestamp("s")), "y": [1]}), path
    )
    assert "column 'when' is of type timestamp" in refusal(path).reason


# The target -----------------------------------------------------------------------------


def test_who_is_the_target(put):
    path = put("t.csv", "Label,a,b\n0,1,2\n1,3,4\n")
    assert read_table(path).target_name == "Label"
    assert "by its name" in read_table(path).notes[0]
    assert read_table(path, target="b").target_name == "b"
    assert read_table(path, guess="none").target_name is None
    assert read_table(path, target="no", required=False).target_name is None
    other = put("u.csv", "a,b\n0,1\n")
    assert read_table(other).target_name == "b"
    assert "the last column" in read_table(other).notes[0]
    assert read_table(other, guess="name").target_name is None
    error = refusal(path, target="no")
    assert error.line == 1
    assert "'Label', 'a', 'b'" in error.reason


@pytest.mark.parametrize(
    ("y", "task"),
    [
        (np.array(["a", "b"], dtype=object), "classify"),
        (np.repeat([0.0, 1.0, 2.0], 10), "classify"),
        (np.array([3.0, 7.0]), "classify"),
        (np.arange(100.0), "regress"),
        (np.repeat(np.arange(60.0), 10), "regress"),
        (np.repeat(np.arange(10.0), 4), "regress"),
        (np.array([0.5, 1.0, 0.5, 1.0]), "regress"),
    ],
)
def test_classes_or_quantities(y, task):
    assert guessed_task(y)[0] == task


def test_labels_are_integers_where_they_are_whole():
    assert labels_of(np.array([1.0, -1.0])).dtype == np.int64
    assert labels_of(np.array([0.5, 1.0])).dtype == np.float64
    assert labels_of(np.array(["a"], dtype=object)).tolist() == ["a"]


def test_a_missing_target_is_refused_with_its_line(put):
    with pytest.raises(DataFileError, match=r"m\.csv:3: the target 'y' is missing"):
        read_table(put("m.csv", "a,y\n1,2\n1,\n")).target()


# Writing --------------------------------------------------------------------------------

VALUES = np.array([0.1, -0.0, 1e300, 5e-324, 3.0, 1 / 3, -2.5e-8, 123456789.0])


@pytest.mark.parametrize("name", ["t.csv", "t.tsv.gz", "t.npz", "t.parquet", "t.arrow"])
def test_tables_survive_to_the_bit(tmp_path, name):
    columns = {"a, b": VALUES, "c": VALUES[::-1].copy()}
    table = Table("x", "csv", columns=columns, y=VALUES, target_name="y")
    write_table(table, tmp_path / name)
    again = read_table(tmp_path / name, target="y")
    for key, column in columns.items():
        assert again.columns[key].tobytes() == column.tobytes()
    assert again.y.tobytes() == VALUES.tobytes()


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_words_and_missing_values_survive(tmp_path, name):
    words = np.array(["x", None, 'say "a, b"', "two\r\nlines"], dtype=object)
    numbers = np.array([1.0, np.nan, 2.0, 3.0])
    table = Table(
        "x", "csv", columns={"w": words, "n": numbers}, y=numbers, target_name="y"
    )
    write_table(table, tmp_path / name)
    again = read_table(tmp_path / name)
    assert again.columns["w"].tolist() == words.tolist()
    assert again.columns["n"].tobytes() == numbers.tobytes()


@pytest.mark.parametrize("name", ["t.svm", "t.npz", "t.svm.bz2"])
def test_sparse_rows_survive(tmp_path, name):
    X = sp.random_array((20, 9), density=0.3, rng=np.random.default_rng(1)).tocsr()
    write_table(Table("x", "libsvm", matrix=X, y=np.arange(20.0)), tmp_path / name)
    again = read_table(tmp_path / name, n_features=9)
    assert (again.matrix != X).nnz == 0
    assert again.y.tolist() == list(range(20))


def test_float32_is_written_with_its_own_digits(tmp_path):
    X = np.array([[0.1, 1 / 3]], dtype=np.float32)
    write_table(Table("x", "npz", matrix=X, y=np.zeros(1)), tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == "x1,x2,target\n0.1,0.33333334,0\n"


def test_a_target_never_takes_the_place_of_a_feature(tmp_path):
    table = Table("x", "csv", columns={"a": np.ones(1)}, y=np.zeros(1), target_name="a")
    with pytest.raises(InputError, match="the target and a feature are both named 'a'"):
        write_table(table, tmp_path / "t.csv")
    assert list(tmp_path.iterdir()) == []


def test_words_have_no_place_in_libsvm_text(tmp_path):
    words = np.array(["a"], dtype=object)
    with pytest.raises(InputError, match="column 'w' is text"):
        write_table(Table("x", "csv", columns={"w": words}), tmp_path / "t.svm")
    table = Table("x", "csv", columns={"n": np.ones(1)}, y=words)
    with pytest.raises(InputError, match="the target is text"):
        write_table(table, tmp_path / "t.svm")
    assert list(tmp_path.iterdir()) == []


def test_zeros_are_filled_in_only_where_they_fit():
    wide = sp.csr_matrix((np.ones(1), ([0], [2**40])), shape=(3, 2**40 + 1))
    with pytest.raises(InputError, match="x: 3 sparse rows × 1,099,511,627,777 would"):
        dense_rows(wide, source="x")
    some = sp.csr_matrix(np.eye(2))
    assert dense_rows(some, source="x").tolist() == [[1, 0], [0, 1]]
    assert columns_of(some, source="x")["x2"].tolist() == [0, 1]


def test_taking_rows_keeps_everything_together():
    table = Table(
        "x",
        "csv",
        columns={"a": np.arange(4.0)},
        y=np.arange(4.0),
        lines=np.arange(4) + 2,
    )
    some = table.take(np.array([3, 1]))
    assert some.columns["a"].tolist() == [3.0, 1.0] == some.y.tolist()
    assert [some.line_of(row) for row in (0, 1)] == [5, 3]


def test_zeros_in_front_are_names(tmp_path):
    path = tmp_path / "codes.csv"
    path.write_text("size,class\n0.5,01\n1.5,1\n2.5,02\n-0.25,01\n0,1\n")
    table = read_table(path)
    assert table.target().tolist() == ["01", "1", "02", "01", "1"]
    assert table.columns["size"].tolist() == [0.5, 1.5, 2.5, -0.25, 0.0]
