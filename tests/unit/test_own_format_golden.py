"""Files of every format version keep loading: one set of golden files a version."""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from tests.fuzz.own_format_files import HEADER, parts, saved
from tests.golden.models.make_v1 import answers, rows

from maxmargin import InputError, certify
from maxmargin.persist import header, load, own_format
from maxmargin.solvers.linear import DualDescent

FOLDER = Path(__file__).resolve().parents[1] / "golden" / "models"
EXPECTED = json.loads((FOLDER / "v1-expected.json").read_text())


def golden(name):
    with warnings.catch_warnings():
        # A pipeline says so when scikit-learn is another than the file's.
        warnings.filterwarnings("ignore", message=".*fitted by scikit-learn")
        warnings.filterwarnings("ignore", message=".*names the solver InteriorPoint")
        return load(FOLDER / f"v1-{name}.maxmargin")


@pytest.mark.parametrize("name", EXPECTED)
def test_files_of_version_1(name):
    model = golden(name)
    found = np.asarray(answers(model, rows())).ravel()
    np.testing.assert_allclose(found, EXPECTED[name], rtol=1e-12, atol=1e-12)
    told = header(FOLDER / f"v1-{name}.maxmargin")
    assert told["format_version"] == 1
    assert told["created"] == "2026-11-17T00:00:00+00:00"
    assert told["certificate"]["ok"] is True


# Of a deleted solver, or one with a deleted argument, something else is saved.
WHOLE = [name for name in EXPECTED if not name.startswith("deleted")]


@pytest.mark.parametrize("name", WHOLE)
def test_saved_again_they_are_the_same(name):
    raw = (FOLDER / f"v1-{name}.maxmargin").read_bytes()
    entries, content = parts(raw)
    again, known = parts(saved(golden(name)))
    assert known["model"] == content["model"]
    assert known["arrays"] == content["arrays"]
    assert {**again, HEADER: b""} == {**entries, HEADER: b""}


def test_what_is_in_them():
    named = golden("kernel-objects")
    assert named.classes_.tolist() == ["east", "north", "süd"]
    assert repr(named.kernel) == "RBF(sigma=2.0) + 0.25 * Linear()"
    assert named.certificate_.ok
    assert len(named.certificate_.problems) == 3
    isotonic = golden("isotonic")
    assert isotonic.random_state.randint(1000, size=3).tolist() == DRAWS
    assert isotonic.class_weight == {0: 2.0, 1: np.float32(1.0)}
    assert type(isotonic.class_weight[1]) is np.float32
    rising = isotonic.calibrators_[0](np.linspace(-2.0, 2.0, 9))
    assert (np.diff(rising) >= 0.0).all()
    assert golden("pipeline")[0].mean_.shape == (3,)


DRAWS = [847, 431, 448]  # where RandomState(0) stood after the fit


def test_a_walk_of_them_goes_on():
    X = rows()
    place = np.arange(30) % 3
    walker = golden("walk")
    before = walker.t_
    assert walker.partial_fit(X, place > 0).t_ > before


def test_a_linear_one_is_still_the_optimum():
    X = rows()
    judged = certify(golden("linear"), X, np.arange(30) % 3)
    assert judged.relative_gap < 1e-3


def test_a_solver_that_is_no_more_is_told_of_and_costs_no_predictions():
    path = FOLDER / "v1-deleted-solver.maxmargin"
    said = r"names the solver InteriorPoint.*unaffected.*a new fit uses solver='auto'"
    with pytest.warns(UserWarning, match=said) as caught:
        model = load(path)
    assert caught[0].filename == __file__
    assert model.solver == "auto"
    assert model.fit(rows(), np.arange(30) % 3 > 0).certificate_.ok


def test_an_argument_that_is_no_more_is_left_out():
    assert golden("deleted-argument").solver == DualDescent(tol=1e-6, max_iter=100_000)


def test_the_name_of_such_a_solver_is_kept_and_a_new_fit_refuses_it():
    model = golden("deleted-solver-name")
    assert model.solver == "interior-point"
    with pytest.raises(InputError, match=r"'proximal-newton' or.*Got 'interior-point'"):
        model.fit(rows(), np.arange(30) % 3 > 0)


def test_there_are_files_of_every_version():
    made = {path.name.split("-")[0] for path in FOLDER.glob("*.maxmargin")}
    assert made == {f"v{n}" for n in range(1, own_format.FORMAT_VERSION + 1)}
