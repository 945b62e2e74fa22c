"""``maxmargin.libsvm``: the functions of libsvm.svmutil, checked against themselves."""

import ctypes
import ctypes.util
import io
import math
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from libsvm import svmutil as theirs
from numpy.testing import assert_allclose, assert_array_equal
from tests import data

from maxmargin import InputError, libsvm
from maxmargin.libsvm.folds import UnseededRand, folds_of, labels_in_order
from maxmargin.libsvm.options import UsageError, parse_train
from maxmargin.libsvm.problem import rows_of
from maxmargin.libsvm.scaling import ranges_of, scaled_lines
from maxmargin.libsvm.training import _density_marks

linux = pytest.mark.skipif(sys.platform != "linux", reason="glibc's rand()")


def forget_the_seed():
    """As in a new process: LIBSVM's folds come from C's rand()."""
    ctypes.CDLL(ctypes.util.find_library("c")).srand(1)


@pytest.fixture(scope="module")
def heart():
    path = str(data.find("libsvm/heart_scale"))
    return libsvm.svm_read_problem(path)


def test_reading_is_theirs():
    path = str(data.find("libsvm/heart_scale"))
    y, x = libsvm.svm_read_problem(path)
    assert (y, x) == tuple(theirs.svm_read_problem(path))
    ours = libsvm.svm_read_problem(path, return_scipy=True)
    other = theirs.svm_read_problem(path, return_scipy=True)
    assert_array_equal(ours[0], other[0])
    assert ours[1].shape == other[1].shape
    assert (ours[1] != other[1]).nnz == 0


def test_reading_a_kernel():
    text = b"1 0:1 1:2 2:0.5\n-1 0:2 1:0.5 2:2\n"
    y, x = libsvm.svm_read_problem(io.BytesIO(text))
    assert y == [1.0, -1.0]
    assert x == [{0: 1.0, 1: 2.0, 2: 0.5}, {0: 2.0, 1: 0.5, 2: 2.0}]
    _, table = libsvm.svm_read_problem(io.BytesIO(text), return_scipy=True)
    assert table.toarray().tolist() == [[1, 2, 0.5], [2, 0.5, 2]]


def test_a_model_says_what_theirs_says(heart, capsys):
    y, x = heart
    ours = libsvm.svm_train(y, x, "-c 4 -e 1e-6")
    assert "Total nSV = " in capsys.readouterr().out
    other = theirs.svm_train(y, x, "-c 4 -e 1e-6 -q")
    assert ours.get_svm_type() == other.get_svm_type() == 0
    assert ours.get_nr_class() == other.get_nr_class() == ours.nr_class
    assert ours.get_labels() == other.get_labels()
    assert ours.get_nr_sv() == other.get_nr_sv() == ours.l
    assert ours.get_sv_indices() == other.get_sv_indices()
    assert ours.get_SV() == other.get_SV()
    assert_allclose(ours.get_sv_coef(), other.get_sv_coef(), atol=1e-4)
    assert ours.nSV == other.nSV[:2]
    assert ours.rho == pytest.approx(other.rho[:1], abs=1e-5)
    assert not ours.is_probability_model()
    assert ours.get_svr_probability() == 0.0
    assert repr(ours) == f"<svm_model c_svc rbf, {ours.l} SVs>"


def test_predictions_are_theirs(heart, tmp_path, capsys):
    y, x = heart
    path = str(tmp_path / "m")
    libsvm.svm_save_model(path, libsvm.svm_train(y, x, "-b 1 -q"))
    mine, other = libsvm.svm_load_model(path), theirs.svm_load_model(path)
    for how in ("", "-b 1"):
        expected = theirs.svm_predict(y, x, other, how)
        spoken = capsys.readouterr().out
        found = libsvm.svm_predict(y, x, mine, how)
        assert capsys.readouterr().out == spoken.replace("predicton", "prediction")
        assert found[0] == expected[0]
        assert found[1] == pytest.approx(expected[1])
        assert_allclose(found[2], expected[2], atol=1e-10)
    assert libsvm.svm_predict([], x, mine, "-q")[1][0] == 0.0


