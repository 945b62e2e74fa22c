"""The benchmark of text files: it compares, and notices when readers disagree."""

import numpy as np
import pytest
import scipy.sparse as sp
from benchmarks import text_files

from maxmargin.data_files.svmlight import read_svmlight, write_svmlight


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "some.txt"
    write_svmlight(path, np.arange(1.0, 7.0).reshape(2, 3), [1, -1])
    return path


def test_rows_and_table(path):
    rows = [text_files.reading("a", path, 2), text_files.writing("b", path, 2)]
    for row in rows:
        assert row.size == path.stat().st_size
        assert all(len(part) == 2 and min(part) > 0.0 for part in row[2:])
    lines = text_files.table(rows).splitlines()
    assert [line.split("|")[1].strip() for line in lines[2:]] == ["read a", "write b"]
    assert sorted(one.name for one in path.parent.iterdir()) == ["some.txt"]


def test_values_that_need_every_digit(path, tmp_path):
    text_files.times_pi(path, tmp_path / "long.txt")
    X = read_svmlight(path).X
    assert (read_svmlight(tmp_path / "long.txt").X.data == X.data * np.pi).all()


def test_a_difference_of_one_bit_is_noticed():
    X, y = sp.csr_matrix(np.eye(2)), np.ones(2)
    text_files.same((X, y), (X.copy(), y))
    other = X.copy()
    other.data[1] = np.nextafter(1.0, 2.0)
    with pytest.raises(SystemExit, match="disagree"):
        text_files.same((X, y), (other, y))