@linux
@pytest.mark.parametrize(
    "options", ["-v 5", "-v 3 -s 3 -c 10", "-v 270 -t 0", "-v 4 -s 2"]
)
def test_folds_are_theirs(heart, options, capsys):
    y, x = heart
    forget_the_seed()
    expected = theirs.svm_train(y, x, options + " -q -e 1e-5")
    told = capsys.readouterr().out
    found = libsvm.svm_train(y, x, options + " -q -e 1e-5")
    assert found == pytest.approx(expected, rel=1e-4, abs=0.8 if "-s 2" in options else 0)
    if "-s 2" not in options:  # whose support vectors lie on the boundary
        assert capsys.readouterr().out.split(" = ")[0] == told.split(" = ")[0]


@linux
def test_the_scale_of_errors_is_theirs(heart):
    y, x = heart
    forget_the_seed()
    expected = theirs.svm_train(y, x, "-s 3 -b 1 -q -e 1e-6").get_svr_probability()
    model = libsvm.svm_train(y, x, "-s 3 -b 1 -q -e 1e-6")
    assert model.get_svr_probability() == pytest.approx(expected, rel=1e-5)


def test_density_marks_are_theirs(heart, tmp_path):
    y, x = heart
    model = theirs.svm_train(y, x, "-s 2 -n 0.3 -b 1 -q")
    theirs.svm_save_model(str(tmp_path / "m"), model)
    values = np.sort([one[0] for one in theirs.svm_predict(y, x, model, "-q")[2]])
    expected = libsvm.svm_load_model(tmp_path / "m").layout.prob_density_marks
    assert_allclose(_density_marks(values), expected, atol=1e-12)
    assert _density_marks(np.arange(1.0, 9.0)) is None


@linux
def test_rand_is_glibcs():
    c = ctypes.CDLL(ctypes.util.find_library("c"))
    c.srand(1)
    rand = UnseededRand()
    assert all(rand() == c.rand() for _ in range(2000))


def test_folds_hold_every_row_out_once():
    y = np.array([3] * 7 + [1] * 11 + [2] * 5)
    for labels in (y, None):
        folds = folds_of(y.size, 4, labels, UnseededRand())
        held = np.concatenate([held for _, held in folds])
        assert sorted(held.tolist()) == list(range(y.size))
        for rest, out in folds:
            assert not set(rest) & set(out)
            assert len(rest) + len(out) == y.size
            if labels is not None:
                assert np.bincount(y[out], minlength=4)[1:].min() >= 1


def test_order_of_labels():
    assert labels_in_order(np.array([5, 2, 5, 9])).tolist() == [5, 2, 9]
    assert labels_in_order(np.array([-1, 1, -1])).tolist() == [1, -1]
    assert labels_in_order(np.array([-1, 1, 0])).tolist() == [-1, 1, 0]


def test_evaluations():
    assert libsvm.evaluations([1, 2], [1, 3]) == pytest.approx((50.0, 0.5, 1.0))
    assert math.isnan(libsvm.evaluations([1, 1], [1, 1])[2])
    with pytest.raises(InputError, match=r"len\(ty\) must be equal to len\(pv\)"):
        libsvm.evaluations([1], [1, 2])


def test_options():
    words = "-s 3 -t 1 -d 2 -g 0.5 -r 1 -c 8 -n 0.1 -p 0.2 -m 50 -e 0.1 -h 0 -b 1 -w-1 2 "
    words += "-w3 4 -v 6 -q file -c"
    found, rest = parse_train(words)
    assert rest == ["file", "-c"]
    assert vars(found) == {
        "svm_type": 3, "kernel_type": 1, "degree": 2, "gamma": 0.5, "coef0": 1.0,
        "C": 8.0, "nu": 0.1, "p": 0.2, "cache_size": 50.0, "eps": 0.1, "shrinking": 0,
        "probability": 1, "weights": {-1: 2.0, 3: 4.0}, "nr_fold": 6, "quiet": True,
    }  # fmt: skip


def test_the_gamma_of_no_gamma(heart):
    y, x = heart
    assert libsvm.svm_train(y, x, "-q").layout.gamma == 1 / 13
    assert libsvm.svm_train([1, -1], [{5: 1.0}, {1: 1.0}], "-q").layout.gamma == 1 / 5
    wide = np.array([[1.0, 0, 0, 0], [0, 1.0, 0, 0]])  # columns of zeros do not count
    assert libsvm.svm_train([1, -1], wide, "-q").layout.gamma == 1 / 2


def test_an_index_of_two_billions_costs_no_memory(tmp_path):
    x = [{1: 1.0, 2147483647: 2.0}, {7: -1.0}, {1: 2.0}, {2147483646: -1.0}]
    y = [1, -1, 1, -1]
    model = libsvm.svm_train(y, x, "-q -t 0 -c 10")
    assert model.get_SV()[0].keys() <= {1, 2147483647}
    libsvm.svm_save_model(tmp_path / "m", model)
    again = libsvm.svm_load_model(tmp_path / "m")
    assert libsvm.svm_predict(y, x, again, "-q")[0] == y


WRONG = {
    "label": (([1.5, 2], [[1], [2]], ""), InputError, "row 1: label 1.5 is not a whole"),
    "lengths": (([1], [[1], [2]], ""), InputError, r"len\(y\) != len\(x\)"),
    "options": (([1, 2], [[1], [2]], "-c 1 x"), InputError, "Wrong options: 'x' is none"),
    "option": (([1, 2], [[1], [2]], "-z"), UsageError, "Unknown option: -z"),
    "index": (
        ([1, 2], [{0: 1}, {1: 2}], ""),
        InputError,
        "index 0 in x: indices lie betw",
    ),
    "nan": (([1, 2], [{1: math.nan}, {1: 2}], ""), InputError, "not finite"),
    "type": (([1, 2], "ab", ""), TypeError, "x is of type str"),
    "word": (([1, 2], [{"a": 1}, {}], ""), TypeError, "whole indices and numbers"),
    "text": ((["a", "b"], [[1], [2]], ""), TypeError, "y must be a list of numbers"),
    "dimensions": (([1, 2], np.zeros(2), ""), InputError, "1 dimensions"),
    "serial": (([1, 2], [[3, 1, 0], [2, 0, 1]], "-t 4"), InputError, "row 1 has 3"),
    "no serial": (
        ([1, 2], [{1: 1, 2: 0}, {0: 2, 1: 1}], "-t 4"),
        InputError,
        "row 1 has 0",
    ),
    "no kernel": (([1, 2], [[1], [2]], "-t 4"), InputError, "has no values"),
}


@pytest.mark.parametrize(("given", "kind", "said"), WRONG.values(), ids=WRONG.keys())
def test_mistakes(given, kind, said):
    with pytest.raises(kind, match=said):
        libsvm.svm_train(*given)


def test_mistakes_of_predictions(heart):
    y, x = heart
    model = libsvm.svm_train(y, x, "-q")
    with pytest.raises(InputError, match="Model does not support probability"):
        libsvm.svm_predict(y, x, model, "-b 1")
    with pytest.raises(TypeError, match="m is of type str"):
        libsvm.svm_predict(y, x, "model")
    with pytest.raises(InputError, match="belong together"):
        libsvm.svm_train(libsvm.svm_problem([1, 2], [[1], [2]]), "-t 4")


def test_rows_keep_what_they_hold():
    found = rows_of([{3: 1.0, 1: 2.0}, {}], is_kernel=False)
    assert found.X.toarray().tolist() == [[2.0, 0.0, 1.0], [0.0, 0.0, 0.0]]
    assert found.max_index == 3
    assert rows_of([], is_kernel=False).X.shape[0] == 0


def test_scaling_of_what_never_varies():
    X = sp.csr_matrix([[1.0, 2.0, 0.0], [1.0, 4.0, 0.0]])
    y = np.array([3.0, 3.0])
    ranges = ranges_of(X, y, -1.0, 1.0, (0.0, 1.0))
    assert ranges.index.tolist() == [2]
    assert [line for line, _ in scaled_lines(X, y, ranges)] == ["0 2:-1 \n", "0 2:1 \n"]


def test_what_is_not_here_is_named():
    missing = set(theirs.__all__) - set(libsvm.__all__)
    assert missing
    for name in missing:
        assert f"``{name}``" in libsvm.__doc__
